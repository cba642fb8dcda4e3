package truth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// compareGoals compares each goal of a search with the device, as if it were the only one.
func (d Device) compareGoals(r *report.Report) (faults []string) {
	for _, g := range r.Answer.Goals {
		view, _ := r.ForGoal(g.Name)
		view.Answer.Goals = nil
		view.Figures = slices.DeleteFunc(slices.Clone(r.Figures),
			func(f report.Figure) bool { return f.Goal != g.Name })
		for _, fault := range d.compareAnswer(view) {
			faults = append(faults, g.Name+": "+fault)
		}
	}
	return faults
}

// compareSoak compares a direction's critical load with its limit. The device's limit is sharp, so that it loses the
// soak's share of its frames at a load that is larger than the limit by that share. In the shortest trial it also
// forwards what it has saved up.
func (d Device) compareSoak(r *report.Report, m report.Direction) []string {
	name := Direction(m.From, m.To)
	limit, ok := d.Limits[name]
	if !ok {
		return []string{name + " is no direction of the device"}
	}
	c := m.Estimate
	if c == nil {
		return []string{name + ": the soak says nothing of its critical load"}
	}
	shortest := time.Duration(math.MaxInt64)
	for _, w := range r.Windows {
		if w.Phase == report.Trial && w.Counts() {
			shortest = min(shortest, time.Duration(w.Duration))
		}
	}
	low, high := float64(limit)*(1-room), float64(limit)*(1+room+
		d.Burst.Seconds()/shortest.Seconds())/(1-c.LossRatio.Float())
	if c.Low != "" && c.Low.Float() > high || c.High != "" && c.High.Float() < low {
		return []string{fmt.Sprintf("%s: the critical load is said to be from %s to %s packets/s, and the device "+
			"forwards %d", name, cmp.Or(c.Low, "any"), cmp.Or(c.High, "any"), limit)}
	}
	return nil
}

// compareBursts compares the bounds that a direction's bursts show with the number of frames that the device holds.
// Both the limiter's clock and the generator's spacing may bring the burst's end one frame nearer.
func (d Device) compareBursts(m report.Direction) []string {
	buffer, found := m.OwnFigure(procedure.BufferFrames)
	if !found || d.Holds == 0 {
		return nil
	}
	holds := float64(d.Limits[Direction(m.From, m.To)]) * d.Holds.Seconds()
	slack := 2 + holds*room
	if buffer.Low != "" && buffer.Low.Float() > holds+slack || buffer.High != "" &&
		buffer.High.Float() < holds-slack {
		return []string{fmt.Sprintf("%s: from %s to %s frames are said to be held, and the device holds %.0f",
			Direction(m.From, m.To), buffer.Low, cmp.Or(buffer.High, "any"), holds)}
	}
	return nil
}
