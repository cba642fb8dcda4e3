package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// deviceUnobserved: somebody is to tell how the node of a user's device fares, and can't yet. That pod is made when all that carries the measurement runs, and is awaited
// for a moment only: no measurement comes to nothing, nor is held up for long, for want of somebody who looks on. What isn't there by then is missing in the Report, with the reason.
func deviceUnobserved(v *view) *step {
	if v.begun() {
		return nil
	}
	wanted := v.vitals()
	if wanted == nil {
		return nil
	}
	p := v.pod(wanted.Name)
	switch {
	case p == nil && v.vitalsRefused() == "" && len(v.recorded(v1alpha1.RoleVitals)) == 0:
		return &step{reason: v1alpha1.ReasonStarting, activity: activityStarting, message: fmt.Sprintf("pod %s is made, which tells observers of the device's node", wanted.Name),
			create: []manifests.Object{wanted}}
	case p == nil || gone(p) || !v.Now.Before(v.vitalsUntil(p)) || ready(p):
		return nil
	}
	s := &step{reason: v1alpha1.ReasonStarting, activity: activityStarting, message: fmt.Sprintf(
		"pod %s, which tells observers of the device's node, isn't ready yet (%s); without it the run begins at %s", p.Name, joined(": ", stateOf(p), vitalsTrouble(p)),
		v.vitalsUntil(p).UTC().Format(time.TimeOnly))}
	return s.waitUntil(v.vitalsUntil(p)).waitUntil(v.placedUntil()).waitUntil(v.givesBackAt())
}

// vitals is the pod that tells of the node that the device's is on; nil: none is needed. All that carries the measurement runs when it is made: the device has its node.
func (v *view) vitals() *corev1.Pod {
	node := ""
	if device := v.pod(manifests.DUTPodName(v.Test.Name, v.attempt)); device != nil {
		node = device.Spec.NodeName
	}
	return manifests.Vitals(v.input(), node)
}

// vitalsUntil is when a run begins without the pod that tells of the device's node.
func (v *view) vitalsUntil(p *corev1.Pod) time.Time {
	since := p.CreationTimestamp.Time
	if since.After(v.Now) {
		since = v.Now
	}
	return since.Add(vitalsGrace)
}

// spentOnVitals is for how long at most the run waits for that pod, where it was made: its wait is no part of a deadline of those that carry the measurement.
func (v *view) spentOnVitals() time.Duration {
	if v.pod(manifests.VitalsPodName(v.Test.Name, v.attempt)) == nil && len(v.recorded(v1alpha1.RoleVitals)) == 0 {
		return 0
	}
	return vitalsGrace
}

// gone says that a pod tells nothing any more.
func gone(p *corev1.Pod) bool {
	return ended(p) || p.DeletionTimestamp != nil || stoppedContainer(p) != ""
}

// vitalsTrouble says what keeps it from telling; empty: nothing known.
func vitalsTrouble(p *corev1.Pod) string {
	if gone(p) {
		return lastWords(p)
	}
	return joined("; ", unscheduledWords(p), troubleOf(p))
}

// vitalsRefused is what the API server said to the pod that tells of the device's node; empty: nothing.
func (v *view) vitalsRefused() string {
	name := manifests.VitalsPodName(v.Test.Name, v.attempt)
	if slices.Contains(v.Children.Foreign, "Pod/"+name) {
		return "a pod of that name exists, and doesn't belong to this LoadTest"
	}
	for _, r := range v.Refusals {
		if r.Pod == name {
			return r.Message
		}
	}
	return ""
}

// noVitals is why nobody tells of the node of a user's device; empty: somebody does, or nobody is to.
func (v *view) noVitals() string {
	wanted := v.vitals()
	if wanted == nil {
		return ""
	}
	p := v.pod(wanted.Name)
	switch words := v.vitalsRefused(); {
	case p == nil && words != "":
		return fmt.Sprintf("the API server refused pod %s, which was to tell of the device's node: %s", wanted.Name, words)
	case p == nil:
		return fmt.Sprintf("pod %s, which was to tell of the device's node, was deleted by somebody else", wanted.Name)
	case !ready(p):
		return joined(": ", fmt.Sprintf("pod %s, which was to tell of the device's node, was not ready when the run began (%s)", p.Name, stateOf(p)), vitalsTrouble(p))
	}
	return ""
}

// beyondVitals are the refusals that are not of the pod that tells of the device's node.
func (v *view) beyondVitals() []Refusal {
	name := manifests.VitalsPodName(v.Test.Name, v.attempt)
	return slices.DeleteFunc(slices.Clone(v.Refusals), func(r Refusal) bool { return r.Pod == name })
}

// takenBeyondVitals are the objects of somebody else's that have names of the test's children, without the name of that pod.
func (v *view) takenBeyondVitals() []string {
	name := "Pod/" + manifests.VitalsPodName(v.Test.Name, v.attempt)
	return slices.DeleteFunc(slices.Clone(v.Children.Foreign), func(taken string) bool { return taken == name })
}
