package kubectl

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
	"github.com/linerate-dev/linerate/internal/run/runner"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// moment is the present state of a test or a suite.
type moment interface {
	// object is nil if it was deleted.
	object() client.Object
	// ended reports whether the test or suite is complete, or deleted.
	ended() bool
	// running reports whether something is being measured. It must not be called after the end.
	running() bool
	// percent is the progress. False means that nothing is running.
	percent() (int, bool)
	// phase identifies a phase of the test or suite. It changes when something new begins.
	phase() string
	// sentence describes the state for people.
	sentence() string
	// details are further lines that a terminal shows below the sentence.
	details() []string
	// printInterval is how often the sentence is printed within a phase, where there is no terminal.
	printInterval() time.Duration
}

// testMoment is the present state of a test.
type testMoment struct {
	test *v1alpha1.LoadTest // nil: it was deleted
}

func (m testMoment) object() client.Object {
	if m.test == nil {
		return nil
	}
	return m.test
}

func (m testMoment) details() []string { return nil }

func (m testMoment) printInterval() time.Duration { return 10 * time.Second }

// running reports whether the runner measures.
func (m testMoment) running() bool { return runs(m.test) }

func (m testMoment) ended() bool { return m.test == nil || endOf(m.test) != nil }

func (m testMoment) percent() (int, bool) {
	if m.test == nil || !m.running() {
		return 0, false
	}
	if p := m.test.Status.Progress; p != nil && p.Percent != nil {
		return int(*p.Percent), true
	}
	return 0, false
}

func (m testMoment) phase() string {
	switch {
	case m.test == nil || !m.running():
		return m.sentence()
	case m.test.Status.Progress != nil:
		return fmt.Sprint("run ", m.test.Status.Progress.Run, m.test.Status.Progress.Phase)
	}
	return ""
}

// notProcessed is the sentence for a test or suite without a status.
const notProcessed = "waiting for the operator to look at it; if that doesn't change, kubectl linerate doctor says why"

func (m testMoment) sentence() string {
	if m.test == nil {
		return "deleted"
	}
	c := completeOf(m.test)
	switch {
	case c == nil:
		return notProcessed
	case c.Status == metav1.ConditionTrue:
		return endSentence(m.test, c)
	case c.Reason == v1alpha1.ReasonRunning:
		return progressSentence(m)
	case c.Reason == v1alpha1.ReasonWaiting:
		return "waiting" + reasonWords(m.test) + ": " + c.Message
	}
	return fmt.Sprintf("ending as %s: giving pods and devices back", c.Reason)
}

// reasonWords are a remark with what a test waits for.
func reasonWords(test *v1alpha1.LoadTest) string {
	if reason := test.Status.Reason; reason != "" {
		return " (" + reason + ")"
	}
	return ""
}

func endSentence(test *v1alpha1.LoadTest, c *metav1.Condition) string {
	if c.Reason == v1alpha1.ReasonMeasured {
		return "measured: " + cmp.Or(test.Status.Summary, c.Message)
	}
	return fmt.Sprintf("ended as %s: %s", c.Reason, c.Message)
}

func progressSentence(m testMoment) string {
	p := m.test.Status.Progress
	if p == nil {
		return "running"
	}
	return rerunRemark(int(p.Run)) + render.ProgressSentence(runnerProgress(p))
}

// rerunRemark is a remark on a run that isn't the first of its attempt.
func rerunRemark(run int) string {
	if run < 2 {
		return ""
	}
	return fmt.Sprintf("(run %d, the one before was lost) ", run)
}

// runnerProgress converts a status' progress to the runner's form.
func runnerProgress(p *v1alpha1.Progress) runner.Progress {
	loss, _ := units.ParseShare(p.LossRatio) // a window's loss may be negative, which counts as none
	direction := ""
	if d := p.VariedDirection; d != nil {
		direction = wording.Direction(d.From, d.To)
	}
	return runner.Progress{
		Phase: report.Phase(p.Phase), Step: int(p.Step), Steps: int(p.Steps), Varied: direction,
		Remaining:                time.Duration(p.RemainingSeconds) * time.Second,
		IntendedPacketsPerSecond: p.IntendedPacketsPerSecond, OfferedPacketsPerSecond: p.OfferedPacketsPerSecond,
		ReceivedPacketsPerSecond: p.ReceivedPacketsPerSecond, LossRatio: loss, Message: p.Message,
		GoodputBitsPerSecond: p.GoodputBitsPerSecond,
	}
}
