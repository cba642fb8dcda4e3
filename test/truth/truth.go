// Package truth holds a Report against the device that it was measured of, on any machine, however busy.
//
// The judge never knows a device's limit; the test does. On a calm machine a Report says the limit. On a busy one it may say less: a lower bound, or
// windows that say nothing. What it may never do is claim what isn't so:
//
//	                      limit
//	──────────┬─────────────┼──────┬────────────▶ packets/s
//	       received         │   received ÷ (1 − resolution)
//	          └── "saturated" ─────┘                the limit is within, or the claim is wrong
//	          └── a lower bound ───────────▶        the limit is above it, or the claim is wrong
//	   a window that lost frames down here is wrong │
package truth

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Device is what a test knows of the device under test.
type Device struct {
	// Limits are what it forwards, in packets/s, by direction, such as "west→east".
	Limits map[string]int64
	// Burst is for how long it saves up what it didn't forward: so much more comes back in any window.
	Burst time.Duration
}

// Direction names a direction as Device.Limits does.
func Direction(from, to string) string { return from + "→" + to }

// Faults are the claims of a Report that aren't so; none: it tells the truth. A Report without a figure is a fault, unless each of its windows says why it says
// nothing.
func (d Device) Faults(r *report.Report) (faults []string) {
	for _, w := range r.Windows {
		faults = append(faults, d.lossBelow(w)...)
	}
	if r.Ending != report.Completed {
		return append(faults, fmt.Sprintf("ending %s: %s", r.Ending, r.Message))
	}
	if !r.Result.Measured {
		return append(faults, unmeasured(r)...)
	}
	if got, want := len(r.Result.Directions), len(d.Limits); got != want {
		faults = append(faults, fmt.Sprintf("the result has %d directions, the device %d", got, want))
	}
	if searched(r) {
		for _, m := range r.Result.Directions {
			faults = append(faults, d.claim(r, m)...)
		}
		return faults
	}
	return append(faults, d.givenLoads(r)...)
}

// room is how close to a limit even sending and a limiter's own clock bring a load, as a share of it: a load in between may lose frames or not.
const room = 0.01

// lossBelow: the device lets such a load through, so who says that it lost frames there is wrong. What counts is the load that was asked for, if that is more: a
// generator that stood still for a moment offers less in the mean, and as much as asked for in the rest of the window.
func (d Device) lossBelow(w report.Window) (faults []string) {
	for _, m := range w.Directions {
		limit := float64(d.Limits[Direction(m.From, m.To)])
		if load := max(m.Intended.PacketsPerSecond, m.Offered.PacketsPerSecond); m.Quality == report.Lossy && float64(load) < limit*(1-room) {
			faults = append(faults, fmt.Sprintf("window %d, %s→%s is Lossy at %d packets/s, and the device forwards %.0f: %s", w.Number, m.From, m.To,
				load, limit, m.Reason))
		}
	}
	return faults
}

// unmeasured: there may be no figure where no window could be judged, and each says why; after a search also where those that could lost frames. A warm-up
// counts for nothing.
func unmeasured(r *report.Report) (faults []string) {
	if len(r.Windows) == 0 {
		return []string{fmt.Sprintf("nothing was measured, and no window says why: %s", r.Result.Message)}
	}
	for _, w := range r.Windows {
		if w.Phase == report.WarmUp || w.Quality == report.Lossy && searched(r) {
			continue
		}
		if w.Quality != report.Invalid || w.Reason == "" {
			faults = append(faults, fmt.Sprintf("there is no figure, and window %d is %s: %s %s", w.Number, w.Quality, w.Reason, r.Result.Message))
		}
	}
	return faults
}

// claim holds a direction's figure against the limit.
func (d Device) claim(r *report.Report, m report.Measured) (faults []string) {
	name := Direction(m.From, m.To)
	limit, known := d.Limits[name]
	if !known {
		return []string{name + " is no direction of the device"}
	}
	seconds := time.Duration(r.Windows[r.Result.Window-1].Duration).Seconds()
	lossAllowed := share(r.Plan.Procedure.MaxLossRatio)
	most := float64(limit)*(1+lossAllowed+d.Burst.Seconds()/seconds) + float64(m.EdgeFrames)/seconds + 1
	if got := float64(m.Received.PacketsPerSecond); got > most {
		faults = append(faults, fmt.Sprintf("%s: %d packets/s are said to have come back, and the device forwards %d", name, m.Received.PacketsPerSecond, limit))
	}
	if !r.Result.Saturated {
		return append(faults, lowerBound(r.Result)...)
	}
	if lossy := float64(m.Offered.PacketsPerSecond) / (1 - share(r.Result.Resolution)); float64(limit) > lossy*(1+lossAllowed)+1 {
		faults = append(faults, fmt.Sprintf("%s: frames are said to be lost at %.0f packets/s, and the device forwards %d", name, lossy, limit))
	}
	return faults
}

// lowerBound: what isn't the device's limit says what kept it from being found.
func lowerBound(r report.Result) []string {
	why := []report.Reason{report.ReachedTarget, report.GeneratorLimited, report.MachineLimited, report.Inconclusive}
	if !slices.Contains(why, r.Reason) || r.Message == "" {
		return []string{fmt.Sprintf("a lower bound for the reason %s: %q", r.Reason, r.Message)}
	}
	return nil
}

// share is a ratio as a number.
func share(r units.Ratio) float64 { return float64(r) / float64(units.One) }
