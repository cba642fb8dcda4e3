package lifecycle

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestLastWords(t *testing.T) {
	for name, c := range map[string]struct {
		ended corev1.ContainerStateTerminated
		want  string
	}{
		"its own message": {corev1.ContainerStateTerminated{ExitCode: 3, Reason: "Error",
			Message: "no port\n"}, "container dut ended with exit code 3: no port"},
		"a message of several lines": {corev1.ContainerStateTerminated{ExitCode: 1, Message: "panic: x\n\n  at y\n"},
			"container dut ended with exit code 1: panic: x; at y"},
		"it was killed, and its log": {corev1.ContainerStateTerminated{ExitCode: 137,
			Message: "ff by kubelet\nthe kernel forwards\n"},
			"container dut ended with exit code 137 (killed by signal 9): its log ends with: the kernel forwards"},
		"it was killed, and is mute": {corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"},
			"container dut ended with exit code 137 (killed by signal 9): OOMKilled"},
		"an exit code of its own, -1": {corev1.ContainerStateTerminated{ExitCode: 255},
			"container dut ended with exit code 255"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "dut",
				State: corev1.ContainerState{Terminated: &c.ended}}}}}
			if got := lastWords(p); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
