//go:build kueue

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/statustest"
)

// TestKueue: a lab that is shared by Kueue, a real one, with quota for one test at a time.
func TestKueue(t *testing.T) {
	withKueue(t)
	t.Run("a test for which there is no quota waits in its queue for as long as it takes, and is measured then", func(t *testing.T) {
		s := begin(t)
		s.queue()
		s.enqueue("first", "", links, limited, quick)
		s.condition("first", "Complete=False Running")
		s.enqueue("second", "", links, limited, gentle, "schedulingDeadline: 25s") // sooner than the first is over
		waits := s.condition("second", "Scheduled=False Queued")
		if words := message(waits, "Scheduled"); !strings.Contains(words, "in Kueue's queue team-a") || strings.Contains(words, "doesn't look after") {
			t.Errorf("the message doesn't name the queue: %s", words)
		}
		s.types("list").wants(0, "Queued", "")
		first := s.complete("first", patience)
		s.want(first, "Complete=True Measured")
		second := s.complete("second", patience)
		s.want(second, "Complete=True Measured")
		if at := second.Status.Operator.AdmissionTime; at == nil || at.Add(time.Second).Before(first.Status.CompletionTime.Time) {
			t.Errorf("the second was admitted at %v, and the first ended at %v", at, first.Status.CompletionTime)
		}
	})
	t.Run("evicted in its run by a test of a higher priority, it is queued again, and measured again", func(t *testing.T) {
		s := begin(t)
		s.queue()
		s.enqueue("nightly", "night", links, limited, quick)
		s.step("nightly", "Ramping")
		s.enqueue("urgent", "day", links, limited, gentle)
		void := s.await("nightly", "its run lost", time.Minute, func(t *lineratev1alpha1.LoadTest) bool { return t.Status.Operator.LostRuns == 1 })
		s.want(void, "Scheduled=False Queued", "Complete=False Waiting")
		if words := message(void, "Scheduled"); !strings.Contains(words, "Preempted") || void.Status.Result != nil {
			t.Errorf("the message doesn't say why it was evicted: %s (result %v)", words, void.Status.Result)
		}
		s.wantEvent("nightly", "Evicted")
		urgent := s.complete("urgent", patience)
		s.want(urgent, "Complete=True Measured")
		test := s.complete("nightly", patience)
		s.want(test, "Complete=True Measured")
		for _, packetsPerSecond := range statustest.Received(test.Status.Result) {
			if packetsPerSecond > 10_100 {
				t.Errorf("%d packets/s came through a limit of 10 000", packetsPerSecond)
			}
		}
		if test.Status.Attempt != 2 || test.Status.Operator.LostRuns != 1 || test.Status.StartTime.Before(urgent.Status.CompletionTime) {
			t.Errorf("attempt %d began at %v after %d lost runs, want the second, after the urgent one's end at %v",
				test.Status.Attempt, test.Status.StartTime, test.Status.Operator.LostRuns, urgent.Status.CompletionTime)
		}
	})
	t.Run("a queue that is drained falls silent, and its tests can be ended in each way", func(t *testing.T) {
		s := begin(t)
		s.queue()
		s.enqueue("drained", "", links, limited, long)
		s.step("drained", "Ramping")
		s.loud()
		since := time.Now()
		s.stopPolicy("HoldAndDrain")
		t.Cleanup(func() { s.stopPolicy("None") })
		t.Logf("silent %v after its queue was drained", s.silent(since))
		s.await("drained", "attempt 2, queued", time.Minute, func(t *lineratev1alpha1.LoadTest) bool {
			return t.Status.Attempt == 2 && condition(t, "Scheduled") == "Scheduled=False Queued"
		})
		for _, name := range []string{"stopped", "suspended"} {
			s.enqueue(name, "", links, limited, gentle)
			s.condition(name, "Scheduled=False Queued")
		}
		s.gated("drained", "stopped", "suspended")
		s.change("stopped", `{"stop": true}`)
		s.change("suspended", `{"suspend": true}`)
		s.delete("drained")
		s.want(s.complete("stopped", time.Minute), "Complete=True Stopped")
		s.condition("suspended", "Scheduled=False Suspended")
		s.podsLeave(time.Now())
	})
	t.Run("more kinds of pods than Kueue admits are refused at once, with the way out", func(t *testing.T) {
		s := begin(t)
		s.queue()
		s.enqueue("varied", "", links, "generator: {engine: Software, layout: PerLink, replicas: 5}", "dut: {type: Device}", gentle)
		test := s.complete("varied", 20*time.Second)
		s.want(test, "Complete=True Invalid", "Accepted=False Invalid")
		if words := message(test, "Complete"); !strings.Contains(words, "10 kinds") || !strings.Contains(words, "layout Paired") {
			t.Errorf("the message doesn't say the way out: %s", words)
		}
	})
	t.Run("where Kueue holds back every Job that names no queue, runners use the operator's queue, and the status says what they wait for", func(t *testing.T) {
		s := begin(t)
		s.runnersQueue("runners")
		s.holdBack()
		s.apply("queued", links, limited, gentle)
		waits := s.await("queued", "its runner held back by Kueue", patience, func(t *lineratev1alpha1.LoadTest) bool {
			return strings.Contains(message(t, "Complete"), "waits for Kueue to admit it to queue runners of namespace "+rig.Namespace)
		})
		s.want(waits, "Complete=False Running")
		s.kubectl(`{apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: runners, namespace: `+rig.Namespace+`}, spec: {clusterQueue: lab}}`, "apply", "-f", "-")
		s.want(s.complete("queued", patience), "Complete=True Measured")
	})
	t.Run("doctor says whether Kueue looks after pods, and so does a test after whose pods it doesn't look", func(t *testing.T) {
		s := begin(t)
		s.queue()
		s.types("doctor").wants(0, "ok      Kueue: installed, and looks after plain pods; queues of namespace "+s.namespace+": team-a", "")
		s.kubectl("", "label", "namespace", s.namespace, rig.UnqueuedLabel+"=")
		s.types("doctor").wants(0, "warn    Kueue: installed, and looks after plain pods, but not in namespace "+s.namespace, "")
		s.enqueue("neglected", "", links, limited, gentle)
		if words := message(s.condition("neglected", "Scheduled=False Queued"), "Scheduled"); !strings.Contains(words, "Kueue doesn't look after these pods") {
			t.Errorf("the message doesn't say why it waits for ever: %s", words)
		}
		t.Cleanup(s.reconfigure(`- "pod"`, `- "deployment"`))
		s.types("doctor").wants(0, "warn    Kueue: installed, and doesn't look after plain pods", "")
	})
}

// withKueue has it for the test, with priorities and a ClusterQueue whose quota is for two functions of each wire.
func withKueue(t *testing.T) {
	t.Helper()
	since := time.Now()
	t.Cleanup(func() {
		if err := lab.UninstallKueue(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if err := lab.InstallKueue(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Logf("Kueue was there after %v", time.Since(since).Round(time.Second))
	s := &scene{T: t}
	t.Cleanup(func() {
		s.kubectl("", "delete", "clusterqueue,resourceflavor,workloadpriorityclass", "--all", "--timeout=30s")
	})
	s.kubectl(fmt.Sprintf(`
{apiVersion: kueue.x-k8s.io/v1beta1, kind: ResourceFlavor, metadata: {name: any}}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: WorkloadPriorityClass, metadata: {name: night}, value: 1, description: may wait}
---
{apiVersion: kueue.x-k8s.io/v1beta1, kind: WorkloadPriorityClass, metadata: {name: day}, value: 2, description: somebody waits for it}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: lab}
spec:
  namespaceSelector: {}
  preemption: {withinClusterQueue: LowerPriority}
  resourceGroups:
  - coveredResources: [cpu, memory, %[1]s, %[2]s]
    flavors:
    - {name: any, resources: [{name: cpu, nominalQuota: 64}, {name: memory, nominalQuota: 64Gi}, {name: %[1]s, nominalQuota: 2}, {name: %[2]s, nominalQuota: 2}]}
`, fabric.ResourceOf("west"), fabric.ResourceOf("east")), "apply", "-f", "-")
}

// queue makes the LocalQueue team-a in the scene's namespace.
func (s *scene) queue() {
	s.Helper()
	s.kubectl(`{apiVersion: kueue.x-k8s.io/v1beta1, kind: LocalQueue, metadata: {name: team-a, namespace: `+s.namespace+`}, spec: {clusterQueue: lab}}`, "apply", "-f", "-")
}

// enqueue creates a LoadTest in the queue. Priority "": none of Kueue's.
func (s *scene) enqueue(name, priority string, parts ...string) {
	s.Helper()
	test := s.make(name, parts...)
	test.Labels = map[string]string{lineratev1alpha1.LabelKueueQueue: "team-a"}
	if priority != "" {
		test.Labels[lineratev1alpha1.LabelKueuePriority] = priority
	}
	if err := lab.Client.Create(s.Context(), test); err != nil {
		s.Fatal(err)
	}
}

// stopPolicy is None, Hold, or HoldAndDrain.
func (s *scene) stopPolicy(policy string) {
	s.Helper()
	s.kubectl("", "patch", "clusterqueue", "lab", "--type=merge", "-p", `{"spec": {"stopPolicy": "`+policy+`"}}`)
}

// reconfigure replaces words of Kueue's configuration, which it reads when it starts. It returns what puts them back.
func (s *scene) reconfigure(words, others string) (back func()) {
	s.Helper()
	var config corev1.ConfigMap
	at := client.ObjectKey{Namespace: rig.KueueNamespace, Name: "kueue-manager-config"}
	const key = "controller_manager_config.yaml"
	if err := lab.Client.Get(s.Context(), at, &config); err != nil || !strings.Contains(config.Data[key], words) {
		s.Fatalf("%v, want %q in\n%s", err, words, config.Data[key])
	}
	was := config.Data[key]
	write := func(text string) {
		config.Data[key] = text
		if err := lab.Client.Update(context.WithoutCancel(s.Context()), &config); err != nil {
			s.Fatal(err)
		}
	}
	write(strings.Replace(was, words, others, 1))
	return func() { write(was) }
}

// runnersQueue makes the operator put runners into a LocalQueue of its own namespace, until the scene is over.
func (s *scene) runnersQueue(name string) {
	s.Helper()
	s.Cleanup(func() {
		s.kubectl("", "delete", "localqueue", name, "-n", rig.Namespace, "--ignore-not-found", "--timeout=30s")
		if err := lab.Upgrade(context.WithoutCancel(s.Context()), lab.Images.Tag); err != nil {
			s.Error(err)
		}
	})
	if err := lab.Upgrade(s.Context(), lab.Images.Tag, "runners.queueName="+name); err != nil {
		s.Fatal(err)
	}
}

// holdBack has Kueue suspend all Jobs of the operator's namespace that name no queue, until the scene is over.
func (s *scene) holdBack() {
	s.Helper()
	restart := func() {
		s.kubectl("", "rollout", "restart", "deployment", "kueue-controller-manager", "-n", rig.KueueNamespace)
		s.kubectl("", "rollout", "status", "deployment", "kueue-controller-manager", "-n", rig.KueueNamespace, "--timeout=1m")
	}
	back := s.reconfigure("integrations:", "manageJobsWithoutQueueName: true\nmanagedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: "+rig.Namespace+"}}\nintegrations:")
	s.Cleanup(func() { back(); restart() })
	restart()
}

// gated fails unless the tests have pods, and Kueue holds all of them back.
func (s *scene) gated(tests ...string) {
	s.Helper()
	var pods corev1.PodList
	if err := lab.Client.List(s.Context(), &pods, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	for _, name := range tests {
		own := slices.DeleteFunc(slices.Clone(pods.Items), func(p corev1.Pod) bool { return p.Labels[lineratev1alpha1.LabelTest] != name })
		for _, p := range own {
			if len(p.Spec.SchedulingGates) == 0 || p.Spec.NodeName != "" || p.Labels[lineratev1alpha1.LabelKueueManaged] != "true" {
				s.Errorf("%s is at %q with the gates %v, want it to wait for Kueue", p.Name, p.Spec.NodeName, p.Spec.SchedulingGates)
			}
		}
		if len(own) == 0 {
			s.Errorf("%s has no pods", name)
		}
	}
}

// podsLeave waits until the namespace has none. Kueue lets go of a pod that never had a node when Kubernetes' garbage collection of pods has
// found it, which looks each 20 s.
func (s *scene) podsLeave(since time.Time) {
	s.Helper()
	for time.Since(since) < tidy {
		var pods corev1.PodList
		if err := lab.Client.List(s.Context(), &pods, client.InNamespace(s.namespace)); err != nil {
			s.Fatal(err)
		}
		if len(pods.Items) == 0 {
			s.Logf("no pods after %v", time.Since(since).Round(100*time.Millisecond))
			return
		}
		s.pass(200 * time.Millisecond)
	}
	s.Errorf("there are pods %v after their tests were ended", tidy)
}

// wantEvent fails unless the test has an event with the reason.
func (s *scene) wantEvent(name, reason string) {
	s.Helper()
	if out := s.kubectl("", "get", "events", "-n", s.namespace, "-o", "custom-columns=OF:.involvedObject.name,REASON:.reason", "--no-headers"); !slices.ContainsFunc(strings.Split(out, "\n"), func(line string) bool {
		return slices.Equal(strings.Fields(line), []string{name, reason})
	}) {
		s.Errorf("no event %s of %s:\n%s", reason, name, out)
	}
}
