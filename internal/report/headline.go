package report

import (
	"cmp"
	"strings"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// headline is a report's line in a table of many: who was tested with what, and the answer.
type headline struct {
	Name     string // the test's own name
	Product  string
	Loadtest string
	Measured bool
	// Bound says that the figures are a lower bound: nothing here may then read as the device's limit.
	Bound bool
	// Loose says that the figures are no lower bound, and were to be confirmed by a longer window, and were not.
	Loose bool
	// PacketsPerSecond and Layer1BitsPerSecond are what was received, summed over the directions of one moment.
	PacketsPerSecond    int64
	Layer1BitsPerSecond int64
	// Percent is the share of what all directions could carry, at most 100; PercentSum adds the directions' shares instead, so that
	// full duplex is 200, as the published tables have it.
	Percent    units.Percent
	PercentSum units.Percent
}

// headlineOf reads a report's line.
func headlineOf(r *Report) headline {
	t := planOf(r).Test
	h := headline{Name: cmp.Or(t.Name, "unnamed"), Product: cmp.Or(t.Product, t.Name, "-"), Loadtest: cmp.Or(t.Loadtest, "-"), Measured: hasFigure(r)}
	if !h.Measured {
		return h
	}
	total := r.Result.Total
	h.Bound, h.Loose = !r.Result.Saturated, r.Result.Saturated && r.Unconfirmed()
	h.PacketsPerSecond = total.Received.PacketsPerSecond
	h.Layer1BitsPerSecond = total.Received.Layer1BitsPerSecond
	h.Percent = min(total.LineRatePercent, units.Hundred)
	for _, d := range r.Result.Directions {
		h.PercentSum += min(d.LineRatePercent, units.Hundred)
	}
	return h
}

// hasFigure says whether there is anything to show as a result.
func hasFigure(r *Report) bool {
	return r.Result.Measured && r.Result.Total != nil && len(r.Result.Directions) > 0
}

// Unconfirmed says that the figures were to be confirmed by a longer window, and were not: nothing is claimed from them.
func (r *Report) Unconfirmed() bool {
	return !r.Result.Confirmed && planOf(r).Procedure.Ramp.ConfirmDuration > 0
}

// bound writes a figure of the result with its sign, and what was not measured says so.
func (h headline) bound(figure string) string {
	if !h.Measured {
		return notMeasured
	}
	return h.sign() + figure
}

// sign goes before a figure that isn't the device's limit, or isn't confirmed.
func (h headline) sign() string {
	switch {
	case h.Bound:
		return "≥"
	case h.Loose:
		return "~"
	}
	return ""
}

// signWords explain the signs that figures have.
func signWords(of []headline) (words []string) {
	bound, loose := false, false
	for _, h := range of {
		bound, loose = bound || h.Bound, loose || h.sign() == "~"
	}
	if bound {
		words = append(words, boundWords)
	}
	if loose {
		words = append(words, looseWords)
	}
	return words
}

// headlines are those of figures, as far as there are any.
func headlines(all []*Figures) (out []headline) {
	for _, f := range all {
		if f != nil {
			out = append(out, f.headline())
		}
	}
	return out
}

const looseWords = "~ is not confirmed: the rate was not held as long as was asked for."

// title is product and loadtest in one: "VPP imix".
func (h headline) title() string {
	return strings.TrimSuffix(strings.TrimSpace(h.Product+" "+h.Loadtest), " -")
}

// planOf is the report's Plan, an empty one where it is missing.
func planOf(r *Report) *plan.Plan {
	if r.Plan == nil {
		return &plan.Plan{}
	}
	return r.Plan
}

// Summary is the answer in one line, as a status or a list shows it: "654.40 Kpps  2.00 Gbps  99.95% of line rate". Packets and bits
// (layer 1) are what was received, summed over the directions; the percentage is the share of what all directions can carry together,
// at most 100. A lower bound has "≥" before each figure, what isn't confirmed "~", and a figure of ends that shared a physical port says so; without a figure it is
// "not measured".
func Summary(r *Report) string {
	h := headlineOf(r)
	if !h.Measured {
		return notMeasured
	}
	line := h.bound(pps(h.PacketsPerSecond)) + "  " + h.bound(bps(h.Layer1BitsPerSecond)) + "  " + h.bound(percentOf(h.Percent)) + " of line rate"
	if len(r.Result.SharedPorts) > 0 {
		line += "  (shared port)"
	}
	return line
}
