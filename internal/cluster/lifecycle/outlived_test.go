package lifecycle_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestPodsThatWaitedTooLongForOthersAreMadeAnew(t *testing.T) {
	end := func(w *world) {
		w.ends("first-1-dut", 137, "")
		w.mustPod("first-1-dut").Status.Reason = "DeadlineExceeded"
		w.settle()
		w.pass(time.Minute)
	}
	t.Run("before the run", func(t *testing.T) {
		w := newWorld(t, reference)
		w.pending()
		end(w)
		if got := w.condition("Complete"); got.Reason != v1alpha1.ReasonWaiting || w.test.Status.Attempt != 2 ||
			w.pod("first-1-generator-0") != nil || w.pod("first-2-dut") == nil {
			t.Errorf("attempt %d: %s: %s", w.test.Status.Attempt, got.Reason, got.Message)
		}
	})
	t.Run("but in the run it is a failure as any other", func(t *testing.T) {
		w := newWorld(t, reference)
		w.running()
		end(w)
		if got := w.condition("Complete"); got.Reason != v1alpha1.ReasonDUTFailed {
			t.Errorf("%s: %s", got.Reason, got.Message)
		}
	})
}
