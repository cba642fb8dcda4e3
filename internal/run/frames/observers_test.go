package frames_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/host/signs"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

// busy is a generator on a machine with one processor, which is busy for a fifth of the time, and for half of
// it while frames flow.
type busy struct {
	engine.Engine
	start, end *time.Time // frames flow
}

// Stop ends the time in which frames flow, because a curve's last trial has ended by then.
func (b busy) Stop(ctx context.Context, ports []int) error {
	*b.end = time.Now()
	return b.Engine.Stop(ctx, ports)
}

func (b busy) Start(ctx context.Context, loads []engine.PortLoad, lasts time.Duration) error {
	if b.start.IsZero() {
		*b.start = time.Now()
	}
	return b.Engine.Start(ctx, loads, lasts)
}

func (b busy) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	reading, err := b.Engine.Read(ctx, ports)
	used := reading.Instant / 5
	switch {
	case b.start.IsZero():
	case b.end.IsZero():
		used += time.Since(*b.start) * 3 / 10
	default:
		used += b.end.Sub(*b.start) * 3 / 10
	}
	reading.Processors = engine.Processors{Instant: reading.Instant, List: []engine.Processor{{Number: 0, Busy: used}}}
	return reading, err
}

func TestObserversAreInTheReport(t *testing.T) {
	for name, procedure := range map[string]option{
		"of a ramp":  func(*scenario) {},
		"of a curve": frameLoss, "of a held load": constantLoad("8kpps"),
	} {
		t.Run(name, func(t *testing.T) {
			s := scene(procedure, func(s *scenario) {
				s.plan.Observers = []plan.Observer{{Name: "cpu", Observed: plan.OfGenerator, Type: plan.ObserveProcessors},
					{Name: "limit", Observed: plan.OfDUT, Type: plan.ObserveLimiter}}
			})
			var rep *report.Report
			synctest.Test(t, func(t *testing.T) {
				rep = s.runOn(t, busy{sim.New(s.world).Generator(0), new(time.Time), new(time.Time)})
			})
			if len(rep.Observations) != 2 || len(rep.Windows) == 0 {
				t.Fatalf("%d observations, %d windows: %s", len(rep.Observations), len(rep.Windows), rep.Message)
			}
			if limit := rep.Observations[1]; limit.Missing == "" || len(limit.Series) != 0 {
				t.Errorf("of a limit that nobody can ask: %+v, want why it is missing", limit)
			}
			sign := rep.Observations[0].Series[0]
			if sign.Name != "busy" || sign.IdleBefore == nil || math.Abs(*sign.IdleBefore-0.2) > 0.01 ||
				len(sign.Samples) < len(rep.Windows) {
				t.Errorf("%s was %v idle before, with %d samples; want busy, 0.2, and some a window", sign.Name,
					sign.IdleBefore, len(sign.Samples))
			}
			if sign.IdleAfter == nil || math.Abs(*sign.IdleAfter-0.2) > 0.01 {
				t.Errorf("%s was %v after the traffic, want 0.2", sign.Name, sign.IdleAfter)
			}
			for _, w := range rep.Windows {
				if len(w.Observed) == 0 || w.Observed[0].Mean == nil || math.Abs(*w.Observed[0].Mean-0.5) > 0.02 {
					t.Errorf("window %d of %s: %+v, want 0.5 s/s", w.Number, w.Duration.Std(), w.Observed)
				}
			}
		})
	}
}

// A source on the network answers every few seconds. A load that is held for long enough has its number, and a
// shorter one the reason why it has none.
func TestReadingsFromTheNetworkAreInTheReport(t *testing.T) {
	for name, c := range map[string]struct {
		period  time.Duration
		missing string
	}{
		"often enough":   {200 * time.Millisecond, ""},
		"far too seldom": {5 * time.Second, "readings that are wholly of the window"},
	} {
		t.Run(name, func(t *testing.T) {
			s := scene(constantLoad("8kpps"), func(s *scenario) {
				s.plan.Observers = []plan.Observer{{Name: "power", Observed: plan.OfLab, Type: plan.ObserveSNMP,
					Interval: plan.Duration(c.period), SNMP: &plan.SNMPObject{Unit: plan.Watts}}}
			})
			var rep *report.Report
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s.frames.Collector = func() observe.Collected {
					elapsed := time.Since(began)
					return observe.Collected{Clock: time.Hour + elapsed,
						Answers: []observe.Answer{{Observer: "power", At: time.Hour + elapsed.Truncate(c.period),
							Numbers: []observe.Number{{Name: "value", Part: "outlet 4", Unit: plan.Watts,
								Kind: report.Gauge, Value: 240}}}}}
				}
				rep = s.runOn(t, sim.New(s.world).Generator(0))
			})
			sign := rep.Observations[0].Series[0]
			if sign.IdleBefore == nil || *sign.IdleBefore != 240 {
				t.Errorf("idle before: %v, want 240 W", sign.IdleBefore)
			}
			var power, perPacket *report.Observed
			for i, o := range rep.Answer.Observed {
				switch o.Series {
				case "value":
					power = &rep.Answer.Observed[i]
				case plan.JoulesPerPacket:
					perPacket = &rep.Answer.Observed[i]
				}
			}
			if power == nil || perPacket == nil {
				t.Fatalf("%+v, want power, and a packet's", rep.Answer.Observed)
			}
			if c.missing != "" {
				if !strings.Contains(power.Missing, c.missing) || perPacket.Missing != power.Missing {
					t.Errorf("%+v, %+v, want %q", power, perPacket, c.missing)
				}
				return
			}
			received := float64(rep.Answer.Total.Received.PacketsPerSecond)
			if power.Mean == nil || perPacket.Mean == nil || math.Abs(*power.Mean-240) > 1e-6 {
				t.Fatalf("%+v, %+v, want 240 W", power, perPacket)
			}
			if w := *perPacket.Mean * received; math.Abs(w-240) > 1 {
				t.Errorf("%g J for each of %g packets a second are %g W, want 240", *perPacket.Mean, received, w)
			}
		})
	}
}

// asked is the device's node as a caller follows it who asks now and then. Its one processor is busy for three tenths
// of the time. It answers within a time, while it is there.
type asked struct {
	begin          time.Time
	late, lifetime time.Duration // with lifetime 0 it is never there
}

func (a asked) reading() observe.MachineReading {
	const uptime, period = 50 * time.Hour, 200 * time.Millisecond
	elapsed := time.Since(a.begin)
	reading := observe.MachineReading{}
	if elapsed >= a.lifetime {
		reading.Missing = "10.0.0.7:4504 did not answer: connection refused"
		elapsed = a.lifetime
	}
	asked := (elapsed - a.late).Truncate(period) // when the answer that is here by now was asked for
	if a.lifetime == 0 || elapsed < a.late {
		reading.Missing = "10.0.0.7:4504 did not answer: it has not answered yet"
		return reading
	}
	reading.Age, reading.Clock, reading.At = time.Since(a.begin)-asked-a.late, uptime+asked, uptime+asked
	reading.Processors = []machine.Processor{{Number: 7, Busy: asked * 3 / 10}}
	return reading
}

// Whatever becomes of who tells of the device's node, the run is the same, and takes as long.
func TestTheDevicesNodeIsObservedOverTheNetwork(t *testing.T) {
	var reference time.Duration
	for _, c := range []struct {
		name  string
		node  asked
		wants func(t *testing.T, o report.Observation, windows []report.Window)
	}{
		{"never there", asked{}, func(t *testing.T, o report.Observation, windows []report.Window) {
			if len(o.Series) > 0 || o.Missing != "10.0.0.7:4504 did not answer: it has not answered yet" ||
				windows[0].Observed[0].Missing != o.Missing {
				t.Errorf("%+v, in a window %+v", o, windows[0].Observed[0])
			}
		}},
		{"answers", asked{lifetime: time.Hour}, isRead},
		{"answers late", asked{lifetime: time.Hour, late: 350 * time.Millisecond}, isRead},
		{"goes away", asked{lifetime: 8 * time.Second}, func(t *testing.T, o report.Observation,
			windows []report.Window) {
			latest := windows[len(windows)-1].Observed[0]
			if len(o.Series) == 0 || len(o.Series[0].Samples) < 3 || latest.Mean != nil ||
				latest.Missing != "it was not read within 400ms of the window's edges: 10.0.0.7:4504 did not answer: "+
					"connection refused" {
				t.Errorf("%+v; the last window says %+v", o, latest)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scene(func(s *scenario) {
				s.plan.Observers = []plan.Observer{{Name: "cpu", Observed: plan.OfDUT, Type: plan.ObserveProcessors},
					{Name: "nodes", Observed: plan.OfNode, Type: plan.ObserveProcessors}}
			})
			var rep *report.Report
			synctest.Test(t, func(t *testing.T) {
				c.node.begin = time.Now()
				s.frames.Device, s.frames.Nodes, s.frames.DeviceNode = c.node.reading,
					map[string]string{"g0": "node-1"}, "node-2"
				rep = s.runOn(t, busy{sim.New(s.world).Generator(0), new(time.Time), new(time.Time)})
			})
			if rep.Ending != report.Completed || len(rep.Windows) < 3 || len(rep.Observations) != 2 {
				t.Fatalf("%s: %s, %d windows", rep.Ending, rep.Message, len(rep.Windows))
			}
			c.wants(t, rep.Observations[0], rep.Windows)
			if subject := rep.Observations[1].Series[0].Subject; subject != "node-1 all processors" {
				t.Errorf("the first of the nodes is %q", subject)
			}
			took := rep.Finished.Sub(rep.Started)
			if reference == 0 {
				reference = took
			}
			if took != reference {
				t.Errorf("the run took %s, and %s with a node that is never there", took, reference)
			}
		})
	}
}

func isRead(t *testing.T, o report.Observation, windows []report.Window) {
	if len(o.Series) != 6 || o.Series[0].IdleBefore == nil || math.Abs(*o.Series[0].IdleBefore-0.3) > 0.005 {
		t.Errorf("%d series; idle before %v, want 0.3", len(o.Series), o.Series[0].IdleBefore)
	}
	if o.Series[0].IdleAfter == nil || math.Abs(*o.Series[0].IdleAfter-0.3) > 0.005 {
		t.Errorf("idle after %v, want 0.3", o.Series[0].IdleAfter)
	}
	for _, w := range windows {
		if got := w.Observed[0]; got.Mean == nil || math.Abs(*got.Mean-0.3) > 0.005 {
			t.Errorf("window %d: %+v, want 0.3 s/s", w.Number, got)
		}
	}
}

func TestWithoutObserversNothingIsKept(t *testing.T) {
	rep := scene().run(t)
	if rep.Observations != nil {
		t.Errorf("%+v", rep.Observations)
	}
	for _, w := range rep.Windows {
		if w.Observed != nil {
			t.Errorf("window %d: %+v", w.Number, w.Observed)
		}
	}
}

// warm is a generator on a machine that is at 40 degrees, and at 70 while frames flow. It tells so where
// somebody asks, and remembers when that was.
type warm struct {
	busy
	wanted *observe.Wanted
	asked  *[]time.Time
}

func (w warm) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	reading, err := w.busy.Read(ctx, ports)
	reading.RequestedSigns = w.wanted.OfGenerators()
	for _, signType := range reading.RequestedSigns {
		degrees := 40.0
		if !w.start.IsZero() && w.end.IsZero() {
			degrees = 70
		}
		*w.asked = append(*w.asked, time.Now())
		reading.Signs = append(reading.Signs, signs.Reading{Type: signType, At: reading.Instant,
			Values: []signs.Value{{Series: "highest", Number: degrees}}})
	}
	return reading, err
}

// Signs whose reading takes something from the device are read before the traffic, when a held window is over, and
// after the traffic, and never within a window or a trial.
func TestTemperaturesAreReadBetweenWindows(t *testing.T) {
	for name, c := range map[string]struct {
		procedure option
		isHeld    bool
	}{"of a held load": {constantLoad("8kpps"), true}, "of trials": {frameLoss, false}} {
		t.Run(name, func(t *testing.T) {
			s := scene(c.procedure, func(s *scenario) {
				s.plan.Observers = []plan.Observer{{Name: "heat", Observed: plan.OfDUT, Type: signs.Temperatures}}
			})
			var rep *report.Report
			var asked []time.Time
			synctest.Test(t, func(t *testing.T) {
				s.frames.OneMachine, s.frames.Wanted = true, observe.Want(s.plan.Observers, true)
				gen := warm{busy{sim.New(s.world).Generator(0), new(time.Time), new(time.Time)}, s.frames.Wanted,
					&asked}
				rep = s.runOn(t, gen)
			})
			if rep.Ending != report.Completed || len(rep.Windows) == 0 || len(rep.Observations[0].Series) != 1 {
				t.Fatalf("%s: %s, %d windows, %+v", rep.Ending, rep.Message, len(rep.Windows), rep.Observations)
			}
			sign := rep.Observations[0].Series[0]
			if sign.IdleBefore == nil || *sign.IdleBefore != 40 || sign.IdleAfter == nil || *sign.IdleAfter != 40 {
				t.Errorf("idle %v before and %v after, want 40", sign.IdleBefore, sign.IdleAfter)
			}
			for _, w := range rep.Windows {
				opened := rep.Started.Add(w.Start.Std())
				for _, moment := range asked {
					if moment.After(opened.Add(time.Millisecond)) &&
						moment.Before(opened.Add(max(w.Duration.Std(), w.Took.Std())-time.Millisecond)) {
						t.Errorf("window %d, from %s for %s: somebody asked at %s", w.Number, w.Start.Std(),
							w.Duration.Std(), moment.Sub(rep.Started))
					}
				}
				got := w.Observed[0]
				if c.isHeld && (got.Mean == nil || *got.Mean != 70) || !c.isHeld &&
					(got.Mean != nil || got.Missing == "") {
					t.Errorf("window %d: %+v", w.Number, got)
				}
			}
		})
	}
}

// A wrong password is known by the first answer. The run notes it before its first window, and once.
func TestWhatASourceRefusesIsSaidAtTheStart(t *testing.T) {
	const reason = "https://bmc.lab: 401 Unauthorized: it doesn't take what secret bmc has"
	s := scene(constantLoad("8kpps"), func(s *scenario) {
		s.plan.Observers = []plan.Observer{{Name: "box", Observed: plan.OfDUT, Type: plan.ObserveRedfish,
			Interval: plan.Duration(time.Second), Redfish: &plan.RedfishChassis{URL: "https://bmc.lab", Secret: "bmc"}}}
	})
	var rep *report.Report
	var progress []runner.Progress
	s.options.Progress = func(p runner.Progress) { progress = append(progress, p) }
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s.frames.Collector = func() observe.Collected {
			elapsed := time.Since(began)
			return observe.Collected{Clock: elapsed + 1,
				Answers: []observe.Answer{{Observer: "box", At: elapsed.Truncate(time.Second) + 1, Missing: reason}}}
		}
		rep = s.runOn(t, sim.New(s.world).Generator(0))
	})
	var noted []report.Note
	for _, n := range rep.Notes {
		if n.Message == "observer box reads nothing: "+reason {
			noted = append(noted, n)
		}
	}
	if len(noted) != 1 || len(rep.Windows) == 0 || noted[0].Time >= rep.Windows[0].Start {
		t.Errorf("noted as %+v, want once, before the first window: %+v", noted, rep.Notes)
	}
	first := slices.IndexFunc(progress, func(p runner.Progress) bool { return p.Unread != "" })
	if first < 0 || progress[first].Window != nil || progress[len(progress)-1].Unread == "" {
		t.Errorf("progress says so from its report %d on, want before there is a window, and until the end", first)
	}
}

// Of VPP's nodes a window has what a packet took, by what they counted between two readings within it.
func TestProcessorCyclesOfVPPsNodesAreInTheReport(t *testing.T) {
	const period = 200 * time.Millisecond
	s := scene(constantLoad("8kpps"), func(s *scenario) {
		s.plan.Observers = []plan.Observer{{Name: "vpp", Observed: plan.OfDUT, Type: plan.ObserveVPP,
			Interval: plan.Duration(period), VPP: &plan.VPPStats{Socket: "/run/vpp/stats.sock"}}}
	})
	var rep *report.Report
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s.frames.Collector = func() observe.Collected {
			elapsed := time.Since(began)
			packets := 16_000 * elapsed.Truncate(period).Seconds()
			count := func(name, unit string, value float64) observe.Number {
				return observe.Number{Name: name, Part: "ip4-lookup", Unit: unit, Kind: report.Counter, Value: value}
			}
			return observe.Collected{Clock: time.Hour + elapsed,
				Answers: []observe.Answer{{Observer: "vpp", At: time.Hour + elapsed.Truncate(period),
					Numbers: []observe.Number{count("clocks", "clocks", 30*packets), count("vectors", "packets",
						packets),
						count("calls", "calls", packets/8)}}}}
		}
		rep = s.runOn(t, sim.New(s.world).Generator(0))
	})
	if clocks := rep.Answer.ClocksPerPacket()[report.VPPNode{Observer: "vpp", Name: "ip4-lookup"}]; clocks < 29.99 ||
		clocks > 30.01 {
		t.Errorf("%g clocks a packet, want 30: %+v", clocks, rep.Answer.Observed)
	}
	i := slices.IndexFunc(rep.Answer.Observed, func(o report.Observed) bool { return o.Series == plan.VectorsPerCall })
	if i < 0 || rep.Answer.Observed[i].Mean == nil || *rep.Answer.Observed[i].Mean < 7.99 ||
		*rep.Answer.Observed[i].Mean > 8.01 {
		t.Errorf("%+v, want 8 packets a call", rep.Answer.Observed)
	}
}

// cached is a generator on the device's machine, which reads what the device's interfaces counted each 100 ms at most.
type cached struct {
	engine.Engine
	mu    *sync.Mutex
	cache *signs.Reading
}

func (c cached) Read(ctx context.Context, ports []int) (engine.Reading, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reading, err := c.Engine.Read(ctx, ports)
	if err == nil && (len(c.cache.Values) == 0 || reading.Instant-c.cache.At >= 100*time.Millisecond) {
		sent := int64(0)
		for _, p := range reading.Ports {
			sent += p.Sent.Packets
		}
		*c.cache = signs.Reading{Type: signs.Interfaces, At: reading.Instant,
			Values: []signs.Value{{Series: "received", Part: "west", Number: float64(sent)}}}
	}
	reading.Signs = append(reading.Signs, *c.cache)
	return reading, err
}

// A device's counters are of a moment before the answer. For a trial they are those of when all had come to rest.
func TestADevicesInterfacesCountAWholeTrial(t *testing.T) {
	s := scene(frameLoss, func(s *scenario) {
		s.plan.Observers = []plan.Observer{{Name: "device", Observed: plan.OfDUT, Type: plan.ObserveInterfaces}}
	})
	var rep *report.Report
	synctest.Test(t, func(t *testing.T) {
		s.frames.OneMachine, s.frames.Wanted = true, observe.Want(s.plan.Observers, true)
		gen := cached{sim.New(s.world).Generator(0), new(sync.Mutex), new(signs.Reading)}
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		go func() { // who reads the same machine at other times
			for bounded.Pause(ctx, 113*time.Millisecond) == nil {
				_, _ = gen.Read(ctx, []int{0, 1})
			}
		}()
		rep = s.runOn(t, gen)
	})
	if rep.Ending != report.Completed || len(rep.Windows) == 0 {
		t.Fatalf("%s: %s, %d windows", rep.Ending, rep.Message, len(rep.Windows))
	}
	for _, w := range rep.Windows {
		sent := int64(0)
		for _, d := range w.Directions {
			sent += d.Sent.Packets
		}
		got := w.Observed[0]
		if got.Mean == nil || math.Abs(*got.Mean*got.Over.Std().Seconds()-float64(sent)) > 0.5 {
			t.Errorf("window %d: %+v, want the %d frames that were sent", w.Number, got, sent)
		}
	}
}
