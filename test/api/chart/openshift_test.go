package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// constraints are OpenShift's SecurityContextConstraints, as far as linerate's pods could violate them.
type constraints struct {
	AllowHostDirVolumePlugin, AllowHostIPC, AllowHostNetwork, AllowHostPID, AllowHostPorts, AllowPrivilegedContainer, AllowPrivilegeEscalation bool

	AllowedCapabilities, RequiredDropCapabilities []corev1.Capability
	RunAsUser, FSGroup                            struct{ Type string }
	SeccompProfiles, Volumes                      []string
}

// restrictedV2 is what OpenShift 4.11 and later have under that name, for everybody.
const restrictedV2 = `
allowHostDirVolumePlugin: false
allowHostIPC: false
allowHostNetwork: false
allowHostPID: false
allowHostPorts: false
allowPrivilegedContainer: false
allowPrivilegeEscalation: false
allowedCapabilities: [NET_BIND_SERVICE]
requiredDropCapabilities: [ALL]
runAsUser: {type: MustRunAsRange}
fsGroup: {type: MustRunAs}
seccompProfiles: [runtime/default]
volumes: [configMap, csi, downwardAPI, emptyDir, ephemeral, persistentVolumeClaim, projected, secret]
`

func constraintsOf(t *testing.T, text string) (c constraints) {
	t.Helper()
	must(t, yaml.Unmarshal([]byte(text), &c))
	return c
}

// refuse lists what OpenShift wouldn't allow of a pod. The range of user ids is the namespace's, which isn't known beforehand, so a pod that names a user is refused.
func (c constraints) refuse(pod *corev1.PodSpec) (faults []string) {
	say := func(format string, of ...any) { faults = append(faults, fmt.Sprintf(format, of...)) }
	if pod.HostNetwork || pod.HostPID || pod.HostIPC {
		say("it is in the node's namespaces")
	}
	if s := pod.SecurityContext; s != nil && (s.FSGroup != nil && c.FSGroup.Type == "MustRunAs" || s.RunAsUser != nil && c.RunAsUser.Type == "MustRunAsRange") {
		say("the pod names a user or group")
	}
	for _, v := range pod.Volumes {
		if kind := volumeKind(v); !slices.Contains(c.Volumes, kind) {
			say("volume %s is of kind %q", v.Name, kind)
		}
	}
	for _, container := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, fault := range c.refuseContainer(pod, container.SecurityContext) {
			say("%s: %s", container.Name, fault)
		}
		if slices.ContainsFunc(container.Ports, func(p corev1.ContainerPort) bool { return p.HostPort != 0 }) {
			say("%s: it has a port of the node's", container.Name)
		}
	}
	return faults
}

func (c constraints) refuseContainer(pod *corev1.PodSpec, s *corev1.SecurityContext) (faults []string) {
	if s == nil {
		s = &corev1.SecurityContext{}
	}
	if s.Privileged != nil && *s.Privileged {
		faults = append(faults, "privileged")
	}
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation {
		faults = append(faults, "it may gain privileges")
	}
	if s.RunAsUser != nil && c.RunAsUser.Type == "MustRunAsRange" {
		faults = append(faults, fmt.Sprintf("user %d is named", *s.RunAsUser))
	}
	capabilities := s.Capabilities
	if capabilities == nil {
		capabilities = &corev1.Capabilities{}
	}
	for _, added := range capabilities.Add {
		if !slices.Contains(c.AllowedCapabilities, added) {
			faults = append(faults, "capability "+string(added))
		}
	}
	for _, needed := range c.RequiredDropCapabilities {
		if !slices.Contains(capabilities.Drop, needed) {
			faults = append(faults, "it doesn't drop "+string(needed))
		}
	}
	profile := s.SeccompProfile
	if profile == nil && pod.SecurityContext != nil {
		profile = pod.SecurityContext.SeccompProfile
	}
	if profile != nil && (profile.Type != corev1.SeccompProfileTypeRuntimeDefault || !slices.Contains(c.SeccompProfiles, "runtime/default")) {
		faults = append(faults, "seccomp "+string(profile.Type))
	}
	return faults
}

func volumeKind(v corev1.Volume) string {
	switch s := v.VolumeSource; {
	case s.ConfigMap != nil:
		return "configMap"
	case s.DownwardAPI != nil:
		return "downwardAPI"
	case s.EmptyDir != nil:
		return "emptyDir"
	case s.Projected != nil:
		return "projected"
	case s.Secret != nil:
		return "secret"
	case s.HostPath != nil:
		return "hostPath"
	}
	return "another"
}

// podsOfTests are the pods of all samples by their role, as the golden documents have them; "reference" is the built-in device.
func podsOfTests(t *testing.T) map[string][]corev1.PodSpec {
	t.Helper()
	files, err := filepath.Glob(root + "internal/cluster/manifests/testdata/*.yaml")
	must(t, err)
	pods := map[string][]corev1.PodSpec{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		must(t, err)
		for _, document := range documents(t, string(text)) {
			var pod corev1.Pod
			var job batchv1.Job
			switch text := "\n" + string(document); {
			case strings.Contains(text, "\nkind: Pod\n"):
				must(t, yaml.Unmarshal(document, &pod))
				role := pod.Labels["linerate.dev/role"]
				if pod.Spec.Containers[0].Name == "forwarder" {
					role = "reference"
				}
				pods[role] = append(pods[role], pod.Spec)
			case strings.Contains(text, "\nkind: Job\n"):
				must(t, yaml.Unmarshal(document, &job))
				pods["runner"] = append(pods["runner"], job.Spec.Template.Spec)
			}
		}
	}
	return pods
}

func TestOpenShiftAdmitsThePods(t *testing.T) {
	chart := render(t, "openshift: {testNamespaces: [lab]}").manifest
	generators := constraintsOf(t, documentOf(t, chart, "SecurityContextConstraints"))
	restricted := constraintsOf(t, restrictedV2)
	pods := podsOfTests(t)
	pods["manager"] = []corev1.PodSpec{onlyDeployment(t, objects(t, kustomize(t, "config/default"))).Spec.Template.Spec, managerOf(t, ""), managerOf(t, "metrics: {certificateSecret: tls}")}
	for _, c := range []struct {
		role   string
		least  int
		what   constraints
		refuse bool
	}{
		{"manager", 3, restricted, false},
		{"runner", 15, restricted, false},
		{"vitals", 1, restricted, false},
		{"generator", 20, generators, false},
		{"reference", 2, generators, false},
		{"generator", 20, restricted, true},
		{"reference", 2, restricted, true},
	} {
		if len(pods[c.role]) < c.least {
			t.Errorf("only %d pods of role %s were found", len(pods[c.role]), c.role)
		}
		for _, pod := range pods[c.role] {
			if faults := c.what.refuse(&pod); len(faults) > 0 != c.refuse {
				t.Errorf("%s, %s: %q", c.role, pod.Containers[0].Name, faults)
			}
		}
	}
}

// Only pods of the named namespaces may use it, and it allows no more than they need.
func TestOpenShiftsConstraintsAreMinimal(t *testing.T) {
	chart := render(t, "openshift: {testNamespaces: [lab, ci]}").manifest
	c := constraintsOf(t, documentOf(t, chart, "SecurityContextConstraints"))
	needed := map[corev1.Capability]bool{}
	for role, pods := range podsOfTests(t) {
		for _, pod := range pods {
			for _, container := range pod.Containers {
				if s := container.SecurityContext; s != nil && s.Capabilities != nil && (role == "generator" || role == "reference") {
					for _, capability := range s.Capabilities.Add {
						needed[capability] = true
					}
				}
			}
		}
	}
	for _, capability := range c.AllowedCapabilities {
		if !needed[capability] {
			t.Errorf("no pod needs %s", capability)
		}
	}
	if c.AllowHostDirVolumePlugin || c.AllowHostIPC || c.AllowHostNetwork || c.AllowHostPID || c.AllowHostPorts || c.AllowPrivilegedContainer || c.AllowPrivilegeEscalation {
		t.Errorf("%+v", c)
	}
	text := documentOf(t, chart, "SecurityContextConstraints")
	if !strings.Contains(text, "\nusers: []\ngroups: []\n") {
		t.Errorf("it is for everybody:\n%s", text)
	}
	var rest []string
	for _, document := range documents(t, chart) {
		if !strings.Contains("\n"+string(document), "\nkind: SecurityContextConstraints\n") {
			rest = append(rest, string(document))
		}
	}
	all := objects(t, strings.Join(rest, "\n---\n"))
	role := find[*rbacv1.ClusterRole](t, all, "", "linerate-linerate-system-generators")
	if len(role.Rules) != 1 || !slices.Equal(role.Rules[0].ResourceNames, []string{role.Name}) || !slices.Equal(role.Rules[0].Verbs, []string{"use"}) || !strings.Contains(text, "\n  name: "+role.Name+"\n") {
		t.Errorf("%+v", role.Rules)
	}
	for _, namespace := range []string{"lab", "ci"} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default"}}
		binds(t, find[*rbacv1.RoleBinding](t, all, namespace, role.Name).Subjects, account)
	}
}
