package analysis

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

const (
	// flatSpan is how many times the lowest load the highest must be, at least, for their loss to be the same at
	// every load, and flatLost how many frames must be lost in all, so that chance explains little of it.
	flatSpan, flatLost = 4, 30
	// flatSigmas is how far a window's loss may be from the mean of all, in its standard deviations by chance alone.
	flatSigmas = 3
)

// flatLoss is the share of frames that a direction lost at each load from one to another, for which overload is no
// reason.
type flatLoss struct {
	direction      report.Direction // its name
	share          float64
	lowest, higher int64 // packets per second
}

// flatLossSentence says which directions lose the same share at each load, where that is more than is allowed, with
// the way out. It is empty where no direction does.
func flatLossSentence(r *report.Report) string {
	limit := report.PlanOf(r).Procedure.MaxLossRatio
	for i := range report.PlanOf(r).Directions {
		f, ok := flatLossOf(r.Windows, i)
		if !ok || f.share <= limit.Float() {
			continue
		}
		text := fmt.Sprintf("the device loses %s of the frames %s at every load from %s to %s, more than the %s allowed: it isn't overload. Look for the cause", percent(units.Ratio(f.share*float64(units.One))),
			f.direction.Name(), wording.PacketRate(f.lowest), wording.PacketRate(f.higher), percent(limit))
		if acceptable(f.share) == 0 {
			return text
		}
		accept := fmt.Sprintf(", or accept the loss (%%s: %s)", wording.Ratio(acceptable(f.share)))
		return text + report.PlanOf(r).Advice(accept, procedure.MaxLossRatio)
	}
	return ""
}

// acceptable is a limit somewhat above a share of loss, of one digit. It is 0 where no limit is.
func acceptable(share float64) units.Ratio {
	limit := 1.25 * share
	if limit >= 1 {
		return 0
	}
	digit := math.Pow(10, math.Floor(math.Log10(limit)))
	return units.Ratio(math.Round(math.Ceil(limit/digit) * digit * float64(units.One)))
}

// flatLossOf is the loss that direction i has at each load, from the lowest on up to where it begins to lose more,
// as at a limit.
func flatLossOf(windows []report.Window, i int) (flatLoss, bool) {
	var directions []report.Direction
	for _, w := range windows {
		loads := w.Phase != report.WarmUp && !w.Phase.AfterAnswer() && w.Phase != report.Bursting
		if loads && i < len(w.Directions) && w.Directions[i].Quality != report.Invalid &&
			w.Directions[i].Sent.Packets > 0 {
			directions = append(directions, w.Directions[i])
		}
	}
	slices.SortStableFunc(directions, func(a, b report.Direction) int {
		return int(a.Offered.PacketsPerSecond - b.Offered.PacketsPerSecond)
	})
	for n := len(directions); n > 2; n-- {
		if f, ok := sameLoss(directions[:n]); ok {
			return f, true
		}
	}
	return flatLoss{}, false
}

// sameLoss says that chance alone explains how the losses of these directions differ, which are sorted by load.
// Directions of so few frames that no loss at all would be chance are judged together.
func sameLoss(directions []report.Direction) (flatLoss, bool) {
	var lost, sent int64
	for _, d := range directions {
		lost, sent = lost+lostOf(d), sent+d.Sent.Packets
	}
	f := flatLoss{direction: directions[0], share: float64(lost) / float64(sent),
		lowest: directions[0].Offered.PacketsPerSecond}
	var expected, found, edges float64
	passes := 1 - f.share // of nearly all frames that are lost, the few that pass scatter
	for _, d := range directions {
		expected, found, edges = expected+f.share*float64(d.Sent.Packets), found+float64(lostOf(d)), edges+
			float64(d.EdgeFrames)
		if expected <= flatSigmas*flatSigmas {
			continue
		}
		if math.Abs(found-expected) > flatSigmas*math.Sqrt(expected*passes)+edges {
			return f, false
		}
		f.higher = d.Offered.PacketsPerSecond
		expected, found, edges = 0, 0, 0
	}
	return f, lost >= flatLost && f.higher >= flatSpan*f.lowest
}

// lostOf is how many frames did not come back, and no generator dropped.
func lostOf(d report.Direction) int64 {
	return max(0, d.Sent.Packets-d.Returned.Packets-d.GeneratorDrops())
}
