package manifests

import (
	"encoding/json"
	"fmt"

	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// folderCredentials is where the collector finds the Secrets that observers name, a folder each.
const folderCredentials = folderLinerate + "/credentials"

// credentialKeys are the only keys of a Secret that are mounted, since package collect uses no others.
var credentialKeys = []string{"username", "password", "token", "community", "ca.crt", "serverName", "fingerprint",
	"ssh-privatekey", "known_hosts",
	"authPassword", "authProtocol", "privPassword", "privProtocol"}

// hasCollector says that the test has an observer that asks a source over the network.
func hasCollector(input Input) bool { return len(input.Compiled.Plan.Asking()) > 0 }

// Collector is the pod that asks sources over the network for the test's observers, in the test's namespace and with
// its author's rights. The kubelet mounts the Secrets that the observers name, and neither operator nor runner reads
// any. Nil means that no observer asks. It isn't in Kueue's queue, since it holds nothing that others wait for.
func Collector(input Input) *corev1.Pod {
	if !hasCollector(input) {
		return nil
	}
	meta := attemptMeta(input, CollectorPodName(input.Test.Name, input.Attempt), roleCollector)
	serveReadings(input, meta.Labels)
	pod := newPod(input, meta)
	asking := input.Compiled.Plan.Asking()
	text, _ := json.Marshal(asking) // of strings and numbers
	c := ourContainer(input, "collector", append(withVerifier(input, "collect", "--vitals", "$("+variablePodIP+")",
		"--credentials", folderCredentials), "--observers", literal([]string{string(text)})[0])...)
	c.Env = []corev1.EnvVar{fieldVariable(variablePodIP, "status.podIP")}
	c.Ports = []corev1.ContainerPort{{Name: "vitals", ContainerPort: vitalsPort}}
	c.SecurityContext = restricted()
	small := corev1.ResourceList{corev1.ResourceCPU: milli(50), corev1.ResourceMemory: mebi(96)}
	c.Resources = corev1.ResourceRequirements{Requests: small, Limits: small}
	for i, name := range secretsOf(asking) {
		volume := fmt.Sprintf("credentials-%d", i)
		c.VolumeMounts = append(c.VolumeMounts, readOnly(volume, folderCredentials+"/"+name))
		pod.Spec.Volumes = append(pod.Spec.Volumes, credentials(volume, name))
	}
	pod.Spec.Containers = []corev1.Container{c}
	pod.Spec.TerminationGracePeriodSeconds = new(int64(vitalsGraceSeconds))
	// A lab whose nodes are all kept for tests has no other place for the collector.
	if podSpec := input.Test.Spec.Generator.Pod; podSpec != nil {
		pod.Spec.Tolerations = podSpec.PodTolerations()
		pod.Spec.ImagePullSecrets = pullSecrets(pod.Spec.ImagePullSecrets, podSpec.PodPullSecrets())
	}
	return pod.DeepCopy()
}

// secretsOf are the Secrets that observers name, each once.
func secretsOf(asking []plan.Observer) (names []string) {
	for _, o := range asking {
		if name := o.Secret(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// credentials mounts a Secret for the collector. A missing Secret or key doesn't keep the pod from starting. Its
// observer's readings are missing then, with the Secret's name. Each key is a source of its own, since otherwise every
// named key would have to exist.
func credentials(volume, name string) corev1.Volume {
	projected := &corev1.ProjectedVolumeSource{DefaultMode: new(int32(0o444))}
	for _, key := range credentialKeys {
		projected.Sources = append(projected.Sources, corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, Optional: new(true),
			Items: []corev1.KeyToPath{{Key: key, Path: key}},
		}})
	}
	return corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{Projected: projected}}
}

// collectorOf is where the collector serves its sources' answers, or why there is none.
func collectorOf(input Input, pods []corev1.Pod) (address, reason string) {
	if !hasCollector(input) {
		return "", ""
	}
	return readingsAddress(pods, CollectorPodName(input.Test.Name, input.Attempt),
		"asks others over the network for observers")
}
