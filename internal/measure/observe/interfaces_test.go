package observe_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// kernels is a log of the interfaces of so many generators, each with a port 0 on west and a port 3 on east.
func kernels(generators ...string) *observe.Log {
	s := observe.Setup{Generators: generators}
	for range generators {
		s.Links = append(s.Links, map[int]string{0: "west", 3: "east"})
	}
	return observe.NewLog([]plan.Observer{{Name: "kernel", Observed: plan.OfGenerator, Type: plan.ObserveInterfaces}}, s)
}

// counted is a generator's reading in which west has sent, and east has received, so many frames.
func counted(at time.Duration, sent, received int64) engine.Reading {
	return engine.Reading{Instant: time.Hour + at, Ports: map[int]engine.PortCounters{
		0: {HasKernel: true, Kernel: engine.KernelCounters{Sent: sent}},
		3: {HasKernel: true, Kernel: engine.KernelCounters{Received: received, Dropped: 7}},
		5: {HasKernel: true}, // on no link of the test
	}}
}

// A flood's rate is what came between two times of rest, over the time in which it was sent: the drain is none of it.
func TestATrialsRateIsOverTheTimeInWhichItWasSent(t *testing.T) {
	log := kernels("g0")
	for _, m := range []struct {
		at             time.Duration
		sent, received int64
	}{{1900 * ms, 100, 100}, {3000 * ms, 1500, 1000}, {11_990 * ms, 10_000, 9_000}, {12_700 * ms, 10_100, 9_100}} {
		log.Add(observe.Moment{At: m.at, Readings: []engine.Reading{counted(m.at, m.sent, m.received)}})
	}
	all := log.Trial(2*time.Second, 12*time.Second, 12_550*ms)
	if len(all) != 6 {
		t.Errorf("%d series, want 3 of each of 2 links", len(all))
	}
	for _, want := range []struct {
		series, of string
		rate       float64
	}{{"sent", "west", 1000}, {"received", "east", 900}, {"received", "west", 0}, {"dropped", "east", 0}} {
		got := find(t, all, want.series, want.of)
		if got.Mean == nil || *got.Mean != want.rate || got.Over.Std() != 10*time.Second || got.Unit != "packets/s" {
			t.Errorf("%s of %s: %+v, want %g packets/s over 10s", want.series, want.of, got, want.rate)
		}
	}
	if held := find(t, log.Window(3*time.Second, 12*time.Second), "received", "east"); held.Mean == nil || held.Over.Std() != 8_990*ms {
		t.Errorf("%+v, want the rate between two readings while it was held", held)
	}
}

func TestATrialThatWasNotReadAtRestHasNoRate(t *testing.T) {
	for name, at := range map[string][]time.Duration{
		"not before": {3 * time.Second, 12_700 * ms},
		"not after":  {1900 * ms, 11_900 * ms},
	} {
		t.Run(name, func(t *testing.T) {
			log := kernels("g0")
			for i, when := range at {
				log.Add(observe.Moment{At: when, Readings: []engine.Reading{counted(when, int64(i), int64(i))}})
			}
			if got := find(t, log.Trial(2*time.Second, 12*time.Second, 12_550*ms), "received", "east"); got.Mean != nil || got.Missing == "" {
				t.Errorf("%+v, want it missing, with the reason", got)
			}
		})
	}
}

// Of several generators one may be no engine of ours.
func TestAGeneratorWithoutAKernelsCountersIsMissing(t *testing.T) {
	log := kernels("g0", "g1")
	mute := engine.Reading{Instant: time.Hour, Ports: map[int]engine.PortCounters{0: {}, 3: {}}}
	log.Add(observe.Moment{Readings: []engine.Reading{counted(0, 1, 1), mute}})
	want := "generator g1 doesn't tell what its kernel counts: the software engine does"
	missing := map[string]string{}
	for _, s := range log.Observations()[0].Series {
		missing[s.Subject] = s.Missing
	}
	if missing["g0 east"] != "" || missing["g1 east"] != want {
		t.Errorf("%q", missing)
	}
	log = kernels("g1")
	log.Add(observe.Moment{Readings: []engine.Reading{mute}})
	if got := log.Observations()[0]; len(got.Series) != 0 || got.Missing != want {
		t.Errorf("%+v", got)
	}
}
