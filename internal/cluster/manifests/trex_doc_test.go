package manifests_test

import (
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// People who write an image read in docs/trex.md what is run in it: what stands there is what the pods have.
func TestTheDocumentHasTheCommandsOfTRexPods(t *testing.T) {
	text, err := os.ReadFile("../../../docs/trex.md")
	if err != nil {
		t.Fatal(err)
	}
	pod := manifests.Generators(sample(t, "loadtest_trex_loopback"))[0].Spec
	folder := pod.InitContainers[0].Command[len(pod.InitContainers[0].Command)-1]
	for _, want := range []string{
		"linerate trex-launch copy " + folder + " ",
		strings.Join(pod.Containers[0].Command[:2], " ") + " ",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("docs/trex.md doesn't have %q", want)
		}
	}
	if mount := mountOf(pod.Containers[0], "linerate-program"); mount+"/" != folder ||
		!strings.HasPrefix(pod.Containers[0].Command[0], folder) {
		t.Errorf("copied to %s, mounted at %s, run as %s", folder, mount, pod.Containers[0].Command[0])
	}
}

func mountOf(c corev1.Container, volume string) string {
	for _, m := range c.VolumeMounts {
		if m.Name == volume {
			return m.MountPath
		}
	}
	return ""
}
