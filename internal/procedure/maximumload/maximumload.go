package maximumload

import (
	"cmp"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// invalidRepeats is how many times one trial is repeated because it was Invalid.
const invalidRepeats = 2

// MaximumOfferedLoad is the procedure of a Plan.
type MaximumOfferedLoad struct {
	plan         plan.MaximumOfferedLoad
	maxLossRatio units.Ratio
}

var _ procedure.Procedure = MaximumOfferedLoad{}

// New are the trials that the Plan describes.
func New(p plan.Procedure) MaximumOfferedLoad {
	return MaximumOfferedLoad{*cmp.Or(p.MaximumOfferedLoad, &plan.MaximumOfferedLoad{}), p.MaxLossRatio}
}

// Rates are the one rate, for the warm-up too.
func (m MaximumOfferedLoad) Rates() procedure.Rates {
	rate := procedure.Rate{Field: "maximumOfferedLoad.rate", Rate: m.plan.Rate}
	return m.warmUp().Rates(rate, rate)
}

func (m MaximumOfferedLoad) warmUp() procedure.WarmUp {
	return procedure.WarmUp{Kind: procedure.Trial, Lasts: m.plan.WarmupDuration.Std()}
}

// trials is how many trials are asked for, at least one.
func (m MaximumOfferedLoad) trials() int { return max(1, m.plan.Trials) }

// course is the state that replaying the trials leads to.
type course struct {
	procedure.Course

	trial   int             // how many trials are over, judged or given up
	judged  []int           // the trials' windows, as indexes into the history
	unclear []report.Window // the last windows of trials that could not be judged

	holding holding
	// holdStart is the first window of the load that is held after the trials.
	holdStart int
}

func (m MaximumOfferedLoad) replay(history []report.Window) course {
	var c course
	c.Replay(m.warmUp(), history, func(i int) {
		m.observe(&c, history[i], i)
		c.holdStart = i + 1
	})
	if !c.Ended || !m.holds(c, history) {
		return c
	}
	for i := c.holdStart; i < len(history) && !c.holding.ended; i++ {
		m.observeHeld(&c, history, i)
	}
	c.Ended = c.holding.ended
	return c
}

// observe takes in the window of the next trial, which is window i of the history.
func (m MaximumOfferedLoad) observe(c *course, w report.Window, i int) {
	switch counts := w.Counts(); {
	case counts:
		c.judged = append(c.judged, i)
	case c.Repeat(w, invalidRepeats):
		return
	default:
		c.unclear = append(c.unclear, w)
	}
	c.trial++
	c.GoOn()
	switch {
	case c.trial < m.trials():
	case c.trial == 1:
		c.End(fmt.Sprintf("the trial of %s is over", m.plan.TrialDuration.Std()))
	default:
		c.End(fmt.Sprintf("%s of %s are over", trials(c.trial), m.plan.TrialDuration.Std()))
	}
}

func trials(n int) string { return wording.Counted(n, "trial") }

// Next is the next trial, or once more the trial that could not be judged.
func (m MaximumOfferedLoad) Next(history []report.Window) procedure.Step {
	c := m.replay(history)
	return c.Next(m.warmUp(), history, func() procedure.Step {
		if c.trial >= m.trials() {
			return m.heldStep(c, history)
		}
		return procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: units.One,
			Judge: m.plan.TrialDuration.Std(), Reason: c.Reason, Number: c.trial + 1, Total: m.trials()}
	})
}

// Bound is every trial with all its repeats, and the load that is held after them.
func (m MaximumOfferedLoad) Bound() procedure.Bound {
	attempts := m.trials() * (1 + invalidRepeats)
	b := m.warmUp().Bound(attempts, time.Duration(attempts)*m.plan.TrialDuration.Std(), m.plan.TrialDuration.Std())
	b.LongestHold = mostHeldSteps * (procedure.MostSettle + mostHeld)
	b.Steps, b.Time = b.Steps+mostHeldSteps, b.Time+b.LongestHold
	return b
}

// Usual is warm-up and trials.
func (m MaximumOfferedLoad) Usual() time.Duration { return m.Remaining(nil) }

// Remaining is what is left of warm-up and trials, without repeats to come.
func (m MaximumOfferedLoad) Remaining(history []report.Window) time.Duration {
	c := m.replay(history)
	steps := time.Duration(m.trials()-c.trial) * m.plan.TrialDuration.Std()
	if !c.Ended && c.trial >= m.trials() {
		steps = m.heldStep(c, history).Judge
	}
	return c.Remaining(m.warmUp(), history, steps)
}

// Describe says what is asked for, and how often.
func (m MaximumOfferedLoad) Describe() procedure.Description {
	if m.plan.Rate.IsZero() {
		return procedure.Description{}
	}
	return procedure.Description{Parts: "warm-up and trials", OnTop: "what disturbed trials repeat",
		Sentence: fmt.Sprintf("maximum offered load: ask for %s per direction in %s of %s", m.plan.Rate,
			trials(m.trials()), m.plan.TrialDuration.Std())}
}
