package kubectl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// suiteMoment is the present state of a suite.
type suiteMoment struct {
	suite *v1alpha1.LoadTestSuite // nil: it was deleted
	tests suiteTests
	now   time.Time
	// unjudged leaves the suite's own verdict out: a gate judges it by more than the cluster knows.
	unjudged bool
}

func (m suiteMoment) object() client.Object {
	if m.suite == nil {
		return nil
	}
	return m.suite
}

func (m suiteMoment) ended() bool { return m.suite == nil || endOf(m.suite) != nil }

// every is longer than a test's: the ends of the suite's tests are printed, too.
func (m suiteMoment) every() time.Duration { return time.Minute }

// running says whether tests are under way.
func (m suiteMoment) running() bool { return runs(m.suite) }

// done is how many of the suite's tests have ended, measured or not.
func (m suiteMoment) done() int32 {
	return m.suite.Status.Counts.Measured + m.suite.Status.Counts.NotMeasured
}

func (m suiteMoment) percent() (int, bool) {
	if m.ended() || m.suite.Status.Counts.Tests == 0 {
		return 0, false
	}
	return int(100 * m.done() / m.suite.Status.Counts.Tests), true
}

// phase changes with the suite's state, and with the number of tests that have ended.
func (m suiteMoment) phase() string {
	if m.ended() || !m.running() {
		return m.sentence()
	}
	if t := m.stuck(); t != nil {
		return fmt.Sprint("stuck ", t.Name, waitReason(t))
	}
	return fmt.Sprint("running ", m.done())
}

func (m suiteMoment) sentence() string {
	if m.suite == nil {
		return "deleted"
	}
	c := completeOf(m.suite)
	switch {
	case c == nil:
		return notProcessed
	case c.Status == metav1.ConditionTrue && c.Reason == v1alpha1.ReasonMeasured:
		return "all measured: " + c.Message + m.verdictWords()
	case c.Status == metav1.ConditionTrue && c.Reason != v1alpha1.ReasonInvalid:
		return fmt.Sprintf("ended as %s: %s%s", c.Reason, c.Message, m.verdictWords())
	case c.Status == metav1.ConditionTrue:
		return "ended as Invalid: " + c.Message
	case c.Reason == v1alpha1.ReasonRunning && m.stuck() != nil:
		return c.Message + "; " + m.stuck().Name + " is " + testMoment{test: m.stuck()}.sentence()
	case c.Reason == v1alpha1.ReasonRunning:
		return c.Message + m.leftWords()
	case c.Reason == v1alpha1.ReasonWaiting:
		return "waiting: " + c.Message
	case c.Reason == v1alpha1.ReasonSuspended:
		return "suspended: " + c.Message
	}
	return fmt.Sprintf("ending as %s: %s", c.Reason, c.Message)
}

// stuck is a test that somebody has to help before the suite goes on, since none of its tests runs; nil: there is none.
func (m suiteMoment) stuck() *v1alpha1.LoadTest {
	for _, t := range m.tests.underWay { // those that run are first
		c := completeOf(t)
		if c == nil || c.Reason != v1alpha1.ReasonWaiting {
			return nil
		}
		switch waitReason(t) {
		case v1alpha1.ReasonMultusMissing, v1alpha1.ReasonNetworkMissing, v1alpha1.ReasonNetworkInvalid, v1alpha1.ReasonResourceMissing, v1alpha1.ReasonHugepages,
			v1alpha1.ReasonPodRefused, v1alpha1.ReasonNameTaken, v1alpha1.ReasonNodeRefused, v1alpha1.ReasonUnschedulable, v1alpha1.ReasonImage:
			return t
		}
	}
	return nil
}

// verdictWords are how many cells passed, where there are criteria; the table has the rest.
func (m suiteMoment) verdictWords() string {
	c := meta.FindStatusCondition(m.suite.Status.Conditions, v1alpha1.ConditionPassed)
	if m.unjudged || c == nil || c.Reason == v1alpha1.ReasonNoCriteria || c.Message == "" {
		return ""
	}
	tally, _, _ := strings.Cut(c.Message, ";")
	return "; " + tally
}

// leftWords say how long the rest will take, if that can be estimated.
func (m suiteMoment) leftWords() string {
	left, known := m.left()
	if !known {
		return ""
	}
	return ", about " + duration.HumanDuration(left) + " left"
}

// enoughTests is how many tests must have ended before the time for the others is estimated from theirs.
const enoughTests = 2

// left is how long the suite will go on: as many tests as are under way end in the time that a test takes, its waiting included.
//
//	left = mean time of a test × (those not over ÷ those under way at once) − the age of those under way
func (m suiteMoment) left() (time.Duration, bool) {
	if m.suite.Spec.Suspend || m.tests.over < enoughTests || m.now.IsZero() {
		return 0, false
	}
	open := int64(m.suite.Status.Counts.Tests - m.done())
	atOnce := min(int64(max(m.suite.Spec.Parallelism, 1)), open)
	if open <= 0 {
		return 0, false
	}
	var age time.Duration
	for _, t := range m.tests.underWay {
		age += m.now.Sub(t.CreationTimestamp.Time)
	}
	if n := len(m.tests.underWay); n > 0 {
		age /= time.Duration(n)
	}
	mean := m.tests.took / time.Duration(m.tests.over)
	all := time.Duration(int64(mean) * open / atOnce)
	return max(all-min(age, mean), 0), true
}

// maxUnder is how many of a suite's tests have a line of their own on a terminal.
const maxUnder = 6

// under has a line for each test that is under way, and says what it is doing.
func (m suiteMoment) under() []string {
	var lines []string
	for _, t := range m.tests.underWay[:min(len(m.tests.underWay), maxUnder)] {
		lines = append(lines, t.Name+" "+barred(testMoment{test: t}))
	}
	if more := len(m.tests.underWay) - maxUnder; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// suiteTests is what a follower of a suite needs to know of its tests.
type suiteTests struct {
	underWay []*v1alpha1.LoadTest // those that run first, then oldest first
	over     int                  // how many have ended and still exist
	took     time.Duration        // from their creation to their end, together
}

// sortTests divides a suite's tests into those that have ended and those that haven't.
func sortTests(tests map[string]*v1alpha1.LoadTest) suiteTests {
	var out suiteTests
	for _, t := range tests {
		if endOf(t) == nil {
			out.underWay = append(out.underWay, t)
			continue
		}
		if at := t.Status.FinishedAt; at != nil {
			out.over++
			out.took += at.Sub(t.CreationTimestamp.Time)
		}
	}
	slices.SortFunc(out.underWay, func(a, b *v1alpha1.LoadTest) int {
		return cmp.Or(waits(a)-waits(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// waits is 0 for a test that runs, and 1 for one that waits.
func waits(t *v1alpha1.LoadTest) int {
	if (testMoment{test: t}).running() {
		return 0
	}
	return 1
}
