package lifecycle_test

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// kueueLives are in a queue of Kueue's.
func kueueLives() []life {
	return []life{
		{"queued by Kueue and admitted", inQueue(devices), func(w *world) {
			w.settle()
			w.managed()
			w.pass(48 * time.Hour)
			w.admit()
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"in a namespace with a default queue of Kueues", devices, func(w *world) {
			w.settle()
			for i := range w.Pods {
				p := &w.Pods[i]
				p.Labels[v1alpha1.LabelKueueQueue], p.Labels[v1alpha1.LabelKueueManaged] = "default", "true"
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: v1alpha1.GateKueue}}
			}
			w.pass(time.Hour)
			w.admit()
			w.schedule()
			w.run()
			w.settle()
		}},
		{"Kueue holds back what names no queue", devices, func(w *world) {
			w.settle()
			for i := range w.Pods {
				p := &w.Pods[i]
				p.Labels[v1alpha1.LabelKueueManaged] = "true"
				p.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: v1alpha1.GateKueue}}
			}
			w.pass(time.Hour)
		}},
		{"Kueue suspends the runner", reference, func(w *world) {
			w.settle()
			w.schedule()
			w.settle()
			w.run()
			w.settle()
			w.Jobs[0].Spec.Suspend = new(true)
			w.pass(15 * time.Minute)
		}},
		{"Kueue doesnt look after pods", inQueue(devices), func(w *world) { w.settle() }},
		{"evicted by Kueue in the run", inQueue(reference), func(w *world) {
			w.settle()
			w.admit()
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.evict()
			w.settle()
			w.pass(40 * time.Second)
			w.admit()
			r = w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"evicted by Kueue and the runner tells first", inQueue(reference), func(w *world) {
			w.settle()
			w.admit()
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.evict()
			w.finish(r, report.GeneratorLost)
			w.settle()
			w.pass(40 * time.Second)
		}},
		{"evicted by Kueue while nobody looked", inQueue(reference), func(w *world) {
			w.settle()
			w.vanish("first-1-dut")
			w.vanish("first-1-generator-0")
			w.settle()
		}},
		{"deadline counts from the admission", inQueue(withLines(reference, "schedulingDeadline: 10m")),
			func(w *world) {
				w.settle()
				w.pass(time.Hour)
				w.admit()
				w.pass(11 * time.Minute)
			}},
		{"evicted by Kueue after a queue that was longer than the deadline",
			inQueue(withLines(reference, "schedulingDeadline: 10m")), func(w *world) {
				w.settle()
				w.pass(time.Hour)
				w.admit()
				w.evict()
				w.settle()
				w.pass(time.Hour)
				w.admit()
				w.pass(11 * time.Minute)
			}},
		{"an image that never comes is admitted by Kueue again and again",
			inQueue(withLines(devices, "schedulingDeadline: 11m")), func(w *world) {
				w.settle()
				w.otherClaims = []queue.Claim{w.wants("b", 1)}
				for range 3 {
					w.pass(time.Hour)
					w.admit()
					w.schedule()
					w.unpulled()
					w.settle()
					w.pass(11 * time.Minute)
				}
			}},
		{"admitted by Kueue and half placed", inQueue(devices), func(w *world) {
			w.settle()
			w.admit()
			w.halfPlaced()
			w.pass(150 * time.Second)
		}},
		{"of more kinds of pods than Kueue takes",
			inQueue(strings.Replace(devices, "replicas: 2", "replicas: 4, layout: PerLink", 1)), func(w *world) {
				w.settle()
				w.pass(time.Minute)
			}},
	}
}

// inQueue is a LoadTest with the label that puts it into Kueue's queue team-a.
func inQueue(spec string) string {
	return strings.Replace(spec, "metadata: {", "metadata: {labels: {kueue.x-k8s.io/queue-name: team-a}, ", 1)
}

// managed is Kueue's webhook, and the API server, which says of pods with a gate that they have one.
func (w *world) managed() {
	for i := range w.Pods {
		p := &w.Pods[i]
		p.Labels[v1alpha1.LabelKueueManaged] = "true"
		if len(p.Spec.SchedulingGates) > 0 {
			set(p, corev1.PodScheduled, corev1.ConditionFalse, w.clock)
			c := &p.Status.Conditions[len(p.Status.Conditions)-1]
			c.Reason, c.Message = corev1.PodReasonSchedulingGated,
				"Scheduling is blocked due to non-empty scheduling gates"
		}
	}
}

// admit is Kueue that admits the pods.
func (w *world) admit() {
	w.managed()
	for i := range w.Pods {
		w.Pods[i].Spec.SchedulingGates = nil
	}
	w.settle()
}

// unpulled is a kubelet that can't have the device's image.
func (w *world) unpulled() {
	if len(w.Pods) > 0 {
		w.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{Name: w.Pods[0].Spec.Containers[0].Name,
			State: corev1.ContainerState{
				Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "Back-off pulling image"}}}}
	}
}

// evict is Kueue that wants the quota for others.
func (w *world) evict() {
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Labels[v1alpha1.LabelRole] != "runner" {
			set(p, "TerminationTarget", corev1.ConditionTrue, w.clock)
			c := &p.Status.Conditions[len(p.Status.Conditions)-1]
			c.Reason, c.Message = "WorkloadEvictedDueToPreempted", "Preempted to accommodate a higher priority Workload"
			w.terminate(p)
		}
	}
}

// queueLives share the lab with other tests, or with pods that no test knows of.
func queueLives() []life {
	return []life{
		{"third in line and then placed", devices, func(w *world) {
			w.otherClaims = []queue.Claim{w.settled("a", "rack-1", "rack-2"), w.wants("b", -2), w.wants("c", -1)}
			w.settle()
			w.pass(10 * time.Minute)
			w.otherClaims = w.otherClaims[1:]
			w.otherClaims[0] = w.settled("b", "rack-1", "rack-2")
			w.pass(10 * time.Minute)
			w.otherClaims = []queue.Claim{w.settled("c", "rack-1", "rack-2")}
			w.pass(10 * time.Minute)
			w.otherClaims = []queue.Claim{w.wants("d", 1)}
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"refused before it stands in line", devices, func(w *world) {
			w.otherClaims = []queue.Claim{w.settled("a", "rack-1", "rack-2")}
			w.refusals = []lifecycle.Refusal{{Pod: "vpp-1-dut", Message: "exceeded quota: bench"}}
			w.settle()
			w.refusals = nil
			w.pass(time.Minute)
		}},
		{"half placed and given back twice", devices, func(w *world) {
			w.settle()
			w.halfPlaced()
			w.pass(3 * time.Minute)
			w.halfPlaced()
			w.pass(3 * time.Minute)
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"keeps others waiting for what strangers hold", devices, func(w *world) {
			w.settle()
			w.unschedulable("0/2 nodes are available: 2 Insufficient intel.com/west.")
			w.pass(10 * time.Minute)
			w.otherClaims = []queue.Claim{w.wants("b", 1)}
			w.pass(30 * time.Second)
			w.otherClaims = []queue.Claim{w.settled("b", "rack-1", "rack-2")}
			w.pass(10 * time.Minute)
			w.otherClaims = nil
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"setup without a node keeps others waiting", withSetup, func(w *world) {
			w.otherClaims = []queue.Claim{w.wants("b", 1)}
			w.settle()
			w.unschedulable("0/2 nodes are available: 2 Insufficient cpu.")
			w.pass(130 * time.Second)
		}},
		{"an image that isnt there keeps others waiting", devices, func(w *world) {
			w.settle()
			w.schedule()
			w.settle()
			w.unpulled()
			w.pass(time.Hour)
			w.otherClaims = []queue.Claim{w.wants("b", 1)}
			w.pass(2 * time.Minute)
			w.otherClaims = []queue.Claim{w.settled("b", "rack-1", "rack-2")}
			w.pass(2 * time.Minute)
		}},
		{"an image that never comes is tried until the deadline", withLines(devices, "schedulingDeadline: 20m"),
			func(w *world) {
				w.otherClaims = []queue.Claim{w.wants("b", 1)}
				w.settle()
				for range 22 {
					w.schedule()
					w.unpulled()
					w.settle()
					w.pass(time.Minute)
				}
			}},
		{"suspended while queued and resumed", devices, func(w *world) {
			w.otherClaims = []queue.Claim{w.settled("a", "rack-1", "rack-2")}
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
			w.settle()
		}},
		{"deadline while queued", withLines(devices, "schedulingDeadline: 10m"), func(w *world) {
			w.otherClaims = []queue.Claim{w.settled("a", "rack-1", "rack-2")}
			w.pass(11 * time.Minute)
		}},
		{"devices never side by side", withLines(twoOfWest, "activeDeadline: 1h"), func(w *world) {
			for i := range w.inventory.Nodes {
				w.inventory.Nodes[i].Allocatable["intel.com/west"] = resource.MustParse("3")
			}
			w.otherClaims = []queue.Claim{w.settled("a", "rack-9", "rack-9")}
			w.settle()
			w.inventory.Nodes = append(w.inventory.Nodes, node("rack-3"))
			w.settle()
		}},
	}
}

const withSetup = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: vpp}
spec:
  generator: {engine: TRex, trex: {image: "lab/trex:3.08"}}
  dut:
    type: Pod
    pod: {template: {spec: {containers: [{name: vpp, image: "lab/vpp:25.10"}]}}}
    setup: {deadline: 5m, template: {spec: {containers: [{name: setup, image: "lab/setup:1"}]}}}
  links:
  - {name: west, network: sriov-west, lineRate: 25gbps}
  - {name: east, network: sriov-east, lineRate: 25gbps}
`

// twoOfWest has three pods with two devices of west each.
const twoOfWest = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: vpp}
spec:
  generator: {engine: TRex, trex: {image: "lab/trex:3.08"}, replicas: 2}
  dut:
    type: Pod
    pod: {template: {spec: {containers: [{name: vpp, image: "lab/vpp:25.10"}]}}}
  links:
  - {name: west, network: sriov-west, lineRate: 25gbps}
  - {name: east, network: sriov-west, lineRate: 25gbps}
`

// wants is another test that wants all of the lab's devices, so many minutes younger than this one.
func (w *world) wants(name string, minutes int) queue.Claim {
	allDevices := queue.Devices{"intel.com/west": 4, "intel.com/east": 4}
	return queue.Claim{
		ID: name, Test: "lab-" + name + "/" + name,
		Created: w.test.CreationTimestamp.Add(time.Duration(minutes) * time.Minute),
		Pods:    []queue.Pod{{Devices: allDevices}, {Devices: allDevices}},
	}
}

// settled is another test that has its pods there.
func (w *world) settled(name string, nodes ...string) queue.Claim {
	c := w.wants(name, 0)
	c.Stage = queue.Settled
	for i, node := range nodes {
		c.Pods[i].Node = node
	}
	return c
}

// halfPlaced gives the device its node, and the generators none.
func (w *world) halfPlaced() {
	w.unschedulable("0/2 nodes are available: 2 Insufficient intel.com/west.")
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Labels[v1alpha1.LabelRole] == "dut" {
			p.Spec.NodeName = "rack-2"
			set(p, corev1.PodScheduled, corev1.ConditionTrue, w.clock)
		}
	}
}
