package maximumload

import (
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
	if p.MaximumOfferedLoad == nil {
		return MaximumOfferedLoad{}
	}
	return MaximumOfferedLoad{*p.MaximumOfferedLoad, p.MaxLossRatio}
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

// series is the state that replaying the trials leads to.
type series struct {
	trial   int             // how many trials are over, judged or given up
	repeats int             // of the next one, because it was Invalid
	reason  string          // of the next trial, or how the series came to its end
	ended   bool            // there is no next trial
	judged  []int           // the trials' windows, as indexes into the history
	unclear []report.Window // the last windows of trials that could not be judged

	held     held
	heldFrom int // the first window of the load that is held after the trials
}

// replay carries the history through the series.
func (m MaximumOfferedLoad) replay(history []report.Window) series {
	var s series
	if lost := m.warmUp().NothingCameBack(history); lost != "" {
		s.reason, s.ended = lost, true
		return s
	}
	for i := m.warmUp().Steps(); i < len(history) && !s.ended; i++ {
		s.reason = ""
		m.observe(&s, history[i], i)
		s.heldFrom = i + 1
	}
	if !s.ended || !m.holds(s, history) {
		return s
	}
	for i := s.heldFrom; i < len(history) && !s.held.ended; i++ {
		m.observeHeld(&s, history, i)
	}
	s.ended = s.held.ended
	return s
}

// observe takes in the window of the next trial, which is window i of the history.
func (m MaximumOfferedLoad) observe(s *series, w report.Window, i int) {
	switch counts := w.Counts(); {
	case counts:
		s.judged = append(s.judged, i)
	case s.repeats < invalidRepeats:
		s.repeats++
		s.reason = procedure.Repeated(w)
		return
	default:
		s.unclear = append(s.unclear, w)
	}
	s.trial, s.repeats = s.trial+1, 0
	if s.trial >= m.trials() {
		s.ended, s.reason = true, fmt.Sprintf("%s of %s are over", trials(s.trial), m.plan.TrialDuration.Std())
		if s.trial == 1 {
			s.reason = fmt.Sprintf("the trial of %s is over", m.plan.TrialDuration.Std())
		}
	}
}

func trials(n int) string { return wording.Counted(n, "trial") }

// Next is the next trial, or once more the one that could not be judged.
func (m MaximumOfferedLoad) Next(history []report.Window) procedure.Step {
	s := m.replay(history)
	if s.ended {
		return procedure.Step{Done: true, Reason: s.reason}
	}
	if m.warmUp().Due(history) {
		return m.warmUp().Step()
	}
	if s.trial >= m.trials() {
		return m.heldStep(s, history)
	}
	return procedure.Step{Kind: procedure.Trial, Phase: report.Trial, Load: units.One, Judge: m.plan.TrialDuration.Std(), Reason: s.reason,
		Number: s.trial + 1, Of: m.trials()}
}

// Bound is every trial with all its repeats, and the load that is held after them.
func (m MaximumOfferedLoad) Bound() procedure.Bound {
	most := m.trials() * (1 + invalidRepeats)
	b := m.warmUp().Bound(most, time.Duration(most)*m.plan.TrialDuration.Std(), m.plan.TrialDuration.Std())
	b.Held = mostHeldSteps * (procedure.MostSettle + mostHeld)
	b.Steps, b.Time = b.Steps+mostHeldSteps, b.Time+b.Held
	return b
}

// Usual is warm-up and trials.
func (m MaximumOfferedLoad) Usual() time.Duration { return m.Remaining(nil) }

// Remaining is what is left of warm-up and trials, without repeats to come.
func (m MaximumOfferedLoad) Remaining(history []report.Window) time.Duration {
	s := m.replay(history)
	if s.ended {
		return 0
	}
	if s.trial >= m.trials() {
		return m.heldStep(s, history).Judge
	}
	return m.warmUp().Left(history) + time.Duration(m.trials()-s.trial)*m.plan.TrialDuration.Std()
}

// Describe says what is asked for, and how often.
func (m MaximumOfferedLoad) Describe() procedure.Description {
	if m.plan.Rate.IsZero() {
		return procedure.Description{}
	}
	return procedure.Description{Parts: "warm-up and trials", OnTop: "what disturbed trials repeat", Sentence: fmt.Sprintf("maximum offered load: ask for %s per direction in %s of %s", m.plan.Rate, trials(m.trials()), m.plan.TrialDuration.Std())}
}
