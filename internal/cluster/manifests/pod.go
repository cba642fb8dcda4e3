package manifests

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podMargin is how much longer than the run a pod may live, as it waits for the other pods, for images and for the DUT.
// Normally the operator gives pods back. The margin is a dead man's switch, which frees nodes and devices if the
// operator is gone.
const podMargin = 24 * time.Hour

// The paths of our program in its own image, and of its folder in an image that it is copied into.
const (
	program       = "/linerate"
	programFolder = "/opt/linerate"
)

// Where pods find their files.
const (
	folderLinerate = "/etc/linerate"
	folderStatic   = "/etc/linerate-static"
	folderPodInfo  = "/etc/podinfo"
	fileStatus     = "network-status"
)

// Names of the volumes that pods are given.
const (
	volumeStatic  = "linerate-static"
	volumeLinks   = "linerate"
	volumePodInfo = "linerate-podinfo"
)

// newPod is what all our pods have in common. They run once, have no service account's token, and end at a deadline.
func newPod(input Input, meta metav1.ObjectMeta) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: withSettings(input, meta),
		Spec: corev1.PodSpec{
			RestartPolicy:                corev1.RestartPolicyNever,
			ActiveDeadlineSeconds:        seconds(lifetime(input)),
			AutomountServiceAccountToken: new(false),
			EnableServiceLinks:           new(false),
			SecurityContext:              &corev1.PodSecurityContext{SeccompProfile: runtimeSeccomp()},
			ImagePullSecrets:             slices.Clone(input.Settings.PullSecrets),
		},
	}
}

// lifetime is how long a pod of the attempt may live at most. 0 means for ever, like the run itself.
func lifetime(input Input) time.Duration {
	deadline := input.Compiled.Plan.ActiveDeadline.Std()
	if deadline <= 0 {
		return 0
	}
	delay, _ := input.Test.Spec.DUT.ReadyDelay.Std() // admission has read it
	return deadline + delay + podMargin
}

// seconds rounds up. Nil means none.
func seconds(d time.Duration) *int64 {
	if d <= 0 {
		return nil
	}
	return new(int64((d + time.Second - 1) / time.Second))
}

// ourContainer runs our program from its own image.
func ourContainer(input Input, name string, arguments ...string) corev1.Container {
	return corev1.Container{
		Name:                     name,
		Image:                    input.Settings.Image,
		ImagePullPolicy:          input.Settings.PullPolicy,
		Command:                  append([]string{program}, arguments...),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

// initCPU is what our init containers have of a CPU: with a tenth, a slow machine took 3 minutes for one. resetCPU is
// that of the container that waits for resets.
const (
	initCPU  = 500
	resetCPU = 100
)

// small are the resources of a container of ours beside the pod's own: some thousandths of a CPU, with limits equal to
// the requests. So a Guaranteed pod stays Guaranteed, and no exclusive CPU is set aside for the container.
func small(thousandths int64) corev1.ResourceRequirements {
	resources := corev1.ResourceList{corev1.ResourceCPU: milli(thousandths), corev1.ResourceMemory: mebi(128)}
	return corev1.ResourceRequirements{Requests: resources, Limits: resources}
}

func milli(n int64) resource.Quantity { return *resource.NewMilliQuantity(n, resource.DecimalSI) }
func cpus(n int64) resource.Quantity  { return *resource.NewQuantity(n, resource.DecimalSI) }
func mebi(n int64) resource.Quantity  { return *resource.NewQuantity(n<<20, resource.BinarySI) }

// podInfo mounts the annotation that Multus writes as a file. An environment variable would be filled before Multus has
// run.
func podInfo() corev1.Volume {
	return corev1.Volume{Name: volumePodInfo,
		VolumeSource: corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{
			Items: []corev1.DownwardAPIVolumeFile{{
				Path: fileStatus,
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.annotations['" +
					annotationNetworkStatus + "']"},
			}},
		}}}
}

// linksFiles mounts files of the attempt's ConfigMap under given names.
func linksFiles(input Input, files ...corev1.KeyToPath) corev1.Volume {
	return corev1.Volume{Name: volumeStatic, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: LinksName(input.Test.Name, input.Attempt)},
		Items:                files,
	}}}
}

func emptyDir(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

func readOnly(volume, path string) corev1.VolumeMount {
	return corev1.VolumeMount{Name: volume, MountPath: path, ReadOnly: true}
}

func fieldVariable(name, path string) corev1.EnvVar {
	field := &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: path}
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: field}}
}

// podIdentity are the variables with a pod's own name, namespace and node.
func podIdentity() []corev1.EnvVar {
	return []corev1.EnvVar{fieldVariable("POD_NAME", "metadata.name"), fieldVariable("POD_NAMESPACE",
		"metadata.namespace"), fieldVariable("NODE_NAME", "spec.nodeName")}
}

// pullSecrets adds a pod's own to the operator's, each once.
func pullSecrets(secrets []corev1.LocalObjectReference,
	added []corev1.LocalObjectReference) []corev1.LocalObjectReference {
	for _, s := range added {
		if !slices.Contains(secrets, s) {
			secrets = append(secrets, s)
		}
	}
	return secrets
}
