package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// observerPod is a pod that exists only to read for observers.
type observerPod struct {
	pod  *corev1.Pod // as it is made; nil: none is needed
	role v1alpha1.PodRole
	// does and wasTo say what it does in messages: "which reports ...", "which was to report ...".
	does, wasTo string
}

// unobserved: a pod that reads for observers isn't ready yet. Such pods are made once all measuring pods run, and the test waits for them only a moment: a missing observer
// never holds up a measurement. Readings that are missing when the run begins are missing in the Report, with the reason.
func unobserved(v *view) *step {
	if v.begun() {
		return nil
	}
	both := []observerPod{v.vitals(), v.collector()}
	for _, o := range both {
		if o.pod != nil && v.pod(o.pod.Name) == nil && v.refusedObserving(o.pod.Name) == "" && len(v.recorded(o.role)) == 0 {
			return &step{reason: v1alpha1.ReasonStarting, activity: activityStarting, message: fmt.Sprintf("pod %s is made, which %s", o.pod.Name, o.does),
				create: []manifests.Object{o.pod}}
		}
	}
	for _, o := range both {
		if o.pod == nil {
			continue
		}
		p := v.pod(o.pod.Name)
		if p == nil || gone(p) || !v.Now.Before(v.vitalsUntil(p)) || ready(p) {
			continue
		}
		s := &step{reason: v1alpha1.ReasonStarting, activity: activityStarting, message: fmt.Sprintf(
			"pod %s, which %s, isn't ready yet (%s); the run begins without it at %s", p.Name, o.does, wording.JoinNonEmpty(": ", stateOf(p), vitalsTrouble(p)),
			v.vitalsUntil(p).UTC().Format(time.TimeOnly))}
		return s.waitUntil(v.vitalsUntil(p)).waitUntil(v.placedUntil()).waitUntil(v.givesBackAt())
	}
	return nil
}

// vitals is the pod that reports the vital signs of the device's node. It is made once the measuring pods run, since the device's node isn't known earlier.
func (v *view) vitals() observerPod {
	node := ""
	if device := v.pod(manifests.DUTPodName(v.Test.Name, v.attempt)); device != nil {
		node = device.Spec.NodeName
	}
	const what = "the vital signs of the device's node"
	return observerPod{manifests.Vitals(v.input(), node), v1alpha1.RoleVitals, "reports " + what, "report " + what}
}

// collector is the pod that asks others over the network.
func (v *view) collector() observerPod {
	const what = "others over the network for observers"
	return observerPod{manifests.Collector(v.input()), v1alpha1.RoleCollector, "asks " + what, "ask " + what}
}

// vitalsUntil is when the run begins even though such a pod isn't ready.
func (v *view) vitalsUntil(p *corev1.Pod) time.Time {
	since := p.CreationTimestamp.Time
	if since.After(v.Now) {
		since = v.Now
	}
	return since.Add(vitalsGrace)
}

// spentOnVitals is how long the run may have waited for observers' pods; 0: none was made. The deadline of the measuring pods leaves that wait out.
func (v *view) spentOnVitals() time.Duration {
	made := slices.ContainsFunc(v.observingNames(), func(name string) bool { return v.pod(name) != nil })
	if !made && len(v.recorded(v1alpha1.RoleVitals)) == 0 && len(v.recorded(v1alpha1.RoleCollector)) == 0 {
		return 0
	}
	return vitalsGrace
}

// observingNames are the names of the pods that read for observers alone.
func (v *view) observingNames() []string {
	return []string{manifests.VitalsPodName(v.Test.Name, v.attempt), manifests.CollectorPodName(v.Test.Name, v.attempt)}
}

// gone says that a pod reports nothing any more.
func gone(p *corev1.Pod) bool {
	return Ended(p) || p.DeletionTimestamp != nil || stoppedContainer(p) != ""
}

// vitalsTrouble says what keeps an observers' pod from reporting; empty: nothing known.
func vitalsTrouble(p *corev1.Pod) string {
	if gone(p) {
		return lastWords(p)
	}
	return wording.JoinNonEmpty("; ", unscheduledWords(p), troubleOf(p))
}

// refusedObserving is why the API server refused an observers' pod; empty: it didn't.
func (v *view) refusedObserving(name string) string {
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

// whyNoReading says why an observers' pod will read nothing; empty: it will, or no observer needs it.
func (v *view) whyNoReading(o observerPod) string {
	if o.pod == nil {
		return ""
	}
	p := v.pod(o.pod.Name)
	switch words := v.refusedObserving(o.pod.Name); {
	case p == nil && words != "":
		return fmt.Sprintf("the API server refused pod %s, which was to %s: %s", o.pod.Name, o.wasTo, words)
	case p == nil:
		return fmt.Sprintf("pod %s, which was to %s, was deleted by somebody else", o.pod.Name, o.wasTo)
	case !ready(p):
		return wording.JoinNonEmpty(": ", fmt.Sprintf("pod %s, which was to %s, was not ready when the run began (%s)", p.Name, o.wasTo, stateOf(p)), vitalsTrouble(p))
	}
	return ""
}

// refusalsOfOtherPods are the refusals without those of observers' pods.
func (v *view) refusalsOfOtherPods() []Refusal {
	names := v.observingNames()
	return slices.DeleteFunc(slices.Clone(v.Refusals), func(r Refusal) bool { return slices.Contains(names, r.Pod) })
}

// namesTaken are foreign objects with names of the test's children, without those of observers' pods.
func (v *view) namesTaken() []string {
	names := v.observingNames()
	return slices.DeleteFunc(slices.Clone(v.Children.Foreign), func(taken string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return taken == "Pod/"+name })
	})
}
