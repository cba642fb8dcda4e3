package suite

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// situation is an observation, sorted for the rules.
type situation struct {
	Observed
	*cellResults
	lastStatus *v1alpha1.LoadTestSuiteStatus
}

// newSituation sorts an observation of a suite that may still measure.
func newSituation(o Observed) *situation { return newSortedSituation(o, true) }

// newFinalSituation sorts an observation of a suite that measures nothing more, and repeats no disturbed test.
func newFinalSituation(o Observed) *situation { return newSortedSituation(o, false) }

func newSortedSituation(o Observed, repeats bool) *situation {
	runs, discounted := dropReusedFromOtherEnvironment(o.Matrix, o.Runs)
	o.Runs = runs
	results := newCellResults(&o, newRepetitions(&o, discounted, repeats))
	return &situation{Observed: o, cellResults: results, lastStatus: &o.Suite.Status}
}

// previousCondition is a condition in the last status, or an empty one.
func (v *situation) previousCondition(kind string) metav1.Condition {
	if c := meta.FindStatusCondition(v.lastStatus.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// surplus are the complete and stored tests beyond the history limit that finished first.
func (v *situation) surplus() (remove []string, unstored bool) {
	var finished []string
	for name, t := range v.Tests {
		if _, ok := completion(t); ok && t.DeletionTimestamp == nil {
			finished = append(finished, name)
		}
	}
	n := len(finished) - v.historyLimit()
	if n <= 0 {
		return nil, false
	}
	slices.SortFunc(finished, func(a, b string) int {
		return cmp.Or(v.Runs[a].Finished.Compare(v.Runs[b].Finished), cmp.Compare(a, b))
	})
	for _, name := range finished[:n] {
		switch _, ok := v.Runs[name]; {
		case v.Stored.Contains(name):
			remove = append(remove, name)
		case ok:
			unstored = true
		}
	}
	return remove, unstored
}

// historyLimit is how many complete LoadTests are kept. It is 0 once the suite's time to live is over, and the
// suite stays only because a tool would create it again.
func (v *situation) historyLimit() int {
	if v.thinned() {
		return 0
	}
	if n := v.spec.HistoryLimit; n != nil {
		return int(*n)
	}
	return 1000
}
