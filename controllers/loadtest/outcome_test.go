package loadtest

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

func TestATestWhoseNameIsTakenIsLookedAtAgain(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	r := NewReconciler(nil, nil, Options{Clock: func() time.Time { return now }})
	nameTaken := &observation{Observed: lifecycle.Observed{Test: &v1alpha1.LoadTest{},
		Children: lifecycle.Children{Foreign: []string{"Pod/imix-1-dut"}}}}
	cases := map[string]struct {
		observed     *observation
		due          time.Time
		requeueAfter time.Duration
	}{
		"nothing is due":               {},
		"something is due in a minute": {due: now.Add(time.Minute), requeueAfter: time.Minute},
		"a name is taken":              {observed: nameTaken, requeueAfter: pass.TakenAgain + fraction("")},
		"a name is taken, and more is due": {observed: nameTaken, due: now.Add(time.Second), requeueAfter: time.Second +
			fraction("")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := r.outcome(t.Context(), c.observed, lifecycle.Decision{RequeueAt: c.due}, nil)
			if result.RequeueAfter != c.requeueAfter || err != nil {
				t.Errorf("looked at again after %s, error %v; want %s", result.RequeueAfter, err, c.requeueAfter)
			}
		})
	}
}

// Decisions are due at whole seconds. Without fractions all tests would be reconciled in one moment.
func TestManyTestsAreNotDueInOneMoment(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	r := NewReconciler(nil, nil, Options{Clock: func() time.Time { return now }})
	moments := map[time.Duration]bool{}
	for i := range 100 {
		test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{UID: types.UID(fmt.Sprint("uid-", i))}}
		result, err := r.outcome(t.Context(), &observation{Observed: lifecycle.Observed{Test: test}},
			lifecycle.Decision{RequeueAt: now.Add(10 * time.Second)}, nil)
		if delay := result.RequeueAfter; err != nil || delay < 10*time.Second || delay >= 11*time.Second {
			t.Fatalf("looked at again after %s, %v", delay, err)
		}
		moments[result.RequeueAfter.Truncate(50*time.Millisecond)] = true
	}
	if len(moments) < 15 {
		t.Errorf("100 tests are due in %d of 20 twentieths of a second", len(moments))
	}
}
