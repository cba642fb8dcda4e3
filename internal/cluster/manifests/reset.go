package manifests

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The containers that a pod of the user's gets for resets, and the variable that holds the pod's address.
const (
	containerReset  = "linerate-reset"
	containerCopy   = "linerate-copy"
	variableResetIP = "LINERATE_POD_IP"
)

// resets says that the test's device is reset before each trial.
func resets(input Input) bool { return input.Compiled.Plan.Procedure.Reset != nil }

// addReset puts a container beside the one that forwards, in the same network namespace, in which our program
// runs the user's reset command when the runner asks for it, so that no one needs exec. It has the rights,
// variables and mounts that the author gave the container that forwards, and none of that container's devices.
//
//	init  linerate-copy   our program ──▶ /opt/linerate
//	      linerate-reset  our program, in the image of the container that forwards or reset.image, runs the command
func addReset(input Input, spec *corev1.PodSpec) {
	if !resets(input) {
		return
	}
	reset, forwards, launch := input.Test.Spec.Procedure.Reset, spec.Containers[0], programFolder+program
	c := corev1.Container{
		Name:  containerReset,
		Image: forwards.Image, ImagePullPolicy: forwards.ImagePullPolicy,
		Command: append(append(withVerifier(input, launch, "reset", "--at", "$("+variableResetIP+")", "--links",
			strings.Join(linkNames(input), ","),
			"--timeout", input.Compiled.Plan.Procedure.Reset.Timeout.Std().String()), "--"),
			literal(input.Compiled.Plan.DUT.ResetCommand)...),
		Env:                      append(forwards.DeepCopy().Env, fieldVariable(variableResetIP, "status.podIP")),
		EnvFrom:                  forwards.DeepCopy().EnvFrom,
		WorkingDir:               forwards.WorkingDir,
		Ports:                    []corev1.ContainerPort{{Name: "reset", ContainerPort: vitalsPort}},
		Resources:                small(resetCPU),
		SecurityContext:          forwards.SecurityContext.DeepCopy(),
		StartupProbe:             startup(1, 60, launch, "reset", "probe"),
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             append(forwards.DeepCopy().VolumeMounts, readOnly("linerate-program", programFolder)),
	}
	if reset.Image != "" && reset.Image != forwards.Image {
		c.Image, c.ImagePullPolicy = reset.Image, ""
	}
	spec.Containers = append(spec.Containers, c)
	spec.Volumes = append(spec.Volumes, emptyDir("linerate-program"))
}

// literal escapes words so that the kubelet passes them on unchanged. The kubelet turns $$ into $, and expands $(NAME).
func literal(words []string) []string {
	doubled := make([]string, len(words))
	for i, word := range words {
		doubled[i] = strings.ReplaceAll(word, "$", "$$")
	}
	return doubled
}

// copyProgram is the init container that brings our program into a pod of another image.
func copyProgram(input Input, name string) corev1.Container {
	c := ourContainer(input, name, "trex-launch", "copy", programFolder+"/")
	c.Resources, c.SecurityContext = small(initCPU), restricted()
	c.VolumeMounts = []corev1.VolumeMount{{Name: "linerate-program", MountPath: programFolder}}
	return c
}
