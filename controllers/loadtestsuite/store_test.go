package loadtestsuite

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
)

// A sheet that was written without an answer is read back before anything else is done. Otherwise the operator
// would continue from an old version.
func TestASheetWhoseWriteIsNotAnsweredIsReadBack(t *testing.T) {
	w := newSuiteWorld(t, strings.Replace(cells(1), "parallelism: 20", "parallelism: 1", 1),
		func(client.Object) bool { return false })
	key := client.ObjectKey{Namespace: "lab", Name: "night"}
	w.live(time.Minute)
	unanswered := 0
	w.r.client = interceptor.NewClient(w.client.(client.WithWatch), interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object,
			options ...client.CreateOption) error {
			err := c.Create(ctx, object, options...)
			if err == nil && object.GetNamespace() == ownNamespace {
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
	meta.SetStatusCondition(&test.Status.Conditions, metav1.Condition{Type: v1alpha1.ConditionComplete,
		Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonStopped})
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
	if err := w.client.Get(t.Context(), key, &s); err != nil || unanswered != 1 || w.r.memory.notesOn(&s) != nil {
		t.Fatalf("%d sheets were written without an answer (%v), and the operator goes by what it remembers: %v",
			unanswered, err, w.r.memory.notesOn(&s) != nil)
	}
	observed, err := w.r.observe(t.Context(), key)
	if err != nil || !observed.Stored.Contains(test.Name) || observed.Runs[test.Name].Ended != v1alpha1.ReasonStopped {
		t.Errorf("%v; stored are %v", err, observed.Stored)
	}
}

// Stored runs are deleted with their suite, also if no operator ran then, or if another suite has its name.
// Those of other suites stay.
func TestStoredRunsGoWithTheirSuite(t *testing.T) {
	for name, c := range map[string]struct {
		change func(w *suiteWorld, s *v1alpha1.LoadTestSuite)
		sheets int
	}{
		"it is there": {func(*suiteWorld, *v1alpha1.LoadTestSuite) {}, 2},
		"it is gone": {func(w *suiteWorld, s *v1alpha1.LoadTestSuite) {
			if err := w.client.Delete(w.t.Context(), s); err != nil {
				w.t.Fatal(err)
			}
		}, 1},
		"another one has its name": {func(w *suiteWorld, s *v1alpha1.LoadTestSuite) {
			if err := w.client.Delete(w.t.Context(), s); err != nil {
				w.t.Fatal(err)
			}
			s.UID, s.ResourceVersion = "another-uid", ""
			if err := w.client.Create(w.t.Context(), s); err != nil {
				w.t.Fatal(err)
			}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newSuiteWorld(t, cells(1), func(client.Object) bool { return false })
			var s v1alpha1.LoadTestSuite
			key := client.ObjectKey{Namespace: "lab", Name: "night"}
			if err := w.client.Get(t.Context(), key, &s); err != nil {
				t.Fatal(err)
			}
			elsewhere := s.DeepCopy()
			elsewhere.Namespace, elsewhere.UID = "lab-2", "elsewhere-uid"
			for _, of := range []*v1alpha1.LoadTestSuite{&s, elsewhere} {
				w.stores(of, suite.Runs{"night-v0-x-r1": {Ended: v1alpha1.ReasonStopped}}, suite.Stored{})
			}
			c.change(w, &s)
			if observed, err := w.r.observe(t.Context(), key); err != nil || observed != nil && s.UID != "suite-uid" &&
				len(observed.Runs) > 0 {
				t.Fatalf("%v: another suite's runs are its own: %+v", err, observed)
			}
			var sheets corev1.ConfigMapList
			if err := w.client.List(t.Context(), &sheets, client.InNamespace(ownNamespace)); err != nil ||
				len(sheets.Items) != c.sheets {
				t.Errorf("%d sheets are left, want %d (%v)", len(sheets.Items), c.sheets, err)
			}
		})
	}
}
