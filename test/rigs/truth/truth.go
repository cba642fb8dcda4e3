package truth

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
)

// Device is what a test knows of the device under test.
type Device struct {
	// Limits are what it forwards, in packets/s, by direction, such as "west→east".
	Limits map[string]int64
	// Weakest are what it forwards at its weakest, where that is less than Limits for some time. A window may be
	// Lossy above Weakest. nil means Limits.
	Weakest map[string]int64
	// Burst is the time for which the device saves up what it didn't forward, or lets frames wait. The frames of that
	// time may come back in any window in addition.
	Burst time.Duration
	// Holds is the time for which the device saves up or lets wait where bursts have to find just that. With 0 bursts
	// aren't compared with it.
	Holds time.Duration
	// Stall is how long the device's node may hold it up in a window, unseen by linerate, as a cluster doesn't report
	// which process waited there. Frames that come meanwhile may come back too late for the window.
	Stall time.Duration
	// Forwards is how many packets/s it forwards of a load that lasts, where that isn't all of it up to the limit,
	// and the limit of more. Each frame counts once, however often it leaves. With Forwards the loss that is claimed
	// beside a limit is compared with the device, too. nil means all up to the limit.
	Forwards func(direction string, load float64) float64
}

// forwarded is what the device forwards of a load that lasts.
func (d Device) forwarded(direction string, load float64) float64 {
	if d.Forwards != nil {
		return d.Forwards(direction, load)
	}
	return min(load, float64(d.Limits[direction]))
}

// Direction names a direction as Device.Limits does.
func Direction(sender, receiver string) string { return sender + "→" + receiver }

// Faults are the false claims of a Report. They are empty where all its claims are true. A Report without a figure is
// a fault, unless each of its windows has a reason for having none.
func (d Device) Faults(r *report.Report) (faults []string) {
	for _, w := range r.Windows {
		faults = append(faults, d.falseLosses(w)...)
	}
	if r.Ending != report.Completed {
		return append(faults, fmt.Sprintf("ending %s: %s", r.Ending, r.Message))
	}
	if len(r.Answer.Goals) > 0 {
		return append(faults, d.compareGoals(r)...)
	}
	return append(faults, d.compareAnswer(r)...)
}

// compareAnswer compares the Report's one answer with the device.
func (d Device) compareAnswer(r *report.Report) (faults []string) {
	if !r.Answer.Measured {
		return d.checkUnmeasured(r)
	}
	if got, want := len(r.Answer.Directions), len(d.Limits); got != want {
		faults = append(faults, fmt.Sprintf("the result has %d directions, the device %d", got, want))
	}
	if r.Plan.Procedure.Type == plan.TypeSoak {
		for _, m := range r.Answer.Directions {
			faults = append(faults, d.compareSoak(r, m)...)
		}
		return faults
	}
	if searched(r) {
		for _, m := range r.Answer.Directions {
			faults = append(faults, d.compareLimit(r, m)...)
		}
		return append(faults, d.compareTotal(r)...)
	}
	for _, m := range r.Answer.Directions {
		faults = append(faults, d.compareBursts(m)...)
	}
	return append(faults, d.compareGivenLoads(r)...)
}

// room is how close to a limit even sending and a limiter's own clock bring a load, as a share of it. A load in
// between may lose frames or not.
const room = 0.01

// falseLosses finds windows that claim lost frames at a load that the device forwards. The load that was asked for
// counts if it is the higher one, as a generator that stood still for a moment offers less in the mean, and as much
// as asked for in the rest of the window.
func (d Device) falseLosses(w report.Window) (faults []string) {
	weakest := d.Limits
	if d.Weakest != nil {
		weakest = d.Weakest
	}
	for _, m := range w.Directions {
		limit := float64(weakest[Direction(m.From, m.To)])
		load := max(m.Intended.PacketsPerSecond, m.Offered.PacketsPerSecond)
		if missing := m.LossRatioMin.Float() * float64(m.Sent.Packets); d.Stall > 0 &&
			missing <= float64(load)*d.Stall.Seconds() {
			continue
		}
		if m.Quality == report.Lossy && float64(load) < limit*(1-room) {
			faults = append(faults, fmt.Sprintf("window %d, %s→%s is Lossy at %d packets/s, and the device "+
				"forwards %.0f: %s", w.Number, m.From, m.To,
				load, limit, m.Reason))
		}
	}
	return faults
}

// checkUnmeasured checks a Report without a figure. That is allowed where no window could be judged, and each
// window has its reason. After a search it is also allowed where all windows that could be judged lost frames.
// A warm-up counts for nothing, nor does a short window that was clean by chance where the device loses too
// much of any load.
func (d Device) checkUnmeasured(r *report.Report) (faults []string) {
	if len(r.Windows) == 0 {
		return []string{fmt.Sprintf("nothing was measured, and no window says why: %s", r.Answer.Message)}
	}
	if unproven(r) {
		return nil
	}
	for _, w := range r.Windows {
		if w.Phase == report.WarmUp || searched(r) && (w.Quality == report.Lossy || d.neverClean()) {
			continue
		}
		if w.Quality != report.Invalid || w.Reason == "" {
			faults = append(faults, fmt.Sprintf("there is no figure, and window %d is %s: %s %s", w.Number, w.Quality,
				w.Reason, r.Answer.Message))
		}
	}
	return faults
}

// unproven says whether a search claims nothing. Edges of the windows that looked clean may hide more loss than is
// allowed, and a load that looked clean lost frames when it was held. On a machine that keeps the generator from
// sending evenly that is the truth.
func unproven(r *report.Report) bool {
	return searched(r) && r.Answer.Reason == report.Inconclusive &&
		slices.ContainsFunc(r.Windows, func(w report.Window) bool {
			return w.Phase == report.Confirm &&
				w.Quality == report.Lossy
		})
}

// neverClean says whether in some direction the device loses more than is allowed of every load.
func (d Device) neverClean() bool {
	return slices.Contains(slices.Collect(maps.Values(d.Limits)), 0)
}

// compareLimit compares a direction's figure with its limit.
func (d Device) compareLimit(r *report.Report, m report.Direction) (faults []string) {
	name := Direction(m.From, m.To)
	limit, ok := d.Limits[name]
	if !ok {
		return []string{name + " is no direction of the device"}
	}
	claimed := ownLimit(r, m)
	if claimed.Window < 1 || claimed.Window > len(r.Windows) {
		return []string{fmt.Sprintf("%s: its figures are of window %d, and there are %d", name, claimed.Window,
			len(r.Windows))}
	}
	seconds := time.Duration(r.Windows[claimed.Window-1].Duration).Seconds()
	lossAllowed := r.Plan.Procedure.MaxLossRatio.Float()
	high := float64(limit)*(1+lossAllowed+d.Burst.Seconds()/seconds) + float64(m.EdgeFrames)/seconds + 1
	if got := float64(m.Received.PacketsPerSecond); got > high {
		faults = append(faults, fmt.Sprintf("%s: %d packets/s are said to have come back with no more loss than is "+
			"allowed, and the device forwards %d so", name, m.Received.PacketsPerSecond, limit))
	}
	faults = append(faults, d.compareLoss(r, m)...)
	if !claimed.Saturated {
		return append(faults, checkLowerBound(name, claimed.Reason, r.Answer.Message)...)
	}
	lossy := float64(m.Offered.PacketsPerSecond) / (1 - claimed.Resolution.Float())
	if float64(limit) > lossy*(1+lossAllowed)+1 {
		faults = append(faults, fmt.Sprintf("%s: frames are said to be lost at %.0f packets/s, and the device "+
			"forwards %d", name, lossy, limit))
	}
	return faults
}

// compareTotal checks that the upper bound of the sum of all directions is not less than what they forward.
func (d Device) compareTotal(r *report.Report) []string {
	sum := int64(0)
	for _, limit := range d.Limits {
		sum += limit
	}
	i := slices.IndexFunc(r.Figures, func(f report.Figure) bool {
		return f.Metric == figures.PacketsPerSecond && f.Direction == report.AllDirections && f.Load == 0
	})
	if i < 0 || r.Figures[i].High == "" {
		return nil
	}
	if high := r.Figures[i].High.Float(); float64(sum) > high*(1+r.Plan.Procedure.MaxLossRatio.Float())+1 {
		return []string{fmt.Sprintf("all directions together: no more than %.0f packets/s are said to be "+
			"forwarded, and the device forwards %d", high, sum)}
	}
	return nil
}

// ownLimit is what the Report says of a direction by itself, or of all of them.
func ownLimit(r *report.Report, m report.Direction) report.DirectionLimit {
	if m.Limit != nil {
		return *m.Limit
	}
	return report.DirectionLimit{Reason: r.Answer.Reason, Saturated: r.Answer.Saturated, Confirmed: r.Answer.Confirmed,
		Window: r.Answer.Window, Resolution: r.Answer.Resolution}
}

// compareLoss compares the loss that is claimed beside a limit with the device. Its interval must overlap with what
// the device loses of that load. A load within 1 % of a limit may lose frames or not, so the loss of any load in
// between will do.
func (d Device) compareLoss(r *report.Report, m report.Direction) []string {
	name, load := Direction(m.From, m.To), float64(m.Offered.PacketsPerSecond)
	i := slices.IndexFunc(r.Figures, func(f report.Figure) bool {
		return f.Metric == figures.LossRatio &&
			f.Direction == name && f.Load == 0
	})
	if d.Forwards == nil || i < 0 || load <= 0 {
		return nil
	}
	f, low, high := r.Figures[i], 1.0, 0.0
	for _, at := range loadsNear(load) {
		lost := max(0, 1-d.forwarded(name, at)/at)
		low, high = min(low, lost), max(high, lost)
	}
	frame := 1.01 / float64(max(1, m.Sent.Packets)) // one in N may be one more or less in a window, and rounding
	if f.Low.Float() > high+frame || f.High != "" && f.High.Float() < low-frame {
		return []string{fmt.Sprintf("%s: a loss of %s to %s is claimed at %.0f packets/s, and the device loses "+
			"from %g to %g of it", name, f.Low, cmp.Or(f.High, "any"), load, low, high)}
	}
	return nil
}

// loadsNear are loads that can't be distinguished from one.
func loadsNear(load float64) []float64 { return []float64{load * (1 - room), load, load * (1 + room)} }

// checkLowerBound checks that a result without the device's limit says what kept the limit from being found.
func checkLowerBound(name string, reason report.Reason, message string) []string {
	reasons := []report.Reason{report.TargetReached, report.GeneratorLimited, report.MachineLimited,
		report.Inconclusive, report.OtherDirection, report.BurstsOnly, report.NotHeld}
	if !slices.Contains(reasons, reason) || message == "" {
		return []string{fmt.Sprintf("%s: a lower bound for the reason %s: %q", name, reason, message)}
	}
	return nil
}
