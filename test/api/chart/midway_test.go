package chart

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/built"
)

const inTheMiddle = `
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: west, namespace: midway}
spec: {config: '{"cniVersion": "1.0.0", "type": "host-device", "device": "west"}'}
---
apiVersion: k8s.cni.cncf.io/v1
kind: NetworkAttachmentDefinition
metadata: {name: east, namespace: midway}
spec: {config: '{"cniVersion": "1.0.0", "type": "host-device", "device": "east"}'}
---
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: mid, namespace: midway}
spec:
  dut: {type: Reference}
  links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]
`

// midway is a LoadTest in the middle of its run, whose scheduler, kubelet and runner the test plays.
type midway struct {
	*testing.T
	config *rest.Config
	client client.Client
	uids   map[string]string
	// program is the manager's.
	program string
}

func newMidway(t *testing.T) *midway {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	scheme, err := caches.NewScheme()
	must(t, err)
	c, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	program, err := built.Program("manager")
	must(t, err)
	makeNamespace(t, "midway")
	t.Cleanup(func() {
		kubectl(t, "", "delete", "namespace", "midway", "--wait=false")
		removeDefinition(t)
		kubectl(t, "", "delete", "crd", networkDefinitionName, "--ignore-not-found")
	})
	return &midway{T: t, config: config, client: c, program: program}
}

func (m *midway) await(what string, done func() bool) {
	m.Helper()
	err := wait.PollUntilContextTimeout(m.Context(), 50*time.Millisecond, 5*time.Minute, true, func(context.Context) (bool, error) { return done(), nil })
	if err != nil {
		m.Fatalf("waited in vain for %s: %v\n%s", what, err, kubectl(m.T, "", "-n", "midway", "get", "loadtests", "-o", "yaml"))
	}
}

func (m *midway) test() *v1alpha1.LoadTest {
	m.Helper()
	test := &v1alpha1.LoadTest{}
	must(m.T, m.client.Get(m.Context(), client.ObjectKey{Namespace: "midway", Name: "mid"}, test))
	return test
}

// says is a condition's reason.
func (m *midway) says(kind string) string {
	m.Helper()
	if c := meta.FindStatusCondition(m.test().Status.Conditions, kind); c != nil {
		return c.Reason
	}
	return ""
}

func (m *midway) pods() []corev1.Pod {
	m.Helper()
	var pods corev1.PodList
	must(m.T, m.client.List(m.Context(), &pods, client.InNamespace("midway")))
	return pods.Items
}

// run brings the test to where its runner runs.
func (m *midway) run() {
	m.Helper()
	m.await("the pods", func() bool { return len(m.pods()) == 2 })
	for i, pod := range m.pods() {
		binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node-a"}}
		must(m.T, m.client.SubResource("binding").Create(m.Context(), &pod, binding))
		must(m.T, m.client.Get(m.Context(), client.ObjectKeyFromObject(&pod), &pod))
		m.attach(&pod)
		now := metav1.Now()
		pod.Status.Phase, pod.Status.PodIP, pod.Status.StartTime = corev1.PodRunning, fmt.Sprintf("10.0.0.%d", i+2), &now
		pod.Status.PodIPs = []corev1.PodIP{{IP: pod.Status.PodIP}}
		for _, kind := range []corev1.PodConditionType{corev1.PodScheduled, corev1.PodInitialized, corev1.ContainersReady, corev1.PodReady} {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: kind, Status: corev1.ConditionTrue, LastTransitionTime: now})
		}
		must(m.T, m.client.Status().Update(m.Context(), &pod))
	}
	m.await("the runner's Job", func() bool {
		return m.client.Get(m.Context(), m.there(manifests.RunnerJobName(m.test(), 1)), &batchv1.Job{}) == nil
	})
}

// there names an object of the run, in the manager's own namespace.
func (m *midway) there(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: releaseNamespace, Name: name}
}

// attach is Multus.
func (m *midway) attach(pod *corev1.Pod) {
	m.Helper()
	var networks, told []map[string]any
	must(m.T, json.Unmarshal([]byte(pod.Annotations["k8s.v1.cni.cncf.io/networks"]), &networks))
	for i, n := range networks {
		told = append(told, map[string]any{"name": fmt.Sprint(n["namespace"], "/", n["name"]), "interface": n["interface"], "mac": fmt.Sprintf("02:aa:00:00:00:%02x", i)})
	}
	text, err := json.Marshal(told)
	must(m.T, err)
	before := client.MergeFrom(pod.DeepCopy())
	pod.Annotations["k8s.v1.cni.cncf.io/network-status"] = string(text)
	must(m.T, m.client.Patch(m.Context(), pod, before))
}

// runnerUID is the UID of the runner's pod, which isn't there: only its token is played.
const runnerUID = "a-pod"

func (m *midway) runnerPod() string { return manifests.RunnerJobName(m.test(), 1) + "-x7k2p" }

// asRunner writes one of the runner's two ConfigMaps with the rights of runners, and what the API server knows of its pod's token.
func (m *midway) asRunner(name string, write func(*corev1.ConfigMap)) {
	m.Helper()
	config := rest.CopyConfig(m.config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + releaseNamespace + ":linerate-runner", Groups: []string{"system:authenticated"},
		Extra: map[string][]string{"authentication.kubernetes.io/pod-name": {m.runnerPod()}, "authentication.kubernetes.io/pod-uid": {runnerUID}},
	}
	c, err := client.New(config, client.Options{Scheme: m.client.Scheme()})
	must(m.T, err)
	var ordered corev1.ConfigMap
	must(m.T, m.client.Get(m.Context(), m.there(manifests.PlanName(m.test(), 1)), &ordered))
	of := manifests.OfRun{Labels: ordered.Labels, Plan: ordered.Name, PlanUID: ordered.UID}
	kept := corev1.ConfigMap{ObjectMeta: of.Progress(name)}
	if name == manifests.OriginalName(m.test(), 1) {
		kept.ObjectMeta = of.Original(name)
	}
	kept.Namespace = releaseNamespace
	missing := m.client.Get(m.Context(), m.there(name), &kept) // runners read none
	must(m.T, client.IgnoreNotFound(missing))
	write(&kept)
	if kept.Annotations == nil {
		kept.Annotations = map[string]string{}
	}
	kept.Annotations[delivery.AnnotationRunner] = delivery.Signature(m.runnerPod(), runnerUID)
	if missing != nil {
		must(m.T, c.Create(m.Context(), &kept))
		return
	}
	must(m.T, c.Update(m.Context(), &kept))
}

// reportProgress writes the runner's progress, and waits until the status has it.
func (m *midway) reportProgress(phase string, percent int) {
	m.Helper()
	data, err := delivery.EncodeProgress(delivery.Progress{Attempt: 1, Run: 1, Runner: m.runnerPod(), RunnerUID: runnerUID, UpdateTime: time.Now().UTC(), Phase: phase, Percent: percent, LossRatio: "0"})
	must(m.T, err)
	m.asRunner(manifests.ProgressName(m.test(), 1), func(c *corev1.ConfigMap) { c.Data = data })
	m.await("progress", func() bool {
		p := m.test().Status.Progress
		return p != nil && p.Phase == phase
	})
}

// report is the runner's end.
func (m *midway) report() {
	m.Helper()
	var kept corev1.ConfigMap
	must(m.T, m.client.Get(m.Context(), m.there(manifests.PlanName(m.test(), 1)), &kept))
	p, _, err := delivery.DecodePlan(kept.BinaryData)
	must(m.T, err)
	flow := report.Flow{PacketsPerSecond: 10_000, Layer1BitsPerSecond: 30_000_000, Layer2BitsPerSecond: 28_000_000}
	document := &report.Report{Version: report.Version, Plan: p, Started: time.Now().UTC(), Finished: time.Now().UTC(), Ending: report.Completed,
		Answer:  report.Answer{Measured: true, Reason: report.LossAboveLimit, Message: "above 10 000 packets/s frames are lost", Claim: report.Claim{Saturated: true, Confirmed: true}},
		Verdict: report.Verdict{Outcome: report.Undecided}}
	both := report.Flow{PacketsPerSecond: 20_000, Layer1BitsPerSecond: 60_000_000, Layer2BitsPerSecond: 56_000_000}
	document.Answer.Total = &report.Sum{Intended: both, Offered: both, Received: both}
	for _, d := range p.Directions {
		document.Answer.Directions = append(document.Answer.Directions, report.Direction{From: d.From, To: d.To, Intended: flow, Offered: flow, Received: flow})
	}
	data, annotations, err := delivery.EncodeReport(document, true, 1)
	must(m.T, err)
	m.asRunner(manifests.OriginalName(m.test(), 1), func(c *corev1.ConfigMap) { c.BinaryData, c.Annotations, c.Immutable = data, annotations, new(true) })
	job := &batchv1.Job{}
	must(m.T, m.client.Get(m.Context(), m.there(manifests.RunnerJobName(m.test(), 1)), job))
	now := metav1.Now()
	job.Status = batchv1.JobStatus{StartTime: &now, CompletionTime: &now, Succeeded: 1, UncountedTerminatedPods: &batchv1.UncountedTerminatedPods{}, Ready: new(int32(0))}
	for _, kind := range []batchv1.JobConditionType{batchv1.JobSuccessCriteriaMet, batchv1.JobComplete} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: kind, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now})
	}
	must(m.T, m.client.Status().Update(m.Context(), job))
}

// children are the test's objects with their UIDs.
func (m *midway) children() map[string]string {
	m.Helper()
	all := map[string]string{}
	note := func(list client.ObjectList, options ...client.ListOption) {
		must(m.T, m.client.List(m.Context(), list, options...))
		must(m.T, meta.EachListItem(list, func(o runtime.Object) error {
			object := o.(client.Object)
			all[fmt.Sprintf("%T %s", o, object.GetName())] = string(object.GetUID())
			return nil
		}))
	}
	for _, list := range []client.ObjectList{&corev1.PodList{}, &batchv1.JobList{}, &corev1.ConfigMapList{}, &v1alpha1.LoadTestList{}} {
		note(list, client.InNamespace("midway"))
	}
	for _, list := range []client.ObjectList{&batchv1.JobList{}, &corev1.ConfigMapList{}} {
		note(list, client.InNamespace(releaseNamespace), client.MatchingLabels{v1alpha1.LabelNamespace: "midway"})
	}
	return all
}

func (m *midway) unchanged() {
	m.Helper()
	now := m.children()
	for name, uid := range m.uids {
		if now[name] != uid {
			m.Errorf("%s was %q, and is %q", name, uid, now[name])
		}
	}
	if reason := m.says(v1alpha1.ConditionComplete); reason != v1alpha1.ReasonRunning {
		m.Errorf("it says %s", reason)
	}
}

// endsByItself: what sends and what forwards needs no manager to end.
func (m *midway) endsByItself() {
	m.Helper()
	for _, pod := range m.pods() {
		if pod.Spec.ActiveDeadlineSeconds == nil || len(pod.Finalizers) > 0 || pod.DeletionTimestamp != nil {
			m.Errorf("pod %s has the deadline %v and the finalizers %v", pod.Name, pod.Spec.ActiveDeadlineSeconds, pod.Finalizers)
		}
		if pod.Labels[v1alpha1.LabelRole] == "generator" && !slices.Contains(pod.Spec.Containers[0].Command, "--heartbeat") {
			m.Errorf("generator %s watches no heartbeat: %q", pod.Name, pod.Spec.Containers[0].Command)
		}
	}
	if test := m.test(); len(test.Finalizers) > 0 {
		m.Errorf("the LoadTest has the finalizers %q", test.Finalizers)
	}
}
