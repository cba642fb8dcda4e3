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

// observers answer how the pods are that exist only to read for observers.
type observers struct {
	test       *v1alpha1.LoadTest
	attempt    *attempt
	blueprint  *blueprint
	foreign    []string
	refusals   []Refusal
	observedAt time.Time
}

// observerPod is a pod that exists only to read for observers.
type observerPod struct {
	pod  *corev1.Pod // as it is made; nil: none is needed
	role v1alpha1.PodRole
	// task and wasTo say in messages what the pod does ("reports …") and was to do ("report …").
	task, wasTo string
}

// vitals is the pod that reports the vital signs of the device's node. It is made once the measuring pods run,
// since the device's node isn't known earlier.
func (ob *observers) vitals() observerPod {
	node := ""
	if device := ob.attempt.pod(manifests.DUTPodName(ob.test.Name, ob.attempt.number)); device != nil {
		node = device.Spec.NodeName
	}
	const subject = "the vital signs of the device's node"
	return observerPod{manifests.Vitals(ob.blueprint.input(), node), v1alpha1.RoleVitals, "reports " + subject,
		"report " +
			subject}
}

// collector is the pod that asks others over the network.
func (ob *observers) collector() observerPod {
	const subject = "others over the network for observers"
	return observerPod{manifests.Collector(ob.blueprint.input()), v1alpha1.RoleCollector, "asks " + subject, "ask " +
		subject}
}

// vitalsUntil is when the run begins even though such a pod isn't ready.
func (ob *observers) vitalsUntil(p *corev1.Pod) time.Time {
	created := p.CreationTimestamp.Time
	if created.After(ob.observedAt) {
		created = ob.observedAt
	}
	return created.Add(vitalsGrace)
}

// spentOnVitals is how long the run may have waited for observers' pods. 0 means that none was made. The deadline of
// the measuring pods leaves that wait out.
func (ob *observers) spentOnVitals() time.Duration {
	exists := slices.ContainsFunc(ob.podNames(), func(name string) bool { return ob.attempt.pod(name) != nil })
	if !exists && len(ob.attempt.recordedPods(v1alpha1.RoleVitals)) == 0 &&
		len(ob.attempt.recordedPods(v1alpha1.RoleCollector)) == 0 {
		return 0
	}
	return vitalsGrace
}

// podNames are the names of the pods that read for observers alone.
func (ob *observers) podNames() []string {
	return []string{manifests.VitalsPodName(ob.test.Name, ob.attempt.number),
		manifests.CollectorPodName(ob.test.Name, ob.attempt.number)}
}

// refusal is why the API server refused an observers' pod. Empty means no refusal.
func (ob *observers) refusal(name string) string {
	if slices.Contains(ob.foreign, "Pod/"+name) {
		return "a pod of that name exists, and doesn't belong to this LoadTest"
	}
	if r := refusalOf(ob.refusals, name); r != nil {
		return r.Message
	}
	return ""
}

// whyNoReading says why an observers' pod will read nothing. Empty means that the pod will read, or that no observer
// needs it.
func (ob *observers) whyNoReading(o observerPod) string {
	if o.pod == nil {
		return ""
	}
	p := ob.attempt.pod(o.pod.Name)
	switch words := ob.refusal(o.pod.Name); {
	case p == nil && words != "":
		return fmt.Sprintf("the API server refused pod %s, which was to %s: %s", o.pod.Name, o.wasTo, words)
	case p == nil:
		return fmt.Sprintf("pod %s, which was to %s, was deleted by somebody else", o.pod.Name, o.wasTo)
	case !ready(p):
		return wording.JoinNonEmpty(": ", fmt.Sprintf("pod %s, which was to %s, was not ready when the run began (%s)",
			p.Name, o.wasTo, stateOf(p)), vitalsTrouble(p))
	}
	return ""
}

// otherRefusals are the refusals without those of observers' pods.
func (ob *observers) otherRefusals() []Refusal {
	names := ob.podNames()
	return slices.DeleteFunc(slices.Clone(ob.refusals), func(r Refusal) bool { return slices.Contains(names, r.Pod) })
}

// namesTaken are foreign objects with names of the test's children, without those of observers' pods.
func (ob *observers) namesTaken() []string {
	names := ob.podNames()
	return slices.DeleteFunc(slices.Clone(ob.foreign), func(object string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return object == "Pod/"+name })
	})
}

// hasStopped says that a pod reports nothing any more.
func hasStopped(p *corev1.Pod) bool {
	return Ended(p) || p.DeletionTimestamp != nil || stoppedContainer(p) != ""
}

// vitalsTrouble says what keeps an observers' pod from reporting. Empty means that nothing is known.
func vitalsTrouble(p *corev1.Pod) string {
	if hasStopped(p) {
		return lastWords(p)
	}
	return wording.JoinNonEmpty("; ", unscheduledWords(p), troubleOf(p))
}
