package lifecycle_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// waitingLives wait for something to be mended.
func waitingLives() []life {
	return []life{
		{"no node has its devices and nodes are added for pods that wait", devices, func(w *world) {
			w.inventory.Grows = true
			allNodes := w.inventory.Nodes
			w.inventory.Nodes = []lifecycle.Node{{Name: "control-plane", Ready: true, Schedulable: true}}
			w.settle()
			w.unschedulable("0/1 nodes are available: 1 Insufficient lab/sriov_west.")
			w.pass(10 * time.Minute)
			w.inventory.Nodes = allNodes
			w.schedule()
			w.run()
			w.settle()
		}},
		{"lab mended step by step", devices, func(w *world) {
			whole := w.inventory
			w.inventory = lifecycle.Inventory{Nodes: []lifecycle.Node{{Name: "rack-1", Ready: true, Schedulable: true}}}
			w.settle()
			w.inventory.Multus = true
			w.settle()
			w.inventory.Faults = map[compile.NetworkKey]string{{Namespace: "bench",
				Name: "sriov-west"}: "spec.config isn't JSON"}
			w.settle()
			w.inventory.Faults, w.inventory.Networks = nil, whole.Networks
			w.settle()
			w.inventory.Nodes = []lifecycle.Node{node("rack-1"), node("rack-2")}
			for i := range w.inventory.Nodes {
				w.inventory.Nodes[i].Allocatable["intel.com/west"] = resource.MustParse("1")
			}
			w.settle()
			w.inventory.Nodes = []lifecycle.Node{node("rack-1"), node("rack-2")}
			w.inventory.Nodes[0].Schedulable, w.inventory.Nodes[1].Ready = false, false
			w.settle()
			w.inventory = whole
			w.foreign = []string{"Pod/vpp-1-dut"}
			w.settle()
			w.foreign = nil
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"huge pages missing", devices, func(w *world) {
			for i := range w.inventory.Nodes {
				delete(w.inventory.Nodes[i].Allocatable, "hugepages-1Gi")
			}
			w.settle()
		}},
		{"devices scarce and then free", devices, func(w *world) {
			w.settle()
			w.unschedulable("0/2 nodes are available: 2 Insufficient intel.com/west.")
			w.settle()
			w.pass(time.Hour)
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"refused by quota until it is raised", reference, func(w *world) {
			w.refusals = []lifecycle.Refusal{{Pod: "first-1-dut",
				Message: `pods "first-1-dut" is forbidden: exceeded quota: bench, requested: pods=1, used: pods=10, limited: pods=10`}}
			w.settle()
			w.pass(30 * time.Minute)
			w.refusals = nil
			w.pass(5 * time.Minute)
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"API server busy", reference, func(w *world) {
			w.refusals = []lifecycle.Refusal{{Pod: "first-1-dut",
				Message: "the server is currently unable to handle the request", Transient: true}}
			w.pass(10 * time.Second)
			w.refusals = nil
			w.pass(time.Minute)
		}},
		{"node refuses a pod", devices, func(w *world) {
			w.settle()
			w.schedule()
			w.run()
			w.refuse("vpp-1-generator-0", "TopologyAffinityError",
				"Resources cannot be allocated with Topology locality")
			w.settle()
			w.pass(40 * time.Second)
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"all nodes refuse and one is tried again", devices, func(w *world) {
			w.settle()
			w.schedule()
			w.refuse("vpp-1-generator-0", "TopologyAffinityError",
				"Resources cannot be allocated with Topology locality")
			w.pass(40 * time.Second)
			w.schedule()
			w.refuse("vpp-2-dut", "UnexpectedAdmissionError",
				"Allocate failed due to requested number of devices unavailable for intel.com/west")
			w.pass(40 * time.Second)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
			w.settle()
		}},
		{"a kubelet that has just started knows of no device yet", devices, func(w *world) {
			w.settle()
			w.schedule()
			w.refuse("vpp-1-generator-0", "UnexpectedAdmissionError",
				"Allocate failed due to no healthy devices present; cannot allocate unhealthy devices "+
					"intel.com/west, which is unexpected")
			w.settle()
			if nodes := w.test.Status.Operator.ExcludedNodes; len(nodes) > 0 {
				w.t.Errorf("nodes %v are to be avoided", nodes)
			}
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"image can't be pulled until it can", reference, func(w *world) {
			w.settle()
			w.schedule()
			p := w.mustPod("first-1-generator-0")
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "generator",
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
					Reason: "ImagePullBackOff", Message: `Back-off pulling image "linerate:test"`,
				}}}}
			w.settle()
			w.pass(2 * time.Minute)
			w.mustPod("first-1-generator-0").Status.ContainerStatuses = nil
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"device refers to what isn't there", reference, func(w *world) {
			w.settle()
			w.schedule()
			w.mustPod("first-1-dut").Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "forwarder",
				State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
					Reason: "CreateContainerConfigError", Message: `configmap "vpp" not found`,
				}}}}
			w.settle()
		}},
		{"network plugin that doesn't attach", reference, func(w *world) {
			w.settle()
			w.schedule()
			w.settle()
			w.pass(2 * time.Minute)
		}},
		{"clock that goes back", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.clock = w.clock.Add(-time.Hour)
			w.progress(r, "Ramping", 40)
			w.settle()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"status lost", reference, func(w *world) {
			r := w.toRun()
			w.test.Status = v1alpha1.LoadTestStatus{ObservedGeneration: -1}
			w.settle()
			w.finish(r, report.Completed)
			w.settle()
		}},
	}
}
