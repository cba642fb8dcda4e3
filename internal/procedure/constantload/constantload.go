package constantload

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// mostSettle is how long the load runs at most before the first window, where there is no warm-up. A window across the
// start of traffic is off by a little.
const mostSettle = 500 * time.Millisecond

// ConstantLoad is the procedure of a Plan.
type ConstantLoad struct {
	plan         plan.ConstantLoad
	maxLossRatio units.Ratio
}

var _ procedure.Procedure = ConstantLoad{}

// New is the constant load that the Plan describes.
func New(p plan.Procedure) ConstantLoad {
	return ConstantLoad{*cmp.Or(p.ConstantLoad, &plan.ConstantLoad{}), p.MaxLossRatio}
}

// Rates are the one rate, for the warm-up too, since nothing changes between the warm-up and the first window.
func (c ConstantLoad) Rates() procedure.Rates {
	rate := procedure.Rate{Field: "constantLoad.rate", Rate: c.plan.Rate}
	rates := c.warmUp().Rates(rate, rate)
	rates.Directions = c.plan.DirectionRates
	return rates
}

// rate is what is held in each direction, for people.
func (c ConstantLoad) rate() string {
	if len(c.plan.DirectionRates) == 0 {
		return c.plan.Rate.String() + " per direction"
	}
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(c.plan.DirectionRates)) {
		texts = append(texts, fmt.Sprintf("%s %s", c.plan.DirectionRates[name], name))
	}
	return strings.Join(texts, " and ")
}

func (c ConstantLoad) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Hold, Lasts: c.plan.WarmupDuration.Std()}
}

// hold are the windows after the warm-up.
func (c ConstantLoad) hold(history []report.Window) []report.Window {
	return c.warmUp().WindowsAfter(history)
}

// windows is how many windows of which length cover the duration. There are as many as fit whole, so that all weigh the
// same. A duration shorter than one window is one window.
func (c ConstantLoad) windows() (n int, length time.Duration) {
	duration, length := c.plan.Duration.Std(), c.plan.Window.Std()
	switch {
	case length <= 0:
		return 1, max(0, duration)
	case duration > 0 && duration < length:
		return 1, duration
	}
	return max(1, int(duration/length)), length
}

// settle is how long the load runs before the first window, which isn't judged. After a warm-up the load has settled.
func (c ConstantLoad) settle() time.Duration {
	if c.warmUp().Steps() > 0 {
		return 0
	}
	_, length := c.windows()
	return min(mostSettle, length/2)
}

// replay ends the course after the last window.
func (c ConstantLoad) replay(history []report.Window) (course procedure.Course) {
	n, length := c.windows()
	course.Replay(c.warmUp(), history, func(i int) {
		switch {
		case len(c.hold(history[:i+1])) < n:
		case c.plan.Unlimited:
			course.End(fmt.Sprintf("connections sent for %s", time.Duration(n)*length))
		default:
			course.End(fmt.Sprintf("the load was held for %s", time.Duration(n)*length))
		}
	})
	return course
}

// Next is the next window. None is repeated, since measuring again for as long would not make up for what happened in
// the window.
func (c ConstantLoad) Next(history []report.Window) procedure.Step {
	course := c.replay(history)
	return course.Next(c.warmUp(), history, func() procedure.Step {
		n, length := c.windows()
		s := procedure.Step{Kind: procedure.Hold, Phase: report.Hold, Load: units.One, Judge: length,
			Number: len(c.hold(history)) + 1, Total: n}
		if s.Number == 1 {
			s.Settle = c.settle()
		}
		return s
	})
}

// Bound is all windows, since none is repeated.
func (c ConstantLoad) Bound() procedure.Bound {
	n, _ := c.windows()
	return procedure.Bound{Steps: c.warmUp().Steps() + n, Time: c.Usual()}
}

// Usual is warm-up and windows.
func (c ConstantLoad) Usual() time.Duration { return c.Remaining(nil) }

// Remaining is what is left of warm-up and windows.
func (c ConstantLoad) Remaining(history []report.Window) time.Duration {
	n, length := c.windows()
	windows := len(c.hold(history))
	steps := time.Duration(n-windows) * length
	if windows == 0 {
		steps += c.settle()
	}
	course := c.replay(history)
	return course.Remaining(c.warmUp(), history, steps)
}

// Describe says what is held, and for how long.
func (c ConstantLoad) Describe() procedure.Description {
	n, length := c.windows()
	duration := time.Duration(n) * length
	switch {
	case c.plan.Unlimited:
		return procedure.Description{Parts: "warm-up and windows",
			Sentence: fmt.Sprintf("send all that connections carry for %s in windows of %s", duration, length)}
	case c.plan.Rate.IsZero():
		return procedure.Description{}
	}
	return procedure.Description{Parts: "warm-up and windows",
		Sentence: fmt.Sprintf("hold %s for %s in windows of %s", c.rate(), duration, length)}
}
