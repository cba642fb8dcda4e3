package manifests

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// templateGraceSeconds is the default grace of a user's pod. The next test waits for its devices.
const templateGraceSeconds = 10

// DUT is the pod of the device under test. Nil means that the device isn't in a pod of the test's.
func DUT(input Input) *corev1.Pod {
	var pod *corev1.Pod
	switch input.Test.Spec.DUT.Type {
	case v1alpha1.DUTPod:
		pod = dutPod(input)
	case v1alpha1.DUTReference:
		pod = reference(input, firstReferencePod(input))
	default:
		return nil
	}
	queueInKueue(input, pod)
	return pod
}

// Devices are the pods of the device under test, which are DUT's pod and, of a tunnel, the second gateway's.
func Devices(input Input) (pods []*corev1.Pod) {
	if dut := DUT(input); dut != nil {
		pods = append(pods, dut)
	}
	if far := farEnd(input); far != nil {
		pods = append(pods, far)
	}
	return pods
}

// dutPod is the user's template with the links added. linerate adds the links' networks and devices to the template's
// own, variables and links.json, the pod's deadline, that it runs once, and nodes to avoid. Everything else is the
// template's, such as seccomp profile, rights and affinity, so that the user's software is measured as they run it.
//
//	init  linerate-links: links.json of the ConfigMap + network-status ──▶ /etc/linerate/links.json
//	[0]   the container that forwards, with the devices: device plugins and TRex-like software look there
//	[1…]  the template's others, in their order
//	      linerate-reset, where the device is reset between trials
//	      linerate-end, where the device is an end
func dutPod(input Input) *corev1.Pod {
	meta := templated(attemptMeta(input, DUTPodName(input.Test.Name, input.Attempt), roleDUT),
		input.Compiled.DUT.ObjectMeta)
	meta.Annotations = merge(meta.Annotations,
		networkAnnotations(input, meta.Annotations[annotationNetworks], dutAttachments(input)))
	pod := fromTemplate(input, meta, input.Compiled.DUT.Spec)
	spec := &pod.Spec
	spec.Affinity = onNode(avoiding(spec.Affinity, input.ExcludedNodes), input.Test.Spec.DUT.Node)
	spec.ActiveDeadlineSeconds = seconds(lifetime(input))
	forwards := spec.Containers[input.Compiled.DUTContainer]
	spec.Containers = slices.Insert(slices.Delete(spec.Containers, input.Compiled.DUTContainer,
		input.Compiled.DUTContainer+1), 0, forwards)
	addReset(input, spec)
	if endsAtDevice(input) {
		spec.Containers = append(spec.Containers, besideOthers(deviceEnd(input, pod), spec.Containers))
	}
	requestDevices(&spec.Containers[0], devicesOf(input, linkNames(input), dutNetwork))
	addEnvironment(input, spec, readOnly(volumeLinks, folderLinerate))
	ours := []corev1.Container{writeLinks(input)}
	if resets(input) {
		ours = append(ours, copyProgram(input, containerCopy))
	}
	for i := range ours {
		ours[i].SecurityContext = restrictedBeside(spec.SecurityContext)
	}
	spec.InitContainers = slices.Insert(spec.InitContainers, 0, ours...)
	spec.Volumes = append(spec.Volumes, emptyDir(volumeLinks), podInfo(),
		linksFiles(input, corev1.KeyToPath{Key: keyLinks, Path: keyLinks}))
	return pod
}

// writeLinks is the init container that checks links.json, and adds what only the pod knows.
func writeLinks(input Input) corev1.Container {
	c := checkLinks(input, folderPodInfo+"/"+fileStatus)
	c.VolumeMounts = append(c.VolumeMounts, readOnly(volumePodInfo, folderPodInfo))
	return c
}

// checkLinks is the init container that hands links.json on to the template's containers if it is what the
// operator wrote. An empty status adds nothing to it.
func checkLinks(input Input, status string) corev1.Container {
	arguments := append([]string{"links"}, fileArguments("--plan", folderStatic+"/"+keyLinks, linksText(input))...)
	c := ourContainer(input, containerLinks,
		append(arguments, "--network-status="+status, "--output", folderLinerate+"/"+keyLinks)...)
	c.Resources, c.SecurityContext = small(initCPU), restricted()
	c.VolumeMounts = []corev1.VolumeMount{readOnly(volumeStatic, folderStatic),
		{Name: volumeLinks, MountPath: folderLinerate}}
	return c
}

// fromTemplate is a pod of a user's template that runs once. It has a service account's token only if the template
// names the account, in either of the two fields for it. The API server reads the old one if the new one is missing.
func fromTemplate(input Input, meta metav1.ObjectMeta, template corev1.PodSpec) *corev1.Pod {
	pod := &corev1.Pod{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}, ObjectMeta: withSettings(input, meta),
		Spec: *template.DeepCopy()}
	spec := &pod.Spec
	spec.RestartPolicy = corev1.RestartPolicyNever
	spec.ServiceAccountName = cmp.Or(spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	if spec.ServiceAccountName == "" {
		spec.AutomountServiceAccountToken = new(false)
	}
	if spec.EnableServiceLinks == nil {
		spec.EnableServiceLinks = new(false)
	}
	if spec.TerminationGracePeriodSeconds == nil {
		spec.TerminationGracePeriodSeconds = new(int64(templateGraceSeconds))
	}
	spec.ImagePullSecrets = pullSecrets(spec.ImagePullSecrets, input.Settings.PullSecrets)
	return pod
}

// addEnvironment gives all containers the variables and files that describe the test and its links. The
// variables come before the template's own, so that these can refer to them as $(LINERATE_…).
func addEnvironment(input Input, spec *corev1.PodSpec, links corev1.VolumeMount) {
	variables := environment(input)
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			c := &containers[i]
			c.Env = append(slices.Clone(variables), c.Env...)
			c.VolumeMounts = append(c.VolumeMounts, links)
		}
	}
}
