package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// message is what a condition says.
func (w *world) message(kind string) string {
	if c := meta.FindStatusCondition(w.test.Status.Conditions, kind); c != nil {
		return c.Message
	}
	return ""
}

func TestTheSchedulersWords(t *testing.T) {
	const reason = "0/2 nodes are available: 2 Insufficient intel.com/west"
	for name, message := range map[string]string{
		"preemption is left out": reason +
			". preemption: 0/2 nodes are available: 2 No preemption victims found for incoming pod.",
		"claims and preemption are left out": reason +
			". no new claims to deallocate, preemption: 0/2 nodes are available: 2 No preemption victims found for " +
			"incoming pod.",
		"a full stop is left out":       reason + ".",
		"there is nothing to leave out": reason,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, reference)
			w.settle()
			w.unschedulable(message)
			w.settle()
			want := "pods first-1-dut and 1 more find no node: " + reason + ": it goes on"
			if got := w.message(v1alpha1.ConditionScheduled); !strings.HasPrefix(got, want) {
				t.Errorf("%s\nwant %s…", got, want)
			}
		})
	}
}

func TestWhatIsToldOnce(t *testing.T) {
	t.Run("a way out that helps two pods", func(t *testing.T) {
		w := newWorld(t, reference)
		w.refusals = []lifecycle.Refusal{{Pod: "first-1-dut", Message: "violates PodSecurity"},
			{Pod: "first-1-generator-0", Message: "violates PodSecurity"}}
		w.settle()
		if got := w.message(v1alpha1.ConditionScheduled); strings.Count(got, "enforce=privileged") != 1 ||
			!strings.HasSuffix(got, ")") {
			t.Error(got)
		}
	})
	t.Run("what a test waits for, by its conditions and not by its progress, too", func(t *testing.T) {
		w := newWorld(t, reference)
		w.settle()
		if p := w.test.Status.Progress; p.Message != "" || p.Phase == "" || w.message(v1alpha1.ConditionComplete) == "" {
			t.Errorf("%+v, Complete says %q", p, w.message(v1alpha1.ConditionComplete))
		}
	})
}

func TestADeadlineTellsOnlyWhatWasMissing(t *testing.T) {
	w := newWorld(t, withLines(reference, "schedulingDeadline: 2m"))
	w.settle()
	w.schedule()
	generator := w.mustPod("first-1-generator-0")
	generator.Status.Phase = corev1.PodRunning
	set(generator, corev1.PodReady, corev1.ConditionTrue, w.clock)
	w.settle()
	w.pass(3 * time.Minute)
	got := w.message(v1alpha1.ConditionComplete)
	if !strings.Contains(got, "waiting for first-1-dut") || strings.Contains(got, "1 of 1 are ready") {
		t.Error(got)
	}
}

func TestAnInvalidSpecIsToldAsPeopleWould(t *testing.T) {
	w := newWorld(t, strings.Replace(reference, "network: west,", "network: west, generator: {address: 10.1.1.1/24},",
		1))
	w.settle()
	got := w.message(v1alpha1.ConditionAccepted)
	if first, second, two := strings.Cut(got, "; "); !two || !strings.HasPrefix(first, "spec.") ||
		!strings.HasPrefix(second, "spec.") {
		t.Errorf("want two faults in a row, got %s", got)
	}
	if got := w.message(v1alpha1.ConditionPassed); got != "nothing was measured that could be judged" {
		t.Errorf("the verdict is %q", got)
	}
}

// Whoever suspends a test again and again may choose the run that counts, so the verdict says it.
func TestAVerdictSaysHowManyRunsOfTheTestWereVoid(t *testing.T) {
	for lost, words := range map[int32]string{0: "", 1: "; 1 of 2 runs of this test were void",
		40: "; 40 of 41 runs of this test were void"} {
		w := newWorld(t, reference)
		w.test.Status.Operator.LostRuns = lost
		r := w.toRun()
		w.measure(r)
		w.finish(r, report.Completed)
		w.settle()
		got := w.message(v1alpha1.ConditionPassed)
		if w.condition("Passed").Reason != v1alpha1.ReasonCriteriaMet || !strings.HasSuffix(got, words) ||
			strings.Contains(got, "void") != (lost > 0) {
			t.Errorf("after %d runs that came to nothing the verdict is %q", lost, got)
		}
	}
}

// Without criteria there is never a verdict. The condition speaks of a result only where there is one.
func TestWithoutCriteriaNoResultIsPromised(t *testing.T) {
	const notYet, unmeasured = "spec.criteria is empty: what is measured gets no verdict",
		"spec.criteria is empty, and nothing was measured that could be judged"
	open := strings.Replace(reference, "  criteria: [{name: rate, metric: PacketsPerSecond, min: \"9900\"}]\n", "", 1)
	want := func(t *testing.T, w *world, words string) {
		t.Helper()
		if c := w.condition("Passed"); c.Status != "Unknown" || c.Reason != v1alpha1.ReasonNoCriteria ||
			w.message(v1alpha1.ConditionPassed) != words {
			t.Errorf("Passed=%s %s: %s; want %s", c.Status, c.Reason, w.message(v1alpha1.ConditionPassed), words)
		}
	}
	t.Run("while it runs, and when it was measured", func(t *testing.T) {
		w := newWorld(t, open)
		r := w.toRun()
		want(t, w, notYet)
		w.finish(r, report.Completed)
		w.Report.Verdict = report.Verdict{Outcome: report.Undecided}
		w.settle()
		want(t, w, "spec.criteria is empty: there is a result, and no verdict")
	})
	t.Run("when the run gave no figure", func(t *testing.T) {
		w := newWorld(t, open)
		w.finish(w.toRun(), report.PathNotProven)
		w.Report.Verdict = report.Verdict{Outcome: report.Undecided}
		w.settle()
		want(t, w, unmeasured)
	})
	t.Run("when it was stopped before it began", func(t *testing.T) {
		w := newWorld(t, open)
		w.settle()
		w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
		w.settle()
		want(t, w, unmeasured)
	})
}
