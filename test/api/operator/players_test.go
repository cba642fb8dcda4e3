package operator

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// What follows plays the rest of the cluster. Each does its part for all objects in the lab.

const nodeName = "node-a"

// schedule is the scheduler.
func (l *lab) schedule() {
	l.t.Helper()
	l.scheduleOn(nodeName)
}

func (l *lab) scheduleOn(node string) {
	l.t.Helper()
	for _, pod := range l.pods() {
		if pod.Spec.NodeName != "" || pod.DeletionTimestamp != nil {
			continue
		}
		binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: node}}
		l.must(admin.SubResource("binding").Create(l.t.Context(), &pod, binding))
	}
}

// start is the kubelet with Multus: what has a node gets its networks, runs and is ready. Pods of the roles named run to their end instead.
func (l *lab) start(toTheirEnd ...string) {
	l.t.Helper()
	for i, pod := range l.pods() {
		if pod.Spec.NodeName == "" || pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodPending {
			continue
		}
		l.attach(&pod)
		status := running(&pod, fmt.Sprintf("10.0.%d.%d", len(l.namespace)%250, i+10))
		status.InitContainerStatuses = append(status.InitContainerStatuses, l.portsTold(&pod)...)
		for _, role := range toTheirEnd {
			if pod.Labels[v1alpha1.LabelRole] == role {
				status = endedStatus(&pod, 0, "")
			}
		}
		l.setStatus(&pod, status)
	}
}

func (l *lab) setStatus(pod *corev1.Pod, status corev1.PodStatus) {
	l.t.Helper()
	if err := admin.Get(l.t.Context(), objectKey(pod), pod); apierrors.IsNotFound(err) {
		return // it was given back in the meantime
	} else if err != nil {
		l.t.Fatal(err)
	}
	patch := client.MergeFrom(pod.DeepCopy()) // as kubelets do: it may be marked for deletion meanwhile
	status.QOSClass = pod.Status.QOSClass
	pod.Status = status
	l.must(client.IgnoreNotFound(admin.Status().Patch(l.t.Context(), pod, patch)))
}

// attach plays Multus: it annotates a pod with its interface on each network.
func (l *lab) attach(pod *corev1.Pod) {
	l.t.Helper()
	asked := pod.Annotations["k8s.v1.cni.cncf.io/networks"]
	if asked == "" {
		return
	}
	var networks []struct{ Name, Namespace, Interface, MAC string }
	l.must(json.Unmarshal([]byte(asked), &networks))
	var told []map[string]any
	for i, n := range networks {
		mac := n.MAC
		if mac == "" {
			mac = fmt.Sprintf("02:aa:00:00:00:%02x", i)
		}
		status := map[string]any{"name": n.Namespace + "/" + n.Name, "interface": n.Interface, "mac": mac}
		told = append(told, status)
	}
	text, err := json.Marshal(told)
	l.must(err)
	patch := client.MergeFrom(pod.DeepCopy())
	pod.Annotations["k8s.v1.cni.cncf.io/network-status"] = string(text)
	l.must(client.IgnoreNotFound(admin.Patch(l.t.Context(), pod, patch)))
}

// portsTold is what the pod's init container leaves: the physical ports that its virtual functions are of.
func (l *lab) portsTold(pod *corev1.Pod) (left []corev1.ContainerStatus) {
	l.t.Helper()
	for _, c := range pod.Spec.InitContainers {
		if c.Name != "linerate-ports" && c.Name != "linerate-links" || len(l.physical) == 0 {
			continue
		}
		ports := plan.Ports{Version: plan.PortsVersion}
		for i, link := range strings.Split(pod.Annotations["linerate.dev/links"], ",") {
			if port := l.physical[link]; port != "" {
				ports.Links = append(ports.Links, plan.LinkPort{Link: link, Device: fmt.Sprintf("0000:3b:02.%d", i), Port: port, Shared: true})
			}
		}
		message, err := json.Marshal(ports)
		l.must(err)
		left = append(left, corev1.ContainerStatus{Name: c.Name, Image: c.Image, ImageID: imageID(c.Image), State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", Message: string(message)}}})
	}
	return left
}

func running(pod *corev1.Pod, address string) corev1.PodStatus {
	now := metav1.Now()
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}}, StartTime: &now,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: now},
			{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: now},
		},
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: imageID(c.Image), Ready: true, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: now}},
		})
	}
	for _, c := range pod.Spec.InitContainers {
		if !strings.HasPrefix(c.Name, "linerate-") { // what those leave is said elsewhere
			status.InitContainerStatuses = append(status.InitContainerStatuses, corev1.ContainerStatus{
				Name: c.Name, Image: c.Image, ImageID: imageID(c.Image), Ready: true,
				State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: now, FinishedAt: now}},
			})
		}
	}
	return status
}

// imageID is what a node's runtime says of an image.
func imageID(image string) string {
	return fmt.Sprintf("%s@sha256:%x", image, sha256.Sum256([]byte(image)))
}

func endedStatus(pod *corev1.Pod, exitCode int32, message string) corev1.PodStatus {
	now := metav1.Now()
	status := corev1.PodStatus{Phase: corev1.PodSucceeded, PodIP: pod.Status.PodIP, StartTime: &now}
	if exitCode != 0 {
		status.Phase = corev1.PodFailed
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
				ExitCode: exitCode, Reason: map[bool]string{true: "Completed", false: "Error"}[exitCode == 0], Message: message, StartedAt: now, FinishedAt: now,
			}},
		})
	}
	return status
}

// reap is the kubelet again, and the garbage collector: what is being deleted goes, and what is owned by something that is gone.
func (l *lab) reap() {
	l.t.Helper()
	l.collectRuns()
	jobs := map[string]bool{}
	for _, job := range l.jobs() {
		jobs[string(job.UID)] = true
	}
	for _, pod := range l.pods() {
		owner := metav1.GetControllerOf(&pod)
		orphan := owner != nil && owner.Kind == "Job" && !jobs[string(owner.UID)]
		if pod.DeletionTimestamp != nil || orphan {
			l.must(client.IgnoreNotFound(admin.Delete(l.t.Context(), &pod, client.GracePeriodSeconds(0))))
		}
	}
}

// collectRuns is the garbage collector in the operator's own namespace: what a Plan's ConfigMap owned goes with it.
func (l *lab) collectRuns() {
	l.t.Helper()
	var documents corev1.ConfigMapList
	l.must(admin.List(l.t.Context(), &documents, client.InNamespace(operatorNamespace), l.runs()))
	there := map[types.UID]bool{}
	var all []client.Object
	for i := range documents.Items {
		there[documents.Items[i].UID] = true
		all = append(all, &documents.Items[i])
	}
	for _, job := range l.jobs() {
		all = append(all, &job)
	}
	for _, o := range all {
		if owner := metav1.GetControllerOf(o); owner != nil && owner.Kind == "ConfigMap" && !there[owner.UID] {
			l.must(client.IgnoreNotFound(admin.Delete(l.t.Context(), o, client.PropagationPolicy("Background"))))
		}
	}
}

// runJobs is the Job controller: each Job that wasn't begun gets its pod.
func (l *lab) runJobs() {
	l.t.Helper()
	for _, job := range l.jobs() {
		if job.Status.StartTime != nil {
			continue
		}
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: job.Namespace, Name: job.Name + "-x7k2p", Labels: job.Spec.Template.Labels, Annotations: job.Spec.Template.Annotations,
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(&job, batchv1.SchemeGroupVersion.WithKind("Job"))},
			},
			Spec: job.Spec.Template.Spec,
		}
		l.must(admin.Create(l.t.Context(), pod))
		job.Status.StartTime, job.Status.Active, job.Status.Ready = &metav1.Time{Time: time.Now()}, 1, new(int32(0))
		job.Status.UncountedTerminatedPods = &batchv1.UncountedTerminatedPods{}
		l.must(admin.Status().Update(l.t.Context(), &job))
	}
}

// endJob is the Job controller when the pod of a test's runner has ended.
func (l *lab) endJob(test string, good bool) {
	l.t.Helper()
	job := &batchv1.Job{}
	for _, j := range l.jobs() {
		if j.Labels[v1alpha1.LabelTest] == test {
			job = j.DeepCopy()
		}
	}
	now := metav1.Now()
	job.Status.Active, job.Status.Ready = 0, new(int32(0))
	if good {
		job.Status.Succeeded, job.Status.CompletionTime = 1, &now
		job.Status.Conditions = jobConditions(now, batchv1.JobSuccessCriteriaMet, batchv1.JobComplete)
	} else {
		job.Status.Failed = 4
		job.Status.Conditions = jobConditions(now, batchv1.JobFailureTarget, batchv1.JobFailed)
	}
	l.must(admin.Status().Update(l.t.Context(), job))
}

func jobConditions(at metav1.Time, kinds ...batchv1.JobConditionType) (conditions []batchv1.JobCondition) {
	for _, kind := range kinds {
		conditions = append(conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: "Played", Message: "as the test has it", LastProbeTime: at, LastTransitionTime: at,
		})
	}
	return conditions
}

// pods are those in the lab's namespace, and the lab's runners.
func (l *lab) pods() []corev1.Pod {
	l.t.Helper()
	var pods, runners corev1.PodList
	l.list(l.t.Context(), &pods)
	l.must(admin.List(l.t.Context(), &runners, client.InNamespace(operatorNamespace), l.runs()))
	return append(pods.Items, runners.Items...)
}

// jobs are those in the lab's namespace, and those of the lab's runners.
func (l *lab) jobs() []batchv1.Job {
	l.t.Helper()
	var jobs, runners batchv1.JobList
	l.list(l.t.Context(), &jobs)
	l.must(admin.List(l.t.Context(), &runners, client.InNamespace(operatorNamespace), l.runs()))
	return append(jobs.Items, runners.Items...)
}

// pod finds the only pod of a role; runner stands for that of a test whose generators run already, too.
func (l *lab) pod(role string) *corev1.Pod {
	l.t.Helper()
	pods := slices.DeleteFunc(l.pods(), func(p corev1.Pod) bool { return strings.TrimPrefix(p.Labels[v1alpha1.LabelRole], "external-") != role })
	if len(pods) != 1 {
		l.t.Fatalf("%d pods have the role %s", len(pods), role)
	}
	return &pods[0]
}
