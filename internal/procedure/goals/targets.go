package goals

import (
	"math"
	"time"
)

// A target is a goal, or a coarser one on the way there: wider, with shorter trials that sum up to less.
//
//	of a goal of 60 s trials, 120 s and a width:
//	1 s in trials of 1 s, 4 widths ──▶ 10.95 s in trials of 10.95 s, 2 widths ──▶ 120 s in trials of 60 s, 1 width
type target struct {
	goal   int
	loss   float64 // the share of its frames that a good trial may lose
	exceed float64 // the share of the sum that bad trials may take
	width  int     // in steps of the grid
	trial  time.Duration
	sum    float64 // in seconds
	early  bool    // a lead may decide before the sum does
}

// coarser is how many targets come before a goal's own.
const coarser = 2

// chain is the targets of a goal, the coarsest first. Their sums descend in equal ratios from the goal's to its initial trial.
func (g Goal) chain(index int, grid *grid, classification Classification) []target {
	last := target{goal: index, loss: g.LossRatio, exceed: g.ExceedRatio, width: grid.width(g.Width), trial: g.FinalTrial, sum: g.DurationSum.Seconds(), early: classification == Sequential && g.ExceedRatio == 0.5}
	ratio := math.Pow(g.initialTrial().Seconds()/last.sum, 1.0/coarser)
	targets := make([]target, coarser+1)
	targets[coarser] = last
	for before := 1; before <= coarser; before++ {
		t := last
		t.width = grid.within(last.width << before)
		sum := time.Duration(math.Round(last.sum * math.Pow(ratio, float64(before)) * float64(time.Second)))
		if before == coarser {
			sum = g.initialTrial()
		}
		t.sum, t.trial = sum.Seconds(), min(g.FinalTrial, sum)
		targets[coarser-before] = t
	}
	return targets
}
