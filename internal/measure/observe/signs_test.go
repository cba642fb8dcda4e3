package observe_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// tells is a moment of a run at which the device's node told of one type, by its own clock.
func tells(at time.Duration, told signs.Reading) observe.Moment {
	told.At = uptime + at
	return observe.Moment{At: at, Device: &observe.MachineReading{Clock: uptime + at, At: uptime + at, Signs: []signs.Reading{told}, Asked: []string{told.Type}}}
}

func signsOf(of, observerType string) *observe.Log {
	return observe.NewLog([]plan.Observer{{Name: "it", Observed: of, Type: observerType}}, observe.Setup{Generators: []string{"g0"},
		Whereabouts: observe.Whereabouts{Nodes: map[string]string{"g0": "node-1"}, DeviceNode: "node-2"}})
}

// softirqs are those of a machine whose processors were in softirqs for 0.3 of the time, and received 1000 frames
// in each second.
func softirqs(at time.Duration) signs.Reading {
	return signs.Reading{Type: signs.SoftIRQs, Values: []signs.Value{
		{Series: "time", Part: signs.OfAllProcessors, Number: 0.3 * at.Seconds(), Step: 0.02}, {Series: "processed", Part: signs.OfAllProcessors, Number: 1000 * at.Seconds()},
		{Series: "processed", Part: "processor 1", Number: 400 * at.Seconds()}, {Series: "of another kind", Number: 1},
	}}
}

func TestCountersOfAMachineAreRates(t *testing.T) {
	log := signsOf(plan.OfDUT, signs.SoftIRQs)
	for _, at := range []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second} {
		log.Add(tells(at, softirqs(at)))
	}
	all := log.Window(time.Second, 3*time.Second)
	if len(all) != 3 {
		t.Errorf("%d series, want the 3 that this linerate knows", len(all))
	}
	for _, c := range []struct {
		series, of string
		rate       float64
		unit       string
		unsure     float64
	}{{"time", "all processors", 0.3, "s/s", 0.01}, {"processed", "all processors", 1000, "packets/s", 0}, {"processed", "processor 1", 400, "packets/s", 0}} {
		if got := find(t, all, c.series, c.of); got.Mean == nil || *got.Mean < c.rate-1e-6 || *got.Mean > c.rate+1e-6 || got.Unit != c.unit || math.Abs(got.Unsure-c.unsure) > 1e-9 || got.OfAll() != strings.HasPrefix(c.of, "all") {
			t.Errorf("%s of %s is %+v, want %g %s, known to %g", c.series, c.of, got, c.rate, c.unit, c.unsure)
		}
	}
	slow := softirqs(6 * time.Second)
	slow.Took = 200 * ms
	log.Add(tells(6*time.Second, slow))
	if got := find(t, log.Window(3*time.Second, 6100*ms), "processed", "all processors"); got.Mean == nil || got.Over.Std() != 3100*ms || got.Unsure < 31 || got.Unsure > 36 {
		t.Errorf("%+v of a reading that took 200 ms, want it known to 3000 packets in 3.0 to 3.1 s", got)
	}
	log.Idle(0, 2*time.Second, false)
	if s := log.Observations()[0].Series[0]; s.IdleBefore == nil || *s.IdleBefore < 0.2999 || *s.IdleBefore > 0.3001 {
		t.Errorf("idle it was %v, want 0.3", s.IdleBefore)
	}
}

func TestLevelsOfAMachineAreMeanLeastAndMost(t *testing.T) {
	log := signsOf(plan.OfDUT, signs.Memory)
	for i, used := range []float64{100, 10, 20, 60, 500} {
		log.Add(tells(time.Duration(i)*time.Second, signs.Reading{Type: signs.Memory, Values: []signs.Value{{Series: "used", Number: used}}}))
	}
	if got := find(t, log.Window(time.Second, 3*time.Second), "used", "machine"); *got.Mean != 30 || *got.Min != 10 || *got.Max != 60 || got.Unit != "bytes" {
		t.Errorf("%+v, want 30 bytes, from 10 to 60", got)
	}
}

// warm is a machine of so many degrees.
func warm(degrees float64) signs.Reading {
	return signs.Reading{Type: signs.Temperatures, Values: []signs.Value{{Series: "highest", Number: degrees}}}
}

// Nobody asks a machine for its temperatures within a window: that is what it was at the window's load when the
// window was over.
func TestWhatIsNotAskedForWithinAWindowIsOfItsEnd(t *testing.T) {
	log := signsOf(plan.OfDUT, signs.Temperatures)
	log.Add(tells(0, warm(40)))
	for _, at := range []time.Duration{time.Second, 2 * time.Second} {
		log.Add(tells(at, signs.Reading{Type: signs.Memory}))
	}
	missed := find(t, log.Window(time.Second, 2*time.Second), "highest", "machine")
	if missed.Mean != nil || missed.Missing != "it was not read when the window was over" {
		t.Errorf("%+v, and nobody read it after the window", missed)
	}
	log.Add(tells(2010*ms, warm(65)))
	if got := find(t, log.Window(time.Second, 2*time.Second), "highest", "machine"); got.Mean == nil || *got.Mean != 65 || *got.Max != 65 || got.Over.Std() != time.Second {
		t.Errorf("%+v, want the 65 degrees of when the window was over", got)
	}
	if got := find(t, log.Trial(time.Second, 2*time.Second, 2300*ms), "highest", "machine"); got.Mean != nil || !strings.Contains(got.Missing, "use a procedure that holds its loads") {
		t.Errorf("%+v of a trial, after which there is no load", got)
	}
	if got := find(t, log.Window(2500*ms, 5*time.Second), "highest", "machine"); got.Mean != nil {
		t.Errorf("%+v of a later window", got)
	}
}

func TestWhyAMachineTellsNothingIsSaid(t *testing.T) {
	const none = "this machine has no hwmon sensors"
	for _, c := range []struct {
		name, of string
		moment   observe.Moment
		want     report.Observation
	}{
		{"it has none", plan.OfDUT, tells(0, signs.Reading{Type: signs.Temperatures, Missing: none}), report.Observation{Missing: none}},
		{"it tells nothing", plan.OfDUT, observe.Moment{Device: &observe.MachineReading{Clock: uptime, Asked: []string{signs.Temperatures}}}, report.Observation{Missing: "the device's node doesn't tell of its temperatures"}},
		{"it wasn't asked yet", plan.OfDUT, tells(0, signs.Reading{Type: signs.Memory}), report.Observation{Missing: "nothing was read"}},
		{"no engine of ours", plan.OfGenerator, observe.Moment{Readings: []engine.Reading{{Instant: time.Hour, RequestedSigns: []string{signs.Temperatures}}}}, report.Observation{Missing: "generator g0 doesn't tell of its machine's temperatures: the software engine does"}},
		{"one of two nodes", plan.OfNode, observe.Moment{Readings: []engine.Reading{{Instant: time.Hour, RequestedSigns: []string{signs.Temperatures}}}, Device: tells(0, warm(40)).Device}, report.Observation{Series: []report.VitalSign{
			{Subject: "node-1 machine", Missing: "generator g0 doesn't tell of its machine's temperatures: the software engine does"}, {Subject: "node-1 machine", Missing: "generator g0 doesn't tell of its machine's temperatures: the software engine does"},
			{Subject: "node-2 machine"}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := signsOf(c.of, signs.Temperatures)
			log.Add(c.moment)
			got := log.Observations()[0]
			if got.Missing != c.want.Missing || len(got.Series) != len(c.want.Series) {
				t.Fatalf("%+v, want %+v", got, c.want)
			}
			for i, s := range got.Series {
				if s.Subject != c.want.Series[i].Subject || s.Missing != c.want.Series[i].Missing {
					t.Errorf("%+v, want %+v", s, c.want.Series[i])
				}
			}
		})
	}
}

// On one machine the generators' readings tell of the device's interfaces; of a trial the rate is over the time in
// which frames were sent.
func TestADevicesInterfacesAreRatedLikeGenerators(t *testing.T) {
	log := observe.NewLog([]plan.Observer{{Name: "device", Observed: plan.OfDUT, Type: plan.ObserveInterfaces}}, observe.Setup{Generators: []string{"g0"}, Whereabouts: observe.Whereabouts{OneMachine: true}})
	for _, m := range []struct {
		at       time.Duration
		received float64
	}{{1900 * ms, 100}, {3000 * ms, 1500}, {12_700 * ms, 10_100}} {
		log.Add(observe.Moment{At: m.at, Readings: []engine.Reading{{Instant: time.Hour + m.at, Signs: []signs.Reading{{Type: signs.Interfaces, At: time.Hour + m.at,
			Values: []signs.Value{{Series: "received", Part: "west", Number: m.received}}}}}}})
	}
	if got := find(t, log.Trial(2*time.Second, 12*time.Second, 12_550*ms), "received", "west"); got.Mean == nil || *got.Mean != 1000 {
		t.Errorf("%+v, want 1000 packets/s", got)
	}
	// What was read while frames were still on their way lacks them.
	if got := find(t, log.Trial(2*time.Second, 12*time.Second, 12_750*ms), "received", "west"); got.Mean != nil || got.Missing != "it was not read while the counters stood still, before the trial and after it" {
		t.Errorf("%+v, want that it was not read at rest", got)
	}
	// So does the next trial's beginning, where nothing was read since then.
	log.Add(observe.Moment{At: 23 * time.Second, Readings: []engine.Reading{{Instant: time.Hour + 23*time.Second, Signs: []signs.Reading{{Type: signs.Interfaces, At: time.Hour + 23*time.Second,
		Values: []signs.Value{{Series: "received", Part: "west", Number: 20_200}}}}}}})
	if got := find(t, log.Trial(12_800*ms, 22_800*ms, 22_900*ms), "received", "west"); got.Mean != nil {
		t.Errorf("%+v, want that it was not read at rest before the trial", got)
	}
}

func TestWhatIsAskedForIsWhatObserversLookAt(t *testing.T) {
	observers := []plan.Observer{{Observed: plan.OfGenerator, Type: plan.ObserveProcessors}, {Observed: plan.OfDUT, Type: plan.ObserveLimiter}, {Observed: plan.OfGenerator, Type: plan.ObserveInterfaces},
		{Observed: plan.OfGenerator, Type: signs.Memory}, {Observed: plan.OfDUT, Type: signs.Temperatures}, {Observed: plan.OfDUT, Type: plan.ObserveInterfaces}, {Observed: plan.OfNode, Type: signs.Load}, {Observed: plan.OfDUT, Type: signs.Load}, {Observed: plan.OfGenerator, Type: signs.Load}}
	for _, c := range []struct {
		name               string
		oneMachine, judged bool
		generators, device []string
	}{
		{"machines apart", false, false, []string{signs.Memory, signs.Load}, []string{signs.Temperatures, signs.Interfaces, signs.Load}},
		{"machines apart, while it is judged", false, true, []string{signs.Memory, signs.Load}, []string{signs.Interfaces, signs.Load}},
		{"one machine", true, false, []string{signs.Memory, signs.Temperatures, signs.Interfaces, signs.Load}, nil},
		{"one machine, while it is judged", true, true, []string{signs.Memory, signs.Interfaces, signs.Load}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := observe.Want(observers, c.oneMachine)
			w.Judge(c.judged)
			if got := w.OfGenerators(); !slices.Equal(got, c.generators) {
				t.Errorf("generators are asked for %q, want %q", got, c.generators)
			}
			if got := w.OfDevice(); !slices.Equal(got, c.device) {
				t.Errorf("the device's node is asked for %q, want %q", got, c.device)
			}
			if !w.Intrusive() {
				t.Error("nothing that is wanted is intrusive, and temperatures are")
			}
		})
	}
	var nobody *observe.Wanted
	if nobody.Judge(true); nobody.OfGenerators() != nil || nobody.OfDevice() != nil || nobody.Intrusive() {
		t.Error("without observers something is asked for")
	}
}
