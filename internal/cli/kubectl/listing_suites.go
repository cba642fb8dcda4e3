package kubectl

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// suiteRow is one suite.
type suiteRow struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// State is the suite's phase. It is New before the operator's first look.
	State string `json:"state"`
	// Reason is what the suite waits for, or why it ended as it did.
	Reason      string `json:"reason,omitempty"`
	Message     string `json:"message,omitempty"`
	Percent     *int32 `json:"percent,omitempty"`
	Cells       int32  `json:"cells"`
	Tests       int32  `json:"tests"`
	Waiting     int32  `json:"waiting"`
	Running     int32  `json:"running"`
	Measured    int32  `json:"measured"`
	NotMeasured int32  `json:"notMeasured"`
	Retried     int32  `json:"retried"`
	// Passed is the verdict over all cells: True, False or Unknown.
	Passed         string       `json:"passed,omitempty"`
	CreationTime   time.Time    `json:"creationTime"`
	StartTime      *metav1.Time `json:"startTime,omitempty"`
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	words string
}

func suiteRowOf(s *v1alpha1.LoadTestSuite) suiteRow {
	st, n := s.Status, s.Status.Counts
	r := suiteRow{
		Namespace: s.Namespace, Name: s.Name, Cells: n.Cells, Tests: n.Tests, Waiting: n.Waiting,
		Running: n.Running, Measured: n.Measured, NotMeasured: n.NotMeasured, Retried: n.Retried,
		CreationTime: s.CreationTimestamp.UTC(), StartTime: st.StartTime, CompletionTime: st.CompletionTime,
	}
	r.State, r.Reason = stateOf(s)
	if c := completeOf(s); c != nil {
		r.Message, r.words = c.Message, c.Message
		if c.Status == metav1.ConditionTrue && r.CompletionTime == nil {
			r.CompletionTime = &c.LastTransitionTime
		}
	}
	if r.State == stateNew {
		r.words = newWords
	}
	if c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionPassed); c != nil {
		r.Passed = string(c.Status)
	}
	if percent, ok := momentOf(s).percent(); ok {
		r.Percent = new(int32(percent))
	}
	return r
}

func (r suiteRow) rank() int { return rankOf(r.State) }

func (r suiteRow) order() rowOrder { return rowOrder{r.rank(), r.CreationTime, r.Namespace, r.Name} }

// maxWaiting is how many of a suite's waiting tests text shows.
const maxWaiting = 3

// shown returns the tests that text shows, and how many it hides. Of a suite it shows the running tests, and the first
// waiting ones.
func (l listing) shown() (rows []testRow, hidden int) {
	if l.allTests {
		return l.Tests, 0
	}
	waiting := map[[2]string]int{}
	rows = slices.DeleteFunc(slices.Clone(l.Tests), func(r testRow) bool {
		suite := [2]string{r.Namespace, r.Suite}
		switch {
		case r.Suite == "" || r.rank() == rankRunning:
			return false
		case r.rank() == rankWaiting:
			waiting[suite]++
			return waiting[suite] > maxWaiting
		}
		return true
	})
	return rows, len(l.Tests) - len(rows)
}
