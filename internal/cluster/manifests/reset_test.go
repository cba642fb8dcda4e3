package manifests_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

func containerNamed(t *testing.T, pod *corev1.Pod, name string) corev1.Container {
	t.Helper()
	i := slices.IndexFunc(pod.Spec.Containers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		t.Fatalf("the pod has no container %s", name)
	}
	return pod.Spec.Containers[i]
}

func variable(c corev1.Container, name string) string {
	i := slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == name })
	if i < 0 {
		return ""
	}
	return c.Env[i].Value
}

// What resets a user's device has what the author gave the container that forwards, and nothing besides: none
// of its devices, no probe or port of its, no more rights.
func TestWhoResetsAUsersDeviceHasTheRightsOfTheContainerThatForwards(t *testing.T) {
	input := sample(t, "loadtest_reset_pod")
	pod := manifests.DUT(input)
	forwards, c := containerNamed(t, pod, "firewall"), containerNamed(t, pod, "linerate-reset")
	if pod.Spec.Containers[0].Name != "firewall" {
		t.Errorf("the first container is %s: devices go to the first", pod.Spec.Containers[0].Name)
	}
	if diff := cmp.Diff(forwards.SecurityContext, c.SecurityContext); diff != "" {
		t.Errorf("its rights differ:\n%s", diff)
	}
	if c.Image != "registry.lab/tools:1" || variable(c, "RULES") != "1000" ||
		variable(c, "LINERATE_LINKS") != "west east" ||
		!slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == "/run/firewall" }) {
		t.Errorf("image %s, variables %v, mounts %v", c.Image, c.Env, c.VolumeMounts)
	}
	if !cmp.Equal(c.Resources.Requests, c.Resources.Limits) || c.Resources.Limits.Cpu().MilliValue() > 100 {
		t.Errorf("it may take %v of the device's node", c.Resources)
	}
	if c.Ports[0].ContainerPort != vitals.Port || c.LivenessProbe != nil || c.ReadinessProbe != nil ||
		c.Lifecycle != nil {
		t.Errorf("%+v", c)
	}
	want := []string{"/opt/linerate/linerate", "reset", "--at", "$(LINERATE_POD_IP)", "--links", "west,east",
		"--timeout", "5s", "--verifier=" + verifierOf(c), "--", "conntrack", "-F"}
	if diff := cmp.Diff(want, c.Command); diff != "" {
		t.Error(diff)
	}
	input.Compiled.Plan.DUT.ResetCommand = []string{"sh", "-c", "echo $(RULES) $$ $HOME"}
	if got, want := containerNamed(t, manifests.DUT(input), "linerate-reset").Command[10:],
		[]string{"sh", "-c", "echo $$(RULES) $$$$ $$HOME"}; !slices.Equal(got, want) {
		t.Errorf("the command is %q, want %q, of which the kubelet makes what was written", got, want)
	}
	input.Test.Spec.Procedure.Reset.Image = ""
	if c := containerNamed(t, manifests.DUT(input), "linerate-reset"); c.Image != forwards.Image {
		t.Errorf("where no image is said it has %s", c.Image)
	}
}

func TestTheRunnerIsToldWhereTheDeviceIsReset(t *testing.T) {
	for name, input := range map[string]manifests.Input{"a user's device": sample(t, "loadtest_reset_pod"),
		"a Reference": resetReference(t)} {
		t.Run(name, func(t *testing.T) {
			_, sites := devicesSites(t, input)
			if !strings.HasSuffix(sites.Reset, ":4504") {
				t.Fatalf("%+v", sites.Reset)
			}
			for _, c := range sites.Device.Containers {
				if strings.HasPrefix(c.Name, "linerate-") {
					t.Errorf("%s is told as what was measured", c.Name)
				}
			}
		})
	}
}

func TestWithoutAResetNobodyIsThereToAsk(t *testing.T) {
	for _, name := range []string{"loadtest_software_pod", "loadtest_software_reference"} {
		pod, sites := devicesSites(t, sample(t, name))
		for _, c := range pod.Spec.Containers {
			if c.Name == "linerate-reset" || slices.Contains(c.Command, "--reset") {
				t.Errorf("%s: container %s", name, c.Name)
			}
		}
		if sites.Reset != "" {
			t.Errorf("%s: %s", name, sites.Reset)
		}
	}
}

// resetReference is a Reference that is reset before each trial.
func resetReference(t *testing.T) manifests.Input {
	t.Helper()
	input := sample(t, "loadtest_software_reference")
	input.Compiled.Plan.Procedure.Reset = &plan.Reset{Timeout: 1}
	return input
}

// devicesSites is the device's pod, and where the runner finds all.
func devicesSites(t *testing.T, input manifests.Input) (*corev1.Pod, plan.Sites) {
	t.Helper()
	pod := manifests.DUT(input)
	running := []corev1.Pod{*attached(pod, 0)}
	for i, g := range manifests.Generators(input) {
		running = append(running, *attached(g, i+1))
	}
	sites, err := manifests.SitesOf(input, running)
	if err != nil {
		t.Fatal(err)
	}
	return pod, sites
}
