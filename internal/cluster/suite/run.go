package suite

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Run is a test that is over: everything that the suite needs of it once the LoadTest and its Report are gone.
type Run struct {
	report.SuiteRun
	// Ended is the reason of the test's condition Complete.
	Ended string `json:"ended"`
}

// Runs are the tests that are over, by their names.
type Runs map[string]Run

// AllIn says whether all runs are stored.
func (r Runs) AllIn(stored Stored) bool {
	for name := range r {
		if !stored.Has(name) {
			return false
		}
	}
	return true
}

// Lighten drops what isn't needed any more once the suite is over.
func (r *Run) Lighten() { r.Evidence, r.Message = nil, "" }

// loopback is the DUT type without a device.
const loopback = string(v1alpha1.DUTLoopback)

// maxMessage is how long a run's message may be: a thousand runs have as many messages.
const maxMessage = 300

// over says whether a test is complete, and why.
func over(t *v1alpha1.LoadTest) (*metav1.Condition, bool) {
	c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionComplete)
	return c, c != nil && c.Status == metav1.ConditionTrue
}

// measuring says whether a test's run has begun and isn't over.
func measuring(t *v1alpha1.LoadTest) bool {
	c, done := over(t)
	return !done && c != nil && c.Reason == v1alpha1.ReasonRunning
}

// RunOf is the run of a complete test. The Report is nil if there is none that can be read; fault says why.
func RunOf(t *v1alpha1.LoadTest, repetition, try int32, r *report.Report, fault string) Run {
	c, _ := over(t)
	run := Run{Ended: c.Reason, SuiteRun: report.SuiteRun{
		Test: t.Name, UID: string(t.UID), Repetition: int(repetition), Retry: int(try) - 1, Reason: c.Reason, Message: wording.Limited(c.Message, maxMessage),
		Finished: c.LastTransitionTime.UTC(), Voided: int(t.Status.LostRuns),
	}}
	if at := t.Status.FinishedAt; at != nil {
		run.Finished = at.UTC()
	}
	if at := t.Status.StartedAt; at != nil {
		run.Started = at.UTC()
	}
	if kept := t.Status.Report; kept != nil {
		run.Report, run.ConfigMap = kept.Digest, kept.ConfigMap
	}
	switch {
	case c.Reason != v1alpha1.ReasonMeasured && c.Reason != v1alpha1.ReasonNotMeasured:
		// it didn't come to its own end: its figures aren't a measurement
	case r != nil:
		run.found(r)
	case fault != "":
		run.Message = wording.Limited("its Report can't be read: "+fault, maxMessage)
	}
	return run
}

// LocalRun is the run of a test that was measured without a cluster, from its Report and the Report's digest.
func LocalRun(w Wanted, r *report.Report, digest string) Run {
	run := Run{Ended: string(r.Ending), SuiteRun: report.SuiteRun{
		Test: w.Name, Repetition: int(w.Repetition), Retry: int(w.Try) - 1, Report: digest, Started: r.Started.UTC(), Finished: r.Finished.UTC(),
		Reason: string(r.Ending), Message: wording.Limited(cmp.Or(r.Message, r.Result.Message), maxMessage),
	}}
	if r.Ending != report.Completed {
		return run
	}
	run.Ended, run.Reason = v1alpha1.ReasonNotMeasured, v1alpha1.ReasonNotMeasured
	if r.Result.Measured {
		run.Ended, run.Reason = v1alpha1.ReasonMeasured, v1alpha1.ReasonMeasured
	}
	run.found(r)
	return run
}

// FailedLocalRun is the run of a test that couldn't be begun without a cluster.
func FailedLocalRun(w Wanted, why string, now time.Time) Run {
	return Run{Ended: v1alpha1.ReasonRunnerFailed, SuiteRun: report.SuiteRun{
		Test: w.Name, Repetition: int(w.Repetition), Retry: int(w.Try) - 1, Reason: v1alpha1.ReasonRunnerFailed, Message: wording.Limited(why, maxMessage),
		Started: now.UTC(), Finished: now.UTC(),
	}}
}

// found fills in the result from the Report of a test that came to its own end.
func (r *Run) found(from *report.Report) {
	r.Plan, r.Evidence, r.Images = from.Plan.Method(), evidence(from), report.ImagesOf(from)
	if from.Result.Reason != "" {
		r.Reason, r.Message = string(from.Result.Reason), wording.Limited(from.Result.Message, maxMessage)
	}
	if r.Ended == v1alpha1.ReasonMeasured && from.Ending == report.Completed {
		r.Figures, r.Goals = figures.TableFigures(from), figures.TableFiguresByGoal(from)
	}
}

// evidence is a Report reduced to what judgements need: without the device's programs and commands, streams, samples, and all windows but the lowest that lost frames.
func evidence(r *report.Report) *report.Report {
	p := r.Plan
	device := plan.DUT{Type: p.DUT.Type, Forwarding: p.DUT.Forwarding, Reference: p.DUT.Reference}
	out := &report.Report{
		Version: r.Version, Started: r.Started, Finished: r.Finished, Ending: r.Ending, Message: wording.Limited(r.Message, maxMessage),
		LineRates: r.LineRates, Environment: report.EnvironmentOf(r), Result: r.Result,
		Plan: &plan.Plan{Version: p.Version, Test: p.Test, Engine: p.Engine, DUT: device, Links: p.Links, Directions: p.Directions, Sessions: p.Sessions, Procedure: p.Procedure, Sending: p.Sending},
	}
	out.Result.Message, out.Result.Generators = wording.Limited(out.Result.Message, maxMessage), nil
	if r.Result.Measured {
		return out
	}
	if lowest := r.LowestLossy(); lowest != nil {
		out.Windows = []report.Window{*lowest}
	}
	return out
}

// measured says that the run gave figures.
func (r *Run) measured() bool { return r.Figures != nil }

// unconfirmed says that the run's figures were to be confirmed, and weren't. If the figures don't say, evidence that an earlier version stored does.
func (r *Run) unconfirmed() bool {
	if r.Evidence == nil {
		return r.Figures.Unconfirmed > 0
	}
	f := figures.TableFigures(r.Evidence)
	return f != nil && f.Unconfirmed > 0
}

// repeatable says that another try may give figures: neither a person nor the suite's spec is the reason why the run ended.
func (r *Run) repeatable() bool {
	final := []string{v1alpha1.ReasonInvalid, v1alpha1.ReasonStopped, v1alpha1.ReasonSchedulingDeadline}
	return !r.measured() && !slices.Contains(final, r.Ended)
}
