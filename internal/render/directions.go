package render

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// eachDirectionWords say what the figures are of directions that were found one after another, and what all of them
// are at once. They are empty where directions weren't.
func eachDirectionWords(r *report.Report) string {
	ramp, sum := report.PlanOf(r).Procedure.Each, r.Result.Together
	if ramp == nil {
		return ""
	}
	subject := "each direction's figure was found by itself, while nothing was sent in the others; "
	if ramp.OthersAt > 0 {
		subject = "each direction's figure was found by itself, while the others were held at " +
			wording.Ratio(ramp.OthersAt) + " of the target; "
	}
	switch {
	case sum == nil || sum.Quality == report.Invalid:
		return subject + "what the device carries of all of them at once is not known."
	case sum.Quality == report.Lossy:
		return subject + "the device does not carry all of them at once, and the sum is what came back of that."
	case sum.Quality == report.Short:
		return subject + "of all of them at once the generator sent less than asked for, and that the device carries."
	}
	return subject + "the device carries all of them at once."
}

// otherDirectionWords say of each direction whether its figure is a limit, or a bound as another one set the load
// of all.
func otherDirectionWords(r *report.Report) string {
	var limits, bounds []string
	for _, d := range r.Result.Directions {
		switch name, rate := wording.Direction(d.From, d.To), wording.PacketRate(d.Received.PacketsPerSecond); {
		case d.Limit == nil:
		case d.Limit.Saturated:
			limits = append(limits, fmt.Sprintf("%s (%s)", name, rate))
		default:
			bounds = append(bounds, fmt.Sprintf("%s (%s)", name, rate))
		}
	}
	if len(limits) == 0 || len(bounds) == 0 {
		return "another direction lost frames first and set the load of all, so the device's limit lies at this rate or above."
	}
	intro := "the device's limit is here in "
	if r.Unconfirmed() {
		intro = "short windows show the device's limit here in "
	}
	return intro + strings.Join(limits, " and ") + ", and at this rate or above in " + strings.Join(bounds, " and ") +
		report.PlanOf(r).Advice(": measure each direction by itself (%s: Each) to know it", "procedure.directions") +
		"."
}
