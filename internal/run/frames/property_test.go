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

// draw is a random scene with a device with a limit of 1 to 60 kpps a direction, and a target of 1.2 to 20 times it.
type draw struct {
	limits  [2]units.PacketRate
	burst   time.Duration
	target  units.PacketRate
	options []option
}

func drawn(rnd *rand.Rand) draw {
	d := draw{burst: time.Duration(rnd.IntN(20)) * time.Millisecond}
	d.limits[0] = units.PacketRate(1000+rnd.IntN(59_000)) * units.PacketPerSecond
	d.limits[1] = d.limits[0]
	if rnd.IntN(3) == 0 {
		d.limits[1] += d.limits[0].Mul(units.Ratio(rnd.Int64N(int64(units.One))))
	}
	d.target = units.PacketRate(float64(d.limits[0]) * (1.2 + 18*rnd.Float64()))
	mix := units.Traffic{Packets: 1 + rnd.Int64N(50)}
	mix.Bytes = mix.Packets * (64 + rnd.Int64N(1455))
	readTakes := time.Duration(rnd.IntN(3)) * time.Duration(rnd.IntN(1500)) * time.Microsecond
	delay := time.Duration(rnd.IntN(30)) * time.Millisecond
	stop, holdFor, steps := rnd.IntN(2) == 0, float64(rnd.IntN(2)*15), 10+rnd.IntN(90)
	d.options = []option{
		replicas(1 + rnd.IntN(3)),
		onGenerator(func(g *sim.Generator) { g.ReadTakes = readTakes }),
		onDevice(func(m *sim.Device) { m.Burst, m.Delay = d.burst, delay }),
		hold(holdFor),
		onRamp(func(r *plan.Ramp) {
			r.TargetRate = units.Rate{Kind: units.Packets, Micros: int64(d.target) * 1000}
			r.StopAtSaturation, r.RampDuration = stop, seconds(float64(2*steps))
		}),
		func(s *scenario) {
			for i := range s.world.Directions {
				s.world.Directions[i].Device.Limit = d.limits[i]
				s.world.Directions[i].Mix, s.plan.Directions[i].Mix = mix, mix
			}
			s.world.Links[0].Speed, s.world.Links[1].Speed = 1000*units.Gbps, 1000*units.Gbps
		},
	}
	return d
}

func TestPropertyWhatIsFoundIsTheLimit(t *testing.T) {
	tier.Plain(t)
	for seed := range uint64(tier.Times(30, 100)) {
		d := drawn(rand.New(rand.NewPCG(seed, 7)))
		s := scene(d.options...)
		rep := s.run(t)
		symmetric := d.limits[0] == d.limits[1]
		if symmetric && !rep.Answer.Saturated || !rep.Answer.Confirmed || !rep.Answer.Directions[0].Limit.Saturated ||
			rep.Answer.Directions[0].Limit.Reason != report.LossAboveLimit {
			t.Fatalf("seed %d, limits %s and %s, target %s: %+v\n%s", seed, d.limits[0], d.limits[1], d.target,
				rep.Answer, trace(rep))
		}
		boundedByItsOwnLoss(t, seed, d.limits, rep)
		limit := d.limits[0].PerSecond() // the narrower direction's
		// A confirmation of ten seconds lets through the saved-up burst and the loss that is allowed.
		highest := limit*(1.0015+d.burst.Seconds()/10) + 1
		for _, m := range rep.Answer.Directions {
			if got := float64(m.Received.PacketsPerSecond); got < limit*0.99-1 || got > highest {
				t.Fatalf("seed %d, limit %.0f, burst %s: received %.0f\n%s", seed, limit, d.burst, got, trace(rep))
			}
			if m.LossRatio > units.One/1000 {
				t.Fatalf("seed %d: loss %s above the limit at the reported step", seed, m.LossRatio)
			}
		}
		lossyAbove(t, seed, rep, limit)
		neverMoreThanTheTruth(t, seed, s, rep)
	}
}

// boundedByItsOwnLoss checks that an upper bound of a direction is true of that direction, however little the other
// one carries.
func boundedByItsOwnLoss(t *testing.T, seed uint64, limits [2]units.PacketRate, rep *report.Report) {
	t.Helper()
	for i, m := range rep.Answer.Directions {
		high := float64(m.Received.PacketsPerSecond) / (1 - m.Limit.Resolution.Float())
		if m.Limit.Lossy > 0 && high < limits[i].PerSecond()-1 || m.Limit.Saturated && m.Limit.Lossy == 0 {
			t.Fatalf("seed %d: %s→%s carries %s, and is said to carry at most %.0f: %+v\n%s", seed, m.From, m.To,
				limits[i], high, m.Limit, trace(rep))
		}
	}
}

// lossyAbove checks that the bracket contains the truth.
func lossyAbove(t *testing.T, seed uint64, rep *report.Report, limit float64) {
	t.Helper()
	for _, w := range rep.Windows {
		for _, m := range w.Directions {
			if m.Quality == report.Lossy && float64(m.Offered.PacketsPerSecond) < limit-1 {
				t.Fatalf("seed %d: window %d is Lossy at %d pps, below the limit of %.0f: %s", seed, w.Number,
					m.Offered.PacketsPerSecond, limit, m.Reason)
			}
		}
	}
}

// neverMoreThanTheTruth checks that the totals of returned frames are exactly what the device forwarded.
func neverMoreThanTheTruth(t *testing.T, seed uint64, s *scenario, rep *report.Report) {
	t.Helper()
	for i, total := range rep.Totals {
		truth := s.forwarded[i]
		if diff := truth - total.Returned.Packets - total.ReceiveErrors; !total.Drained || diff < 0 ||
			diff > int64(len(s.world.Generators)) {
			t.Fatalf("seed %d: totals %+v, the device forwarded %d", seed, total, truth)
		}
	}
}

func TestPropertyAThrottledGeneratorIsNeverAWeakDevice(t *testing.T) {
	for seed := range uint64(tier.Times(15, 50)) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		d := drawn(rnd)
		maxRate := d.limits[0].Mul(units.One/20 + units.Ratio(rnd.Int64N(int64(units.One*9/10))))
		s := scene(append(d.options, onGenerator(func(g *sim.Generator) { g.MaxRate = maxRate }), replicas1)...)
		s.world.Generators[0].MaxRate = maxRate
		rep := s.run(t)
		if rep.Answer.Saturated || rep.Answer.Reason != report.GeneratorLimited || !rep.Answer.Measured {
			t.Fatalf("seed %d, limit %s, generator %s: %+v\n%s", seed, d.limits[0], maxRate, rep.Answer, trace(rep))
		}
		for _, m := range rep.Answer.Directions {
			if got := float64(m.Received.PacketsPerSecond); got < maxRate.PerSecond()*0.98-1 ||
				got > maxRate.PerSecond()*1.002+1 {
				t.Fatalf("seed %d, generator %s: lower bound %.0f\n%s", seed, maxRate, got, trace(rep))
			}
		}
	}
}

// replicas1 makes sure that there is one generator, without changing how it is.
func replicas1(s *scenario) { s.world.Generators = s.world.Generators[:1] }

func TestPropertyReceiveDropsAreNeverTheDevices(t *testing.T) {
	tier.Plain(t)
	for seed := range uint64(tier.Times(15, 50)) {
		rnd := rand.New(rand.NewPCG(seed, 9))
		d := drawn(rnd)
		rate := d.limits[0].Mul(units.One/10 + units.Ratio(rnd.Int64N(int64(units.One*8/10))))
		s := scene(append(d.options, replicas1, deviceLimit(0))...)
		for i := range s.world.Directions {
			s.world.Directions[i].Device.Limit = 0
		}
		s.world.Generators[0].ReceiveDrops = units.One/100 + units.Ratio(rnd.Int64N(int64(units.One/2)))
		s.world.Generators[0].ReceiveDropsFrom = rate
		rep := s.run(t)
		if rep.Answer.Saturated || rep.Answer.Reason == report.LossAboveLimit {
			t.Fatalf("seed %d: a device that loses nothing is called saturated: %+v\n%s", seed, rep.Answer, trace(rep))
		}
		for _, w := range rep.Windows {
			if w.Quality == report.Lossy {
				t.Fatalf("seed %d: window %d is Lossy: %s", seed, w.Number, w.Reason)
			}
		}
	}
}

func TestPropertyAnInterruptionAtAnyMomentLeavesAReportAndNothingElse(t *testing.T) {
	for moment := 0.05; moment < 47; moment += 0.37 * float64(tier.Times(3, 1)) {
		rep := scene(replicas(2), interrupted(moment)).run(t)
		if rep.Ending != report.Interrupted && rep.Ending != report.Completed {
			t.Fatalf("interrupted after %.2f s: %s %s", moment, rep.Ending, rep.Message)
		}
		if rep.Answer.Reason == "" || rep.Finished.Before(rep.Started) ||
			rep.Finished.Sub(rep.Started) > time.Duration((moment+6)*float64(time.Second)) {
			t.Fatalf("interrupted after %.2f s: ended at %s with %+v", moment, rep.Finished.Sub(rep.Started),
				rep.Answer)
		}
		if rep.Ending == report.Interrupted && rep.Answer.Confirmed {
			t.Fatalf("interrupted after %.2f s and yet confirmed", moment)
		}
	}
}

func TestPropertyALostGeneratorAtAnyMomentVoidsNoEarlierWindow(t *testing.T) {
	tier.Plain(t)
	whole := scene(replicas(2)).run(t)
	for moment := 0.05; moment < 43; moment += 0.73 * float64(tier.Times(2, 1)) {
		rep := scene(replicas(2), fault(1, sim.Restart, moment), unreachable(1)).run(t)
		if rep.Ending != report.GeneratorLost || rep.Answer.Confirmed {
			t.Fatalf("lost after %.2f s: %s %+v", moment, rep.Ending, rep.Answer)
		}
		for i, w := range rep.Windows {
			if w.Quality != report.Invalid && (w.Load != whole.Windows[i].Load ||
				w.Quality != whole.Windows[i].Quality) {
				t.Fatalf("lost after %.2f s: window %d is %s (%s), without the loss it is %s", moment, w.Number,
					w.Quality, w.Reason, whole.Windows[i].Quality)
			}
		}
	}
}
