package suite

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// Run is one test that is over: all that the suite needs of it once the LoadTest and its Report are gone.
type Run struct {
	report.SuiteRun
	// Ended is the reason of the test's condition Complete.
	Ended string `json:"ended"`

	// sealed is its digest, where that is known; written how it was written, where it was read and isn't written so any more.
	sealed  string
	written json.RawMessage
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

// Lighten lets go of what nothing asks for any more once the suite is over.
func (r *Run) Lighten() { r.Evidence, r.Message, r.written = nil, "", nil }

// loopback is the type of a DUT that is none.
const loopback = string(v1alpha1.DUTLoopback)

// maxMessage bounds what a run says: of a thousand of them there are as many sentences.
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

// RunOf is what a complete test leaves. The Report is nil where there is none, or none that can be read; fault says why then.
func RunOf(t *v1alpha1.LoadTest, repetition, try int32, r *report.Report, fault string) Run {
	c, _ := over(t)
	run := Run{Ended: c.Reason, SuiteRun: report.SuiteRun{
		Test: t.Name, UID: string(t.UID), Repetition: int(repetition), Retry: int(try) - 1, Reason: c.Reason, Message: limited(c.Message, maxMessage),
		Finished: c.LastTransitionTime.UTC(),
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
		// it didn't come to its own end: what it has of figures is no measurement
	case r != nil:
		run.found(r)
	case fault != "":
		run.Message = limited("its Report can't be read: "+fault, maxMessage)
	}
	return run.seal()
}

// RunAlone is what a test leaves that was measured without a cluster: its Report, whose digest this is.
func RunAlone(w Wanted, r *report.Report, digest string) Run {
	run := Run{Ended: string(r.Ending), SuiteRun: report.SuiteRun{
		Test: w.Name, Repetition: int(w.Repetition), Retry: int(w.Try) - 1, Report: digest, Started: r.Started.UTC(), Finished: r.Finished.UTC(),
		Reason: string(r.Ending), Message: limited(cmp.Or(r.Message, r.Result.Message), maxMessage),
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

// RunFailed is what a test leaves that couldn't even be begun without a cluster.
func RunFailed(w Wanted, why string, now time.Time) Run {
	return Run{Ended: v1alpha1.ReasonRunnerFailed, SuiteRun: report.SuiteRun{
		Test: w.Name, Repetition: int(w.Repetition), Retry: int(w.Try) - 1, Reason: v1alpha1.ReasonRunnerFailed, Message: limited(why, maxMessage),
		Started: now.UTC(), Finished: now.UTC(),
	}}
}

// found is what the Report of a test says that came to its own end.
func (r *Run) found(from *report.Report) {
	r.Plan, r.Evidence, r.Images = from.Plan.Method(), evidence(from), report.ImagesOf(from)
	if from.Result.Reason != "" {
		r.Reason, r.Message = string(from.Result.Reason), limited(from.Result.Message, maxMessage)
	}
	if r.Ended == v1alpha1.ReasonMeasured && from.Ending == report.Completed {
		r.Figures, r.Goals = figures.TableFigures(from), figures.TableFiguresByGoal(from)
	}
}

// evidence is a Report without what nothing looks at: the programs and commands of the device, streams, samples, and of the windows all but the lowest that lost frames.
func evidence(r *report.Report) *report.Report {
	p := r.Plan
	device := plan.DUT{Type: p.DUT.Type, Forwarding: p.DUT.Forwarding, Reference: p.DUT.Reference}
	out := &report.Report{
		Version: r.Version, Started: r.Started, Finished: r.Finished, Ending: r.Ending, Message: limited(r.Message, maxMessage),
		LineRates: r.LineRates, Environment: report.EnvironmentOf(r), Result: r.Result,
		Plan: &plan.Plan{Version: p.Version, Test: p.Test, Engine: p.Engine, DUT: device, Links: p.Links, Directions: p.Directions, Sessions: p.Sessions, Procedure: p.Procedure, Sending: p.Sending},
	}
	out.Result.Message, out.Result.Generators = limited(out.Result.Message, maxMessage), nil
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

// unconfirmed says that its figures were to be confirmed, and weren't. Evidence that an earlier version stored says so where its figures don't.
func (r *Run) unconfirmed() bool {
	if r.Evidence == nil {
		return r.Figures.Unconfirmed > 0
	}
	f := figures.TableFigures(r.Evidence)
	return f != nil && f.Unconfirmed > 0
}

// repeatable says that another try may give figures: what ended the run wasn't asked for, and isn't what is written in the suite.
func (r *Run) repeatable() bool {
	final := []string{v1alpha1.ReasonInvalid, v1alpha1.ReasonStopped, v1alpha1.ReasonSchedulingDeadline, RunsChanged}
	return !r.measured() && !slices.Contains(final, r.Ended)
}
