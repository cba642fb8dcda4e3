package loadtestsuite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// A page whose write is done and not answered is what the status said is next. Before anything else is said the operator reads it back: else it would vouch for what was there
// before, and who starts anew would doubt what the operator itself wrote.
func TestAPageWhoseWriteIsNotAnsweredIsReadBack(t *testing.T) {
	w := newSuiteWorld(t, strings.Replace(cells(1), "parallelism: 20", "parallelism: 1", 1), func(client.Object) bool { return false })
	key := client.ObjectKey{Namespace: "lab", Name: "night"}
	w.live(time.Minute)
	unanswered := 0
	w.r.client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			err := c.Create(ctx, object, options...)
			if err == nil && strings.Contains(object.GetName(), "-suite-runs-") {
				unanswered++
				return errors.New("the connection was lost")
			}
			return err
		},
	})
	var tests v1alpha1.LoadTestList
	if err := w.client.List(t.Context(), &tests); err != nil || len(tests.Items) != 1 {
		t.Fatalf("%d tests are under way (%v)", len(tests.Items), err)
	}
	test := &tests.Items[0]
	meta.SetStatusCondition(&test.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonStopped})
	if err := w.client.Update(t.Context(), test); err != nil {
		t.Fatal(err)
	}
	for range 50 {
		w.now = w.now.Add(5 * time.Second)
		if _, err := w.r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			break
		}
	}
	var s v1alpha1.LoadTestSuite
	if err := w.client.Get(t.Context(), key, &s); err != nil || unanswered != 1 || w.r.memory.of(&s) != nil {
		t.Fatalf("%d pages were written without an answer (%v), and the operator goes by what it remembers: %v", unanswered, err, w.r.memory.of(&s) != nil)
	}
	seen, err := w.r.observe(t.Context(), key)
	if err != nil || !seen.Stored.Has(test.Name) || seen.Runs[test.Name].Ended != v1alpha1.ReasonStopped {
		t.Errorf("%v; stored are %v", err, seen.Stored)
	}
}
