package frames_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

const ms = time.Millisecond

// restless is how a generator on a busy node stands still, about once in a period, for a duration between shortest
// and longest. A period of 0 means never.
type restless struct {
	period, shortest, longest time.Duration
	faster                    float64
}

// stalls are those of ten minutes.
func (r restless) stalls(rnd *rand.Rand) []sim.Standstill {
	var stalls []sim.Standstill
	if r.period == 0 {
		return nil
	}
	for moment := time.Duration(0); moment < 10*time.Minute; {
		moment += r.period/2 + time.Duration(rnd.Int64N(int64(r.period)))
		lasts := r.shortest + time.Duration(rnd.Int64N(int64(r.longest-r.shortest)+1))
		stalls = append(stalls, sim.Standstill{Offset: moment, Duration: lasts, Faster: r.faster})
		moment += lasts + time.Duration(float64(lasts)/(r.faster-1))
	}
	return stalls
}

// restlessly lets generators stall about once in a period. Counters are read as often as in real runs.
func restlessly(period, shortest, longest time.Duration) option {
	return func(s *scenario) {
		s.frames.PaceEvery = 0
		r := restless{period: period, shortest: shortest, longest: longest, faster: 5}
		onGenerator(func(g *sim.Generator) { g.Stalls = r.stalls(rand.New(rand.NewPCG(1, 13))) })(s)
	}
}

// bursty is a scene of a device with buffers for so long, and generators that stall. Counters are read as often
// as in real runs.
func bursty(rnd *rand.Rand, buffers time.Duration, r restless) *scenario {
	limit := units.PacketRate(2000+rnd.IntN(50_000)) * units.PacketPerSecond
	mute := rnd.IntN(2) == 0
	readTakes := time.Duration(rnd.IntN(2000)) * time.Microsecond
	return scene(replicas(1+rnd.IntN(2)), deviceLimit(limit), func(s *scenario) { s.frames.PaceEvery = 0 },
		onDevice(func(m *sim.Device) { m.Burst = buffers }),
		onGenerator(func(g *sim.Generator) { g.Stalls, g.Mute, g.ReadTakes = r.stalls(rnd), mute, readTakes }),
		onRamp(func(r *plan.Ramp) {
			r.TargetRate = units.Rate{Kind: units.Packets, Micros: int64(limit) * 2000}
			r.RampDuration, r.ConfirmDuration = seconds(20), seconds(4)
		}))
}

// neverBelowTheTruth checks that the limit is where the Report claims it, or that the Report claims none.
func neverBelowTheTruth(t *testing.T, seed uint64, s *scenario, rep *report.Report) {
	t.Helper()
	limit := s.world.Directions[0].Device.Limit.PerSecond()
	for _, m := range rep.Answer.Directions {
		minimum := limit*(1-rep.Answer.Resolution.Float()-0.002) - 1
		if got := float64(m.Received.PacketsPerSecond); rep.Answer.Saturated && got < minimum {
			t.Fatalf("seed %d: %.0f pps is called the limit, within %s %%; it is %.0f\n%s", seed, got,
				rep.Answer.Resolution.Percent(), limit, trace(rep))
		}
	}
}

func TestPropertyABurstyGeneratorIsNeverAWeakDevice(t *testing.T) {
	tier.Plain(t)
	reasons := map[report.Reason]int{}
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 11))
		s := bursty(rnd, time.Duration(2+rnd.IntN(24))*ms, restless{
			period:   200*ms + time.Duration(rnd.IntN(5000))*ms,
			shortest: ms, longest: time.Duration(30+rnd.IntN(200)) * ms, faster: 2 + 6*rnd.Float64(),
		})
		rep := s.run(t)
		neverBelowTheTruth(t, seed, s, rep)
		reasons[rep.Answer.Reason]++
	}
	if reasons[report.LossAboveLimit] == 0 || reasons[report.GeneratorLimited] == 0 {
		t.Errorf("%v: want limits found in spite of bursts, and others given up for them", reasons)
	}
}

// A TRex that stood still for 18 ms between two readings 20 ms apart seemed to send evenly, and the frames that it
// then sent at once were more than 10 ms of buffers hold. Eight of 3451 frames were called the device's loss.
func TestAShortStallIsNotTheLossOfADeviceWithShortBuffers(t *testing.T) {
	tier.Plain(t)
	for seed := uint64(4); seed < 8; seed++ {
		rnd := rand.New(rand.NewPCG(seed, 14))
		s := bursty(rnd, 10*ms, restless{period: 400 * ms, shortest: 18 * ms, longest: 18 * ms, faster: 20})
		rep := s.run(t)
		neverBelowTheTruth(t, seed, s, rep)
		limit := s.world.Directions[0].Device.Limit.PerSecond()
		for _, w := range rep.Windows {
			for _, d := range w.Directions {
				if d.Quality == report.Lossy && float64(d.Intended.PacketsPerSecond) < 0.9*limit {
					t.Errorf("seed %d: window %d is Lossy at %d packets/s, and the device forwards %.0f: %s", seed,
						w.Number, d.Intended.PacketsPerSecond, limit, d.Reason)
				}
			}
		}
	}
}

func TestPropertyAQuietGeneratorIsNeverCalledBursty(t *testing.T) {
	tier.Plain(t)
	for seed := range uint64(6) {
		s := bursty(rand.New(rand.NewPCG(seed, 12)), 10*ms, restless{})
		rep := s.run(t)
		neverBelowTheTruth(t, seed, s, rep)
		if !rep.Answer.Saturated || !rep.Answer.Confirmed {
			t.Fatalf("seed %d: %+v\n%s", seed, rep.Answer, trace(rep))
		}
		for _, w := range rep.Windows {
			if len(w.Bursts) > 0 || w.Unwatched > 0 {
				t.Fatalf("seed %d: window %d: %+v, unwatched %s", seed, w.Number, w.Bursts, w.Unwatched.Std())
			}
		}
	}
}

func TestHowOftenCountersAreRead(t *testing.T) {
	tier.Plain(t)
	tests := map[string]struct {
		generators int
		paced      bool
		fewest     float64 // readings of each generator a second
		highest    float64
	}{
		"where a generator may send in bursts":     {1, false, 60, 100},
		"where there are many":                     {10, false, 12, 20},
		"where it says that it never does":         {1, true, 3, 4.5},
		"where many say that they never do so too": {10, true, 3, 4.5},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := scene(replicas(test.generators), onGenerator(func(g *sim.Generator) { g.Paced = test.paced }),
				func(s *scenario) { s.frames.PaceEvery = 0 })
			rep := s.run(t)
			for g := range test.generators {
				perSecond := float64(s.final.Generator(g).Readings()) / rep.Finished.Sub(rep.Started).Seconds()
				if perSecond < test.fewest || perSecond > test.highest {
					t.Errorf("generator %d was read %.1f times a second; want %.0f to %.0f", g, perSecond, test.fewest,
						test.highest)
				}
			}
			if limit := int(rep.Finished.Sub(rep.Started).Seconds() * 2); len(rep.Samples) > limit {
				t.Errorf("%d samples are kept; want at most %d", len(rep.Samples), limit)
			}
		})
	}
}
