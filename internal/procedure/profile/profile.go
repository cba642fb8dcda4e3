package profile

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// trialDuration is how long processors are sampled. A function with a hundredth of a processor's time has a hundred
// samples then.
const trialDuration = 10 * time.Second

// mostTrials is how often the trial is made at most, until one counts.
const mostTrials = 2

// Procedure is a procedure with a profile after it.
type Procedure struct{ procedure.Procedure }

// New adds a profile to a procedure.
func New(result procedure.Procedure) Procedure { return Procedure{result} }

// load is the answer's. 0 means that there is no answer.
func (p Procedure) load(main []report.Window) units.Ratio {
	c := p.Procedure.Conclude(main)
	if c.Window == procedure.NoWindow {
		return 0
	}
	return main[c.Window].Load
}

// isDone says that a trial counts, or that enough were made.
func isDone(trials []report.Window) bool {
	return len(trials) >= mostTrials || len(trials) > 0 && trials[len(trials)-1].Counts()
}

// Next is the procedure's next step, and at its end the profile's trial.
func (p Procedure) Next(history []report.Window) procedure.Step {
	main, trials := procedure.SplitHistory(history, report.Profiled)
	step := p.Procedure.Next(main)
	if !step.End || isDone(trials) {
		return step
	}
	load := p.load(main)
	if load <= 0 {
		step.Reason += "; nothing was sampled, as there is no load to sample at"
		return step
	}
	next := procedure.Step{Kind: procedure.Trial, Phase: report.Profiled, Judge: trialDuration, Load: load,
		Reason: fmt.Sprintf("%s; the device's processors are sampled at the answer's load", step.Reason)}
	if len(trials) > 0 {
		next.Reason = "processors are sampled again, as the last trial could not be judged: " + trials[0].Reason
	}
	return next
}

// Bound is the procedure's, and the most trials of the profile.
func (p Procedure) Bound() procedure.Bound {
	b := p.Procedure.Bound()
	b.Steps, b.Trials, b.Trial = b.Steps+mostTrials, b.Trials+mostTrials, max(b.Trial, trialDuration)
	b.Time += mostTrials * trialDuration
	return b
}

// Usual is the procedure's, and one trial.
func (p Procedure) Usual() time.Duration { return p.Procedure.Usual() + trialDuration }

// Remaining is what is left of the procedure, and the trial.
func (p Procedure) Remaining(history []report.Window) time.Duration {
	main, trials := procedure.SplitHistory(history, report.Profiled)
	switch ended := p.Procedure.Next(main).End; {
	case !ended:
		return p.Procedure.Remaining(main) + trialDuration
	case isDone(trials), p.load(main) <= 0:
		return 0
	}
	return trialDuration
}

// Conclude is the procedure's own conclusion.
func (p Procedure) Conclude(history []report.Window) procedure.Conclusion {
	main, trials := procedure.SplitHistory(history, report.Profiled)
	c := p.Procedure.Conclude(main)
	c.Finished = c.Finished && (isDone(trials) || p.load(main) <= 0)
	return c
}

// Describe is the procedure's, with the profile.
func (p Procedure) Describe() procedure.Description {
	d := p.Procedure.Describe()
	if d.Sentence != "" {
		d.Sentence += fmt.Sprintf("; then a profile of the device's processors, in a trial of %s", trialDuration)
		d.Parts += ", and the profile's trial"
	}
	return d
}
