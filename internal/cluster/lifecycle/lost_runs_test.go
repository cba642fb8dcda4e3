package lifecycle_test

import (
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestLostRunsAreCountedOnce(t *testing.T) {
	w := newWorld(t, reference)
	r := w.toRun()
	w.progress(r, "Ramping", 30)
	w.settle()
	count := func(run int, want int32) {
		t.Helper()
		w.Progress.Run = run
		w.settle()
		w.settle()
		if got := w.test.Status.Operator.LostRuns; got != want {
			t.Errorf("in run %d, %d runs are lost, not %d", run, got, want)
		}
	}
	count(1, 0)
	count(2, 1)
	count(4, 3) // the operator was away while two were lost
	w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
	w.pass(time.Minute)
	if got := w.test.Status.Operator.LostRuns; got != 4 {
		t.Errorf("suspended, %d runs are lost", got)
	}
}

// A successor may report its first progress after the end was decided. Without the count in the status each pass would
// count the earlier run again, write that, and be woken by its own write.
func TestARunThatIsLostWhileItEndsIsCountedOnce(t *testing.T) {
	w := newWorld(t, reference)
	w.running()
	w.Progress.Run = 2
	w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
	w.settle()
	w.pass(time.Minute)
	if got := w.test.Status.Operator.LostRuns; got != 1 {
		t.Errorf("%d runs are lost, want 1", got)
	}
}

func TestASuspensionThatCrossesTheFinalReport(t *testing.T) {
	w := newWorld(t, reference)
	r := w.toRun()
	w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = true })
	w.reconcile() // the attempt is void
	w.finish(r, report.Completed)
	w.pass(time.Minute)
	if w.observe().Children.Envelope != nil {
		w.fail("the void attempt's Report is taken for the next one's")
	}
	w.edit(func(s *v1alpha1.LoadTestSpec) { s.Suspend = false })
	w.finish(w.toRun(), report.Completed)
	w.settle()
	if got := w.condition("Complete").Reason; got != v1alpha1.ReasonMeasured || w.test.Status.Attempt != 2 {
		w.fail("it ends with %s in attempt %d", got, w.test.Status.Attempt)
	}
}
