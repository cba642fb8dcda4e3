package lifecycle_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/report"
)

const hooks = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: hooked}
spec:
  dut:
    type: Device
    setup: {deadline: 5m, template: {spec: {containers: [{name: setup, image: "lab/setup:1"}]}}}
    teardown: {deadline: 2m, template: {spec: {containers: [{name: teardown, image: "lab/teardown:1"}]}}}
    readyDelay: 30s
  links:
  - {name: west, network: west, lineRate: 1gbps, dut: {address: 198.18.0.1/24}}
  - {name: east, network: east, lineRate: 1gbps, dut: {address: 198.18.1.1/24}}
`

const devices = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: vpp}
spec:
  generator: {engine: TRex, replicas: 2, trex: {image: "lab/trex:3.08"}}
  dut:
    type: Pod
    pod: {template: {spec: {containers: [{name: vpp, image: "lab/vpp:25.10"}]}}}
  links:
  - {name: west, network: sriov-west, lineRate: 25gbps}
  - {name: east, network: sriov-east, lineRate: 25gbps}
`

var quota = lifecycle.Refusal{Pod: "first-1-dut", Message: "exceeded quota: bench"}

const external = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: external}
spec:
  generator: {engine: External, external: {servers: ["trex.lab:4501"]}}
  dut: {type: Device}
  links:
  - {name: west, lineRate: 25gbps, dut: {address: 198.18.0.1/24}}
  - {name: east, lineRate: 25gbps, dut: {address: 198.18.1.1/24}}
`

// lives are whole lives; each ends at rest.
func lives() []life {
	return append(append(goodLives(), badLives()...), waitingLives()...)
}

func goodLives() []life {
	return []life{
		{"measured", reference, func(w *world) {
			r := w.toRun()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"measured and not good enough", reference, func(w *world) {
			r := w.toRun()
			w.finish(r, report.Completed)
			w.Report.Verdict.Outcome, w.Report.Verdict.Criteria[0].Outcome = report.DidFail, report.DidFail
			w.settle()
		}},
		{"nothing measured", reference, func(w *world) {
			r := w.toRun()
			w.finish(r, report.Completed)
			w.Report.Result = report.Result{Reason: report.NoCleanWindow, Message: "even the lowest step lost frames"}
			w.Report.Verdict.Outcome = report.Undecided
			w.settle()
		}},
		{"measured with setup and teardown", hooks, func(w *world) {
			r := w.setUp()
			w.measure(r)
			w.finish(r, report.Completed)
			w.pass(40 * time.Second)
			w.hook("hooked-1-teardown", 0, "")
		}},
		{"measured by an external generator", external, func(w *world) {
			w.settle()
			r := w.runner()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"suspended and resumed", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
			w.pass(time.Hour)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
			r = w.toRun()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"suspended from the start and after the end", reference, func(w *world) {
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
			w.pass(time.Hour)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
		}},
		{"stopped in the run", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.settle()
			w.pass(40 * time.Second)
		}},
		{"stopped while queued", reference, func(w *world) {
			w.lab.Networks = nil
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.settle()
		}},
		{"stopped while suspended", reference, func(w *world) {
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.settle()
		}},
		{"stopped while setting up", hooks, func(w *world) {
			w.settle()
			w.schedule()
			w.run()
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.pass(40 * time.Second)
			w.hook("hooked-1-teardown", 0, "")
		}},
		{"stopped while tearing down", hooks, func(w *world) {
			r := w.setUp()
			w.finish(r, report.Completed)
			w.pass(40 * time.Second)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.settle()
			w.hook("hooked-1-teardown", 0, "")
		}},
		{"stopped with a runner that doesn't end", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.stubborn[r] = true
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.pass(2 * time.Minute)
		}},
		{"time to live", with(reference, "ttlAfterFinished: 1h"), func(w *world) {
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.pass(2 * time.Hour)
		}},
		{"runner replaced", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.ends(r, 137, "killed")
			w.settle()
			w.pass(10 * time.Second)
			r = w.runner()
			w.progress(r, "WarmUp", 2)
			w.settle()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"runner interrupted without being asked to", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.writeReport(report.Interrupted, false, 1)
			w.ends(r, 3, "SIGTERM")
			w.settle()
			r = w.runner()
			w.measure(r)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"operator away while it gave pods back", reference, func(w *world) {
			r := w.toRun()
			w.measure(r)
			w.finish(r, report.Completed)
			w.dieBeforeStatus()
			w.now = w.now.Add(10 * time.Minute)
			w.Pods = nil
			w.settle()
		}},
		{"node silent for a while", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.lab.Nodes[1].Ready = false
			w.pass(20 * time.Second)
			w.lab.Nodes[1].Ready = true
			w.settle()
			w.finish(r, report.Completed)
			w.settle()
		}},
	}
}

func badLives() []life {
	return []life{
		{"invalid", reference, func(w *world) {
			w.test.Spec.Links[0].Generator = &v1alpha1.GeneratorEnd{Networks: []v1alpha1.Network{"nonsense"}}
			w.settle()
		}},
		{"path not proven", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "ProvingPath", 1)
			w.settle()
			w.finish(r, report.PathNotProven)
			w.settle()
		}},
		{"generator ends while it starts", reference, func(w *world) {
			w.settle()
			w.schedule()
			w.settle()
			w.ends("first-1-generator-0", 1, "NoHugepages: node rack-1 has no huge pages of 1Gi: reserve some")
			w.settle()
		}},
		{"device ends while it starts and its pods are kept", with(reference, "keepPods: OnFailure"), func(w *world) {
			w.settle()
			w.schedule()
			w.run()
			w.ends("first-1-dut", 2, "no such interface")
			w.settle()
			w.pass(time.Hour)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.KeepPods = v1alpha1.KeepPodsNever })
			w.settle()
		}},
		{"generator lost and reported", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.ends("first-1-generator-0", 137, "")
			w.settle()
			w.pass(5 * time.Second)
			w.finish(r, report.GeneratorLost)
			w.settle()
		}},
		{"generator lost in warm-up", reference, func(w *world) { w.loseGenerator("WarmUp") }},
		{"generator lost in the ramp", reference, func(w *world) { w.loseGenerator("Ramping") }},
		{"generator lost in the hold", reference, func(w *world) { w.loseGenerator("Holding") }},
		{"generator lost in the run that claims to be complete", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Confirming", 90)
			w.settle()
			w.ends("first-1-generator-0", 137, "")
			w.pass(2 * time.Second)
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"device lost in the run", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.ends("first-1-dut", 139, "segmentation fault")
			w.settle()
			w.pass(time.Minute)
		}},
		{"pod deleted before the run", reference, func(w *world) {
			w.settle()
			w.schedule()
			w.settle()
			w.vanish("first-1-dut")
			w.settle()
		}},
		{"pod deleted in the run", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.vanish("first-1-dut")
			w.settle()
			w.pass(time.Minute)
		}},
		{"pod evicted", reference, func(w *world) {
			w.settle()
			w.schedule()
			w.settle()
			w.refuse("first-1-generator-0", "Evicted", "The node was low on resource: memory.")
			w.settle()
		}},
		{"node gone in the run", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			for i := range w.Pods {
				w.stubborn[w.Pods[i].Name] = w.Pods[i].Spec.NodeName == "rack-2"
			}
			w.lab.Nodes = w.lab.Nodes[:1]
			w.settle()
			w.pass(5 * time.Minute)
		}},
		{"node silent for long", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.lab.Nodes[0].Ready = false
			w.pass(3 * time.Minute)
		}},
		{"runner's node silent for long", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.stubborn[r] = true
			w.terminate(w.must(r)) // by the control plane, as the node doesn't answer
			w.pass(3 * time.Minute)
		}},
		{"stopped just after the device was lost", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.ends("first-1-dut", 139, "segmentation fault")
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.pass(time.Minute)
		}},
		{"generator lost and its pods are kept", with(reference, "keepPods: OnFailure"), func(w *world) {
			r := w.toRun()
			w.ends("first-1-generator-0", 137, "")
			w.finish(r, report.GeneratorLost)
			w.settle()
		}},
		{"runner failed for good", reference, func(w *world) {
			r := w.toRun()
			for range 4 {
				w.progress(r, "Preparing", 0)
				w.ends(r, 3, "the plan can't be read")
				w.settle()
				r = w.runner()
			}
			w.ends(r, 3, "the plan can't be read")
			w.jobFails()
			w.settle()
		}},
		{"runner's Job deleted", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.Jobs = nil
			w.terminate(w.must(r))
			w.pass(time.Minute)
		}},
		{"report unreadable", reference, func(w *world) {
			r := w.toRun()
			w.unread = "its digest is sha256:1, and the annotation says sha256:2: somebody changed it"
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"run that doesn't end", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.pass(15 * time.Minute)
		}},
		{"deadline of the run reported", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.pass(10 * time.Minute)
			w.finish(r, report.DeadlineExceeded)
			w.settle()
		}},
		{"deadline made shorter", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.pass(5 * time.Minute)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.ActiveDeadline = "1m" })
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.ActiveDeadline = "10m" })
			w.pass(time.Minute)
		}},
		{"scheduling deadline", with(reference, "schedulingDeadline: 2m"), func(w *world) {
			w.settle()
			w.unschedulable("0/2 nodes are available: 2 Insufficient cpu.")
			w.settle()
			w.pass(5 * time.Minute)
		}},
		{"scheduling deadline after resuming", with(reference, "schedulingDeadline: 2m", "suspend: true"), func(w *world) {
			w.lab.Multus = false
			w.settle()
			w.pass(time.Hour)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
			w.pass(time.Minute)
			w.pass(5 * time.Minute)
		}},
		{"setup failing", hooks, func(w *world) {
			w.settle()
			w.schedule()
			w.run()
			w.settle()
			w.ends("hooked-1-setup", 4, "unreachable: srx.lab")
			w.pass(40 * time.Second)
			w.hook("hooked-1-teardown", 0, "")
		}},
		{"setup too slow", hooks, func(w *world) {
			w.settle()
			w.schedule()
			w.run()
			w.pass(6 * time.Minute)
			w.hook("hooked-1-teardown", 0, "")
		}},
		{"teardown failing", hooks, func(w *world) {
			r := w.setUp()
			w.finish(r, report.Completed)
			w.pass(40 * time.Second)
			w.hook("hooked-1-teardown", 1, "unreachable: srx.lab")
		}},
		{"teardown too slow", hooks, func(w *world) {
			r := w.setUp()
			w.finish(r, report.Completed)
			w.pass(40 * time.Second)
			w.schedule()
			w.run()
			w.pass(5 * time.Minute)
		}},
		{"deleted half-way", reference, func(w *world) {
			w.toRun()
			w.test.DeletionTimestamp = &metav1.Time{Time: w.now}
			w.test.Finalizers = []string{"foregroundDeletion"}
			w.settle()
		}},
		{"class of CPUs too low", devices, func(w *world) {
			w.settle()
			w.schedule()
			w.run()
			w.must("vpp-1-generator-0").Status.QOSClass = corev1.PodQOSBurstable
			w.settle()
		}},
	}
}

func waitingLives() []life {
	return []life{
		{"lab mended step by step", devices, func(w *world) {
			whole := w.lab
			w.lab = lifecycle.Lab{Nodes: []lifecycle.Node{{Name: "rack-1", Ready: true, Schedulable: true}}}
			w.settle()
			w.lab.Multus = true
			w.settle()
			w.lab.Faults = map[compile.NetworkKey]string{{Namespace: "bench", Name: "sriov-west"}: "spec.config isn't JSON"}
			w.settle()
			w.lab.Faults, w.lab.Networks = nil, whole.Networks
			w.settle()
			w.lab.Nodes = []lifecycle.Node{node("rack-1"), node("rack-2")}
			for i := range w.lab.Nodes {
				w.lab.Nodes[i].Allocatable["intel.com/west"] = resource.MustParse("1")
			}
			w.settle()
			w.lab.Nodes = []lifecycle.Node{node("rack-1"), node("rack-2")}
			w.lab.Nodes[0].Schedulable, w.lab.Nodes[1].Ready = false, false
			w.settle()
			w.lab = whole
			w.foreign = []string{"Pod/vpp-1-dut"}
			w.settle()
			w.foreign = nil
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"huge pages missing", devices, func(w *world) {
			for i := range w.lab.Nodes {
				delete(w.lab.Nodes[i].Allocatable, "hugepages-1Gi")
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
			w.refusals = []lifecycle.Refusal{{Pod: "first-1-dut", Message: `pods "first-1-dut" is forbidden: exceeded quota: bench, requested: pods=1, used: pods=10, limited: pods=10`}}
			w.settle()
			w.pass(30 * time.Minute)
			w.refusals = nil
			w.pass(5 * time.Minute)
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"API server busy", reference, func(w *world) {
			w.refusals = []lifecycle.Refusal{{Pod: "first-1-dut", Message: "the server is currently unable to handle the request", Transient: true}}
			w.pass(10 * time.Second)
			w.refusals = nil
			w.pass(time.Minute)
		}},
		{"node refuses a pod", devices, func(w *world) {
			w.settle()
			w.schedule()
			w.run()
			w.refuse("vpp-1-generator-0", "TopologyAffinityError", "Resources cannot be allocated with Topology locality")
			w.settle()
			w.pass(40 * time.Second)
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"all nodes refuse and one is tried again", devices, func(w *world) {
			w.settle()
			w.schedule()
			w.refuse("vpp-1-generator-0", "TopologyAffinityError", "Resources cannot be allocated with Topology locality")
			w.pass(40 * time.Second)
			w.schedule()
			w.refuse("vpp-2-dut", "UnexpectedAdmissionError", "Allocate failed due to requested number of devices unavailable for intel.com/west")
			w.pass(40 * time.Second)
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
			w.settle()
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
			w.settle()
		}},
		{"image can't be pulled until it can", reference, func(w *world) {
			w.settle()
			w.schedule()
			p := w.must("first-1-generator-0")
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "generator", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: "ImagePullBackOff", Message: `Back-off pulling image "linerate:test"`,
			}}}}
			w.settle()
			w.pass(2 * time.Minute)
			w.must("first-1-generator-0").Status.ContainerStatuses = nil
			r := w.toRun()
			w.finish(r, report.Completed)
			w.settle()
		}},
		{"device refers to what isn't there", reference, func(w *world) {
			w.settle()
			w.schedule()
			w.must("first-1-dut").Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "forwarder", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
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
			w.now = w.now.Add(-time.Hour)
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

// edit changes the spec, as a person does.
func (w *world) edit(change func(*v1alpha1.LoadTestSpec)) {
	change(&w.test.Spec)
	w.test.Generation++
}

// setUp brings a test with hooks to where its runner runs.
func (w *world) setUp() string {
	w.t.Helper()
	w.settle()
	w.hook("hooked-1-setup", 0, "")
	w.schedule()
	w.settle()
	w.run()
	w.settle()
	w.pass(30 * time.Second)
	r := w.runner()
	w.settle()
	return r
}

// dieBeforeStatus is a pass of an operator that dies before it writes the status.
func (w *world) dieBeforeStatus() {
	before := w.mischief
	left := 2 // a deletion of the Job, one of the pods
	w.mischief = func() bool { left--; return left < 0 }
	w.reconcile()
	w.mischief = before
}

// hook lets a setup or teardown pod run to its end.
func (w *world) hook(name string, code int32, words string) {
	w.t.Helper()
	w.schedule()
	w.run()
	w.settle()
	w.ends(name, code, words)
	w.settle()
}

// loseGenerator lets a generator's pod vanish in a phase, with a runner that hangs in it.
func (w *world) loseGenerator(phase string) {
	r := w.toRun()
	w.progress(r, phase, 30)
	w.settle()
	w.vanish("first-1-generator-0")
	w.pass(2 * time.Minute)
}

// unschedulable lets the scheduler say that it finds no node for any pod.
func (w *world) unschedulable(words string) {
	for i := range w.Pods {
		p := &w.Pods[i]
		set(p, corev1.PodScheduled, corev1.ConditionFalse, w.now)
		p.Status.Conditions[len(p.Status.Conditions)-1].Reason = corev1.PodReasonUnschedulable
		p.Status.Conditions[len(p.Status.Conditions)-1].Message = words
	}
}
