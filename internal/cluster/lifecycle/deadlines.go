package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// deadlines answer until when the test may wait for its pods, and the run may take.
type deadlines struct {
	spec      *v1alpha1.LoadTestSpec
	attempt   *attempt
	blueprint *blueprint
	history   *history
	kueue     *kueue
	observers *observers
	givenBack *v1alpha1.GivenBack
	// nodeAwaited is since when a pod has waited for the node that the spec names. Nil means that none does.
	nodeAwaited *metav1.Time
	observedAt  time.Time
}

// activeUntil is when the operator ends the run. Zero means never.
func (d *deadlines) activeUntil() time.Time {
	if d.attempt.startedAt() == nil || d.active() == 0 {
		return time.Time{}
	}
	return d.attempt.startedAt().Add(d.active() + deadlineMargin)
}

// active is how long the run may take. Where nobody wrote it, it depends on the procedure. Zero means that the spec
// can't be compiled.
func (d *deadlines) active() time.Duration {
	if d.spec.ActiveDeadline != "" {
		return duration(d.spec.ActiveDeadline)
	}
	if cluster := d.blueprint.cluster(); cluster != nil {
		return cluster.Plan.ActiveDeadline.Std()
	}
	return 0
}

// schedulingDeadlineExceeded is the rule for pods that weren't all running in time.
func (d *deadlines) schedulingDeadlineExceeded() *step {
	late, lateForNode := Reached(d.placedUntil(), d.observedAt), d.nodeAwaited != nil &&
		Reached(d.nodeAwaitedUntil(), d.observedAt)
	if d.attempt.hasBegun() || !late && !lateForNode {
		return nil
	}
	missing := d.history.condition(v1alpha1.ConditionScheduled)
	problem := missing.Message
	if missing.Status == "True" {
		problem = wording.JoinNonEmpty("; ", d.lastMissing(v1alpha1.ConditionDUTReady),
			d.lastMissing(v1alpha1.ConditionGeneratorsReady))
	}
	if !late {
		return fail(v1alpha1.ReasonSchedulingDeadline, "the node that the spec names was awaited for %s: %s",
			wording.Span(nodeBound), problem)
	}
	return fail(v1alpha1.ReasonSchedulingDeadline, "the pods weren't all ready within spec.schedulingDeadline (%s): %s",
		d.spec.SchedulingDeadline, problem)
}

// lastMissing is what a condition last named as missing. Empty means nothing.
func (d *deadlines) lastMissing(kind string) string {
	c := d.history.condition(kind)
	if c.Status == "True" {
		return ""
	}
	return c.Message
}

// placedUntil is when the wait for ready pods is over. Zero means never. It counts from the test's first pass, or
// from when it was resumed, and leaves out the wait for observers' pods.
func (d *deadlines) placedUntil() time.Time {
	if d.spec.SchedulingDeadline == "" {
		return time.Time{}
	}
	limit := duration(d.spec.SchedulingDeadline) + d.observers.spentOnVitals()
	if d.kueue.queueName() != "" {
		if admittedAt := d.kueue.admittedAt(); admittedAt != nil {
			return admittedAt.Add(limit - d.admittedBefore())
		}
		if len(d.attempt.measuringPods()) > 0 || d.attempt.number > 1 {
			return time.Time{} // time in Kueue's queue doesn't count, also where the test queues again
		}
	}
	return d.history.changedAt(v1alpha1.ConditionReconciling).Add(limit)
}

// nodeAwaitedUntil is when the wait for the node that the spec names is over, if it has begun or begins now. It is zero
// where spec.schedulingDeadline bounds all waits.
func (d *deadlines) nodeAwaitedUntil() time.Time {
	if d.spec.SchedulingDeadline != "" {
		return time.Time{}
	}
	if d.nodeAwaited == nil {
		return d.observedAt.Add(nodeBound)
	}
	return d.nodeAwaited.Add(nodeBound)
}

// admittedBefore is how long Kueue had admitted the attempts whose pods were given back.
func (d *deadlines) admittedBefore() time.Duration {
	if d.givenBack == nil {
		return 0
	}
	return time.Duration(d.givenBack.AdmittedSeconds) * time.Second
}

// wait is a step of a test that the cluster can't place now, and that goes on by itself once it can.
func (d *deadlines) wait(reason, message string) *step {
	s := &step{reason: reason, message: message, activity: "Waiting", scheduled: isFalse(reason, message)}
	if d.nodeAwaited != nil {
		s.waitUntil(d.nodeAwaitedUntil())
	}
	return s.waitUntil(d.placedUntil())
}
