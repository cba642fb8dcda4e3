package frames_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// neighbour computes on the device's processor between two moments since the world began. For that share of the time
// the device's thread waits for the processor, and loses the frames that come meanwhile, at any load.
type neighbour struct {
	start, end time.Duration
	share      float64
}

// epoch is when every world in virtual time begins.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// ran is what it had of the processor by a moment.
func (n neighbour) ran(elapsed time.Duration) time.Duration {
	return time.Duration(float64(max(0, min(elapsed, n.end)-n.start)) * n.share)
}

// read is the machine as its kernel would show it.
func (n neighbour) read(context.Context) (machine.Reading, error) {
	elapsed := time.Since(epoch)
	return machine.Reading{At: elapsed, Processors: []machine.Processor{{Number: 1, Busy: elapsed}},
		Threads: []machine.Thread{{ID: 12, Name: "napi/east-12", Role: machine.Carries, Processor: 1,
			Waited: n.ran(elapsed)}},
		Processes: []machine.Process{{PID: 4711, Name: "sh", Processor: 1, Ran: n.ran(elapsed)}},
	}, nil
}

// disturbedBy lets a neighbour disturb the device, and the machine tell of it.
func disturbedBy(n neighbour) option {
	return func(s *scenario) {
		onDevice(func(d *sim.Device) {
			d.Trouble = sim.Trouble{Begin: n.start, End: n.end, Loss: units.Ratio(n.share * float64(units.One))}
		})(s)
		s.frames.Machine = n.read
	}
}

func TestADisturbedDeviceIsNoWeakDevice(t *testing.T) {
	tier.Plain(t)
	t.Run("a neighbour for a while costs repeats and no truth", func(t *testing.T) {
		s := scene(disturbedBy(neighbour{12 * time.Second, 20 * time.Second, 0.3}))
		rep := s.run(t)
		neverBelowTheTruth(t, 0, s, rep)
		if !rep.Answer.Saturated || !rep.Answer.Confirmed {
			t.Errorf("%+v\n%s", rep.Answer, trace(rep))
		}
		voided := 0
		for _, w := range rep.Windows {
			if w.LostToDisturbance() {
				voided++
				if want := "thread napi/east-12 (12), which carries frames, waited"; !strings.Contains(w.Reason,
					want) || !strings.Contains(w.Reason, "which sh (process 4711) had for") {
					t.Errorf("window %d: %s", w.Number, w.Reason)
				}
			}
		}
		if voided < 3 {
			t.Errorf("%d windows are voided, want those of eight seconds\n%s", voided, trace(rep))
		}
	})
	t.Run("a neighbour that stays leaves a bound, for its reason", func(t *testing.T) {
		rep := scene(disturbedBy(neighbour{12 * time.Second, time.Hour, 0.3})).run(t)
		if rep.Answer.Saturated || rep.Answer.Reason != report.MachineLimited || !rep.Answer.Measured {
			t.Errorf("%+v\n%s", rep.Answer, trace(rep))
		}
		text := rep.Answer.Message + "\n" + rep.Answer.EvidenceText()
		for _, want := range []string{"another program (sh) used the device's processor", "napi/east-12", "sh (process 4711)"} {
			if !strings.Contains(text, want) {
				t.Errorf("the result says %q, and nothing of %q", text, want)
			}
		}
	})
	t.Run("one that was there from the beginning leaves a bound below the first step, for its reason", func(t *testing.T) {
		rep := scene(disturbedBy(neighbour{0, time.Hour, 0.3})).run(t)
		if rep.Answer.Saturated || rep.Answer.Confirmed || rep.Answer.Measured &&
			(rep.Answer.Reason != report.MachineLimited || rep.Windows[rep.Answer.Window-1].Load > units.One/20) {
			t.Errorf("%+v\n%s", rep.Answer, trace(rep))
		}
		for _, w := range rep.Windows {
			if w.Quality == report.Lossy && w.Load < units.One/2 {
				t.Errorf("window %d at %s of the target: %s", w.Number, w.Load, w.Reason)
			}
		}
	})
}

// Without readings the same devices are called weak, which is why the machine is read.
func TestWithoutReadingsADisturbedDeviceLooksWeak(t *testing.T) {
	rep := scene(disturbedBy(neighbour{12 * time.Second, time.Hour, 0.3}),
		func(s *scenario) { s.frames.Machine = nil }).run(t)
	if lowest := rep.LowestLossy(); lowest == nil || lowest.Load > units.One/4 {
		t.Errorf("%+v: no window is called Lossy at half the limit or less, so these scenes prove nothing\n%s",
			rep.Answer, trace(rep))
	}
}

func TestPropertyADisturbedDeviceIsNeverCalledWeaker(t *testing.T) {
	tier.Plain(t)
	reasons := map[report.Reason]int{}
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 21))
		start := time.Duration(rnd.IntN(40)) * time.Second
		s := scene(deviceLimit(units.PacketRate(2000+rnd.IntN(16_000))*units.PacketPerSecond),
			disturbedBy(neighbour{start, start + time.Duration(1+rnd.IntN(60))*time.Second, rnd.Float64()}))
		rep := s.run(t)
		neverBelowTheTruth(t, seed, s, rep)
		reasons[rep.Answer.Reason]++
	}
	if reasons[report.LossAboveLimit] == 0 {
		t.Errorf("%v: want limits found in spite of neighbours", reasons)
	}
}

// starved is a flood on a machine short of processors. The generator, which can send 40 kpps, waits for a third of
// the time. While it has a processor, a neighbour has the device's for a share of the time. So the device waits less,
// and loses less of what is sent, than it would if frames left evenly.
func starved(share float64, options ...option) *scenario {
	const sends, waits = 200 * time.Millisecond, 100 * time.Millisecond
	n := neighbour{end: time.Hour, share: share * 2 / 3}
	return scene(append([]option{maximumOfferedLoad(1), disturbedBy(n), onGenerator(func(g *sim.Generator) {
		g.MaxRate, g.Paced = 40*kpps, true
		for moment := sends; moment < time.Minute; moment += sends + waits {
			g.Stalls = append(g.Stalls, sim.Standstill{Offset: moment, Duration: waits})
		}
	}), onDevice(func(d *sim.Device) { d.Trouble.Loss = units.Ratio(0.9 * share * float64(units.One)) })},
		options...)...)
}

// What comes back of a flood whose sender waited, as the device did, is no limit of either.
func TestAFloodOfAStarvedMachineIsNoLimit(t *testing.T) {
	unlimited := onDevice(func(d *sim.Device) { d.Limit = 0 })
	for name, c := range map[string]struct {
		scene    *scenario
		reason   report.Reason
		messages []string
		saysNot  string
	}{
		"all loss may come from that": {starved(0.3, unlimited), report.NotMeasured,
			[]string{"1 trial could not be judged, however often repeated",
				"napi/east-12 (12), which carries frames, waited", "and what sends waited 1.75s", "up to"},
			"no limit of the device"},
		"the device loses more besides": {starved(0.1), report.MaximumOffered,
			[]string{"and neither is a limit, as what sends and what forwards waited for processors", "napi/east-12",
				"and what sends waited 1.75s", "so that the device may have forwarded more"}, "no limit of the device"},
		"the sender alone waited": {starved(0, unlimited), report.GeneratorLimited,
			[]string{"and the generators' limit is no limit of the device"}, "neither"},
	} {
		t.Run(name, func(t *testing.T) {
			r := c.scene.run(t)
			if r.Answer.Reason != c.reason || strings.Contains(r.Answer.EvidenceText(), c.saysNot) {
				t.Errorf("%s: %s", r.Answer.Reason, r.Answer.EvidenceText())
			}
			for _, want := range c.messages {
				if !strings.Contains(r.Answer.EvidenceText(), want) {
					t.Errorf("%s: %s\nwant %q", r.Answer.Reason, r.Answer.EvidenceText(), want)
				}
			}
			for _, w := range r.Windows {
				for _, d := range w.Directions {
					if even := d.Sent.Packets - d.Sent.Packets*2/3; w.Phase == report.Trial &&
						c.reason == report.NotMeasured && (d.DisturbedFrames < d.Sent.Packets-d.Returned.Packets ||
						d.DisturbedFrames > even) {
						t.Errorf("window %d, %s: %d of %d frames did not come back, and %d may have been lost for a "+
							"disturbance", w.Number, d.Name(), d.Sent.Packets-d.Returned.Packets, d.Sent.Packets,
							d.DisturbedFrames)
					}
				}
			}
		})
	}
}

func TestReadingsOfACalmMachineChangeNothing(t *testing.T) {
	watched, unwatched := scene(disturbedBy(neighbour{})).run(t), scene().run(t)
	if trace(watched) != trace(unwatched) {
		t.Errorf("with readings:\n%s\nwithout:\n%s", trace(watched), trace(unwatched))
	}
	for _, w := range watched.Windows {
		if w.Disturbance != nil {
			t.Errorf("window %d: %+v", w.Number, w.Disturbance)
		}
	}
}

// A machine is asked before and after windows, never within one, because an answer costs the device something.
func TestAMachineIsReadOutsideOfWindows(t *testing.T) {
	var asked []time.Time
	rep := scene(func(s *scenario) {
		s.frames.Machine = func(ctx context.Context) (machine.Reading, error) {
			asked = append(asked, time.Now())
			return neighbour{}.read(ctx)
		}
	}).run(t)
	if len(asked) < 2*len(rep.Windows)-3 {
		t.Errorf("asked %d times for %d windows", len(asked), len(rep.Windows))
	}
	for _, w := range rep.Windows {
		opened := rep.Started.Add(w.Start.Std())
		for _, moment := range asked {
			if moment.After(opened) && moment.Before(opened.Add(w.Duration.Std())) {
				t.Errorf("window %d began at %s, and the machine was asked %s later, within its %s", w.Number,
					w.Start.Std(), moment.Sub(opened), w.Duration.Std())
			}
		}
	}
}

func TestAMachineThatDoesNotAnswer(t *testing.T) {
	t.Run("in time is disturbed: loss says nothing", func(t *testing.T) {
		asked := 0
		rep := scene(func(s *scenario) {
			s.frames.Machine = func(ctx context.Context) (machine.Reading, error) {
				if asked++; asked == 1 {
					return neighbour{}.read(ctx)
				}
				<-ctx.Done()
				return machine.Reading{}, context.Cause(ctx)
			}
		}).run(t)
		if rep.Answer.Saturated || rep.Answer.Reason != report.MachineLimited {
			t.Errorf("%+v\n%s", rep.Answer, trace(rep))
		}
	})
	t.Run("at all is told, and windows are judged as they are", func(t *testing.T) {
		rep := scene(func(s *scenario) {
			s.frames.Machine = func(context.Context) (machine.Reading, error) {
				return machine.Reading{}, errors.New("this kernel counts no waits")
			}
		}).run(t)
		if !rep.Answer.Saturated {
			t.Errorf("%+v", rep.Answer)
		}
		if !strings.Contains(trace(rep), "disturbances of this machine can't be read: this kernel counts no waits") {
			t.Errorf("nothing says that the machine can't tell\n%s", trace(rep))
		}
	})
}
