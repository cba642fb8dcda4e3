package frames_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/verify"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// zeroLoss is a search for the highest load of which no frame is lost, up to 10 million a second each way, of a
// generator that is read as TRex is. A question takes 0.8 ms, and somewhere within that the ports' counters are read
// one after the other, 46 to 170 µs apart.
func zeroLoss(rnd *rand.Rand, device sim.Device, options ...option) *scenario {
	reads := func(int) (first, latest time.Duration) {
		distance := 46*time.Microsecond + time.Duration(rnd.Int64N(int64(124*time.Microsecond)))
		first = time.Duration(rnd.Int64N(int64(800*time.Microsecond - distance)))
		return first, first + distance
	}
	return scene(append([]option{
		onGenerator(func(g *sim.Generator) { g.ReadTakes, g.PortsRead = 800*time.Microsecond, reads }),
		onDevice(func(d *sim.Device) { *d = device }),
		onRamp(func(r *plan.Ramp) { r.TargetRate, r.WarmupRate = unitstest.Rate("10mpps"), unitstest.Rate("100kpps") }),
		func(s *scenario) {
			s.plan.Procedure.MaxLossRatio = 0
			s.plan.Criteria = []plan.Criterion{{Name: "nothing is lost", Metric: string(figures.LossRatio),
				Direction: "Total", Max: "0"}}
			s.world.Links[0].Speed, s.world.Links[1].Speed = 100*units.Gbps, 100*units.Gbps
		},
	}, options...)...)
}

// A device that loses nothing is confirmed to lose nothing, to the frame. At whatever moments of a question the
// counters are read, no window is void for what its edges may explain.
func TestADeviceThatLosesNothingIsConfirmedToLoseNothing(t *testing.T) {
	for name, device := range map[string]sim.Device{
		"up to the target":       {},
		"that holds frames":      {Delay: 20 * time.Millisecond},
		"up to 7 million frames": {Limit: 7_000 * kpps, Burst: time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(tier.Times(8, 20)) {
				rep := zeroLoss(rand.New(rand.NewPCG(seed, 3)), device).run(t)
				r := rep.Answer
				if !r.Confirmed || r.Saturated != (device.Limit > 0) || rep.Verdict.Outcome != report.Passed {
					t.Fatalf("seed %d: %+v, %+v\n%s", seed, r, rep.Verdict, trace(rep))
				}
				for _, d := range r.Directions {
					if d.Sent.Packets != d.Returned.Packets || d.EdgeFrames != 0 || device.Limit > 0 &&
						!isNear(float64(d.Received.PacketsPerSecond), device.Limit.PerSecond(), 5) {
						t.Errorf("seed %d: %s→%s: %+v", seed, d.From, d.To, d)
					}
				}
				for _, w := range rep.Windows {
					if w.Quality == report.Invalid {
						t.Errorf("seed %d: window %d is void: %s", seed, w.Number, w.Reason)
					}
				}
			}
		})
	}
}

// A device that loses one frame of 500 000 is never said to lose none. Each window's bounds contain the truth.
func TestADeviceThatLosesFewFramesIsNeverLossless(t *testing.T) {
	tier.Plain(t)
	const lost = units.One / 500_000
	for seed := range uint64(tier.Times(8, 20)) {
		rep := zeroLoss(rand.New(rand.NewPCG(seed, 4)), sim.Device{Loss: lost}).run(t)
		if rep.Answer.Confirmed || rep.Verdict.Outcome == report.Passed {
			t.Fatalf("seed %d: %+v, %+v\n%s", seed, rep.Answer, rep.Verdict, trace(rep))
		}
		for _, f := range figures.OfAnswer(rep, figures.LossRatio) {
			if low, high := f.Low.Float(), f.High.Float(); low > 2.01e-6 || high < 1.99e-6 {
				t.Errorf("seed %d: %s is told to lose %s to %s", seed, f.Direction, f.Low, f.High)
			}
		}
		for _, w := range rep.Windows {
			for _, d := range w.Directions {
				if d.Quality == report.Good && d.MostLost() < lost || strings.HasSuffix(d.Reason, "frames came back") {
					t.Errorf("seed %d: window %d: %s→%s is %s: %s", seed, w.Number, d.From, d.To, d.Quality, d.Reason)
				}
			}
		}
	}
}

// Frames of others are neither loss nor its absence. Where not one frame may be lost they keep a trial from being a
// proof, and the Report says so. Frames that are so rare that some trial has none don't.
func TestStraysNeitherAddNorHideLoss(t *testing.T) {
	for name, c := range map[string]struct {
		perMinute int64
		confirmed bool
	}{"none": {0, true}, "one in a minute": {1, true}, "one in four seconds": {15, false},
		"one in a second": {60, false}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				rep := zeroLoss(rand.New(rand.NewPCG(seed, 5)), sim.Device{}, func(s *scenario) {
					s.world.Links[0].Background = units.PacketRate(c.perMinute) * units.PacketPerSecond / 60
				}).run(t)
				want := map[bool]report.Outcome{true: report.Passed, false: report.Undecided}[c.confirmed]
				warns := strings.Contains(rep.Answer.EvidenceText(), "frames of others may have taken the place of lost ones")
				if rep.Answer.Confirmed != c.confirmed || rep.Verdict.Outcome != want || rep.Answer.Saturated ||
					warns == c.confirmed {
					t.Fatalf("seed %d: %+v, %+v\n%s", seed, rep.Answer, rep.Verdict, trace(rep))
				}
				for _, w := range rep.Windows {
					if w.Quality == report.Lossy || w.Quality == report.Invalid {
						t.Errorf("seed %d: window %d is %s: %s", seed, w.Number, w.Quality, w.Reason)
					}
				}
			}
		})
	}
}

// Held windows whose edges may hide loss count for a load that is given, and what they may hide is told. The totals
// of the whole run have no edges. They show what was lost in all of it, unless something else may have taken a lost
// frame's place.
func TestAConstantLoadReportsTheLossThatItsEdgesMayHide(t *testing.T) {
	for name, c := range map[string]struct {
		device sim.Device
		option option
		want   report.Outcome
	}{
		"none is lost":           {sim.Device{}, func(*scenario) {}, report.Passed},
		"one in 500 000 is lost": {sim.Device{Loss: units.One / 500_000}, func(*scenario) {}, report.Undecided},
		"others' frames come":    {sim.Device{}, background(units.PacketPerSecond), report.Undecided},
		"others' frames come in the place of lost ones": {sim.Device{Loss: units.One / 10_000_000},
			background(units.PacketPerSecond), report.Undecided},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(5) {
				rep := zeroLoss(rand.New(rand.NewPCG(seed, 6)), c.device, c.option, func(s *scenario) {
					s.plan.Procedure = plan.Procedure{Type: plan.TypeConstantLoad,
						ConstantLoad: &plan.ConstantLoad{Rate: unitstest.Rate("10mpps"), WarmupDuration: seconds(3),
							Duration: seconds(40), Window: seconds(10)}}
				}).run(t)
				for _, w := range rep.Windows {
					if w.Quality == report.Invalid {
						t.Errorf("seed %d: window %d is void: %s", seed, w.Number, w.Reason)
					}
				}
				for _, f := range figures.OfAnswer(rep, figures.LossRatio) {
					if truth := c.device.Loss.Float(); f.Low.Float() > truth || f.High.Float() < truth ||
						f.High.Float() > 0.001 {
						t.Errorf("seed %d: %s is told to lose %s to %s", seed, f.Direction, f.Low, f.High)
					}
				}
				shown := strings.Contains(rep.Answer.EvidenceText(),
					"lost between the counters before and after: no frame from west→east")
				if rep.Verdict.Outcome != c.want || !strings.Contains(rep.Answer.EvidenceText(), "the windows' edges") ||
					shown != (c.want == report.Passed) {
					t.Errorf("seed %d: %+v, %+v", seed, rep.Answer.EvidenceText(), rep.Verdict)
				}
				if v := verify.Report(rep, ""); v.Outcome != verify.Verified {
					t.Errorf("seed %d: %v", seed, v.Findings())
				}
			}
		})
	}
}

// Whatever the limit, the mix, the replicas and the reading times, at a loss limit of zero the answer is within
// refineTo of what the device forwards, and no frame of its window is missing.
func TestPropertyTheLimitOfNoLossIsFound(t *testing.T) {
	tier.Plain(t)
	for seed := range uint64(tier.Times(20, 60)) {
		d := drawn(rand.New(rand.NewPCG(seed, 17)))
		s := scene(append(d.options, func(s *scenario) { s.plan.Procedure.MaxLossRatio = 0 })...)
		rep := s.run(t)
		narrow := rep.Answer.Saturated || d.limits[0] != d.limits[1] && rep.Answer.Reason == report.OtherDirection
		if !narrow || !rep.Answer.Confirmed {
			t.Fatalf("seed %d, limits %s, target %s: %+v\n%s", seed, d.limits, d.target, rep.Answer, trace(rep))
		}
		limit := d.limits[0].PerSecond() // the narrower direction's
		for _, m := range rep.Answer.Directions {
			if got := float64(m.Received.PacketsPerSecond); m.Sent.Packets != m.Returned.Packets || m.EdgeFrames != 0 ||
				got < limit*0.99-1 || got > limit*(1+d.burst.Seconds()/10)+1 {
				t.Fatalf("seed %d, limit %.0f, burst %s: %d of %d frames came back, %.0f/s\n%s", seed, limit, d.burst,
					m.Returned.Packets, m.Sent.Packets, got, trace(rep))
			}
		}
		lossyAbove(t, seed, rep, limit)
		neverMoreThanTheTruth(t, seed, s, rep)
	}
}

// A device that collapses above its limit has the search ask for a long look in the middle. Held traffic is stopped
// for the trial, and started anew after it.
func TestALoadIsHeldAgainAfterATrial(t *testing.T) {
	for seed := range uint64(5) {
		collapses := func(offered float64) float64 { return min(offered, max(1e6, 6.2e6-2*(offered-6.2e6))) }
		rep := zeroLoss(rand.New(rand.NewPCG(seed, 20)), sim.Device{Capacity: collapses}).run(t)
		if !rep.Answer.Saturated || !rep.Answer.Confirmed || rep.Verdict.Outcome != report.Passed {
			t.Fatalf("seed %d: %+v\n%s", seed, rep.Answer, trace(rep))
		}
		var kinds string
		for _, w := range rep.Windows {
			kinds += map[bool]string{true: "t", false: "h"}[w.Directions[0].EdgeFrames == 0]
			for _, d := range w.Directions {
				if offered := float64(d.Offered.PacketsPerSecond); !isNear(float64(d.Received.PacketsPerSecond),
					collapses(offered), 5) {
					t.Errorf("seed %d: window %d: %d of %d packets/s came back, and the device forwards %.0f: %s", seed,
						w.Number, d.Received.PacketsPerSecond, d.Offered.PacketsPerSecond, collapses(offered), d.Reason)
				}
			}
		}
		if got := float64(rep.Answer.Directions[0].Received.PacketsPerSecond); !strings.Contains(kinds, "th") ||
			!isNear(got, 6.2e6, 5) {
			t.Errorf("seed %d: %.0f, held and tried in turns %s\n%s", seed, got, kinds, trace(rep))
		}
	}
}

// A generator that sends less than asked, and one that drops what comes back, are no weak devices at a limit of
// zero either.
func TestAWeakGeneratorLosesNothingOfTheDevices(t *testing.T) {
	for name, c := range map[string]struct {
		generator sim.Generator
		reason    report.Reason
	}{
		"that sends less than asked":         {sim.Generator{MaxRate: 3000 * kpps}, report.GeneratorLimited},
		"that drops some of what comes back": {sim.Generator{ReceiveDrops: units.One / 1000}, report.NoCleanLoad},
		"that drops fewer than the edges hide": {sim.Generator{ReceiveDrops: units.One / 1_000_000},
			report.NoCleanLoad},
	} {
		t.Run(name, func(t *testing.T) {
			rep := zeroLoss(rand.New(rand.NewPCG(1, 18)), sim.Device{}, onGenerator(func(g *sim.Generator) {
				g.MaxRate, g.ReceiveDrops = c.generator.MaxRate, c.generator.ReceiveDrops
			})).run(t)
			if sends := c.generator.MaxRate > 0; rep.Answer.Saturated || rep.Answer.Confirmed != sends ||
				rep.Answer.Reason != c.reason {
				t.Errorf("%+v\n%s", rep.Answer, trace(rep))
			}
			for _, w := range rep.Windows {
				if w.Quality == report.Lossy {
					t.Errorf("window %d is Lossy: %s", w.Number, w.Reason)
				}
			}
		})
	}
}

// Whenever it is interrupted, also between a held load and a trial, a run leaves nothing running, and claims no
// confirmation that did not end.
func TestAnInterruptionAroundATrialStopsAllTraffic(t *testing.T) {
	tier.Plain(t)
	for moment := 44.0; moment < 58; moment += 0.13 {
		rep := zeroLoss(rand.New(rand.NewPCG(2, 19)), sim.Device{}, interrupted(moment)).run(t)
		if rep.Ending != report.Interrupted && rep.Ending != report.Completed || rep.Ending == report.Interrupted &&
			rep.Answer.Confirmed {
			t.Fatalf("interrupted after %.2f s: %s, %+v", moment, rep.Ending, rep.Answer)
		}
	}
}
