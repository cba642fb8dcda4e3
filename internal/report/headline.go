package report

import (
	"cmp"
	"strings"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
)

// Headline is a report's line in a table of many: who was tested with what, and the answer.
type Headline struct {
	Name     string // the test's own name
	Product  string
	Loadtest string
	Measured bool
	// Bound says that the figures are a lower bound: nothing here may then read as the device's limit.
	Bound bool
	// Unconfirmed says that the figures are no lower bound, and were to be confirmed by a longer window, and were not.
	Unconfirmed bool
	// PacketsPerSecond and Layer1BitsPerSecond are what was received, summed over the directions of one moment.
	PacketsPerSecond    int64
	Layer1BitsPerSecond int64
	// Percent is the share of what all directions could carry; PercentSum adds the directions' shares instead, so that
	// full duplex is 200, as the published tables have it.
	Percent    units.Percent
	PercentSum units.Percent
	// OfSessions says that traffic was sessions: their goodput, of all directions together, is the only rate then.
	OfSessions           bool
	GoodputBitsPerSecond int64
}

// NamedHeadline is a report's line with its names alone; figures.HeadlineOf fills in what it claims.
func NamedHeadline(r *Report) Headline {
	t := PlanOf(r).Test
	return Headline{Name: cmp.Or(t.Name, "unnamed"), Product: cmp.Or(t.Product, t.Name, "-"), Loadtest: cmp.Or(t.Loadtest, "-")}
}

// HasFigure says whether there is anything to show as a result.
func HasFigure(r *Report) bool {
	return r.Result.Measured && r.Result.Total != nil && len(r.Result.Directions) > 0
}

// Unconfirmed says that the figures were to be confirmed by a longer window, and were not: nothing is claimed from them.
func (r *Report) Unconfirmed() bool {
	return r.LacksConfirmation(r.Result.Confirmed)
}

// LacksConfirmation says of a figure that is confirmed, or isn't, that the run was to hold it for longer and didn't, or that a Soak sent too few frames there: of directions that were found one after another each
// has its own confirmation.
func (r *Report) LacksConfirmation(confirmed bool) bool {
	p := PlanOf(r).Procedure
	return !confirmed && (p.Confirmation() > 0 || p.Type == plan.TypeSoak)
}

// Signed writes a figure of the result with its sign, and what was not measured says so.
func (h Headline) Signed(figure string) string {
	if !h.Measured {
		return wording.NotMeasured
	}
	return h.Sign() + figure
}

// Sign goes before a figure that isn't the device's limit, or isn't confirmed.
func (h Headline) Sign() string {
	switch {
	case h.Bound:
		return "≥"
	case h.Unconfirmed:
		return "~"
	}
	return ""
}

// Title is product and loadtest in one: "VPP imix".
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
