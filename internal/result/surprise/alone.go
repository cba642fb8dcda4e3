package surprise

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// standalone is the surprises of a cell by itself.
func (c *cell) standalone() (surprises []Surprise) {
	if words := c.lossFalls(); words != "" {
		surprises = append(surprises, Surprise{Rule: "loss grows with load", Cells: []string{c.Name}, Words: words})
	}
	if words := c.beyondGenerators(); words != "" {
		surprises = append(surprises, Surprise{Rule: "no more than the generators do by themselves",
			Cells: []string{c.Name}, Words: words})
	}
	return surprises
}

// lossFalls names the smallest load of the runs' median curve that surely lost more than a larger load lost at most.
func (c *cell) lossFalls() string {
	curve := slices.SortedFunc(slices.Values(c.Curve),
		func(a, b report.CurvePoint) int { return int(min(max(a.Load.Micros-b.Load.Micros, -1), 1)) })
	for i, small := range curve {
		for _, large := range curve[i+1:] {
			if small.Load.Kind == large.Load.Kind && small.LossRatioMin.Float() > large.LossRatio.Float() {
				return fmt.Sprintf("%s lost %s at %s and %s at %s, though the first is the smaller load", c.title(),
					loss(small.LossRatioMin), small.Load, loss(large.LossRatio), large.Load)
			}
		}
	}
	return ""
}

func loss(n report.Number) string {
	return wording.Loss(units.RatioOfShare(n.Float()))
}

// beyondGenerators says that a device carried more in each of its runs than its generators sent without it, so one
// of the two was disturbed.
func (c *cell) beyondGenerators() string {
	if c.Capacity == nil {
		return ""
	}
	lowest, _ := carried(c.SuiteCell, func(f *report.Figures) int64 { return f.PacketsPerSecond })
	if lowest <= 1.01*float64(c.Capacity.PacketsPerSecond) {
		return ""
	}
	return fmt.Sprintf("%s carried %s, though its generators did %s by themselves (%s)", c.title(),
		wording.PacketRate(c.Figures.PacketsPerSecond), wording.PacketRate(c.Capacity.PacketsPerSecond),
		c.Capacity.Cell)
}
