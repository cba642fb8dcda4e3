package observe_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/measure/observe"
)

// uptime is what the device's node says of its clock when the run starts.
const uptime = 9 * time.Hour

// device is what the device's node told so long ago, at a moment of the run: processor 3 had been busy for so long.
func device(at, busy, age time.Duration) *observe.MachineReading {
	return &observe.MachineReading{Age: age, Clock: uptime + at - age, At: uptime + at - age, Processors: []machine.Processor{{Number: 3, Busy: busy}}}
}

// beside is a reading of one generator that tells of its processors, and what the device's node told.
func beside(at, busy time.Duration, told *observe.MachineReading) observe.Moment {
	m := moment(at, busy, 0)
	m.Device = told
	return m
}

func ofDUT(of string) *observe.Log {
	return observe.NewLog([]plan.Observer{{Name: "cpu", Observed: of, Type: plan.ObserveProcessors}}, observe.Setup{Generators: []string{"g0"},
		Directions: []plan.Direction{{From: "west", To: "east"}}, Whereabouts: observe.Whereabouts{Nodes: map[string]string{"g0": "node-1"}, DeviceNode: "node-2"}})
}

func TestTheDevicesNodeIsReadByItsOwnClock(t *testing.T) {
	log := ofDUT(plan.OfDUT)
	for _, at := range []time.Duration{0, 900 * ms, 2 * time.Second, 2900 * ms, 4 * time.Second} {
		age := at % time.Second / 10 // heard a little before, and by what the node said of its clock not at once
		told := device(at, 0, age)
		told.Processors[0].Busy = (told.At - uptime) / 2 // half of its time
		log.Add(beside(at, 0, told))
	}
	got := find(t, log.Window(time.Second, 3*time.Second), "busy", "processor 3")
	if got.Mean == nil || *got.Mean < 0.4999 || *got.Mean > 0.5001 {
		t.Errorf("%+v, want 0.5 s/s", got)
	}
}

func TestAnAnswerThatCameLateIsOfWhenItWasTaken(t *testing.T) {
	log := ofDUT(plan.OfDUT)
	for second := range 5 {
		at := time.Duration(second) * time.Second
		told := device(at, 0, 0)
		told.Processors[0].Busy = at / 4
		if second == 2 {
			told.Clock, told.At = told.Clock-700*ms, told.At-700*ms // it took 700 ms to come
			told.Processors[0].Busy = (at - 700*ms) / 4
		}
		log.Add(beside(at, 0, told))
	}
	for _, s := range log.Observations()[0].Series {
		if s.Name != "busy" || s.Subject != "processor 3" {
			continue
		}
		for _, sample := range s.Samples {
			if want := sample.Time.Std().Seconds() / 4; sample.Value < want-0.001 || sample.Value > want+0.001 {
				t.Errorf("at %s it had been busy for %g s, want %g s", sample.Time.Std(), sample.Value, want)
			}
		}
		return
	}
	t.Error("nothing of processor 3")
}

// The same answer is newest again and again until the next one: a second sample of it would be a time in which
// nothing grew.
func TestAnAnswerIsOneSample(t *testing.T) {
	log := ofDUT(plan.OfDUT)
	for i := range 10 {
		age := time.Duration(i) * 20 * ms
		told := device(time.Second+age, 0, age)
		told.Age += time.Duration(i) * time.Microsecond
		log.Add(beside(time.Second+age, 0, told))
	}
	for _, s := range log.Observations()[0].Series {
		if len(s.Samples) != 1 {
			t.Errorf("%s of %s has %d samples of one answer", s.Name, s.Subject, len(s.Samples))
		}
	}
}

func TestADeviceThatDoesNotTellIsMissingAndNeverTheGenerators(t *testing.T) {
	const why = "10.0.0.7:4504 did not answer: no answer within 1s"
	t.Run("a device is missing from the beginning", func(t *testing.T) {
		log := ofDUT(plan.OfDUT)
		log.Add(beside(time.Second, time.Second, &observe.MachineReading{Missing: why}))
		want := []report.Observation{{Observer: "cpu", Observed: "DUT", Type: "Processors", Missing: why}}
		if diff := cmp.Diff(want, log.Observations()); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a device is missing since some time in the run", func(t *testing.T) {
		log := ofDUT(plan.OfDUT)
		log.Add(beside(time.Second, 0, device(time.Second, 0, 0)))
		for _, at := range []time.Duration{2 * time.Second, 4 * time.Second} {
			told := device(at, 0, at-time.Second)
			told.Missing = why
			log.Add(beside(at, 0, told))
		}
		got := find(t, log.Window(2*time.Second, 4*time.Second), "busy", "processor 3")
		if want := "it was not read within 400ms of the window's edges: " + why; got.Mean != nil || got.Missing != want {
			t.Errorf("%+v, want it missing: %s", got, want)
		}
		if series := log.Observations()[0].Series; len(series[0].Samples) != 1 || series[0].Missing != "" {
			t.Errorf("%+v: what was read before stays", series[0])
		}
	})
	t.Run("a vital sign is missing that its kernel doesn't have", func(t *testing.T) {
		log := ofDUT(plan.OfDUT)
		log.Add(beside(time.Second, 0, &observe.MachineReading{Clock: uptime, At: uptime, NoProcessors: "/proc/stat: no such file"}))
		if got := log.Observations()[0].Missing; got != "/proc/stat: no such file" {
			t.Error(got)
		}
	})
}

func TestALimitElsewhereIsReadByItsMachinesClock(t *testing.T) {
	limit := func() *observe.Log {
		return observe.NewLog([]plan.Observer{{Name: "limit", Observed: plan.OfDUT, Type: plan.ObserveLimiter}}, setup)
	}
	log := limit()
	for second := range 4 {
		at := time.Duration(second) * time.Second
		told := device(at, 0, 100*ms)
		told.Limited = []report.Limiter{{Passed: int64((told.At - uptime) / ms), Dropped: 7}}
		log.Add(beside(at, 0, told))
	}
	if got := find(t, log.Window(time.Second, 3*time.Second), "passed", "west→east"); got.Mean == nil || *got.Mean < 999.9 || *got.Mean > 1000.1 {
		t.Errorf("%+v, want 1000 packets/s", got)
	}
	for want, told := range map[string]observe.MachineReading{
		"10.0.0.7:4504 did not answer: timeout":  {Missing: "10.0.0.7:4504 did not answer: timeout", Limited: []report.Limiter{{}}},
		"its rules have 1 counters, not 2":       {NoLimited: "its rules have 1 counters, not 2"},
		"the Reference's limit did not answer":   {},
		"nobody of linerate's is on that device": {Missing: "nobody of linerate's is on that device"},
	} {
		log := limit()
		log.Add(beside(time.Second, 0, &told))
		if got := log.Observations()[0].Missing; got != want {
			t.Errorf("missing for %q, want %q", got, want)
		}
	}
}

func TestTheDevicesNodeMayBeHeardBetweenReadings(t *testing.T) {
	log := observe.NewLog([]plan.Observer{{Name: "cpu", Observed: plan.OfGenerator, Type: plan.ObserveProcessors}, {Name: "node", Observed: plan.OfDUT, Type: plan.ObserveProcessors}}, setup)
	log.Add(observe.Moment{At: time.Second, Readings: []engine.Reading{{Instant: time.Second}}, Device: device(time.Second, 0, 0)})
	log.Add(observe.Moment{At: 2 * time.Second, Device: device(2*time.Second, 0, 0)})
	all := log.Observations()
	if want := "generator g0 doesn't tell of its processors: the software engine does, on Linux"; all[0].Missing != want {
		t.Errorf("of the generator, which wasn't asked again: %q, want %q", all[0].Missing, want)
	}
	if n := len(all[1].Series[0].Samples); n != 2 {
		t.Errorf("%d samples of the device's node, want 2", n)
	}
}

// nodes are what an observer of all nodes names, once each.
func nodes(t *testing.T, log *observe.Log) (told []string, lacking map[string]string) {
	t.Helper()
	lacking = map[string]string{}
	for _, s := range log.Observations()[0].Series {
		if s.Name != "busy" || !s.OfAll() {
			continue
		}
		if told = append(told, s.Subject); s.Missing != "" {
			lacking[s.Subject] = s.Missing
		}
	}
	return told, lacking
}

func TestAGeneratorsMachineIsTheDevicesOnlyWhereThatIsSaid(t *testing.T) {
	const whyDeviceUnread = "nobody tells of the device's machine, and nothing says that it is the generators'"
	generators := map[string]string{"g0": "node-1"}
	for name, c := range map[string]struct {
		setup   observe.Setup
		device  *observe.MachineReading
		of      string // whose processor is told as the device's
		missing string
	}{
		"all on one machine, where nobody else is asked": {observe.Setup{Whereabouts: observe.Whereabouts{OneMachine: true}}, nil, "processor 1", ""},
		"nothing is said":                      {observe.Setup{}, nil, "", whyDeviceUnread},
		"nodes, and nobody asks the device's":  {observe.Setup{Whereabouts: observe.Whereabouts{Nodes: generators, DeviceNode: "node-2"}}, nil, "", whyDeviceUnread},
		"no nodes that are known":              {observe.Setup{Whereabouts: observe.Whereabouts{Nodes: map[string]string{}}}, nil, "", whyDeviceUnread},
		"the same node, and nobody asks there": {observe.Setup{Whereabouts: observe.Whereabouts{Nodes: generators, DeviceNode: "node-1"}}, nil, "", whyDeviceUnread},
		"the device's node tells":              {observe.Setup{Whereabouts: observe.Whereabouts{Nodes: generators, DeviceNode: "node-2"}}, device(time.Second, 0, 0), "processor 3", ""},
		"the device's node doesn't answer":     {observe.Setup{Whereabouts: observe.Whereabouts{Nodes: generators, DeviceNode: "node-2"}}, &observe.MachineReading{Missing: "it is gone"}, "", "it is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			c.setup.Generators = []string{"g0"}
			log := observe.NewLog([]plan.Observer{{Name: "cpu", Observed: plan.OfDUT, Type: plan.ObserveProcessors}}, c.setup)
			log.Add(beside(time.Second, 500*ms, c.device))
			o, has := log.Observations()[0], false
			for _, s := range o.Series {
				has = has || s.Subject == c.of && s.Missing == "" && len(s.Samples) == 1
			}
			if o.Missing != c.missing || has != (c.of != "") || c.of == "" && len(o.Series) > 0 {
				t.Errorf("%+v; want %q, missing: %q", o, c.of, c.missing)
			}
		})
	}
}

func TestEachNodeIsOneOfTheNodes(t *testing.T) {
	tells := func(at time.Duration) engine.Reading {
		return engine.Reading{Instant: at, Processors: engine.Processors{Instant: at, List: []engine.Processor{{Busy: at / 10}}}}
	}
	const silent = "generator g1 doesn't tell of its processors: the software engine does, on Linux"
	for name, c := range map[string]struct {
		nodes    map[string]string
		readings []engine.Reading
		one      bool
		device   string
		told     *observe.MachineReading
		want     []string
		lacking  map[string]string
	}{
		"generators and device on three": {
			nodes: map[string]string{"g0": "a", "g1": "b"}, readings: []engine.Reading{tells(time.Second), tells(time.Second)}, device: "c", told: device(time.Second, 0, 0),
			want: []string{"a all processors", "b all processors", "c all processors"}, lacking: map[string]string{},
		},
		"all on one": {
			nodes: map[string]string{"g0": "a", "g1": "a"}, readings: []engine.Reading{tells(time.Second), tells(time.Second)}, device: "a", told: device(time.Second, 0, 0),
			want: []string{"a all processors"}, lacking: map[string]string{},
		},
		"a generator that tells nothing, beside the device": {
			nodes: map[string]string{"g0": "a", "g1": "b"}, readings: []engine.Reading{tells(time.Second), {Instant: time.Second}}, device: "b", told: device(time.Second, 0, 0),
			want: []string{"a all processors", "b all processors"}, lacking: map[string]string{},
		},
		"a generator that tells nothing, on a node of its own": {
			nodes: map[string]string{"g0": "a", "g1": "b"}, readings: []engine.Reading{tells(time.Second), {Instant: time.Second}}, device: "a", told: device(time.Second, 0, 0),
			want: []string{"a all processors", "b all processors"}, lacking: map[string]string{"b all processors": silent},
		},
		"a device that doesn't tell": {
			nodes: map[string]string{"g0": "a", "g1": "a"}, readings: []engine.Reading{tells(time.Second), tells(time.Second)}, device: "c", told: &observe.MachineReading{Missing: "it is gone"},
			want: []string{"a all processors", "c all processors"}, lacking: map[string]string{"c all processors": "it is gone"},
		},
		"a device that is no pod": {
			nodes: map[string]string{"g0": "a", "g1": "a"}, readings: []engine.Reading{tells(time.Second), tells(time.Second)}, told: &observe.MachineReading{Missing: "nobody is there"},
			want: []string{"a all processors"}, lacking: map[string]string{},
		},
		"a server that runs elsewhere": {
			nodes: map[string]string{"g0": "a", "g1": ""}, readings: []engine.Reading{tells(time.Second), {Instant: time.Second}}, device: "a", told: device(time.Second, 0, 0),
			want: []string{"a all processors", "generator g1's all processors"}, lacking: map[string]string{"generator g1's all processors": silent},
		},
		"servers of which nobody knows where they run": {
			readings: []engine.Reading{tells(time.Second), tells(time.Second)}, want: []string{"generator g0's all processors", "generator g1's all processors"}, lacking: map[string]string{},
		},
		"one machine": {
			one: true, readings: []engine.Reading{tells(time.Second), tells(time.Second)}, want: []string{"all processors"}, lacking: map[string]string{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			log := observe.NewLog([]plan.Observer{{Name: "nodes", Observed: plan.OfNode, Type: plan.ObserveProcessors}},
				observe.Setup{Generators: []string{"g0", "g1"}, Whereabouts: observe.Whereabouts{OneMachine: c.one, Nodes: c.nodes, DeviceNode: c.device}})
			log.Add(observe.Moment{At: time.Second, Readings: c.readings, Device: c.told})
			told, lacking := nodes(t, log)
			if diff := cmp.Diff(c.want, told); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.lacking, lacking); diff != "" {
				t.Error(diff)
			}
			for _, o := range log.Window(500*ms, 1500*ms) {
				if o.Mean != nil || o.Missing == "" {
					t.Errorf("%+v of a single reading", o)
				}
			}
		})
	}
}
