package goals

import (
	"math"
	"time"
)

// target is a goal, or a coarser step on the way to the goal, with a larger width, shorter trials and a smaller
// duration sum.
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
	early  bool    // margins may decide a load before the sum does
}

// coarser is how many targets come before a goal's own.
const coarser = 2

// chain is the targets of a goal, the coarsest first. Their sums ascend in equal ratios from the initial trial to the
// goal's duration sum.
func (g Goal) chain(index int, grid *grid, classification Classification) []target {
	final := target{goal: index, loss: g.LossRatio, exceed: g.ExceedRatio, width: grid.width(g.Width),
		trial: g.FinalTrial, sum: g.DurationSum.Seconds(), early: classification == Sequential && g.ExceedRatio == 0.5}
	ratio := math.Pow(g.initialTrial().Seconds()/final.sum, 1.0/coarser)
	targets := make([]target, coarser+1)
	targets[coarser] = final
	for level := 1; level <= coarser; level++ {
		t := final
		t.width = grid.clamp(final.width << level)
		sum := time.Duration(math.Round(final.sum * math.Pow(ratio, float64(level)) * float64(time.Second)))
		if level == coarser {
			sum = g.initialTrial()
		}
		t.sum, t.trial = sum.Seconds(), min(g.FinalTrial, sum)
		targets[coarser-level] = t
	}
	return targets
}
