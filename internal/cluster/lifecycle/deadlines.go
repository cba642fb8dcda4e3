package lifecycle

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// stopRequested: spec.stop. Before the run there is nothing to keep; in it the runner stops traffic and writes what it has.
func stopRequested(v *view) *step {
	if !v.spec.Stop {
		return nil
	}
	if f := v.actingFault(); f != nil {
		return v.failInRun(f) // what was measured until now is nothing to keep
	}
	message := "spec.stop: the test was ended before anything was measured"
	if v.begun() {
		message = "spec.stop: the test was ended, what was measured until then is kept"
	}
	return v.end(&ending{reason: v1alpha1.ReasonStopped, message: message})
}

// activeDeadlineExceeded: a runner ends by itself at this deadline, and its Report is better than that of an interrupted run. This rule is for a
// runner that doesn't.
func activeDeadlineExceeded(v *view) *step {
	if due := v.activeUntil(); due.IsZero() || v.Now.Before(due) {
		return nil
	}
	if f := v.actingFault(); f != nil {
		return v.failInRun(f)
	}
	return v.end(&ending{
		reason:  v1alpha1.ReasonDeadlineExceeded,
		message: fmt.Sprintf("the run wasn't over within spec.activeDeadline (%s): what was measured until then is kept", v.spec.ActiveDeadline),
	})
}

// activeUntil is when the operator ends the run; zero: never.
func (v *view) activeUntil() time.Time {
	if v.spec.ActiveDeadline == "" || v.startedAt() == nil {
		return time.Time{}
	}
	return v.startedAt().Add(duration(v.spec.ActiveDeadline) + deadlineMargin)
}

// schedulingDeadlineExceeded: the pods weren't all running in time.
func schedulingDeadlineExceeded(v *view) *step {
	due := v.placedUntil()
	if v.begun() || due.IsZero() || v.Now.Before(due) {
		return nil
	}
	missing := v.previousCondition(v1alpha1.ConditionScheduled)
	why := missing.Message
	if missing.Status == "True" {
		why = wording.JoinNonEmpty("; ", v.missedLast(v1alpha1.ConditionDUTReady), v.missedLast(v1alpha1.ConditionGeneratorsReady))
	}
	return v.fail(v1alpha1.ReasonSchedulingDeadline, "the pods weren't all ready within spec.schedulingDeadline (%s): %s", v.spec.SchedulingDeadline, why)
}

// missedLast is what a condition last named as missing; empty: nothing.
func (v *view) missedLast(kind string) string {
	c := v.previousCondition(kind)
	if c.Status == "True" {
		return ""
	}
	return c.Message
}

// placedUntil is when the wait for ready pods is over; zero: never. It counts from the test's first pass, or from when it was resumed, and leaves out
// the wait for observers' pods.
func (v *view) placedUntil() time.Time {
	if v.spec.SchedulingDeadline == "" {
		return time.Time{}
	}
	if v.queue() != "" {
		if at := v.admittedAt(); at != nil {
			return at.Add(duration(v.spec.SchedulingDeadline) - v.admittedBefore() + v.spentOnVitals())
		}
		if len(v.measuringPods()) > 0 || v.attempt > 1 {
			return time.Time{} // time in Kueue's queue doesn't count, also where the test queues again
		}
	}
	return v.since(v1alpha1.ConditionReconciling).Add(duration(v.spec.SchedulingDeadline) + v.spentOnVitals())
}

// admittedBefore is how long Kueue had admitted the attempts whose pods were given back.
func (v *view) admittedBefore() time.Duration {
	if v.was.GivenBack == nil {
		return 0
	}
	return time.Duration(v.was.GivenBack.AdmittedSeconds) * time.Second
}
