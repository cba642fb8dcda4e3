package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// situation is one that a rule must recognise, by what was changed since the pods ran, or the runner.
type situation struct {
	name    string
	spec    string
	prepare func(*world)
	rule    string
	reason  string
	words   string // in the decision's message
}

// checkRules holds the decisions to the table.
func checkRules(t *testing.T, begin func(*world), table []situation) {
	t.Helper()
	for _, s := range table {
		t.Run(s.name, func(t *testing.T) {
			w := newWorld(t, s.spec)
			begin(w)
			s.prepare(w)
			_, d := w.decide()
			if d.Rule != s.rule || d.Reason != s.reason || !strings.Contains(d.Message, s.words) {
				t.Errorf("%s – %s: %s\nwant %s – %s: … %s …", d.Rule, d.Reason, d.Message, s.rule, s.reason, s.words)
			}
		})
	}
}

// pending brings a test to where its pods have nodes, and the status says so.
func (w *world) pending() {
	w.settle()
	w.schedule()
	w.pass(3 * time.Second)
}

func (w *world) running() {
	r := w.toRun()
	w.progress(r, "Ramping", 30)
	w.settle()
}

func (w *world) theRunner() *corev1.Pod {
	for i := range w.Pods {
		if w.Pods[i].Labels[v1alpha1.LabelRole] == "runner" {
			return &w.Pods[i]
		}
	}
	w.t.Fatal("there is no runner")
	return nil
}

func TestWhatTheLabLacks(t *testing.T) {
	allocate := func(name corev1.ResourceName, amounts ...string) func(*world) {
		return func(w *world) {
			for i, amount := range amounts {
				w.inventory.Nodes[i].Allocatable[name] = resource.MustParse(amount)
			}
		}
	}
	checkRules(t, func(*world) {}, []situation{
		{"no node has the device", devices, allocate("intel.com/west", "0", "0"), "resourcesMissing", "ResourceMissing",
			"no node has any"},
		{"all nodes together have too few devices", devices, allocate("intel.com/west", "1", "1"), "resourcesMissing",
			"ResourceMissing", "need 3 of intel.com/west together, and all nodes together have 2"},
		{"huge pages are too few on each node", devices, allocate("hugepages-1Gi", "1Gi", "2Gi"), "resourcesMissing",
			"HugepagesMissing", "no node has more than 2Gi"},
		{"no single node has devices and huge pages", devices, func(w *world) {
			allocate("hugepages-1Gi", "0", "16Gi")(w)
			allocate("intel.com/west", "4", "0")(w)
		}, "resourcesMissing", "ResourceMissing", "no node has all of it"},
		{"the node that has it is cordoned", devices, func(w *world) {
			allocate("intel.com/west", "4", "0")(w)
			w.inventory.Nodes[0].Schedulable = false
		}, "resourcesMissing", "ResourceMissing", "cordoned or not Ready (rack-1)"},
		{"two links share a resource", strings.ReplaceAll(devices, "sriov-east", "sriov-west"),
			allocate("intel.com/west", "1", "1"),
			"resourcesMissing", "ResourceMissing",
			"needs 2 of intel.com/west on one node, and no node has more than 1"},
		{"a network of another namespace", strings.ReplaceAll(reference, "network: west", "network: lab/west"),
			func(*world) {},
			"networksMissing", "NetworkMissing",
			"network lab/west (link west, the generator's end) doesn't exist (a network of another namespace also " +
				"needs"},
		{"a tunnel's cable, which is no link of the spec", strings.Replace(aTunnel, "network: cable",
			"network: lab/cable", 1), func(*world) {},
			"networksMissing", "NetworkMissing", "network lab/cable (dut.reference.mode.tunnel.network) doesn't exist"},
		{"a node's view is missing altogether", devices, func(w *world) { w.inventory.Nodes = nil }, "podsNeeded",
			"Pending", "pods are made"},
		{"many names are taken", reference, func(w *world) {
			w.foreign = []string{"Pod/a", "Pod/b", "Pod/c", "Pod/d",
				"Pod/e", "Pod/f"}
		},
			"nameTaken", "NameTaken", "and 1 more exists"},
	})
}

func TestWhatTheAPIServerRefuses(t *testing.T) {
	refuse := func(words string) func(*world) {
		return func(w *world) { w.refusals = []lifecycle.Refusal{{Pod: "first-1-dut", Message: words}} }
	}
	checkRules(t, func(*world) {}, []situation{
		{"a quota", reference, refuse("exceeded quota: bench"), "podsNeeded", "PodRefused", "raise the ResourceQuota"},
		{"Pod Security", reference, refuse(`violates PodSecurity "restricted:latest"`), "podsNeeded", "PodRefused",
			"pod-security.kubernetes.io/enforce=privileged"},
		{"a priority class", reference, refuse("no PriorityClass with name x was found"), "podsNeeded", "PodRefused",
			"create the PriorityClass"},
		{"a runtime class", reference, refuse(`RuntimeClass "x" not found`), "podsNeeded", "PodRefused",
			"create the RuntimeClass"},
		{"a service account", reference, refuse(`serviceaccount "x" not found`), "podsNeeded", "PodRefused",
			"create the ServiceAccount"},
		{"a limit range", reference, refuse("maximum cpu usage per Container is 1"), "podsNeeded", "PodRefused",
			"LimitRange"},
		{"something else", reference, refuse("denied by policy"), "podsNeeded", "PodRefused",
			"denied by policy (mend what it says"},
	})
}

func TestWhatBefallsPodsBeforeTheRun(t *testing.T) {
	fails := func(pod, reason, words string) func(*world) {
		return func(w *world) { w.refuse(pod, reason, words) }
	}
	checkRules(t, (*world).pending, []situation{
		{"no room on one NUMA node", reference, fails("first-1-dut", "TopologyAffinityError", "x"), "nodeRefusedPod",
			"NodeRefused", "rack-2 refused pod first-1-dut"},
		{"a device went meanwhile", reference, fails("first-1-dut", "UnexpectedAdmissionError", "x"), "nodeRefusedPod",
			"NodeRefused", "rack-2"},
		{"no device as yet", reference, fails("first-1-dut", "UnexpectedAdmissionError",
			"Allocate failed due to no healthy devices present; cannot …"), "nodeRefusedPod", "NodeRefused",
			"the next attempt may have it, as soon as"},
		{"no CPU left", reference, fails("first-1-generator-0", "OutOfcpu", "x"), "nodeRefusedPod", "NodeRefused",
			"rack-1"},
		{"no huge pages left", reference, fails("first-1-generator-0", "OutOfhugepages-1Gi", "x"), "nodeRefusedPod",
			"NodeRefused", "rack-1"},
		{"evicted by its node", reference, fails("first-1-dut", "Evicted", "low on memory"), "measuringPodLost",
			"Evicted", "was evicted from node rack-2: low on memory"},
		{"its node shut down", reference, fails("first-1-dut", "NodeShutdown", "x"), "measuringPodLost", "Evicted",
			"NodeShutdown"},
		{"its node was lost", reference, fails("first-1-dut", "NodeLost", "x"), "measuringPodLost", "NodeLost",
			"rack-2"},
		{"its deadline was over", reference, fails("first-1-dut", "DeadlineExceeded",
			"Pod was active on the node longer than the specified deadline"), "outlived", "Pending",
			"pod first-1-dut waited so long for the others"},
		{"preempted", reference, func(w *world) {
			p := w.mustPod("first-1-dut")
			set(p, corev1.DisruptionTarget, corev1.ConditionTrue, w.clock)
			p.Status.Conditions[len(p.Status.Conditions)-1].Reason = "PreemptionByScheduler"
			w.terminate(p)
			w.stubborn[p.Name] = true
		}, "measuringPodLost", "Evicted", "PreemptionByScheduler"},
		{"deleted by a hand", reference, func(w *world) { w.terminate(w.mustPod("first-1-dut")) }, "measuringPodLost",
			"Evicted", "deleted by somebody else"},
		{"gone with its node", reference, func(w *world) {
			w.vanish("first-1-dut")
			w.inventory.Nodes = w.inventory.Nodes[:1]
		}, "measuringPodLost", "NodeLost", "pod first-1-dut is gone, and so is its node rack-2"},
		{"a generator ends well", reference, func(w *world) { w.ends("first-1-generator-0", 0, "") },
			"measuringPodLost", "GeneratorFailed", "ended by itself"},
		{"one container of many ends", reference, func(w *world) {
			w.run()
			w.mustPod("first-1-dut").Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "sidecar",
				State: corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{ExitCode: 3, Message: "no licence"}}}}
		}, "measuringPodLost", "DUTFailed", "container sidecar ended with exit code 3: no licence"},
		{"a container was restarted", reference, func(w *world) {
			w.run()
			w.mustPod("first-1-dut").Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "vpp", RestartCount: 1}}
		}, "measuringPodLost", "DUTFailed", "container vpp of pod first-1-dut was restarted"},
		{"a container ran out of memory", reference, func(w *world) {
			w.ends("first-1-generator-0", 137, "")
			w.mustPod("first-1-generator-0").Status.ContainerStatuses[0].State.Terminated.Reason = "OOMKilled"
		}, "measuringPodLost", "GeneratorFailed", "OOMKilled"},
		{"its image has no name", reference, func(w *world) {
			w.mustPod("first-1-dut").Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "forwarder",
				State: corev1.ContainerState{
					Waiting: &corev1.ContainerStateWaiting{Reason: "InvalidImageName"}}}}
		}, "starting", "Starting", "correct the image's name"},
		{"a node that isn't Ready is waited for", reference, func(w *world) { w.inventory.Nodes[1].Ready = false },
			"starting", "Starting", "aren't ready yet"},
		{"ready, and no address yet", reference, func(w *world) {
			w.run()
			w.mustPod("first-1-generator-0").Status.PodIP = ""
		}, "runNeeded", "Starting", "has no address yet"},
	})
}

func TestWhatHappensInTheRun(t *testing.T) {
	checkRules(t, (*world).running, []situation{
		{"a pod that misses a probe is the runner's to judge", reference, func(w *world) {
			set(w.mustPod("first-1-generator-0"), corev1.PodReady, corev1.ConditionFalse, w.clock)
		}, "running", "Running", "measures"},
		{"a Report of an earlier attempt is ignored", reference, func(w *world) {
			w.test.Status.Attempt = 1
			w.writeReport(report.Completed, true, 0)
		}, "running", "Running", "measures"},
		{"an interrupted run awaits its successor", reference,
			func(w *world) { w.writeReport(report.Interrupted, false, 1) }, "running", "Running", "measures"},
		{"a Report of another test of that name", reference, func(w *world) {
			w.writeReport(report.Completed, true, 1)
			w.Report.Plan.Test.UID = "another"
		}, "reportArrived", "RunnerFailed", "it is of a LoadTest with UID another"},
		{"an end that a later version tells", reference, func(w *world) { w.writeReport("Parked", true, 1) },
			"reportArrived", "NotMeasured", "(Parked)"},
		{"a Job that ended without a Report", reference, func(w *world) {
			w.jobFails()
			w.Jobs[0].Status.Conditions[0].Type = "Complete"
		}, "runnerFailed", "RunnerFailed", "left no Report"},
		{"a node is gone", reference, func(w *world) { w.inventory.Nodes = w.inventory.Nodes[1:] }, "measuringPodLost",
			"Lost", "node rack-1, on which pod first-1-generator-0 ran, is gone"},
		{"a runner that finds no node", reference, func(w *world) {
			w.Progress = nil
			p := w.theRunner()
			p.Spec.NodeName, p.Status.Phase = "", corev1.PodPending
			set(p, corev1.PodScheduled, corev1.ConditionFalse, w.clock)
			p.Status.Conditions[len(p.Status.Conditions)-1].Reason = corev1.PodReasonUnschedulable
			p.Status.Conditions[len(p.Status.Conditions)-1].Message = "0/2 nodes are available"
		}, "running", "Running", "finds no node: 0/2 nodes"},
		{"a spec that this version can't compile goes on as it began", reference, func(w *world) {
			w.test.Spec.Links[0].LineRate = "nonsense"
		}, "running", "Running", "measures"},
		{"a Job seen late isn't one that was deleted", reference, func(w *world) {
			w.Jobs, w.Progress = nil, nil
			w.Pods = w.Pods[:2]
			for i := range w.test.Status.Pods {
				if w.test.Status.Pods[i].Role == v1alpha1.RoleRunner {
					w.test.Status.Pods = append(w.test.Status.Pods[:i], w.test.Status.Pods[i+1:]...)
					break
				}
			}
		}, "runNeeded", "Running", "measures"},
		{"a spec that can't be compiled any more, and a runner that was never made", reference, func(w *world) {
			w.test.Spec.Links[0].LineRate = "nonsense"
			w.Jobs, w.Pods, w.Progress, w.test.Status.Pods = nil, nil, nil, nil
		}, "invalid", "Invalid", "lineRate"},
		{"a suspended and stopped test is stopped", reference, func(w *world) {
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend, s.Stop = true, true })
		}, "stopRequested", "Stopped", "spec.stop"},
		{"a Report that came with the stop counts", reference, func(w *world) {
			w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
			w.writeReport(report.Completed, true, 1)
		}, "reportArrived", "Measured", "frames are lost"},
	})
}

func TestAfterTheEnd(t *testing.T) {
	measured := func(w *world) {
		r := w.toRun()
		w.finish(r, report.Completed)
		w.settle()
	}
	due := func(w *world) time.Time { _, d := w.decide(); return d.RequeueAt }

	t.Run("the time to live counts from Complete where completionTime is lost", func(t *testing.T) {
		w := newWorld(t, withLines(reference, "ttlAfterFinished: 1h"))
		measured(w)
		w.test.Status.CompletionTime = nil
		if want := w.clock.Add(time.Hour); !due(w).Equal(want) {
			t.Errorf("wakes at %v, not %v", due(w), want)
		}
	})
	t.Run("a clock that went back makes the time to live longer, not shorter", func(t *testing.T) {
		w := newWorld(t, withLines(reference, "ttlAfterFinished: 1h"))
		measured(w)
		w.clock = w.clock.Add(-24 * time.Hour)
		if _, d := w.decide(); d.DeleteTest || d.RequeueAt.IsZero() {
			t.Errorf("DeleteTest %v, wakes at %v", d.DeleteTest, d.RequeueAt)
		}
	})
	t.Run("a pod that was left is released", func(t *testing.T) {
		w := newWorld(t, reference)
		measured(w)
		w.Pods = []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Name: "first-1-dut",
			Labels: map[string]string{v1alpha1.LabelAttempt: "1", v1alpha1.LabelRole: "dut"}}}}
		if _, d := w.decide(); len(d.Delete) != 1 {
			t.Errorf("deletes %v", d.Delete)
		}
	})
	t.Run("an edited spec is observed", func(t *testing.T) {
		w := newWorld(t, reference)
		measured(w)
		w.edit(func(s *v1alpha1.LoadTestSpec) { s.TTLAfterFinished = "1h" })
		w.settle()
		if got := w.test.Status.ObservedGeneration; got != 2 {
			t.Errorf("observedGeneration is %d", got)
		}
	})
}

func TestASetupPodThatWaitsForANodeIsGivenItsDeadlineFromThen(t *testing.T) {
	w := newWorld(t, hooks)
	w.settle()
	w.clock = w.clock.Add(time.Hour)
	o, d := w.decide()
	if d.Rule != "settingUp" || !d.RequeueAt.IsZero() && !d.RequeueAt.After(o.ObservedAt) {
		t.Errorf("without a node: %s, again %s from now", d.Rule, d.RequeueAt.Sub(o.ObservedAt))
	}
	w.schedule()
	if o, d = w.decide(); d.Rule != "settingUp" || !d.RequeueAt.Equal(o.ObservedAt.Add(5*time.Minute+30*time.Second)) {
		t.Errorf("with a node: %s: %s, again %s from now", d.Rule, d.Message, d.RequeueAt.Sub(o.ObservedAt))
	}
}

func TestAJobThatMakesNoPodIsTold(t *testing.T) {
	reportsPodless := func(w *world) bool {
		w.t.Helper()
		job := manifests.RunnerJobName(w.test, 1)
		words := fmt.Sprintf("Job %s in namespace linerate-system makes no pod for the runner: who administers "+
			"linerate sees why with kubectl -n linerate-system describe job %s", job, job)
		o, d := w.decide()
		if d.Rule != "running" || !d.RequeueAt.After(o.ObservedAt) {
			w.t.Errorf("%s, again %s from now", d.Rule, d.RequeueAt.Sub(o.ObservedAt))
		}
		return strings.Contains(d.Message, words)
	}
	w := newWorld(t, reference)
	w.pending()
	w.run()
	w.settle()
	if reportsPodless(w) {
		t.Error("at once")
	}
	w.clock = w.clock.Add(time.Minute)
	if !reportsPodless(w) {
		t.Error("it isn't told that there is no first pod")
	}
	r := w.runner()
	if reportsPodless(w) {
		t.Error("there is one")
	}
	w.ends(r, 3, "killed")
	w.clock = w.clock.Add(time.Minute)
	if !reportsPodless(w) {
		t.Error("it isn't told that there is no next pod")
	}
}

func TestDecidingChangesNothingThatWasObserved(t *testing.T) {
	w := newWorld(t, reference)
	w.running()
	o := w.observe()
	unchanged := o.Test.DeepCopy()
	var envelope *delivery.Envelope
	o.Children.Envelope = envelope
	lifecycle.Decide(o)
	if !sameJSON(unchanged, o.Test) {
		t.Error("the LoadTest was changed")
	}
}

// A quota on Jobs, or a policy, is met only when the runner is made. The test says so, and tries again.
func TestARunnerThatIsRefusedIsWaitedFor(t *testing.T) {
	w := newWorld(t, reference)
	w.pending()
	w.run()
	o := w.observe()
	o.Refusals = []lifecycle.Refusal{{Pod: "first-1-runner", Message: "exceeded quota: jobs"}}
	d := lifecycle.Decide(o)
	if d.Rule != "runNeeded" || d.Reason != v1alpha1.ReasonPodRefused ||
		!strings.Contains(d.Message, "refuses first-1-runner: exceeded quota: jobs (raise the ResourceQuota") {
		t.Errorf("%s – %s: %s", d.Rule, d.Reason, d.Message)
	}
	if len(d.Create) != 0 || !d.RequeueAt.After(o.ObservedAt) {
		t.Errorf("%d objects to create, again at %v: want none, and a later moment than %v", len(d.Create), d.RequeueAt,
			o.ObservedAt)
	}
}
