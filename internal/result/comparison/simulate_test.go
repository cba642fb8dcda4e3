package comparison_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/linerate-dev/linerate/internal/result/comparison"
)

// noise is what chance adds to a run, in spreads, of which the median is 0: the true figure of a device is that of
// its median run.
type noise func(r *rand.Rand) float64

func normal(r *rand.Rand) float64 { return r.NormFloat64() }

// heavy is Student's t with 3 degrees of freedom: now and then a run is far off, either way.
func heavy(r *rand.Rand) float64 {
	chi := 0.0
	for range 3 {
		x := r.NormFloat64()
		chi += x * x
	}
	return r.NormFloat64() / math.Sqrt(chi)
}

// upwards and downwards are skewed: exponential, with a long tail to one side and a sharp end on the other.
func upwards(r *rand.Rand) float64   { return r.ExpFloat64() - math.Ln2 }
func downwards(r *rand.Rand) float64 { return -upwards(r) }

// disturbed is normal, but one run of ten is ten spreads too low.
func disturbed(r *rand.Rand) float64 {
	const median = -0.1397 // of such runs: 0.9 Φ(x) + 0.1 = 0.5
	if r.Float64() < 0.1 {
		return normal(r) - median - 10
	}
	return normal(r) - median
}

// twofold is a device that comes up in one of two states, four spreads apart.
func twofold(r *rand.Rand) float64 {
	if r.Float64() < 0.5 {
		return normal(r) - 2
	}
	return normal(r) + 2
}

// side is how the runs of a candidate, or of a baseline, come out.
type side struct {
	runs   int
	noise  noise
	spread float64 // as a share
	seen   search
}

// search is what a search finds of a limit (as a logarithm).
type search func(r *rand.Rand, limit float64) comparison.Run

func exactly(_ *rand.Rand, limit float64) comparison.Run { return comparison.Exact(math.Exp(limit)) }

// onGrid is the search that takes the same steps each time.
func onGrid(width float64) search {
	return func(_ *rand.Rand, limit float64) comparison.Run {
		step := math.Floor(limit/width) * width
		return comparison.Run{Low: math.Exp(step), High: math.Exp(step + width)}
	}
}

// runsOf fills in what the runs of a device with this limit found.
func (s side) runsOf(r *rand.Rand, limit float64, runs []comparison.Run) {
	for i := range runs {
		runs[i] = s.seen(r, limit+s.spread*s.noise(r))
	}
}

// setting is one cell of a table.
type setting struct {
	words               string
	candidate, baseline side
	less, allowed       float64 // how much less the candidate is, and may be, as shares
}

// both are a candidate and a baseline whose runs come out alike.
func both(s side) setting { return setting{candidate: s, baseline: s} }

// counts are how many of the simulated pairs came to each outcome.
type counts struct{ passed, failed, of int }

// simulate judges so many pairs of sets of runs. The same setting is simulated the same at each call.
func simulate(s setting, pairs int) counts {
	r := rand.New(rand.NewPCG(uint64(100*s.candidate.runs+s.baseline.runs), uint64(1e6*s.candidate.spread)<<32|uint64(1e6*s.less)))
	odds := comparison.Odds(s.candidate.runs, s.baseline.runs)
	candidate, baseline := make([]comparison.Run, s.candidate.runs), make([]comparison.Run, s.baseline.runs)
	c := counts{of: pairs}
	for range pairs {
		limit := math.Log(10_000) + r.Float64()/10 // wherever on a search's grid
		s.candidate.runsOf(r, limit+math.Log1p(-s.less), candidate)
		s.baseline.runsOf(r, limit, baseline)
		chance := odds(candidate, baseline, 1-s.allowed)
		switch {
		case chance.Passed <= promised:
			c.passed++
		case chance.Failed <= promised:
			c.failed++
		}
	}
	return c
}

// promised is how often a claim may be wrong.
const promised = 0.025

// all simulates settings side by side.
func all(settings []setting, pairs int) []counts {
	results := make([]counts, len(settings))
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range settings {
		slots <- struct{}{}
		wg.Go(func() {
			results[i] = simulate(settings[i], pairs)
			<-slots
		})
	}
	wg.Wait()
	return results
}

// wrong is the share of the claims that were, where the candidate has just what is allowed: either is.
func (c counts) wrong() float64 { return float64(max(c.passed, c.failed)) / float64(c.of) }

// mostWrong is what counting so many pairs may find where 2.5 % are wrong: three standard errors more.
func mostWrong(pairs int) float64 {
	return promised + 3*math.Sqrt(promised*(1-promised)/float64(pairs))
}

// text are the outcomes in percent: passed, failed, undecided.
func (c counts) text() string {
	share := func(n int) string { return fmt.Sprintf("%.1f", 100*float64(n)/float64(c.of)) }
	return share(c.passed) + " · " + share(c.failed) + " · " + share(c.of-c.passed-c.failed)
}
