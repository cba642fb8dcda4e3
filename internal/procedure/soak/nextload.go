package soak

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/losscurve"
	"github.com/linerate-dev/linerate/internal/units"
)

const (
	// approaches is how many trials after the first one send what came back of the trial before, before curves
	// choose the load.
	approaches = 2
	// cautious is the probability that the critical load lies above that of a trial at the estimate's lower end.
	cautious = 0.9
)

// nextLoad is the load of the next trial, and why. As long as nothing is lost it is the highest. The next two trials go
// down to what came back of the trial before. After these, each trial is for one direction, in turn. Its load is one of
// the following, in turn: the critical load by the curves of each shape, and a load that most probably lies below the
// critical one. Trials at these loads narrow the estimate.
func (s Soak) nextLoad(trials []report.Window) (units.Ratio, string) {
	lossy := slices.DeleteFunc(s.directionsOf(trials), func(d direction) bool { return d.lost == 0 })
	switch {
	case len(lossy) == 0:
		return units.One, ""
	case len(trials) <= approaches:
		latest := trials[len(trials)-1]
		return s.onGrid(units.Ratio(float64(latest.Load) * (1 - highestLossRatio(latest).Float()))),
			"what came back of the trial before"
	}
	turn := len(trials) - approaches - 1
	d := lossy[turn%len(lossy)]
	if n := turn / len(lossy) % (len(losscurve.Shapes) + 1); n < len(losscurve.Shapes) {
		shape := losscurve.Shapes[n]
		return d.loadOf(d.fit(shape, d.worst).Mean()), fmt.Sprintf("the critical load by the %s function", shape)
	}
	low := math.Inf(1)
	for _, shape := range losscurve.Shapes {
		low = min(low, d.fit(shape, d.worst).Quantile(1-cautious))
	}
	return d.loadOf(low), "the lower end of where the critical load may be"
}

// highestLossRatio is that of the direction that lost the largest share.
func highestLossRatio(w report.Window) (largest units.Ratio) {
	for _, m := range w.Directions {
		largest = max(largest, m.LossRatio)
	}
	return largest
}
