package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/document/report"
)

const aTunnel = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: first}
spec:
  dut: {type: Reference, reference: {mode: {tunnel: {kind: WireGuard, network: cable}}}}
  links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64}
`

// gatewaysApart lets both gateways run, and not be ready.
func (w *world) gatewaysApart() {
	w.run()
	for _, name := range []string{"first-1-dut", "first-1-dut-far"} {
		p := w.mustPod(name)
		set(p, corev1.PodReady, corev1.ConditionFalse, w.clock)
		p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: p.Spec.Containers[0].Name,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.Time{Time: w.clock}}}}}
	}
}

// tunnelLives are of a device of two pods. It is ready when both have met, and lost with either.
func tunnelLives() []life {
	return []life{
		{"a tunnel's gateways that meet late", aTunnel, func(w *world) {
			w.settle()
			w.schedule()
			w.settle()
			w.gatewaysApart()
			w.settle()
			w.pass(time.Minute)
			for _, name := range []string{"first-1-dut", "first-1-dut-far"} {
				set(w.mustPod(name), corev1.PodReady, corev1.ConditionTrue, w.clock)
			}
			w.settle()
			w.finish(w.runner(), report.Completed)
			w.settle()
		}},
		{"a tunnel's second gateway that dies in the run", aTunnel, func(w *world) {
			w.toRun()
			w.ends("first-1-dut-far", 3, "WireGuard stopped by itself")
			w.settle()
			w.pass(time.Minute)
		}},
	}
}

// TestGatewaysThatDontMeetAreTold with the network that is to join them.
func TestGatewaysThatDontMeetAreTold(t *testing.T) {
	w := newWorld(t, aTunnel)
	w.settle()
	w.schedule()
	w.settle()
	w.gatewaysApart()
	w.settle()
	if got := w.condition("DUTReady"); got.Reason != "Starting" {
		t.Errorf("at once: %s: %s", got.Reason, got.Message)
	}
	w.pass(time.Minute)
	if got := w.condition("DUTReady"); got.Reason != "NoTunnel" ||
		!strings.Contains(got.Message, "pods first-1-dut and first-1-dut-far, and don't reach each other over "+
			"network bench/cable: it has to join the two") {
		t.Errorf("after a minute: %s: %s", got.Reason, got.Message)
	}
}

// TestAHalfMetPairIsTold has one gateway that is ready, which says nothing of the other one.
func TestAHalfMetPairIsTold(t *testing.T) {
	w := newWorld(t, aTunnel)
	w.settle()
	w.schedule()
	w.settle()
	w.gatewaysApart()
	set(w.mustPod("first-1-dut-far"), corev1.PodReady, corev1.ConditionTrue, w.clock)
	w.settle()
	w.pass(time.Minute)
	if got := w.condition("DUTReady"); got.Reason != "NoTunnel" {
		t.Errorf("after a minute: %s: %s", got.Reason, got.Message)
	}
}
