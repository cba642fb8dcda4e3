package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// deviceUnobserved: an observer wants the vital signs of the device's node, and the pod that reports them isn't ready yet. That pod is made when everything
// that carries the measurement runs, and a test waits for it a moment only: a missing observer never holds up a measurement. What is missing when the run begins
// is missing in the Report, with the reason.
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
		return &step{reason: v1alpha1.ReasonStarting, activity: activityStarting, message: fmt.Sprintf("pod %s is made, which reports the vital signs of the device's node", wanted.Name),
			create: []manifests.Object{wanted}}
	case p == nil || gone(p) || !v.Now.Before(v.vitalsUntil(p)) || ready(p):
		return nil
	}
	s := &step{reason: v1alpha1.ReasonStarting, activity: activityStarting, message: fmt.Sprintf(
		"pod %s, which reports the vital signs of the device's node, isn't ready yet (%s); the run begins without it at %s", p.Name, joinNonEmpty(": ", stateOf(p), vitalsTrouble(p)),
		v.vitalsUntil(p).UTC().Format(time.TimeOnly))}
	return s.waitUntil(v.vitalsUntil(p)).waitUntil(v.placedUntil()).waitUntil(v.givesBackAt())
}

// vitals is the pod that reports the vital signs of the device's node; nil: none is needed. It is made when everything that carries the measurement runs, since
// the device's pod has its node only then.
func (v *view) vitals() *corev1.Pod {
	node := ""
	if device := v.pod(manifests.DUTPodName(v.Test.Name, v.attempt)); device != nil {
		node = device.Spec.NodeName
	}
	return manifests.Vitals(v.input(), node)
}

// vitalsUntil is when the run begins even though the vitals pod isn't ready.
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
	return joinNonEmpty("; ", unscheduledWords(p), troubleOf(p))
}

// vitalsRefused is what the API server answered when it refused the vitals pod; empty: it refused nothing.
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

// noVitals says why the vital signs of the device's node won't be recorded; empty: they will be, or none were asked for.
func (v *view) noVitals() string {
	wanted := v.vitals()
	if wanted == nil {
		return ""
	}
	p := v.pod(wanted.Name)
	switch words := v.vitalsRefused(); {
	case p == nil && words != "":
		return fmt.Sprintf("the API server refused pod %s, which was to report the vital signs of the device's node: %s", wanted.Name, words)
	case p == nil:
		return fmt.Sprintf("pod %s, which was to report the vital signs of the device's node, was deleted by somebody else", wanted.Name)
	case !ready(p):
		return joinNonEmpty(": ", fmt.Sprintf("pod %s, which was to report the vital signs of the device's node, was not ready when the run began (%s)", p.Name, stateOf(p)), vitalsTrouble(p))
	}
	return ""
}

// beyondVitals are the refusals of all pods but the vitals pod.
func (v *view) beyondVitals() []Refusal {
	name := manifests.VitalsPodName(v.Test.Name, v.attempt)
	return slices.DeleteFunc(slices.Clone(v.Refusals), func(r Refusal) bool { return r.Pod == name })
}

// takenBeyondVitals are the foreign objects that have the names of the test's children, the vitals pod's name left out.
func (v *view) takenBeyondVitals() []string {
	name := "Pod/" + manifests.VitalsPodName(v.Test.Name, v.attempt)
	return slices.DeleteFunc(slices.Clone(v.Children.Foreign), func(taken string) bool { return taken == name })
}
