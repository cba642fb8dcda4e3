package report

import (
	"cmp"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Headline is a Report's line in a table of many, with what was tested with what, and the answer.
type Headline struct {
	Name     string // the test's own name
	Product  string
	Loadtest string
	Measured bool
	// Bound says that the figures are a lower bound, and must not read as the device's limit.
	Bound bool
	// Unconfirmed says that the figures are no lower bound, but a longer window that was to confirm them didn't.
	Unconfirmed bool
	// PacketsPerSecond and Layer1BitsPerSecond are what was received, summed over the directions of one window.
	PacketsPerSecond    int64
	Layer1BitsPerSecond int64
	// Percent is the share of what all directions could carry. PercentSum adds the directions' shares instead, so
	// that full duplex is 200, as the published tables have it.
	Percent    units.Percent
	PercentSum units.Percent
	// OfSessions says that traffic was sessions, and their goodput, of all directions together, is the only rate.
	OfSessions           bool
	GoodputBitsPerSecond int64
	// OfTrains says that trains were sent, and the time per frame, of the direction that takes longest, is the only
	// figure. Bound says that it is an upper bound then.
	OfTrains            bool
	PicosecondsPerFrame int64
}

// NamedHeadline is a report's line with its names alone, for which figures.HeadlineOf fills in the figures.
func NamedHeadline(r *Report) Headline {
	t := PlanOf(r).Test
	return Headline{Name: cmp.Or(t.Name, "unnamed"), Product: cmp.Or(t.Product, t.Name, "-"),
		Loadtest: cmp.Or(t.Loadtest, "-")}
}

// HasFigure says whether there is anything to show as a result.
func HasFigure(r *Report) bool {
	return r.Answer.Measured && r.Answer.Total != nil && len(r.Answer.Directions) > 0
}

// Unconfirmed says that a longer window was to confirm the figures, but didn't, so nothing is claimed from them.
func (r *Report) Unconfirmed() bool {
	return r.LacksConfirmation(r.Answer.Confirmed)
}

// LacksConfirmation says whether a figure that is confirmed or not lacks the confirmation that its procedure asks
// for. That is a longer window at the same load, or enough frames near a load that is estimated. A load that was not
// held whole lacks it in any procedure. Directions that were measured one after another have a confirmation each.
func (r *Report) LacksConfirmation(confirmed bool) bool {
	return !confirmed &&
		(PlanOf(r).Procedure.Confirmation() > 0 || r.Answer.Estimated() || r.Answer.NotHeld != "")
}

// Signed is a figure of the result with its sign, or that nothing was measured.
func (h Headline) Signed(figure string) string {
	if !h.Measured {
		return wording.NotMeasured
	}
	return h.Sign() + figure
}

// Sign goes before a figure that isn't the device's limit, or isn't confirmed.
func (h Headline) Sign() string {
	switch {
	case h.Bound && h.OfTrains:
		return "≤"
	case h.Bound:
		return "≥"
	case h.Unconfirmed:
		return "~"
	}
	return ""
}

// Title is product and loadtest in one, such as "VPP imix".
func (h Headline) Title() string {
	return strings.TrimSuffix(strings.TrimSpace(h.Product+" "+h.Loadtest), " -")
}

// PlanOf is the report's Plan, an empty one where it is missing.
func PlanOf(r *Report) *plan.Plan {
	if r.Plan == nil {
		return &plan.Plan{}
	}
	return r.Plan
}
