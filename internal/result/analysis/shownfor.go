package analysis

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// A device may save up rate that is not used, as a policer does in its bucket, and carry more than its committed
// rate until that is spent. A limit that was held right after an overload holds for as long as one likes. A lower
// bound was only seen for a while, as nothing empties a device that loses nothing.

// ofOverloads are the reasons of answers that are the part that came back of more than the device carries.
var ofOverloads = []report.Reason{report.LoadHeld, report.CurveMeasured, report.MaximumOffered, report.BurstsMeasured,
	report.TrainsMeasured, report.LoadEstimated}

// shownFor is for how long the device was seen to carry the answer, where nothing shows that it does so for longer,
// or where it lost frames of as much at another time. It is 0 where something does, or the answer is no load that
// is carried.
func shownFor(r *report.Report, c procedure.Conclusion) time.Duration {
	w := r.Windows[c.Window]
	lasted := w.Duration.Std()
	if c.Whole != nil && r.Plan.Procedure.HoldsOneLoad() { // no pause lay between its windows
		lasted = c.Whole.Duration.Std()
	}
	if duration, ok := contradictedFor(r, c, w, lasted); ok {
		return duration
	}
	open := slices.ContainsFunc(c.Estimates, func(e *report.Estimate) bool { return e.High == "" })
	switch {
	case measure.OfSessions(w):
		return 0
	case c.ShownFor > 0:
		return c.ShownFor.Std()
	case slices.Contains(ofOverloads, c.Reason) && !open, (c.Saturated || c.Reason == report.BurstsOnly) && c.Confirmed:
		return 0
	}
	for _, d := range c.Directions {
		if (!d.Saturated || !d.Confirmed) && d.Window != procedure.NoWindow {
			lasted = min(lasted, r.Windows[d.Window].Duration.Std())
		}
	}
	return lasted
}

// contradictedFor is for how long an answer was seen in which the device lost frames of as much at another time, in
// some direction.
func contradictedFor(
	r *report.Report, c procedure.Conclusion, w report.Window, lasted time.Duration,
) (time.Duration, bool) {
	if c.Whole != nil {
		w = *c.Whole
	}
	if slices.ContainsFunc(w.Directions, func(d report.Direction) bool { return contradicted(r, d) }) {
		return lasted, true
	}
	for i, d := range c.Directions { // each may have a window of its own
		if d.Window == procedure.NoWindow {
			continue
		}
		if judged := r.Windows[d.Window]; i < len(judged.Directions) && contradicted(r, judged.Directions[i]) {
			return min(lasted, judged.Duration.Std()), true
		}
	}
	return 0, false
}
