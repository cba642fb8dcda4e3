package kubectl

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// A fault that ended a test takes the figures off its Report, and a verdict with them, whichever it was. A test
// that publishes its result, or goes on, keeps both.
func TestWhatATestDoesNotPublishHasNoVerdict(t *testing.T) {
	fault := func(test *v1alpha1.LoadTest) {
		test.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonDUTFailed, Message: "out of memory."}}
	}
	for _, said := range []report.Outcome{report.Passed, report.DidFail} {
		r := reporttest.JudgedAs(said, reporttest.Measured())
		faulty := &v1alpha1.LoadTest{}
		fault(faulty)
		got := withoutFigures(faulty, r)
		if got.Answer.Measured || got.Answer.Total != nil || got.Ending != report.Failed ||
			got.Message != "DUTFailed: out of memory: what the runner measured doesn't count" {
			t.Errorf("%s: %+v", got.Message, got.Answer)
		}
		if got.Verdict.Outcome != report.Undecided || len(got.Verdict.Criteria) != len(r.Verdict.Criteria) {
			t.Errorf("%s is told as %+v", said, got.Verdict)
		}
		for _, c := range got.Verdict.Criteria {
			if c.Outcome != report.Undecided {
				t.Errorf("%s is told as %+v", said, c)
			}
		}
		if r.Verdict.Outcome != said || !r.Answer.Measured {
			t.Errorf("the Report itself was changed: %+v", r.Verdict)
		}
		published, goesOn := faulty.DeepCopy(), &v1alpha1.LoadTest{}
		published.Status.Result = &v1alpha1.Result{}
		for name, test := range map[string]*v1alpha1.LoadTest{"published": published, "under way": goesOn,
			"gone": nil} {
			if withoutFigures(test, r) != r {
				t.Errorf("the Report of a test that is %s has no figures", name)
			}
		}
	}
}

// Without a Report the end itself has the say: only what was measured is 0.
func TestTheExitCodeOfAnEnd(t *testing.T) {
	for reason, want := range map[string]int{
		v1alpha1.ReasonMeasured: report.ExitOK, v1alpha1.ReasonInvalid: report.ExitBadInput,
		v1alpha1.ReasonStopped:     report.ExitInterrupted,
		v1alpha1.ReasonNotMeasured: report.ExitNotMeasured, v1alpha1.ReasonDUTFailed: report.ExitNotMeasured,
	} {
		if got := codeOfEnd(&metav1.Condition{Reason: reason}); got != want {
			t.Errorf("%s is %d, want %d", reason, got, want)
		}
	}
	if got := codeOfEnd(nil); got != report.ExitNotMeasured {
		t.Errorf("what goes on is %d", got)
	}
}
