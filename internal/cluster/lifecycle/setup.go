package lifecycle

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// setup answers whether the setup pod has done its work.
type setup struct {
	spec       *v1alpha1.LoadTestSpec
	attempt    *attempt
	observedAt time.Time
}

// setupFailed is the rule for a setup that failed, without which there is nothing worth measuring.
func (su *setup) setupFailed() *step {
	if su.isDone() {
		return nil
	}
	pods := su.attempt.podsWithRole(v1alpha1.RoleSetup)
	if len(pods) == 0 {
		if len(su.attempt.recordedPods(v1alpha1.RoleSetup)) == 0 {
			return nil
		}
		return fail(v1alpha1.ReasonSetupFailed, "the setup pod was deleted before it was seen to end")
	}
	p := pods[0]
	due := su.deadline(p)
	switch {
	case p.Status.Phase == corev1.PodFailed:
		return fail(v1alpha1.ReasonSetupFailed, "the setup pod %s failed: %s", p.Name, lastWords(p))
	case p.DeletionTimestamp != nil:
		return fail(v1alpha1.ReasonSetupFailed, "the setup pod %s was deleted by somebody else", p.Name)
	case Reached(due, su.observedAt):
		return fail(v1alpha1.ReasonSetupFailed, "the setup pod %s didn't end within dut.setup.deadline (%s)", p.Name,
			wording.JoinNonEmpty(": ", stateOf(p), troubleOf(p)))
	}
	return nil
}

// isDone says whether the setup is done, or none is asked for. Pods that are made after the setup also prove
// that it is done.
func (su *setup) isDone() bool {
	if su.spec.DUT.Setup == nil || su.attempt.hasBegun() || len(su.attempt.measuringPods()) > 0 {
		return true
	}
	for _, p := range su.attempt.podsWithRole(v1alpha1.RoleSetup) {
		return p.Status.Phase == corev1.PodSucceeded
	}
	for _, p := range su.attempt.recordedPods(v1alpha1.RoleSetup) {
		return p.State == string(corev1.PodSucceeded)
	}
	return false
}

// deadline is when the setup pod should have ended. Zero means that it has no node. Its deadline counts from its start,
// as for the kubelet, and leaves out the wait for a node.
func (su *setup) deadline(p *corev1.Pod) time.Time {
	if p.Spec.NodeName == "" {
		return time.Time{}
	}
	scheduledAt := latest(p.CreationTimestamp.Time, condition(p, corev1.PodScheduled).LastTransitionTime.Time)
	return scheduledAt.Add(duration(su.spec.DUT.Setup.Deadline) + hookMargin)
}
