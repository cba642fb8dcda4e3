package lifecycle_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/report"
)

// The end of the run is told by the clock of the runner's node, the device's by its own.
func TestADeviceThatIsLostJustAfterTheEndMayHaveBeenLostBefore(t *testing.T) {
	for after, want := range map[time.Duration]string{10 * time.Second: v1alpha1.ReasonDUTFailed, time.Minute: v1alpha1.ReasonMeasured} {
		w := newWorld(t, reference)
		w.finish(w.toRun(), report.Completed)
		w.now = w.now.Add(after)
		w.ends("first-1-dut", 1, "out of memory")
		w.settle()
		w.pass(time.Minute)
		if got := w.says("Complete"); got.Reason != want || (w.test.Status.Result != nil) != (want == v1alpha1.ReasonMeasured) {
			t.Errorf("lost %s after the end: %s, want %s", after, got.Reason, want)
		}
	}
}
