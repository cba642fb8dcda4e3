package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// setupFailed: without the setup there is nothing worth measuring.
func setupFailed(v *view) *step {
	if v.setUp() {
		return nil
	}
	pods := v.podsWithRole(v1alpha1.RoleSetup)
	if len(pods) == 0 {
		if len(v.recorded(v1alpha1.RoleSetup)) == 0 {
			return nil
		}
		return v.fail(v1alpha1.ReasonSetupFailed, "the setup pod was deleted before it was seen to end")
	}
	p := pods[0]
	due := v.setUpUntil(p)
	switch {
	case p.Status.Phase == corev1.PodFailed:
		return v.fail(v1alpha1.ReasonSetupFailed, "the setup pod %s failed: %s", p.Name, lastWords(p))
	case p.DeletionTimestamp != nil:
		return v.fail(v1alpha1.ReasonSetupFailed, "the setup pod %s was deleted by somebody else", p.Name)
	case Reached(due, v.Now):
		return v.fail(v1alpha1.ReasonSetupFailed, "the setup pod %s didn't end within dut.setup.deadline (%s)", p.Name,
			wording.JoinNonEmpty(": ", stateOf(p), troubleOf(p)))
	}
	return nil
}

// setUp says whether the setup is done, or none is asked for. Pods that are made after the setup also prove that it is done.
func (v *view) setUp() bool {
	if v.spec.DUT.Setup == nil || v.begun() || len(v.measuringPods()) > 0 {
		return true
	}
	for _, p := range v.podsWithRole(v1alpha1.RoleSetup) {
		return p.Status.Phase == corev1.PodSucceeded
	}
	for _, p := range v.recorded(v1alpha1.RoleSetup) {
		return p.State == string(corev1.PodSucceeded)
	}
	return false
}

// settingUp: the setup pod runs to its end before any other pod is made.
func settingUp(v *view) *step {
	if v.setUp() {
		return nil
	}
	notYet := no(v1alpha1.ReasonNotStarted, "the setup pod comes first")
	pods := v.podsWithRole(v1alpha1.RoleSetup)
	if len(pods) == 0 {
		s := v.make("SettingUp", manifests.Links(v.input()), manifests.Setup(v.input()))
		s.dut = notYet
		return s
	}
	p := pods[0]
	message := fmt.Sprintf("the setup pod %s runs first (%s)", p.Name, stateOf(p))
	if words := wording.JoinNonEmpty("; ", unscheduledWords(p), troubleOf(p)); words != "" {
		message = words
	}
	s := &step{reason: v1alpha1.ReasonSettingUp, message: message, activity: "SettingUp", scheduled: no(v1alpha1.ReasonSettingUp, message), dut: notYet}
	return s.waitUntil(v.setUpUntil(p)).waitUntil(v.placedUntil()).waitUntil(v.givesBackAt())
}

// setUpUntil is when the setup pod should have ended; zero while it has no node. Its deadline counts from its start, as for the kubelet, and leaves out
// the wait for a node.
func (v *view) setUpUntil(p *corev1.Pod) time.Time {
	if p.Spec.NodeName == "" {
		return time.Time{}
	}
	since := latest(p.CreationTimestamp.Time, condition(p, corev1.PodScheduled).LastTransitionTime.Time)
	return since.Add(duration(v.spec.DUT.Setup.Deadline) + hookMargin)
}
