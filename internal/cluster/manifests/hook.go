package manifests

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Setup is the pod that runs before all others of its attempt. Nil means none.
func Setup(input Input) *corev1.Pod {
	pod := hook(input, input.Compiled.Setup, input.Test.Spec.DUT.Setup,
		SetupPodName(input.Test.Name, input.Attempt), roleSetup)
	if pod != nil {
		pod.Spec.Affinity = avoiding(pod.Spec.Affinity, input.ExcludedNodes)
	}
	return pod
}

// Teardown is the pod that runs after all others of its attempt. Nil means none. It avoids no node, since it needs
// none of the resources that a node refuses to generators, and must run whatever happened.
func Teardown(input Input) *corev1.Pod {
	return hook(input, input.Compiled.Teardown, input.Test.Spec.DUT.Teardown,
		TeardownPodName(input.Test.Name, input.Attempt), roleTeardown)
}

// hook is a user's template that runs to its end, with the variables of the test and its links, and a deadline
// that counts from its start.
func hook(input Input, template *corev1.PodTemplateSpec, spec *v1alpha1.HookSpec, name, role string) *corev1.Pod {
	if template == nil || spec == nil {
		return nil
	}
	deadline, _ := spec.Deadline.Std() // admission has read it
	pod := fromTemplate(input, templated(attemptMeta(input, name, role), template.ObjectMeta), template.Spec)
	pod.Spec.ActiveDeadlineSeconds = seconds(deadline)
	addEnvironment(input, &pod.Spec, readOnly(volumeLinks, folderLinerate))
	checks := checkLinks(input, "")
	checks.SecurityContext = restrictedBeside(pod.Spec.SecurityContext)
	pod.Spec.InitContainers = slices.Insert(pod.Spec.InitContainers, 0, checks)
	pod.Spec.Volumes = append(pod.Spec.Volumes, emptyDir(volumeLinks),
		linksFiles(input, corev1.KeyToPath{Key: keyLinks, Path: keyLinks}))
	return pod
}
