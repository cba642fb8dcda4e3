package kubectl

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// The tests are listed a moment after the suite, or much later by a slow server: a test that ends in between is news.
func TestAnEndBeforeTheFirstListIsReportedOnceTheWatchHasBegun(t *testing.T) {
	began := time.Date(2026, 3, 16, 12, 0, 0, 900_000_000, time.UTC)
	ended := func(name string, after time.Duration) client.Object {
		test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
		test.Status.CompletionTime = &metav1.Time{Time: began.Add(after).Truncate(time.Second)}
		test.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
			Reason: v1alpha1.ReasonMeasured}}
		return test
	}
	s := &seenTests{start: began, tests: map[string]*v1alpha1.LoadTest{}, reported: map[types.UID]bool{}}
	before, after := ended("before", -time.Minute), ended("after", 50*time.Millisecond)
	if messages := s.replace([]client.Object{before, after}); len(messages) != 1 {
		t.Errorf("%q, want one message, of the test that ended after the beginning", messages)
	}
	if messages := s.replace([]client.Object{before, after, ended("late", -time.Minute)}); len(messages) != 1 {
		t.Errorf("%q, want one message, of the test that wasn't listed before", messages)
	}
}
