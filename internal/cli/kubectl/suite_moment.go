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
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// suiteMoment is the present state of a suite.
type suiteMoment struct {
	suite *v1alpha1.LoadTestSuite // nil: it was deleted
	tests suiteTests
	// instant is when the suite or its tests were read last.
	instant time.Time
	// unjudged leaves the suite's own verdict out, since a gate compares it with more than the cluster knows.
	unjudged bool
}

func (m suiteMoment) object() client.Object {
	if m.suite == nil {
		return nil
	}
	return m.suite
}

func (m suiteMoment) ended() bool { return m.suite == nil || endOf(m.suite) != nil }

// printInterval is longer than a test's, since the ends of the suite's tests are printed, too.
func (m suiteMoment) printInterval() time.Duration { return time.Minute }

// running reports whether tests are under way.
func (m suiteMoment) running() bool { return runs(m.suite) }

// endedTests is how many of the suite's tests have ended, measured or not.
func (m suiteMoment) endedTests() int32 {
	return m.suite.Status.Counts.Measured + m.suite.Status.Counts.NotMeasured
}

func (m suiteMoment) percent() (int, bool) {
	if m.ended() || m.suite.Status.Counts.Tests == 0 {
		return 0, false
	}
	return int(100 * m.endedTests() / m.suite.Status.Counts.Tests), true
}

// phase changes with the suite's state, and with the number of tests that have ended.
func (m suiteMoment) phase() string {
	if m.ended() || !m.running() {
		return m.sentence()
	}
	if t := m.stuck(); t != nil {
		return fmt.Sprint("stuck ", t.Name, t.Status.Reason)
	}
	return fmt.Sprint("running ", m.endedTests())
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
		return c.Message + m.remainingWords()
	case c.Reason == v1alpha1.ReasonWaiting:
		return "waiting: " + c.Message
	case c.Reason == v1alpha1.ReasonSuspended:
		return "suspended: " + c.Message
	}
	return fmt.Sprintf("ending as %s: %s", c.Reason, c.Message)
}

// stuck is a waiting test that needs somebody's help before the suite goes on. It is nil where a test runs.
func (m suiteMoment) stuck() *v1alpha1.LoadTest {
	for _, t := range m.tests.underWay { // those that run are first
		c := completeOf(t)
		if c == nil || c.Reason != v1alpha1.ReasonWaiting {
			return nil
		}
		if slices.ContainsFunc(lifecycle.WaitsFor(&t.Status), needsHelp) {
			return t
		}
	}
	return nil
}

// needsHelp reports whether a test that waits for this reason waits until somebody mends something.
func needsHelp(reason string) bool {
	switch reason {
	case v1alpha1.ReasonMultusMissing, v1alpha1.ReasonNetworkMissing, v1alpha1.ReasonNetworkInvalid,
		v1alpha1.ReasonResourceMissing, v1alpha1.ReasonHugepages, v1alpha1.ReasonPodRefused,
		v1alpha1.ReasonNameTaken, v1alpha1.ReasonNodeRefused, v1alpha1.ReasonUnschedulable, v1alpha1.ReasonImage:
		return true
	}
	return false
}

// verdictWords say how many cells passed. Empty means that the suite has no criteria.
func (m suiteMoment) verdictWords() string {
	c := meta.FindStatusCondition(m.suite.Status.Conditions, v1alpha1.ConditionPassed)
	if m.unjudged || c == nil || c.Reason == v1alpha1.ReasonNoCriteria || c.Message == "" {
		return ""
	}
	tally, _, _ := strings.Cut(c.Message, ";")
	return "; " + tally
}

// remainingWords say how long the suite still takes. Empty means that the time can't be estimated yet.
func (m suiteMoment) remainingWords() string {
	remaining, ok := m.remaining()
	if !ok {
		return ""
	}
	return ", about " + duration.HumanDuration(remaining) + " left"
}

// minEnded is how many tests must have ended before their durations estimate those of the others.
const minEnded = 2

// remaining estimates how long the suite still takes. False means that it can't be estimated. The duration of a
// test includes its waiting.
//
//	remaining = mean duration of a test × (tests not ended ÷ tests at once) − mean age of the tests under way
func (m suiteMoment) remaining() (time.Duration, bool) {
	if m.suite.Spec.Suspend || m.tests.ended < minEnded || m.instant.IsZero() {
		return 0, false
	}
	open := int64(m.suite.Status.Counts.Tests - m.endedTests())
	parallel := min(int64(max(m.suite.Spec.Parallelism, 1)), open)
	if open <= 0 {
		return 0, false
	}
	var age time.Duration
	for _, t := range m.tests.underWay {
		age += m.instant.Sub(t.CreationTimestamp.Time)
	}
	if n := len(m.tests.underWay); n > 0 {
		age /= time.Duration(n)
	}
	mean := m.tests.sum / time.Duration(m.tests.ended)
	remaining := time.Duration(int64(mean) * open / parallel)
	return max(remaining-min(age, mean), 0), true
}

// maxDetails is how many of a suite's tests have a line of their own on a terminal.
const maxDetails = 6

// details has a line for each test that is under way.
func (m suiteMoment) details() []string {
	var lines []string
	for _, t := range m.tests.underWay[:min(len(m.tests.underWay), maxDetails)] {
		lines = append(lines, t.Name+" "+sentenceWithBar(testMoment{test: t}))
	}
	if hidden := len(m.tests.underWay) - maxDetails; hidden > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", hidden))
	}
	return lines
}

// suiteTests summarises a suite's tests.
type suiteTests struct {
	underWay []*v1alpha1.LoadTest // running tests first, then oldest first
	ended    int                  // how many have ended and still exist
	sum      time.Duration        // sum of the ended tests' durations, from their creation to their end
}

// sortTests divides a suite's tests into those that have ended and those that haven't.
func sortTests(tests map[string]*v1alpha1.LoadTest) suiteTests {
	var sorted suiteTests
	for _, t := range tests {
		if endOf(t) == nil {
			sorted.underWay = append(sorted.underWay, t)
		} else if finished := t.Status.CompletionTime; finished != nil {
			sorted.ended++
			sorted.sum += finished.Sub(t.CreationTimestamp.Time)
		}
	}
	rank := func(t *v1alpha1.LoadTest) int {
		if runs(t) {
			return 0
		}
		return 1
	}
	slices.SortFunc(sorted.underWay, func(a, b *v1alpha1.LoadTest) int {
		return cmp.Or(rank(a)-rank(b), a.CreationTimestamp.Compare(b.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name))
	})
	return sorted
}
