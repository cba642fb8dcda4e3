package manifests

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// The bounds of the runner's Job. The runner ends itself at the Plan's deadline, and the operator ends one that
// doesn't. The Job's deadline is for when both fail. runnerMargin leaves time for pulling the runner's image, for a
// successor, and for a Report that waits for the API server. A test without a deadline gets longestRunner, so that no
// abandoned runner runs for ever. Kubernetes deletes an ended Job after runnerLeft, if the operator is gone by then.
const (
	runnerMargin       = time.Hour
	longestRunner      = 365 * 24 * time.Hour
	runnerLeft         = 24 * time.Hour
	runnerRetries      = 3
	runnerGraceSeconds = 30 // to stop traffic and write what there is
	folderPlan         = folderLinerate + "/plan"
	folderEarlier      = folderLinerate + "/earlier"
)

// OfRun is the part of a run's metadata that the ConfigMaps which its runner creates, in the operator's own
// namespace, need.
type OfRun struct {
	// Labels are those by which the operator finds them.
	Labels map[string]string
	// Plan and PlanUID name the Plan's ConfigMap, their owner. Empty means that they have no owner.
	Plan    string
	PlanUID types.UID
}

// Progress is the metadata of the Progress.
func (r OfRun) Progress(name string) metav1.ObjectMeta { return r.document(name, roleProgress) }

// Original is the metadata of the Report.
func (r OfRun) Original(name string) metav1.ObjectMeta { return r.document(name, roleReport) }

// Successor is the metadata of the marker by which a successor takes the number of its run, beside the Progress
// of this name.
func (r OfRun) Successor(progress string, run int) metav1.ObjectMeta {
	return r.document(fmt.Sprintf("%s-run-%d", strings.TrimSuffix(progress, "-progress"), run), roleRun)
}

func (r OfRun) document(name, role string) metav1.ObjectMeta {
	meta := metav1.ObjectMeta{Name: name, Labels: merge(r.Labels, map[string]string{v1alpha1.LabelRole: role})}
	if r.Plan != "" {
		meta.OwnerReferences = []metav1.OwnerReference{planOwner(r.Plan, r.PlanUID)}
	}
	return meta
}

// Run is the Plan's ConfigMap and the runner's Job, in the order in which they are to be created. The ConfigMap
// has the digests of the Plan and of the baseline that the Report must follow. An error says that the Plan is
// too large for a ConfigMap, and the way out.
func Run(input Input, sites plan.Sites) ([]Object, error) {
	p := *input.Compiled.Plan
	p.Test.Attempt = int(input.Attempt)
	data, err := delivery.EncodePlan(&p, sites)
	if err == nil && len(input.Baseline) > 0 {
		data[delivery.KeyBaseline] = input.Baseline
	}
	var order delivery.Order
	if err == nil {
		order, err = delivery.OrderOf(data)
	}
	if err != nil {
		return nil, fmt.Errorf("plan of %s/%s: %w", input.Test.Namespace, input.Test.Name, err)
	}
	document := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: runMeta(input, PlanName(input.Test, input.Attempt), rolePlan),
		Immutable:  new(true),
		BinaryData: data,
	}
	document.Annotations = order.Annotations()
	return []Object{document, runnerJob(input).DeepCopy()}, nil
}

// runnerJob starts a runner and, if it is lost, another one, but only once the lost one is surely gone
// (podReplacementPolicy Failed).
func runnerJob(input Input) *batchv1.Job {
	meta := runMeta(input, RunnerJobName(input.Test, input.Attempt), runnerRole(input))
	template := withSettings(input, metav1.ObjectMeta{Labels: maps.Clone(meta.Labels)})
	if queue := input.Settings.RunnerQueue; queue != "" { // Kueue manages the Job, and not its pods
		meta.Labels[v1alpha1.LabelKueueQueue] = queue
	}
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			BackoffLimit:            new(int32(runnerRetries)),
			PodReplacementPolicy:    new(batchv1.Failed),
			ActiveDeadlineSeconds:   seconds(longestRunner),
			TTLSecondsAfterFinished: new(int32(runnerLeft / time.Second)),
			Template:                corev1.PodTemplateSpec{ObjectMeta: template, Spec: runnerPod(input)},
		},
	}
	if deadline := input.Compiled.Plan.ActiveDeadline.Std(); deadline > 0 {
		job.Spec.ActiveDeadlineSeconds = seconds(deadline + runnerMargin)
	}
	return job
}

// runnerPod needs little. It reads generators' counters, TRex's 50 times a second, 200 times a second in all at most.
// It has no CPU limit, since a runner that the kernel stops for the rest of a scheduling period would void the window
// that it measures.
func runnerPod(input Input) corev1.PodSpec {
	spec := newPod(input, metav1.ObjectMeta{}).Spec
	c := ourContainer(input, "runner", "runner", "--plan", folderPlan, "--earlier", folderEarlier, "--namespace",
		input.Settings.Namespace,
		"--progress", ProgressName(input.Test, input.Attempt), "--report", OriginalName(input.Test, input.Attempt),
		"--labels", labels.Set(runMeta(input, "", runnerRole(input)).Labels).String(), "--owner",
		PlanName(input.Test, input.Attempt)+"/$(PLAN_UID)")
	c.Env = []corev1.EnvVar{
		fieldVariable("POD_NAME", "metadata.name"), fieldVariable("POD_UID", "metadata.uid"), fieldVariable("NODE_NAME",
			"spec.nodeName"),
		fieldVariable("PLAN_UID", "metadata.annotations['"+annotationPlanUID+"']"),
	}
	c.SecurityContext = restricted()
	c.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: milli(250), corev1.ResourceMemory: mebi(128)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: mebi(512)},
	}
	c.VolumeMounts = []corev1.VolumeMount{readOnly("plan", folderPlan), readOnly("earlier", folderEarlier)}
	spec.Containers = []corev1.Container{c}
	spec.Volumes = []corev1.Volume{
		{Name: "plan", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: PlanName(input.Test, input.Attempt)},
		}}},
		// A runner's account reads no ConfigMaps. The kubelet reads the Progress of an earlier runner when this pod
		// begins.
		{Name: "earlier", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: ProgressName(input.Test, input.Attempt)},
			Optional:             new(true),
		}}},
	}
	spec.ActiveDeadlineSeconds = nil // the Job has the deadline
	spec.TerminationGracePeriodSeconds = new(int64(runnerGraceSeconds))
	spec.ServiceAccountName = cmp.Or(input.Settings.RunnerAccount, DefaultRunnerAccount)
	spec.AutomountServiceAccountToken = new(true)
	spec.SecurityContext.RunAsNonRoot = new(true)
	// The tolerations of generator.pod hold for the runner, too. In a lab whose nodes are all tainted for tests it has
	// no other place, and whoever may create pods may let them tolerate anything. The priority doesn't, since it would
	// evict other people's pods beyond the quotas of the test's namespace. Nor do the pull secrets, which are in the
	// test's namespace, and would be looked up in the operator's.
	if podSpec := input.Test.Spec.Generator.Pod; podSpec != nil {
		spec.Tolerations = podSpec.PodTolerations()
	}
	spec.PriorityClassName = input.Settings.RunnerPriority
	spec.ImagePullSecrets = slices.Clone(input.Settings.PullSecrets)
	return spec
}
