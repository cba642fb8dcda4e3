package lifecycle_test

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// badLives end otherwise.
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
		{"device ends while it starts and its pods are kept", withLines(reference, "podRetention: OnFailure"),
			func(w *world) {
				w.settle()
				w.schedule()
				w.run()
				w.ends("first-1-dut", 2, "no such interface")
				w.settle()
				w.pass(time.Hour)
				w.edit(func(s *v1alpha1.LoadTestSpec) { s.PodRetention = v1alpha1.PodRetentionNever })
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
			w.inventory.Nodes = w.inventory.Nodes[:1]
			w.settle()
			w.pass(5 * time.Minute)
		}},
		{"node silent for long", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.inventory.Nodes[0].Ready = false
			w.pass(7 * time.Minute)
		}},
		{"runner's node silent for long", reference, func(w *world) {
			r := w.toRun()
			w.progress(r, "Ramping", 30)
			w.settle()
			w.stubborn[r] = true
			w.terminate(w.mustPod(r)) // by the control plane, as the node doesn't answer
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
		{"generator lost and its pods are kept", withLines(reference, "podRetention: OnFailure"), func(w *world) {
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
			w.terminate(w.mustPod(r))
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
		{"scheduling deadline", withLines(reference, "schedulingDeadline: 2m"), func(w *world) {
			w.settle()
			w.unschedulable("0/2 nodes are available: 2 Insufficient cpu.")
			w.settle()
			w.pass(5 * time.Minute)
		}},
		{"scheduling deadline after resuming", withLines(reference, "schedulingDeadline: 2m", "suspend: true"),
			func(w *world) {
				w.inventory.Multus = false
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
			w.test.DeletionTimestamp = &metav1.Time{Time: w.clock}
			w.test.Finalizers = []string{"foregroundDeletion"}
			w.settle()
		}},
		{"deleted in its run with a teardown", hooks, func(w *world) {
			w.setUp()
			w.remove()
			w.pass(40 * time.Second)
			w.hook("hooked-1-teardown", 0, "")
		}},
		{"deleted with a teardown that never ends", hooks, func(w *world) {
			w.setUp()
			w.remove()
			w.pass(40 * time.Second)
			w.schedule()
			w.run()
			w.stubborn["hooked-1-teardown"] = true
			w.pass(10 * time.Minute)
		}},
		{"deleted before anything was made that a teardown undoes", hooks, func(w *world) {
			w.inventory.Multus = false
			w.settle()
			w.remove()
		}},
		{"deleted after its teardown", hooks, func(w *world) {
			w.finish(w.setUp(), report.Completed)
			w.pass(40 * time.Second)
			w.hook("hooked-1-teardown", 0, "")
			w.remove()
		}},
		{"deleted in a namespace that goes too", hooks, func(w *world) {
			w.setUp()
			w.unmade = &lifecycle.Refusal{Pod: "hooked-1-teardown", Message: "namespace bench is being terminated",
				NamespaceGoes: true}
			w.remove()
			w.pass(time.Minute)
		}},
		{"class of CPUs too low", devices, func(w *world) {
			w.settle()
			w.schedule()
			w.run()
			w.mustPod("vpp-1-generator-0").Status.QOSClass = corev1.PodQOSBurstable
			w.settle()
		}},
	}
}
