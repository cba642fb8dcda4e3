package sessions

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
)

// observedBy are two observers, and a run of one window.
func observedBy(p *plan.Plan, _ []End) {
	ports := p.Generators[0].Ports // as a Plan has a generator for each link, here all on one machine
	p.Generators = []plan.Generator{{Name: "generator-0-west", Ports: ports[:1]}, {Name: "generator-0-east",
		Ports: ports[1:]}}
	p.Observers = []plan.Observer{{Name: "cpu", Observed: "Generator", Type: plan.ObserveProcessors},
		{Name: "limit", Observed: "DUT", Type: plan.ObserveLimiter}}
	p.Procedure.ConstantLoad.Duration = p.Procedure.ConstantLoad.Window
}

// observedIn is what a series of an observer was in the result.
func observedIn(rep *report.Report, observer, series, subject string) (o report.Observed, found bool) {
	for _, o := range rep.Answer.Observed {
		if o.Observer == observer && (o.Series == series && o.Subject == subject || o.Series == "") {
			return o, true
		}
	}
	return o, false
}

// unread says that a series is missing because this machine was too busy to read anything near an edge of the window.
func unread(rep *report.Report, o report.Observed) bool {
	w := rep.Windows[len(rep.Windows)-1]
	for _, observation := range rep.Observations {
		for _, s := range observation.Series {
			readNear := func(edge plan.Duration) bool {
				return slices.ContainsFunc(s.Samples,
					func(v report.VitalSample) bool { return (v.Time - edge).Std().Abs() <= w.Duration.Std()/4 })
			}
			if observation.Observer == o.Observer && s.Name == o.Series && s.Subject == o.Subject {
				return strings.HasPrefix(o.Missing, "it was not read within") &&
					(!readNear(w.Start) || !readNear(w.Start+w.Duration))
			}
		}
	}
	return false
}

func TestVitalSignsDuringSessions(t *testing.T) {
	t.Parallel()
	r := newRig(t, queued(), oneWay50, observedBy)
	began := time.Now()
	limited := func(context.Context) ([]report.Limiter, error) { // 1000 packets/s
		return []report.Limiter{{Passed: time.Since(began).Milliseconds(), Dropped: 7}}, nil
	}
	r.plan.Observers = append(r.plan.Observers, plan.Observer{Name: "memory", Observed: plan.OfDUT, Type: signs.Memory},
		plan.Observer{Name: "heat", Observed: plan.OfDUT, Type: signs.Temperatures})
	whereabouts := observe.Whereabouts{OneMachine: true, Wanted: observe.Want(r.plan.Observers, true)}
	rep := runner.Run(t.Context(), r.plan, New(r.places, Options{Limited: limited, Whereabouts: whereabouts}),
		runner.Options{})
	if rep.Ending != report.Completed || len(rep.Observations) != 4 {
		t.Fatalf("%s %s: %d observations", rep.Ending, rep.Message, len(rep.Observations))
	}
	if o, _ := observedIn(rep, "cpu", "busy", report.AllProcessors); !unread(rep, o) &&
		(o.Mean == nil || *o.Mean <= 0) {
		t.Errorf("processors in the window: %+v", o)
	}
	if o, _ := observedIn(rep, "limit", "passed", "west→east"); !unread(rep, o) &&
		(o.Mean == nil || math.Abs(*o.Mean-1000) > o.Unsure+2 || o.Unsure > 900 || o.Unit != "packets/s") {
		t.Errorf("the limit in the window: %+v", o)
	}
	if o, _ := observedIn(rep, "memory", "available", "machine"); !unread(rep, o) && (o.Mean == nil || *o.Mean < 1e6 ||
		*o.Min > *o.Mean || *o.Max < *o.Mean) {
		t.Errorf("memory in the window: %+v", o)
	}
	if o, found := observedIn(rep, "heat", "highest", "machine"); !found || o.Mean == nil &&
		!strings.Contains(o.Missing, "sensor") {
		t.Errorf("temperature when the window was over: %+v", o)
	}
	var silenceEnd plan.Duration // when the silence after the traffic was read
	for _, o := range rep.Observations {
		for i, s := range o.Series {
			if n := len(s.Samples); n > 0 {
				silenceEnd = max(silenceEnd, s.Samples[n-1].Time)
			}
			if j := slices.IndexFunc(o.Series,
				func(sign report.VitalSign) bool { return sign.Name == s.Name && sign.Subject == s.Subject }); j != i {
				t.Errorf("%s %s of %s is there twice", o.Observer, s.Name, s.Subject)
			}
			if s.IdleBefore == nil || s.IdleAfter == nil || len(s.Samples) < 5 {
				t.Errorf("%s %s of %s: idle before %v, after %v, %d samples", o.Observer, s.Name, s.Subject, s.IdleBefore,
					s.IdleAfter, len(s.Samples))
			}
		}
	}
	if w := rep.Windows[len(rep.Windows)-1]; len(w.Directions) != 1 ||
		(w.Start+w.Directions[0].Sessions.ReceivedIn).Std() >= silenceEnd.Std()-silence/2 {
		t.Errorf("the silence, read until %s, is a part of the window: %+v", silenceEnd.Std(), w)
	}
}

func TestTheDevicesNodeIsObservedOverTheNetwork(t *testing.T) {
	t.Parallel()
	r := newRig(t, queued(), oneWay50, observedBy, func(p *plan.Plan, _ []End) {
		p.Observers = []plan.Observer{{Name: "cpu", Observed: plan.OfDUT, Type: plan.ObserveProcessors},
			{Name: "nodes", Observed: plan.OfNode, Type: plan.ObserveProcessors}}
	})
	began := time.Now()
	device := func() observe.MachineReading { // a processor that is busy for a quarter of the time
		elapsed := time.Since(began)
		return observe.MachineReading{Clock: time.Hour + elapsed, At: time.Hour + elapsed,
			Processors: []machine.Processor{{Number: 7, Busy: elapsed / 4}}}
	}
	rep := runner.Run(t.Context(), r.plan, New(r.places, Options{Whereabouts: observe.Whereabouts{Device: device,
		Nodes: map[string]string{"generator-0-west": "node-1", "generator-0-east": "node-1"}, DeviceNode: "node-2"}}),
		runner.Options{})
	if o, _ := observedIn(rep, "cpu", "busy", "processor 7"); !unread(rep, o) && (o.Mean == nil || *o.Mean < 0.249 ||
		*o.Mean > 0.251) {
		t.Errorf("of the device's node: %+v, want 0.25", o)
	}
	for _, node := range []string{"node-1 ", "node-2 "} {
		if o, _ := observedIn(rep, "nodes", "busy", node+report.AllProcessors); o.Mean == nil && !unread(rep, o) {
			t.Errorf("of %s: %+v", node, o)
		}
	}
}

func TestALimitThatDoesNotAnswerIsMissing(t *testing.T) {
	t.Parallel()
	r := newRig(t, queued(), oneWay50, observedBy)
	rep := runner.Run(t.Context(), r.plan, New(r.places, Options{Limited: func(ctx context.Context) ([]report.Limiter,
		error) {
		return nil, errors.New("gone")
	}}), runner.Options{})
	if o, found := observedIn(rep, "limit", "passed", "west→east"); !found || o.Mean != nil ||
		!strings.Contains(o.Missing, "the Reference's limit did not answer") {
		t.Errorf("%+v", o)
	}
}

// Nobody waits for what is idle after the traffic but observers.
func TestARunWithoutObserversEndsAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		observers []plan.Observer
		lasts     time.Duration
	}{
		"none": {nil, 0},
		"one": {[]plan.Observer{{Name: "cpu", Observed: plan.OfGenerator, Type: plan.ObserveProcessors}}, readEvery +
			silence},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := New(nil, Options{}).(*driver)
				r.assemble(journal(&plan.Plan{Observers: c.observers, Sessions: &plan.Sessions{}}))
				r.journal.Driving = true
				began := time.Now()
				r.observers.complete(t.Context())
				if took := time.Since(began); took != c.lasts {
					t.Errorf("it took %s, want %s", took, c.lasts)
				}
			})
		})
	}
}

// Who wants nothing observed has nobody look.
func TestNothingIsReadWithoutObservers(t *testing.T) {
	t.Parallel()
	r := newRig(t, queued(), oneWay50, func(p *plan.Plan,
		_ []End) {
		p.Procedure.ConstantLoad.Duration = p.Procedure.ConstantLoad.Window
	})
	var asked atomic.Int64
	d := New(r.places, Options{Limited: func(context.Context) ([]report.Limiter,
		error) {
		asked.Add(1)
		return nil, nil
	}}).(*driver)
	rep := runner.Run(t.Context(), r.plan, d, runner.Options{})
	for i, reading := range d.meter.latest {
		if reading.Vitals != nil {
			t.Errorf("end %d told of its processors", i)
		}
	}
	if asked.Load() > 0 || rep.Observations != nil || len(d.meter.latest) == 0 {
		t.Errorf("the limit was asked %d times; %+v", asked.Load(), rep.Observations)
	}
}
