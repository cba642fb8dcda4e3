package frames_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
	"github.com/linerate-dev/linerate/test/rigs/tier"
	"github.com/linerate-dev/linerate/test/rigs/unitstest"
)

// byDefault is a ramp with its defaults, of 64-byte frames on links of that speed, to a device that forwards so many a
// second in each direction, and saves up three frames.
func byDefault(speed units.BitRate, limit float64, options ...option) *scenario {
	return scene(append([]option{func(s *scenario) {
		mix := units.Traffic{Packets: 1, Bytes: 64}
		for i := range s.world.Directions {
			d := &s.world.Directions[i]
			d.Mix, d.Device.Limit = mix, units.PacketRate(limit*float64(units.PacketPerSecond))
			d.Device.Burst = max(10*time.Millisecond, time.Duration(3e9/limit))
			s.plan.Directions[i].Mix, s.world.Links[i].Speed = mix, speed
		}
		s.plan.Procedure.Ramp = plan.Ramp{WarmupRate: unitstest.Rate("1kpps"), WarmupDuration: seconds(30),
			TargetRate: unitstest.Rate("100%"), RampDuration: seconds(600), StepDuration: seconds(2),
			SettleDuration: plan.Duration(500 * time.Millisecond), Precision: units.One / 200, ConfirmDuration: seconds(10),
			HoldDuration: seconds(30)}
	}}, options...)...)
}

// searchByDefault is a search with its defaults instead.
func searchByDefault(s *scenario) {
	searching(plan.ClassifyRFC9971, 1, 21)(s)
	p := s.plan.Procedure.Search
	p.MinRate, p.MaxRate, p.WarmupDuration = unitstest.Rate("0.0001%"), unitstest.Rate("100%"), seconds(5)
}

// limitBetween is a limit that nobody chose, evenly by its logarithm.
func limitBetween(lowest, highest float64) float64 {
	return lowest * math.Pow(highest/lowest, rand.Float64())
}

// Line rate is five orders of magnitude above such a device. A ramp climbed for ten minutes, from 25 times the limit.
// Then it had no clean load, or its windows had too few frames.
func TestDefaultsFindALimitFarBelowLineRate(t *testing.T) {
	tier.Plain(t)
	procedures := map[string]struct {
		configure option
		lowest    float64
		longest   time.Duration
	}{
		"Ramp":                   {func(*scenario) {}, 50, 150 * time.Second},
		"Ramp of each direction": {eachDirection(0), 50, 4 * time.Minute},
		"Search":                 {searchByDefault, 150, 150 * time.Second},
	}
	for range tier.Times(3, 60) {
		for _, speed := range []units.BitRate{units.Gbps, 10 * units.Gbps} {
			for name, p := range procedures {
				limit := limitBetween(p.lowest, 4000)
				r := byDefault(speed, limit, p.configure, onGenerator(func(g *sim.Generator) {
					g.ReadTakes = time.Duration(rand.IntN(4)) * time.Millisecond
				})).run(t)
				if r.Ending != report.Completed || !r.Answer.Confirmed || r.Finished.Sub(r.Started) > p.longest {
					t.Errorf("%s, %.1f packets/s of %s: %s after %s: %s\n%s", name, limit, speed, r.Ending,
						r.Finished.Sub(r.Started), r.Answer.EvidenceText(), trace(r))
				}
				for _, d := range r.Answer.Directions {
					if got := float64(d.Received.PacketsPerSecond); math.Abs(got-limit) > max(1, limit/100) {
						t.Errorf("%s, %.1f packets/s of %s: %.0f packets/s came back: %s\n%s", name, limit, speed, got,
							r.Answer.EvidenceText(), trace(r))
					}
				}
			}
		}
	}
}

// A machine that sends 4 kpps and no more is asked for no load that it can't send for longer than a step.
func TestASlowGeneratorFindsALimitBelowItsOwn(t *testing.T) {
	tier.Plain(t)
	for range tier.Times(4, 40) {
		limit := limitBetween(50, 1000)
		r := byDefault(units.Gbps, limit, onGenerator(func(g *sim.Generator) { g.MaxRate = 4 * kpps })).run(t)
		if r.Ending != report.Completed || r.Answer.Reason != report.LossAboveLimit || !r.Answer.Confirmed {
			t.Errorf("%.1f packets/s: %s, %s: %s\n%s", limit, r.Ending, r.Answer.Reason, r.Answer.EvidenceText(), trace(r))
		}
		for _, d := range r.Answer.Directions {
			if got := float64(d.Received.PacketsPerSecond); math.Abs(got-limit) > max(1, limit/100) {
				t.Errorf("%.1f packets/s: %.0f packets/s came back: %s", limit, got, r.Answer.EvidenceText())
			}
		}
	}
}
