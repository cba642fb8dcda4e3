package manifests

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/plan"
)

// The runner's Job. The runner ends itself at the Plan's deadline, and the operator ends one that doesn't; the Job's deadline is for when neither is there.
// Its margin has room for the runner's image, for a successor, and for a Report that waits for the API server.
const (
	runnerMargin       = time.Hour
	runnerRetries      = 3
	runnerGraceSeconds = 30 // to stop traffic and write what there is
	folderPlan         = folderLinerate + "/plan"
)

// Access is what lets the runner write what it found, in the order in which it is to be created: who it is, and what it may do. It may write two
// ConfigMaps that are there already, and may neither create nor list nor see any other. Of the input only the test is looked at.
func Access(in Input) []Object {
	name := RunnerName(in.Test.Name)
	account := &corev1.ServiceAccount{
		TypeMeta:                     metav1.TypeMeta{APIVersion: "v1", Kind: "ServiceAccount"},
		ObjectMeta:                   ofTest(in, name, roleRunner),
		AutomountServiceAccountToken: new(false), // the runner's pod asks for it itself
	}
	role := &rbacv1.Role{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "Role"},
		ObjectMeta: ofTest(in, name, roleRunner),
		Rules: []rbacv1.PolicyRule{{
			APIGroups:     []string{""},
			Resources:     []string{"configmaps"},
			ResourceNames: []string{ProgressName(in.Test.Name), ReportName(in.Test.Name)},
			Verbs:         []string{"get", "patch", "update"},
		}},
	}
	binding := &rbacv1.RoleBinding{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "RoleBinding"},
		ObjectMeta: ofTest(in, name, roleRunner),
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: name, Namespace: in.Test.Namespace}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
	}
	return []Object{account, role, binding}
}

// Documents are the two ConfigMaps that the runner writes, empty: so its Role can name them, and needs no right to create.
func Documents(in Input) []Object {
	return []Object{empty(in, ProgressName(in.Test.Name), roleProgress), empty(in, ReportName(in.Test.Name), roleReport)}
}

func empty(in Input, name, role string) *corev1.ConfigMap {
	return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"}, ObjectMeta: ofTest(in, name, role)}
}

// Run is the Plan's ConfigMap and the runner's Job, in the order in which they are to be created. Its error says that the Plan is too
// large to travel, and the way out.
func Run(in Input, sites plan.Sites) ([]Object, error) {
	p := *in.Compiled.Plan
	p.Test.Attempt = int(in.Attempt)
	data, err := delivery.EncodePlan(&p, sites)
	if err != nil {
		return nil, fmt.Errorf("plan of %s/%s: %w", in.Test.Namespace, in.Test.Name, err)
	}
	if len(in.Baseline) > 0 {
		data[delivery.KeyBaseline] = in.Baseline
	}
	document := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: ofThisAttempt(in, PlanName(in.Test.Name, in.Attempt), rolePlan),
		Immutable:  new(true),
		BinaryData: data,
	}
	return []Object{document, runnerJob(in).DeepCopy()}, nil
}

// runnerJob starts a runner, and another one when it is lost, once the lost one is surely gone (podReplacementPolicy Failed).
func runnerJob(in Input) *batchv1.Job {
	meta := ofThisAttempt(in, RunnerJobName(in.Test.Name, in.Attempt), roleRunner)
	job := &batchv1.Job{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: meta,
		Spec: batchv1.JobSpec{
			BackoffLimit:         new(int32(runnerRetries)),
			PodReplacementPolicy: new(batchv1.Failed),
			Template:             corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: meta.Labels, Annotations: undisturbed(nil)}, Spec: runnerPod(in)},
		},
	}
	if deadline := in.Compiled.Plan.ActiveDeadline.Std(); deadline > 0 {
		job.Spec.ActiveDeadlineSeconds = seconds(deadline + runnerMargin)
	}
	return job
}

// runnerPod is light: it asks generators for their counters, TRex 50 times a second, 200 in all at most. It has no CPU limit, since a runner that is stopped for the rest
// of a scheduling period voids the window that it was to measure.
func runnerPod(in Input) corev1.PodSpec {
	spec := newPod(in, metav1.ObjectMeta{}).Spec
	c := ourContainer(in, "runner", "runner", "--plan", folderPlan, "--namespace", in.Test.Namespace,
		"--progress", ProgressName(in.Test.Name), "--report", ReportName(in.Test.Name))
	c.Env = []corev1.EnvVar{fieldVariable("POD_NAME", "metadata.name"), fieldVariable("POD_UID", "metadata.uid"), fieldVariable("NODE_NAME", "spec.nodeName")}
	c.SecurityContext = restricted()
	c.Resources = corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: milli(250), corev1.ResourceMemory: mebi(128)},
		Limits:   corev1.ResourceList{corev1.ResourceMemory: mebi(512)},
	}
	c.VolumeMounts = []corev1.VolumeMount{readOnly("plan", folderPlan)}
	spec.Containers = []corev1.Container{c}
	spec.Volumes = []corev1.Volume{{Name: "plan", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: PlanName(in.Test.Name, in.Attempt)},
	}}}}
	spec.ActiveDeadlineSeconds = nil // the Job's holds
	spec.TerminationGracePeriodSeconds = new(int64(runnerGraceSeconds))
	spec.ServiceAccountName = RunnerName(in.Test.Name)
	spec.AutomountServiceAccountToken = new(true)
	spec.SecurityContext.RunAsNonRoot = new(true)
	lodge(in, &spec)
	return spec
}
