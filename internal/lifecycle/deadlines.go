package lifecycle

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
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

// activeDeadlineExceeded: the runner ends itself at this deadline and writes a better Report than one that is interrupted. This is for the
// runner that can't.
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
	missing := v.said(v1alpha1.ConditionScheduled)
	why := missing.Message
	if missing.Status == "True" {
		why = joinNonEmpty("; ", v.lacking(v1alpha1.ConditionDUTReady), v.lacking(v1alpha1.ConditionGeneratorsReady))
	}
	return v.fail(v1alpha1.ReasonSchedulingDeadline, "the pods weren't all ready within spec.schedulingDeadline (%s): %s", v.spec.SchedulingDeadline, why)
}

// lacking is what a condition says was missing last; empty: nothing was.
func (v *view) lacking(kind string) string {
	c := v.said(kind)
	if c.Status == "True" {
		return ""
	}
	return c.Message
}

// placedUntil is when waiting for pods to be ready is over; zero: never. It counts from when the test began to go on: its first look, or
// its being resumed. What is spent on who looks on at the device isn't counted.
func (v *view) placedUntil() time.Time {
	if v.spec.SchedulingDeadline == "" {
		return time.Time{}
	}
	if v.queue() != "" {
		if at := v.admittedAt(); at != nil {
			return at.Add(duration(v.spec.SchedulingDeadline) - v.admittedBefore() + v.spentOnVitals())
		}
		if len(v.measuringPods()) > 0 || v.attempt > 1 {
			return time.Time{} // how long Kueue's queue takes is no fault of the test's, nor is that it queues again
		}
	}
	return v.since(v1alpha1.ConditionReconciling).Add(duration(v.spec.SchedulingDeadline) + v.spentOnVitals())
}

// admittedBefore is for how long attempts that were given back had been admitted by Kueue.
func (v *view) admittedBefore() time.Duration {
	if v.was.GivenBack == nil {
		return 0
	}
	return time.Duration(v.was.GivenBack.AdmittedSeconds) * time.Second
}
