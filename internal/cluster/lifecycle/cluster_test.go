package lifecycle_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func settings() manifests.Settings {
	return manifests.Settings{Image: "linerate:test", PullPolicy: corev1.PullIfNotPresent, Namespace: "linerate-system"}
}

// inventory is two nodes with devices and huge pages, and the networks west, east and cable (without devices),
// sriov-west and sriov-east (with).
func inventory(namespace string) lifecycle.Inventory {
	networks := map[compile.NetworkKey]manifests.Network{}
	for name, resource := range map[string]corev1.ResourceName{
		"west": "", "east": "", "cable": "", "sriov-west": "intel.com/west", "sriov-east": "intel.com/east",
	} {
		key := compile.NetworkKey{Namespace: namespace, Name: name}
		networks[key] = manifests.Network{Key: key, Resource: resource, Plugin: "host-device"}
	}
	return lifecycle.Inventory{Multus: true, Networks: networks, Nodes: []lifecycle.Node{node("rack-1"),
		node("rack-2")}}
}

func node(name string) lifecycle.Node {
	return lifecycle.Node{Name: name, Ready: true, Schedulable: true, Allocatable: corev1.ResourceList{
		"intel.com/west": resource.MustParse("4"), "intel.com/east": resource.MustParse("4"),
		"hugepages-1Gi":    resource.MustParse("16Gi"),
		corev1.ResourceCPU: resource.MustParse("32"), corev1.ResourceMemory: resource.MustParse("64Gi"),
	}}
}

// create stores an object. An object that exists already stays.
func (w *world) create(o manifests.Object) bool {
	w.creates++
	meta := o.DeepCopyObject().(manifests.Object)
	meta.SetUID(w.newUID())
	meta.SetCreationTimestamp(metav1.Time{Time: w.clock})
	switch object := meta.(type) {
	case *corev1.Pod:
		if w.pod(object.Name) != nil {
			return false
		}
		object.Status.Phase = corev1.PodPending
		w.Pods = append(w.Pods, *object)
		w.see(func(th *things) { th.Pods = append(th.Pods, *object.DeepCopy()) })
	case *batchv1.Job:
		if slices.ContainsFunc(w.Jobs, func(j batchv1.Job) bool { return j.Name == object.Name }) {
			return false
		}
		w.Jobs = append(w.Jobs, *object)
		w.see(func(th *things) { th.Jobs = append(th.Jobs, *object.DeepCopy()) })
	default:
		key := strings.TrimPrefix(fmt.Sprintf("%T", object), "*v1.") + "/" + meta.GetName()
		_, stands := w.Documents[meta.GetName()]
		ofRun := meta.GetNamespace() == settings().Namespace
		if w.Present[key] || ofRun && stands {
			return false
		}
		for _, th := range []*things{&w.things, w.observed} {
			switch {
			case th == nil:
			case ofRun:
				th.Documents[meta.GetName()] = meta.GetAnnotations()
			default:
				th.Present[key] = true
				if meta.GetName() == manifests.ReportName(w.test.Name) {
					th.Published = meta.GetAnnotations()[delivery.AnnotationDigest]
				}
			}
		}
	}
	return true
}

// see lets the operator see its own act at once, where it sees others' late.
func (w *world) see(act func(*things)) {
	if w.observed != nil {
		act(w.observed)
	}
}

// delete deletes what is there and isn't going yet.
func (w *world) delete(d lifecycle.Deletion) bool {
	w.deletes++
	changed := false
	switch d.Kind {
	case "ConfigMap":
		if _, changed = w.Documents[d.Name]; changed {
			for _, th := range []*things{&w.things, w.observed} {
				if th != nil {
					th.collect(d.Name)
				}
			}
			break
		}
		changed = w.Present["ConfigMap/"+d.Name]
		delete(w.Present, "ConfigMap/"+d.Name)
		w.see(func(th *things) { delete(th.Present, "ConfigMap/"+d.Name) })
	case lifecycle.KindDocuments:
		changed = len(w.Documents) > 0
		for _, th := range []*things{&w.things, w.observed} {
			if th != nil {
				clear(th.Documents)
				// which the Plan's owns
				th.Jobs = slices.DeleteFunc(th.Jobs,
					func(j batchv1.Job) bool { return j.Namespace == settings().Namespace })
			}
		}
	case "Job":
		w.Jobs = slices.DeleteFunc(w.Jobs, func(j batchv1.Job) bool {
			if j.Name == d.Name {
				changed = true
			}
			return j.Name == d.Name
		})
		w.see(func(th *things) {
			th.Jobs = slices.DeleteFunc(th.Jobs, func(j batchv1.Job) bool { return j.Name == d.Name })
		})
	default:
		for i := range w.Pods {
			p := &w.Pods[i]
			matches := d.Name == "" && (d.Attempt == 0 || p.Labels[v1alpha1.LabelAttempt] == fmt.Sprint(d.Attempt))
			if (matches || p.Name == d.Name) && p.DeletionTimestamp == nil {
				w.terminate(p)
				changed = true
			}
		}
	}
	w.endPods()
	return changed
}

// terminate tells a pod to end. A runner that measures stops traffic and writes what it has.
func (w *world) terminate(p *corev1.Pod) {
	grace := int64(5)
	if p.Spec.TerminationGracePeriodSeconds != nil {
		grace = *p.Spec.TerminationGracePeriodSeconds
	}
	if p.Spec.NodeName == "" || p.Status.Phase != corev1.PodRunning {
		grace = 0
	}
	p.DeletionTimestamp = &metav1.Time{Time: w.clock.Add(time.Duration(grace) * time.Second)}
	p.DeletionGracePeriodSeconds = &grace
	terminated := p.DeepCopy()
	w.see(func(th *things) {
		for i := range th.Pods {
			if th.Pods[i].Name == terminated.Name {
				th.Pods[i].DeletionTimestamp, th.Pods[i].DeletionGracePeriodSeconds = terminated.DeletionTimestamp,
					terminated.DeletionGracePeriodSeconds
			}
		}
	})
	if p.Labels[v1alpha1.LabelRole] == "runner" && p.Status.Phase == corev1.PodRunning && !w.stubborn[p.Name] {
		w.writeReport(report.Interrupted, false, attemptOf(p))
	}
}

func attemptOf(p *corev1.Pod) int {
	var n int
	_, _ = fmt.Sscan(p.Labels[v1alpha1.LabelAttempt], &n)
	return n
}

// endPods removes the pods whose time is over, unless they are stubborn.
func (w *world) endPods() {
	w.Pods = slices.DeleteFunc(w.Pods, func(p corev1.Pod) bool {
		return p.DeletionTimestamp != nil && !w.stubborn[p.Name] && !w.clock.Before(p.DeletionTimestamp.Time)
	})
	if w.test == nil {
		w.Pods, w.Jobs = nil, nil
	}
}

// pod finds a pod. Nil means none.
func (w *world) pod(name string) *corev1.Pod {
	for i := range w.Pods {
		if w.Pods[i].Name == name {
			return &w.Pods[i]
		}
	}
	return nil
}

// mustPod finds a pod that a script needs.
func (w *world) mustPod(name string) *corev1.Pod {
	w.t.Helper()
	p := w.pod(name)
	if p == nil {
		w.t.Fatalf("there is no pod %s:\n%s", name, strings.Join(w.trace, "\n"))
	}
	return p
}

// schedule gives generators the node rack-1, and all other pods rack-2.
func (w *world) schedule() {
	for i := range w.Pods {
		p := &w.Pods[i]
		if p.Spec.NodeName != "" {
			continue
		}
		p.Spec.NodeName = "rack-2"
		if p.Labels[v1alpha1.LabelRole] == "generator" {
			p.Spec.NodeName = "rack-1"
		}
		set(p, corev1.PodScheduled, corev1.ConditionTrue, w.clock)
	}
}

// run lets all pods that have a node be ready.
func (w *world) run() {
	for i := range w.Pods {
		p := &w.Pods[i]
		if p.Spec.NodeName == "" || p.Status.Phase != corev1.PodPending {
			continue
		}
		p.Status.Phase, p.Status.QOSClass, p.Status.PodIP = corev1.PodRunning, corev1.PodQOSGuaranteed,
			fmt.Sprintf("10.0.0.%d", i+1)
		p.Status.StartTime = &metav1.Time{Time: w.clock.Add(w.clockOffsets[p.Spec.NodeName])}
		set(p, corev1.PodReadyToStartContainers, corev1.ConditionTrue, w.clock.Add(w.clockOffsets[p.Spec.NodeName]))
		set(p, corev1.PodReady, corev1.ConditionTrue, w.clock.Add(w.clockOffsets[p.Spec.NodeName]))
	}
}

func set(p *corev1.Pod, kind corev1.PodConditionType, status corev1.ConditionStatus, moment time.Time) {
	p.Status.Conditions = slices.DeleteFunc(p.Status.Conditions,
		func(c corev1.PodCondition) bool { return c.Type == kind })
	p.Status.Conditions = append(p.Status.Conditions, corev1.PodCondition{Type: kind, Status: status,
		LastTransitionTime: metav1.Time{Time: moment}})
}

// ends lets a pod end with an exit code and last words.
func (w *world) ends(name string, code int32, words string) {
	p := w.mustPod(name)
	p.Status.Phase = corev1.PodSucceeded
	reason := "Completed"
	if code != 0 {
		p.Status.Phase, reason = corev1.PodFailed, "Error"
	}
	moment := w.clock.Add(w.clockOffsets[p.Spec.NodeName])
	set(p, corev1.PodReady, corev1.ConditionFalse, moment)
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name,
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Reason: reason, Message: words, FinishedAt: metav1.Time{Time: moment},
		}}}}
}

// refuse lets a kubelet refuse a pod.
func (w *world) refuse(name, reason, words string) {
	p := w.mustPod(name)
	p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, reason, words
}

// vanish removes a pod as somebody's force would.
func (w *world) vanish(name string) {
	w.Pods = slices.DeleteFunc(w.Pods, func(p corev1.Pod) bool { return p.Name == name })
}

// runner makes the Job's next pod, and lets it run.
func (w *world) runner() string {
	w.t.Helper()
	if len(w.Jobs) == 0 {
		w.t.Fatalf("there is no runner's Job:\n%s", strings.Join(w.trace, "\n"))
	}
	j := &w.Jobs[len(w.Jobs)-1]
	p := corev1.Pod{ObjectMeta: *j.Spec.Template.ObjectMeta.DeepCopy(), Spec: *j.Spec.Template.Spec.DeepCopy()}
	p.Name, p.Namespace, p.UID = fmt.Sprintf("%s-%d", j.Name, w.uid+1), j.Namespace, w.newUID()
	p.CreationTimestamp = metav1.Time{Time: w.clock}
	p.Status.Phase = corev1.PodPending
	w.Pods = append(w.Pods, p)
	w.schedule()
	w.run()
	return p.Name
}

// runnerMakes makes a document of a runner's. Where its Plan is gone Kubernetes collects it.
func (w *world) runnerMakes(document string, attempt int) {
	if _, exists := w.Documents[manifests.PlanName(w.test, int32(attempt))]; exists {
		w.Documents[document] = nil
	}
}

// progress lets the runner tell how far it is.
func (w *world) progress(runner, phase string, percent int) {
	run := 1
	if w.Progress != nil && w.Progress.Attempt == attemptOf(w.mustPod(runner)) {
		run = w.Progress.Run
		if w.Progress.Runner != runner {
			run++
		}
	}
	w.runnerMakes(manifests.ProgressName(w.test, int32(attemptOf(w.mustPod(runner)))), attemptOf(w.mustPod(runner)))
	w.Progress = &delivery.Progress{
		Version: delivery.ProgressVersion, Attempt: attemptOf(w.mustPod(runner)), Run: run, Runner: runner, UpdateTime: w.clock,
		Phase: phase, Percent: percent,
		IntendedPacketsPerSecond: 20000, ReceivedPacketsPerSecond: 20000, LossRatio: "0",
	}
}

// finish lets the runner write its final Report and end.
func (w *world) finish(runner string, ending report.Ending) {
	w.writeReport(ending, true, attemptOf(w.mustPod(runner)))
	w.ends(runner, 0, "")
}

// runnersNode is where the last runner is. Empty means none.
func (w *world) runnersNode() (name string) {
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Labels[v1alpha1.LabelRole] == "runner" {
			name = p.Spec.NodeName
		}
	}
	return name
}

// jobCompletes lets the Job controller see that the runner has ended.
func (w *world) jobCompletes() {
	j := &w.Jobs[len(w.Jobs)-1]
	j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: batchv1.JobComplete,
		Status: corev1.ConditionTrue, LastTransitionTime: metav1.Time{Time: w.clock}})
}

// jobFails lets the Job controller give up.
func (w *world) jobFails() {
	j := &w.Jobs[len(w.Jobs)-1]
	j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
		Type: batchv1.JobFailed, Status: corev1.ConditionTrue, Reason: "BackoffLimitExceeded",
		Message: "Job has reached the specified backoff limit",
	})
}

// writeReport writes a Report of an attempt.
func (w *world) writeReport(ending report.Ending, final bool, attempt int) {
	if w.Envelope != nil && w.Envelope.Final && w.Envelope.Attempt == attempt {
		return // immutable
	}
	w.runnerMakes(manifests.OriginalName(w.test, int32(attempt)), attempt)
	w.Report = aReport(ending, attempt, w.clock.Add(w.clockOffsets[w.runnersNode()]))
	w.Envelope = &delivery.Envelope{Digest: "sha256:" + strings.Repeat("0f", 32), Ending: string(ending),
		Attempt: attempt, Final: final}
	w.Envelope.Runner, w.Envelope.RunnerUID = manifests.RunnerJobName(w.test, int32(attempt))+"-gone",
		"of-a-pod-that-is-gone"
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Labels[v1alpha1.LabelRole] == "runner" && attemptOf(p) == attempt {
			w.Envelope.Runner, w.Envelope.RunnerUID = p.Name, string(p.UID)
		}
	}
}

func aReport(ending report.Ending, attempt int, finished time.Time) *report.Report {
	flow := report.Flow{PacketsPerSecond: 10000, Layer1BitsPerSecond: 30e6, Layer2BitsPerSecond: 28e6}
	total := report.Flow{PacketsPerSecond: 20000, Layer1BitsPerSecond: 60e6, Layer2BitsPerSecond: 56e6}
	r := &report.Report{
		Version: report.Version, Plan: &plan.Plan{Version: plan.Version, Test: plan.Test{UID: theUID,
			Attempt: attempt}}, Started: finished, Finished: finished, Ending: ending,
		Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Message: "above 10.00 kpps frames are lost", Directions: []report.Direction{{From: "west", To: "east", Intended: flow, Offered: flow, Received: flow},
			{From: "east", To: "west", Intended: flow, Offered: flow, Received: flow}}, Total: &report.Sum{Intended: total, Offered: total, Received: total}, Claim: report.Claim{Saturated: true, Confirmed: true}},
		Verdict: report.Verdict{Outcome: report.Passed,
			Criteria: []report.CriterionResult{{Name: "rate", Outcome: report.Passed,
				Message: "10.00 kpps, at least 9,900 pps demanded"}}},
	}
	switch ending {
	case report.Completed:
	case report.PathNotProven, report.Failed:
		r.Answer = report.Answer{Reason: report.NotMeasured, Message: "nothing was measured"}
		r.Message = "the path west→east isn't proven: 0 of 8 frames came back"
		r.Verdict.Outcome = report.Undecided
	default:
		r.Message = "the run was cut short: " + string(ending)
		r.Verdict.Outcome = report.Passed // a runner that judged it anyway must not be believed
	}
	return r
}
