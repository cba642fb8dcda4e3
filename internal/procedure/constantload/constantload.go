package constantload

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// mostSettle is how long the load runs at most before the first window, where there is no warm-up: a window across the start of traffic is off by a little.
const mostSettle = 500 * time.Millisecond

// ConstantLoad is the procedure of a Plan.
type ConstantLoad struct {
	plan         plan.ConstantLoad
	maxLossRatio units.Ratio
}

var _ procedure.Procedure = ConstantLoad{}

// New is the constant load that the Plan describes.
func New(p plan.Procedure) ConstantLoad {
	if p.ConstantLoad == nil {
		return ConstantLoad{}
	}
	return ConstantLoad{*p.ConstantLoad, p.MaxLossRatio}
}

// Rates are the one rate, for the warm-up too: nothing changes between it and the first window.
func (c ConstantLoad) Rates() procedure.Rates {
	rate := procedure.Rate{Field: "constantLoad.rate", Rate: c.plan.Rate}
	return c.warmUp().Rates(rate, rate)
}

func (c ConstantLoad) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Held, Lasts: c.plan.WarmupDuration.Std()}
}

// hold are the windows after the warm-up.
func (c ConstantLoad) hold(history []report.Window) []report.Window { return c.warmUp().After(history) }

// windows is how many windows of which length cover the duration: as many as fit whole, so that all weigh the same. A duration shorter than one window is one window.
func (c ConstantLoad) windows() (n int, each time.Duration) {
	all, each := c.plan.Duration.Std(), c.plan.Window.Std()
	switch {
	case each <= 0:
		return 1, max(0, all)
	case all > 0 && all < each:
		return 1, all
	}
	return max(1, int(all/each)), each
}

// settle is not judged, before the first window; after a warm-up the load has settled.
func (c ConstantLoad) settle() time.Duration {
	if c.warmUp().Steps() > 0 {
		return 0
	}
	_, each := c.windows()
	return min(mostSettle, each/2)
}

// Next is the next window. None is repeated: measuring again for as long would not make up for what happened in it.
func (c ConstantLoad) Next(history []report.Window) procedure.Step {
	if ending := c.ending(history); ending != "" {
		return procedure.Step{Done: true, Reason: ending}
	}
	if c.warmUp().Due(history) {
		return c.warmUp().Step()
	}
	n, each := c.windows()
	s := procedure.Step{Kind: procedure.Held, Phase: report.Hold, Load: units.One, Judge: each, Number: len(c.hold(history)) + 1, Of: n}
	if s.Number == 1 {
		s.Settle = c.settle()
	}
	return s
}

// ending is how the procedure came to its end; empty: it goes on.
func (c ConstantLoad) ending(history []report.Window) string {
	if lost := c.warmUp().NothingCameBack(history); lost != "" {
		return lost
	}
	if n, each := c.windows(); len(c.hold(history)) >= n {
		if c.plan.Unlimited {
			return fmt.Sprintf("connections sent for %s", time.Duration(n)*each)
		}
		return fmt.Sprintf("the load was held for %s", time.Duration(n)*each)
	}
	return ""
}

// Bound is all windows: nothing is repeated.
func (c ConstantLoad) Bound() procedure.Bound {
	n, _ := c.windows()
	return procedure.Bound{Steps: c.warmUp().Steps() + n, Time: c.Usual()}
}

// Usual is warm-up and windows.
func (c ConstantLoad) Usual() time.Duration { return c.Remaining(nil) }

// Remaining is what is left of warm-up and windows.
func (c ConstantLoad) Remaining(history []report.Window) (left time.Duration) {
	if c.ending(history) != "" {
		return 0
	}
	n, each := c.windows()
	held := len(c.hold(history))
	left = c.warmUp().Left(history)
	if held == 0 {
		left += c.settle()
	}
	return left + time.Duration(n-held)*each
}

// Describe says what is held, and for how long.
func (c ConstantLoad) Describe() procedure.Description {
	n, each := c.windows()
	all := time.Duration(n) * each
	switch {
	case c.plan.Unlimited:
		return procedure.Description{Parts: "warm-up and windows", Sentence: fmt.Sprintf("send all that connections carry for %s in windows of %s", all, each)}
	case c.plan.Rate.IsZero():
		return procedure.Description{}
	}
	return procedure.Description{Parts: "warm-up and windows", Sentence: fmt.Sprintf("hold %s per direction for %s in windows of %s", c.plan.Rate, all, each)}
}
