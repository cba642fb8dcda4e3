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

// Run has everything that the suite needs of a complete test once the LoadTest and its Report are gone.
type Run struct {
	report.SuiteRun
	// Ended is the reason of the test's condition Complete.
	Ended string `json:"ended"`
}

// Runs are the runs of complete tests, by the tests' names.
type Runs map[string]Run

// AllIn says that all runs are stored.
func (r Runs) AllIn(stored Stored) bool {
	for name := range r {
		if !stored.Contains(name) {
			return false
		}
	}
	return true
}

// Lighten drops what isn't needed any more once the suite is complete.
func (r *Run) Lighten() { r.Evidence, r.Message = nil, "" }

// loopback is the DUT type without a device.
const loopback = string(v1alpha1.DUTLoopback)

// maxMessage is the maximum length of a run's message, since a thousand runs have as many messages.
const maxMessage = 300

// completion is a test's condition Complete, and whether it is true.
func completion(t *v1alpha1.LoadTest) (*metav1.Condition, bool) {
	c := meta.FindStatusCondition(t.Status.Conditions, v1alpha1.ConditionComplete)
	return c, c != nil && c.Status == metav1.ConditionTrue
}

// measuring says that a test's run has begun and isn't complete.
func measuring(t *v1alpha1.LoadTest) bool {
	c, ended := completion(t)
	return !ended && c != nil && c.Reason == v1alpha1.ReasonRunning
}

// RunOf is the run of a complete test. The Report is nil if none can be read, and fault says why.
func RunOf(t *v1alpha1.LoadTest, repetition, try int32, r *report.Report, fault string) Run {
	c, _ := completion(t)
	run := Run{Ended: c.Reason, SuiteRun: report.SuiteRun{
		Test: t.Name, UID: string(t.UID), Repetition: int(repetition), Retry: int(try) - 1, Reason: c.Reason,
		Message:  wording.Limited(c.Message, maxMessage),
		Finished: c.LastTransitionTime.UTC(), Voided: int(t.Status.Operator.LostRuns),
	}}
	if finished := t.Status.CompletionTime; finished != nil {
		run.Finished = finished.UTC()
	}
	if started := t.Status.StartTime; started != nil {
		run.Started = started.UTC()
	}
	if stored := t.Status.Report; stored != nil {
		run.Report, run.ConfigMap = stored.Digest, stored.ConfigMap
	}
	switch {
	case c.Reason != v1alpha1.ReasonMeasured && c.Reason != v1alpha1.ReasonNotMeasured:
		// the test didn't come to its own end, so its figures aren't a measurement
	case r != nil:
		run.fillFrom(r)
	case fault != "":
		run.Message = wording.Limited("its Report can't be read: "+fault, maxMessage)
	}
	return run
}

// LocalRun is the run of a test that was measured without a cluster, from its Report and the Report's digest.
func LocalRun(w Wanted, r *report.Report, digest string) Run {
	run := Run{Ended: string(r.Ending), SuiteRun: report.SuiteRun{
		Test: w.Name, Repetition: int(w.Repetition), Retry: int(w.Try) - 1, Report: digest, Started: r.Started.UTC(),
		Finished: r.Finished.UTC(),
		Reason:   string(r.Ending), Message: wording.Limited(cmp.Or(r.Message, r.Answer.Message), maxMessage),
	}}
	if r.Ending != report.Completed {
		return run
	}
	run.Ended, run.Reason = v1alpha1.ReasonNotMeasured, v1alpha1.ReasonNotMeasured
	if r.Answer.Measured {
		run.Ended, run.Reason = v1alpha1.ReasonMeasured, v1alpha1.ReasonMeasured
	}
	run.fillFrom(r)
	return run
}

// FailedLocalRun is the run of a test that couldn't be begun without a cluster.
func FailedLocalRun(w Wanted, reason string, now time.Time) Run {
	return Run{Ended: v1alpha1.ReasonRunnerFailed, SuiteRun: report.SuiteRun{
		Test: w.Name, Repetition: int(w.Repetition), Retry: int(w.Try) - 1, Reason: v1alpha1.ReasonRunnerFailed,
		Message: wording.Limited(reason, maxMessage),
		Started: now.UTC(), Finished: now.UTC(),
	}}
}

// fillFrom fills in the result from the Report of a test that came to its own end.
func (r *Run) fillFrom(document *report.Report) {
	r.Plan, r.Evidence, r.Images = document.Plan.Method(), evidence(document), report.ImagesOf(document)
	if document.Answer.Reason != "" {
		r.Reason, r.Message = string(document.Answer.Reason), wording.Limited(document.Answer.Message, maxMessage)
	}
	if r.Ended == v1alpha1.ReasonMeasured && document.Ending == report.Completed {
		r.Figures, r.Goals = figures.TableFigures(document), figures.TableFiguresByGoal(document)
	}
}

// evidence is a Report reduced to what judgements need. It lacks the device's programs and commands, streams,
// samples, and all windows but the lowest that lost frames.
func evidence(r *report.Report) *report.Report {
	p := r.Plan
	device := plan.DUT{Type: p.DUT.Type, Forwarding: p.DUT.Forwarding, Reference: p.DUT.Reference}
	reduced := &report.Report{
		Version: r.Version, Started: r.Started, Finished: r.Finished, Ending: r.Ending,
		Message:   wording.Limited(r.Message, maxMessage),
		LineRates: r.LineRates, Environment: r.Environment, Answer: r.Answer,
		Plan: &plan.Plan{Version: p.Version, Test: p.Test, Engine: p.Engine, DUT: device, Links: p.Links,
			Directions: p.Directions, Sessions: p.Sessions, Procedure: p.Procedure, Sending: p.Sending},
	}
	reduced.Answer.Message, reduced.Answer.Generators = wording.Limited(reduced.Answer.Message, maxMessage), nil
	if r.Answer.Measured {
		return reduced
	}
	if lowest := r.LowestLossy(); lowest != nil {
		reduced.Windows = []report.Window{*lowest}
	}
	return reduced
}

// measured says that the run gave figures.
func (r *Run) measured() bool { return r.Figures != nil }

// repeatable says that another try may give figures. It is false if a person or the suite's spec ended the run.
func (r *Run) repeatable() bool {
	final := []string{v1alpha1.ReasonInvalid, v1alpha1.ReasonStopped, v1alpha1.ReasonSchedulingDeadline}
	return !r.measured() && !slices.Contains(final, r.Ended)
}

// lostAtAnyLoad says that a run without figures still shows something about the device, which lost frames at
// any load. A later try doesn't change that.
func (r *Run) lostAtAnyLoad() bool {
	return r.Evidence != nil && r.Evidence.Ending == report.Completed &&
		r.Evidence.Answer.Reason == report.NoCleanLoad && len(r.Evidence.Windows) > 0
}
