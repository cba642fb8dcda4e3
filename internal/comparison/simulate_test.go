package comparison_test

import (
	"math"
	"math/rand/v2"
	"sync"

	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/report"
)

// simulated is how many pairs of a candidate and a baseline each rate is counted over.
const simulated = 1000

// noise is what chance adds to a run, as a share of the truth: of run i of n, for a standard deviation of spread.
type noise func(r *rand.Rand, i, n int, spread float64) float64

func normal(r *rand.Rand, _, _ int, spread float64) float64 { return spread * r.NormFloat64() }

// heavy is Student's t with 3 degrees of freedom: now and then a run is far off, either way.
func heavy(r *rand.Rand, _, _ int, spread float64) float64 {
	chi := 0.0
	for range 3 {
		x := r.NormFloat64()
		chi += x * x
	}
	return spread / math.Sqrt(3) * r.NormFloat64() / math.Sqrt(chi/3)
}

// disturbed is normal, but one run of ten is disturbed, and ten spreads too low.
func disturbed(r *rand.Rand, i, n int, spread float64) float64 {
	low := 0.0
	if r.Float64() < 0.1 {
		low = 10 * spread
	}
	return normal(r, i, n, spread) - low
}

// twofold is a device that comes up in one of two states, four spreads apart.
func twofold(r *rand.Rand, i, n int, spread float64) float64 {
	if r.Float64() < 0.5 {
		return normal(r, i, n, spread) - 4*spread
	}
	return normal(r, i, n, spread)
}

// counts are how many of the simulated pairs came to each outcome.
type counts struct{ passed, failed, undecided int }

func (c *counts) add(o report.Outcome) {
	switch o {
	case report.Passed:
		c.passed++
	case report.DidFail:
		c.failed++
	default:
		c.undecided++
	}
}

// setting is one row of a simulation.
type setting struct {
	runs           int
	spread, change float64 // of a run; candidate less than baseline, as shares
	allowed        float64
	noise          noise
	drift          float64 // how much each later run of both has less, as a share
	interleaved    bool    // candidate and baseline take turns; else all runs of the baseline come first
	resolution     float64 // how coarse the figures are, as a share
	assumed        float64 // the spread that is vouched for
}

// simulate judges so many pairs of sets of runs. The same setting is simulated the same at each call.
func simulate(s setting) (c counts) {
	r := rand.New(rand.NewPCG(uint64(s.runs), uint64(1e6*s.spread)<<32|uint64(1e6*s.change)))
	for range simulated {
		candidate, baseline := make([]comparison.Run, s.runs), make([]comparison.Run, s.runs)
		for i := range s.runs {
			baseline[i] = s.run(r, 1, i, i*s.step())
			candidate[i] = s.run(r, 1-s.change, i, i*s.step()+s.after())
		}
		c.add(judge(candidate, baseline, allow(s.allowed, s.assumed)).Outcome)
	}
	return c
}

// step and after are the moments of runs: where candidate and baseline take turns, one is every second.
func (s setting) step() int {
	if s.interleaved {
		return 2
	}
	return 1
}

func (s setting) after() int {
	if s.interleaved {
		return 1
	}
	return s.runs
}

func (s setting) run(r *rand.Rand, truth float64, i, moment int) comparison.Run {
	of := s.noise
	if of == nil {
		of = normal
	}
	v := 10_000 * truth * (1 - s.drift*float64(moment)) * (1 + of(r, i, s.runs, s.spread))
	if s.resolution == 0 {
		return comparison.Exact(v)
	}
	steps := math.Floor(math.Log(v) / s.resolution) // the highest load of a fixed grid that is below
	return comparison.Run{Low: math.Exp(steps * s.resolution), High: math.Exp((steps + 1) * s.resolution)}
}

// all simulates settings side by side.
func all(settings []setting) []counts {
	results := make([]counts, len(settings))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i := range settings {
		wg.Go(func() {
			slots <- struct{}{}
			results[i] = simulate(settings[i])
			<-slots
		})
	}
	wg.Wait()
	return results
}
