package lifecycle_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// The clocks of the device's node and of the generators' node, where the runner is, too.
func clocks() (offsets []map[string]time.Duration) {
	for _, device := range []time.Duration{0, -time.Hour, -40 * time.Second, 40 * time.Second, 6 * time.Minute,
		24 * time.Hour} {
		for _, runner := range []time.Duration{0, -6 * time.Minute, time.Hour} {
			offsets = append(offsets, map[string]time.Duration{"rack-2": device, "rack-1": runner})
		}
	}
	return offsets
}

// A node's clock that is off changes nothing. A device that died in the run makes no figure, and one that is given back
// after it spoils none.
func TestClocksOfNodesChangeNoVerdict(t *testing.T) {
	for _, ahead := range clocks() {
		name := fmt.Sprintf("device %s, runner %s", ahead["rack-2"], ahead["rack-1"])
		begin := func(t *testing.T) (w *world, runner string) {
			w = newWorld(t, reference)
			w.clockOffsets = ahead
			r := w.toRun()
			for i := range w.Pods {
				if p := &w.Pods[i]; p.Name == r {
					p.Spec.NodeName = "rack-1"
				}
			}
			w.clock = w.clock.Add(time.Minute)
			return w, r
		}
		t.Run(name+": dies in the run, which is seen when all is over", func(t *testing.T) {
			w, r := begin(t)
			w.ends("first-1-dut", 1, "out of memory")
			w.clock = w.clock.Add(20 * time.Second)
			w.finish(r, report.Completed)
			w.jobCompletes()
			w.clock = w.clock.Add(10 * time.Minute)
			w.settle()
			if got := w.condition("Complete"); got.Reason != v1alpha1.ReasonDUTFailed || w.test.Status.Result != nil {
				t.Errorf("%s, with a result: %t", got.Reason, w.test.Status.Result != nil)
			}
		})
		t.Run(name+": dies long after the run, which is seen when all is over", func(t *testing.T) {
			w, r := begin(t)
			w.finish(r, report.Completed)
			w.jobCompletes()
			w.clock = w.clock.Add(time.Minute)
			w.ends("first-1-dut", 1, "out of memory")
			w.clock = w.clock.Add(10 * time.Minute)
			w.settle()
			if got := w.condition("Complete"); got.Reason != v1alpha1.ReasonMeasured || w.test.Status.Result == nil {
				t.Errorf("%s, with a result: %t", got.Reason, w.test.Status.Result != nil)
			}
		})
		t.Run(name+": its node is silent at the end, and is heard again", func(t *testing.T) {
			w := newWorld(t, reference)
			w.clockOffsets = ahead
			r := w.toSilence(1)
			w.finish(r, report.Completed)
			w.jobCompletes()
			w.settle()
			w.pass(3 * time.Minute)
			if got := w.condition("Complete"); got.Status == "True" {
				t.Fatalf("it isn't waited for: %s", got.Reason)
			}
			w.inventory.Nodes[1].Ready = true
			set(w.mustPod("first-1-dut"), corev1.PodReady, corev1.ConditionTrue, w.clock)
			w.pass(time.Minute)
			if got := w.condition("Complete"); got.Reason != v1alpha1.ReasonMeasured {
				t.Errorf("ends with %s: %s", got.Reason, got.Message)
			}
		})
		t.Run(name+": is given its time", func(t *testing.T) {
			w := newWorld(t, hooks)
			w.clockOffsets = ahead
			w.settle()
			w.hook("hooked-1-setup", 0, "")
			w.schedule()
			w.settle()
			w.run()
			w.pass(28 * time.Second)
			if len(w.Jobs) > 0 {
				t.Error("its readyDelay is cut short")
			}
			w.pass(4 * time.Second)
			if len(w.Jobs) == 0 {
				t.Errorf("its readyDelay doesn't end: %s", w.condition("DUTReady").Message)
			}
		})
	}
}

// What comes just after the end may have come before it, since the control plane has several clocks, too.
func TestADeviceThatIsLostJustAfterTheEndMayHaveBeenLostBefore(t *testing.T) {
	for after, want := range map[time.Duration]string{10 * time.Second: v1alpha1.ReasonDUTFailed,
		time.Minute: v1alpha1.ReasonMeasured} {
		w := newWorld(t, reference)
		w.finish(w.toRun(), report.Completed)
		w.jobCompletes()
		w.clock = w.clock.Add(after)
		w.ends("first-1-dut", 1, "out of memory")
		w.settle()
		w.pass(time.Minute)
		if got := w.condition("Complete"); got.Reason != want ||
			(w.test.Status.Result != nil) != (want == v1alpha1.ReasonMeasured) {
			t.Errorf("lost %s after the end: %s, want %s", after, got.Reason, want)
		}
	}
}
