package manifests

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// hookDeadline is the schema's default.
const hookDeadline = 10 * time.Minute

// Setup is the pod that runs before all others of its attempt; nil where there is none.
func Setup(in Input) *corev1.Pod {
	pod := hook(in, in.Compiled.Setup, in.Test.Spec.DUT.Setup, SetupPodName(in.Test.Name, in.Attempt), roleSetup)
	if pod != nil {
		pod.Spec.Affinity = avoiding(pod.Spec.Affinity, in.ExcludedNodes)
	}
	return pod
}

// Teardown is the pod that runs after all others of its attempt; nil: there is none. It avoids no node, since it needs none of the resources that a
// node refuses to generators, and must run whatever happened.
func Teardown(in Input) *corev1.Pod {
	return hook(in, in.Compiled.Teardown, in.Test.Spec.DUT.Teardown, TeardownPodName(in.Test.Name, in.Attempt), roleTeardown)
}

// hook is a user's template that runs to its end, with the variables of the test and its links, and a deadline that counts from its start.
func hook(in Input, template *corev1.PodTemplateSpec, spec *v1alpha1.HookSpec, name, role string) *corev1.Pod {
	if template == nil || spec == nil {
		return nil
	}
	deadline, _ := spec.Deadline.Std() // admission has read it
	if deadline <= 0 {
		deadline = hookDeadline
	}
	pod := fromTemplate(in, templated(ofThisAttempt(in, name, role), template.ObjectMeta), template.Spec)
	pod.Spec.ActiveDeadlineSeconds = seconds(deadline)
	addEnvironment(in, &pod.Spec, readOnly(volumeLinks, folderLinerate))
	checks := checkLinks(in, "")
	checks.SecurityContext = restrictedBeside(pod.Spec.SecurityContext)
	pod.Spec.InitContainers = slices.Insert(pod.Spec.InitContainers, 0, checks)
	pod.Spec.Volumes = append(pod.Spec.Volumes, emptyDir(volumeLinks), linksFiles(in, corev1.KeyToPath{Key: keyLinks, Path: keyLinks}))
	return pod
}
