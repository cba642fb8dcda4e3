package truth

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// maxWait is how long after the last frame left some frames may still wait before the device's limit, on a busy
// machine.
const maxWait = 50 * time.Millisecond

// searched says whether the Report is of a procedure that searches for the limit. The others measure loads that
// are given.
func searched(r *report.Report) bool {
	return slices.Contains([]string{"", plan.TypeRamp, plan.TypeSearch}, r.Plan.Procedure.Type)
}

// compareGivenLoads compares the figures of loads that were given with what the device forwards of them. The
// generator may have sent less than asked for, or not all the time, and never faster. So the device's own share
// of each figure lies between two bounds:
//
//	0 ────────┬──────────────────────┬──────────── sent
//	        least                   most
//	          │                      └ what the device forwards of that load × time, and what it had saved up
//	          └ the share of sent that it forwards of the load asked for, and more only where the generator paused
//
// A figure's interval must not lie outside of them. What has no High claims nothing above its Low.
func (d Device) compareGivenLoads(r *report.Report) (faults []string) {
	if r.Answer.Saturated {
		faults = append(faults, "a limit is claimed, and nothing searched for one")
	}
	faults = append(faults, d.checkReason(r)...)
	for _, m := range r.Answer.Directions {
		faults = append(faults, d.compareFigures(r, m, 0, "")...)
	}
	for _, w := range curve(r) {
		for _, m := range w.Directions {
			faults = append(faults, d.compareFigures(r, m, w.Load, fmt.Sprintf("window %d, ", w.Number))...)
		}
	}
	return faults
}

// checkReason checks why the result ended. If the reason is lost frames, some direction was offered more at the
// answer's load than the device forwards. Otherwise the result says what was the end.
func (d Device) checkReason(r *report.Report) []string {
	if r.Answer.LowerBound() {
		return checkLowerBound("the result", r.Answer.Reason, r.Answer.Message)
	}
	beyond := func(m report.Direction) bool {
		load := max(m.Intended.PacketsPerSecond, m.Offered.PacketsPerSecond)
		return float64(load) >= float64(d.Limits[Direction(m.From, m.To)])*(1-room)
	}
	if !slices.ContainsFunc(r.Answer.Directions, beyond) {
		return []string{fmt.Sprintf("the reason is %s, and the device forwards all of that load: %s", r.Answer.Reason,
			r.Answer.Message)}
	}
	return nil
}

// curve are the windows of a curve, the last that counts for each load.
func curve(r *report.Report) (windows []report.Window) {
	if r.Plan.Procedure.Type != plan.TypeFrameLoss {
		return nil
	}
	for _, w := range r.Windows {
		if w.Phase == report.Trial && w.Counts() {
			windows = append(slices.DeleteFunc(windows, func(o report.Window) bool { return o.Load == w.Load }), w)
		}
	}
	return windows
}

// compareFigures compares the figures of a direction at a load, the received and the lost share of what was
// sent, with the device.
func (d Device) compareFigures(r *report.Report, m report.Direction, load units.Ratio,
	context string) (faults []string) {
	name := Direction(m.From, m.To)
	limit, ok := d.Limits[name]
	if !ok {
		return []string{name + " is no direction of the device"}
	}
	low, high := d.forwardedOf(name, float64(limit), m, r.Plan.Procedure.MaxLossRatio.Float())
	sent, rate := float64(m.Sent.Packets), float64(m.Offered.PacketsPerSecond)/float64(max(1, m.Sent.Packets))
	for _, bounds := range []struct {
		metric    report.Metric
		low, high float64
		slack     float64 // rounding
	}{
		{figures.PacketsPerSecond, low * rate, high * rate, 1},
		{figures.LossRatio, 1 - high/sent, 1 - low/sent, 1e-6},
	} {
		i := slices.IndexFunc(r.Figures, func(f report.Figure) bool {
			return f.Metric == bounds.metric &&
				f.Direction == name && f.Load == load
		})
		if i < 0 {
			faults = append(faults, fmt.Sprintf("%s%s: there is no figure %s at load %s", context, name, bounds.metric,
				load))
			continue
		}
		f := r.Figures[i]
		fault := fmt.Sprintf("%s%s: %s is said to be from %s to %s of %d sent at %d packets/s, and the device's is "+
			"from %g to %g", context, name, f.Metric, f.Low,
			cmp.Or(f.High, "any"), m.Sent.Packets, m.Offered.PacketsPerSecond, bounds.low, bounds.high)
		if f.Low.Float() > bounds.high+bounds.slack || f.High != "" && f.High.Float() < bounds.low-bounds.slack {
			faults = append(faults, fault)
		}
	}
	return faults
}

// forwardedOf is how many of the sent frames the device forwards at least and at most.
func (d Device) forwardedOf(name string, limit float64, m report.Direction, lossAllowed float64) (low, high float64) {
	sent, offered := float64(m.Sent.Packets), float64(max(1, m.Offered.PacketsPerSecond))
	load, seconds := max(offered, float64(m.Intended.PacketsPerSecond)), sent/offered
	cut := float64(m.EdgeFrames + m.ReceiveErrors + 1)
	part := 1 - lossAllowed
	for _, at := range loadsNear(load) {
		part = min(part, d.forwarded(name, at)/at)
	}
	rate := max(d.forwarded(name, offered), d.forwarded(name, load)*offered/load)
	if offered < load*(1-room) { // the generator paused, and the device may have forwarded at its limit meanwhile
		rate = max(rate, limit)
	}
	low = sent*part - cut
	high = rate*seconds + limit*(maxWait.Seconds()+d.Burst.Seconds()) + cut
	return max(0, low), min(high, sent+cut)
}
