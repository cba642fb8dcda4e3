package observe_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

var setup = observe.Setup{Generators: []string{"g0"}, Directions: []plan.Direction{{From: "west", To: "east"}}}

// cpu is a log of one observer of the generator's processors.
func cpu() *observe.Log {
	return observe.NewLog([]plan.Observer{{Name: "cpu", Observed: plan.OfGenerator, Type: plan.ObserveProcessors}}, setup)
}

// moment is a reading in which processor 1 had been busy for so long, which was known so long before.
func moment(at, busy, age time.Duration) observe.Moment {
	const server = time.Hour // its clock
	return observe.Moment{At: at, Readings: []engine.Reading{{Instant: server + at, Processors: engine.Processors{Instant: server + at - age,
		List: []engine.Processor{{Number: 0}, {Number: 1, Busy: busy}}}}}}
}

// find is one series' part of a window.
func find(t *testing.T, all []report.Observed, series, of string) report.Observed {
	t.Helper()
	for _, o := range all {
		if o.Series == series && o.Subject == of {
			return o
		}
	}
	t.Fatalf("no %s of %s in %+v", series, of, all)
	return report.Observed{}
}

func TestACounterIsARateInAWindow(t *testing.T) {
	log := cpu()
	for second := range 5 {
		log.Add(moment(time.Duration(second)*time.Second, time.Duration(second*second)*100*ms, 0))
	}
	all := log.Window(time.Second, 3*time.Second)
	if got := find(t, all, "busy", "processor 1"); got.Mean == nil || *got.Mean < 0.399 || *got.Mean > 0.401 || got.Unit != "s/s" || got.Over.Std() != 2*time.Second || got.Observer != "cpu" {
		t.Errorf("%+v, want 0.4 s/s: from 0.1 to 0.9 s in two seconds", got)
	}
	if got := find(t, all, "busy", "all processors"); got.Mean == nil || *got.Mean < 0.399 || *got.Mean > 0.401 {
		t.Errorf("%+v of all, of which one did nothing", got)
	}
	if got := find(t, all, "stolen", "processor 0"); got.Mean == nil || *got.Mean != 0 {
		t.Errorf("%+v, want 0: nothing was stolen, and that is known", got)
	}
}

// A reading that reaches the runner late is of the time at which the generator took it, by its own clock: else the
// next one would be rated over too short a time.
func TestAReadingThatIsToldLateIsOfItsOwnTime(t *testing.T) {
	log := cpu()
	for second := range 5 {
		m := moment(time.Duration(second)*time.Second, time.Duration(second)*500*ms, 0)
		if second == 2 {
			m.At += 900 * ms // told late: the generator's clock says when it was taken
		}
		log.Add(m)
	}
	for _, from := range []time.Duration{time.Second, 2 * time.Second} {
		if got := find(t, log.Window(from, from+time.Second), "busy", "processor 1"); got.Mean == nil || *got.Mean < 0.499 || *got.Mean > 0.501 {
			t.Errorf("from %s: %+v, want 0.5 s/s in each second", from, got)
		}
	}
}

func TestWhatIsMissingIsToldWithItsReason(t *testing.T) {
	for name, c := range map[string]struct {
		moments []observe.Moment
		want    report.Observed
	}{
		"read only long before the window":    {[]observe.Moment{moment(0, 0, 0)}, report.Observed{Series: "busy", Subject: "processor 1", Unit: "s/s", Missing: "it was not read within 75ms of the window's edges, a quarter of its length"}},
		"old when they were told":             {[]observe.Moment{moment(2*time.Second, 0, time.Second), moment(3*time.Second, 0, 0)}, report.Observed{Series: "busy", Subject: "processor 1", Unit: "s/s", Missing: "it was not read within 250ms of the window's edges, a quarter of its length"}},
		"the same reading told at both edges": {[]observe.Moment{moment(2*time.Second, 0, 0), moment(2200*ms, 0, 200*ms)}, report.Observed{Series: "busy", Subject: "processor 1", Unit: "s/s", Missing: "it was not read within 75ms of the window's edges, a quarter of its length"}},
		"a machine that was restarted":        {[]observe.Moment{moment(2*time.Second, time.Minute, 0), moment(2300*ms, 0, 0)}, report.Observed{Series: "busy", Subject: "processor 1", Unit: "s/s", Missing: "the counter went back: it was cleared, or what counts was restarted"}},
	} {
		t.Run(name, func(t *testing.T) {
			log := cpu()
			for _, m := range c.moments {
				log.Add(m)
			}
			to := 2300 * ms
			if len(c.moments) == 2 && c.moments[1].At == 3*time.Second {
				to = 3 * time.Second
			}
			c.want.Observer = "cpu"
			if diff := cmp.Diff(c.want, find(t, log.Window(2*time.Second, to), "busy", "processor 1")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAnObserverWithoutAnyReadingSaysWhy(t *testing.T) {
	log := observe.NewLog([]plan.Observer{{Name: "cpu", Observed: plan.OfGenerator, Type: plan.ObserveProcessors}, {Name: "limit", Observed: plan.OfDUT, Type: plan.ObserveLimiter},
		{Name: "heat", Observed: plan.OfGenerator, Type: "Thermometer"}}, setup)
	log.Add(observe.Moment{Readings: []engine.Reading{{}}})
	want := []report.Observation{
		{Observer: "cpu", Observed: "Generator", Type: "Processors", Missing: "generator g0 doesn't tell of its processors: the software engine does, on Linux"},
		{Observer: "limit", Observed: "DUT", Type: "Limiter", Missing: "the Reference's limit did not answer"},
		{Observer: "heat", Observed: "Generator", Type: "Thermometer", Missing: "this linerate knows no observer of type Thermometer"},
	}
	if diff := cmp.Diff(want, log.Observations()); diff != "" {
		t.Error(diff)
	}
	for i, o := range log.Window(0, time.Second) {
		if o.Observer != want[i].Observer || o.Missing != want[i].Missing {
			t.Errorf("in a window: %+v", o)
		}
	}
}

func TestALimitIsCountedByDirection(t *testing.T) {
	log := observe.NewLog([]plan.Observer{{Name: "limit", Observed: plan.OfDUT, Type: plan.ObserveLimiter}}, setup)
	log.Add(observe.Moment{At: time.Second, Asked: time.Second, Answered: time.Second, Limited: []report.Limiter{{Passed: 100, Dropped: 5}}})
	log.Add(observe.Moment{At: 1500 * ms}) // it didn't answer
	log.Add(observe.Moment{At: 2 * time.Second, Asked: 2 * time.Second, Answered: 2 * time.Second, Limited: []report.Limiter{{Passed: 1100, Dropped: 5}}})
	all := log.Window(time.Second, 2*time.Second)
	if got := find(t, all, "passed", "west→east"); got.Mean == nil || *got.Mean != 1000 || got.Unit != "packets/s" {
		t.Errorf("%+v", got)
	}
	if got := find(t, all, "dropped", "west→east"); got.Mean == nil || *got.Mean != 0 {
		t.Errorf("%+v", got)
	}
}

func TestIdleIsKeptBeforeAndAfter(t *testing.T) {
	log := cpu()
	for _, m := range []observe.Moment{moment(0, 0, 0), moment(time.Second, 100*ms, 0), moment(5*time.Second, 4*time.Second, 0), moment(5200*ms, 4100*ms, 0)} {
		log.Add(m)
	}
	log.Idle(0, time.Second, false)
	log.Idle(5*time.Second, 5200*ms, true)
	short := cpu()
	// the first while frames flowed
	for _, m := range []observe.Moment{moment(4900*ms, 0, 0), moment(5100*ms, 100*ms, 0)} {
		short.Add(m)
	}
	short.Idle(5*time.Second, 5200*ms, true)
	if got := short.Observations()[0].Series[0].IdleAfter; got != nil {
		t.Errorf("%v, of a time in which frames flowed", *got)
	}
	for _, s := range log.Observations()[0].Series {
		if s.Name == "busy" && s.Subject == "processor 1" {
			if s.IdleBefore == nil || *s.IdleBefore != 0.1 || s.IdleAfter == nil || *s.IdleAfter < 0.499 || *s.IdleAfter > 0.501 {
				t.Errorf("%v before and %v after, want 0.1 and 0.5", s.IdleBefore, s.IdleAfter)
			}
			if len(s.Samples) != 4 {
				t.Errorf("%d samples, want all four", len(s.Samples))
			}
			return
		}
	}
	t.Error("there is no such series")
}

// Nothing is known of a machine's clock before its first answer, and that may come late: the time between two
// readings is that clock's own all the same.
func TestARateIsOfTheTimeBetweenReadingsByTheirMachinesClock(t *testing.T) {
	log := cpu()
	for _, read := range []struct{ at, told time.Duration }{{time.Second, 600 * ms}, {2 * time.Second, 0}, {3 * time.Second, 0}} {
		m := moment(read.at, read.at/2, 0)
		m.At += read.told
		log.Add(m)
	}
	log.Idle(800*ms, 1900*ms, false) // what was read last seems a little later than it was
	for _, s := range log.Observations()[0].Series {
		if s.Name == "busy" && s.Subject == "processor 1" && (s.IdleBefore == nil || *s.IdleBefore < 0.499 || *s.IdleBefore > 0.501) {
			t.Errorf("idle %v, want 0.5", s.IdleBefore)
		}
	}
	if got := find(t, log.Window(1700*ms, 3*time.Second), "busy", "processor 1"); got.Mean == nil || *got.Mean < 0.499 || *got.Mean > 0.501 {
		t.Errorf("%+v, want 0.5 s/s", got)
	}
}

// A machine of many processors has a series of all together, and none of each.
func TestManyProcessorsAreOneSeries(t *testing.T) {
	m := moment(time.Second, 0, 0)
	for n := range 7 {
		m.Readings[0].Processors.List = append(m.Readings[0].Processors.List, engine.Processor{Number: 2 + n})
	}
	log := cpu()
	log.Add(m)
	if got := log.Observations()[0].Series; len(got) != 3 || got[0].Subject != "all processors" {
		t.Errorf("%+v", got)
	}
}

// The kernel counts processor time in hundredths of a second, of each processor: over 2 s a share is known to 0.005
// of one, and to 0.01 of two together.
func TestARateIsKnownAsFinelyAsItsCounter(t *testing.T) {
	log := observe.NewLog([]plan.Observer{{Name: "cpu", Type: plan.ObserveProcessors}, {Name: "limit", Type: plan.ObserveLimiter}},
		observe.Setup{Generators: []string{"generator-0"}, Directions: []plan.Direction{{From: "west", To: "east"}}})
	for _, at := range []time.Duration{time.Second, 3 * time.Second} {
		log.Add(observe.Moment{At: at, Asked: at, Answered: at, Limited: []report.Limiter{{Passed: int64(at)}},
			Readings: []engine.Reading{{Instant: at, Processors: engine.Processors{Instant: at, List: []engine.Processor{{Number: 0, Busy: at}, {Number: 1, Busy: at}}}}}})
	}
	for _, o := range log.Window(time.Second, 3*time.Second) {
		want := map[string]float64{"all processors": 0.01, "processor 0": 0.005, "processor 1": 0.005}[o.Subject]
		if o.Missing != "" || math.Abs(o.Unsure-want) > 1e-12 {
			t.Errorf("%s of %s is known to %g (%s), want %g", o.Series, o.Subject, o.Unsure, o.Missing, want)
		}
	}
}
