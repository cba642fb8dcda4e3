package controllers

import (
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/lifecycle"
)

var resourceOfTests = schema.GroupResource{Group: "linerate.dev", Resource: "loadtests"}

func terminating() error {
	err := apierrors.NewForbidden(resourceOfTests, "imix", errors.New("namespace lab is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func TestHowAPassEnds(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	r := NewLoadTestReconciler(nil, nil, Options{Clock: func() time.Time { return now }})
	taken := &observation{Observed: lifecycle.Observed{Test: &v1alpha1.LoadTest{}, Children: lifecycle.Children{Foreign: []string{"Pod/imix-1-dut"}}}}
	cases := map[string]struct {
		seen  *observation
		due   time.Time
		err   error
		after time.Duration
		fails bool
	}{
		"nothing is due":                   {},
		"something is due in a minute":     {due: now.Add(time.Minute), after: time.Minute},
		"something was due a minute ago":   {due: now.Add(-time.Minute), after: time.Millisecond},
		"a name is taken":                  {seen: taken, after: takenAgain + fraction("")},
		"a name is taken, and more is due": {seen: taken, due: now.Add(time.Second), after: time.Second + fraction("")},
		"the test was changed meanwhile":   {err: fmt.Errorf("write the status: %w", apierrors.NewConflict(resourceOfTests, "imix", nil)), after: errConflict.atMost},
		"the namespace goes":               {err: fmt.Errorf("create: %w", terminating()), after: errNamespace.atMost},
		"networks are being listed":        {err: fmt.Errorf("look: %w", errNetworks), after: errNetworks.atMost},
		"the API server is away":           {err: errors.New("connection refused"), fails: true},
		"a right is missing":               {err: apierrors.NewForbidden(resourceOfTests, "imix", nil), fails: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := r.outcome(t.Context(), c.seen, lifecycle.Decision{RequeueAt: c.due}, c.err)
			if result.RequeueAfter != c.after || (err != nil) != c.fails {
				t.Errorf("looked at again after %s, error %v; want %s, error: %v", result.RequeueAfter, err, c.after, c.fails)
			}
		})
	}
}

// What is due is due as a second begins. If that were so of all tests to the nanosecond, they would all be looked at in one moment.
func TestManyTestsAreNotDueInOneMoment(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	r := NewLoadTestReconciler(nil, nil, Options{Clock: func() time.Time { return now }})
	moments := map[time.Duration]bool{}
	for i := range 100 {
		test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{UID: types.UID(fmt.Sprint("uid-", i))}}
		result, err := r.outcome(t.Context(), &observation{Observed: lifecycle.Observed{Test: test}}, lifecycle.Decision{RequeueAt: now.Add(10 * time.Second)}, nil)
		if after := result.RequeueAfter; err != nil || after < 10*time.Second || after >= 11*time.Second {
			t.Fatalf("looked at again after %s, %v", after, err)
		}
		moments[result.RequeueAfter.Truncate(50*time.Millisecond)] = true
	}
	if len(moments) < 15 {
		t.Errorf("100 tests are due in %d of 20 twentieths of a second", len(moments))
	}
}

func TestWhatIsARefusalAndWhatIsAMoment(t *testing.T) {
	cases := map[string]struct {
		err                error
		refusal, transient bool
	}{
		"quota, policy, right":   {err: apierrors.NewForbidden(resourceOfTests, "p", errors.New("exceeded quota")), refusal: true},
		"validation":             {err: apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, "p", nil), refusal: true},
		"a bad request":          {err: apierrors.NewBadRequest("spec.foo: unknown"), refusal: true},
		"too large":              {err: apierrors.NewRequestEntityTooLargeError("3 MB"), refusal: true},
		"a webhook is away":      {err: apierrors.NewInternalError(errors.New("failed calling webhook")), transient: true},
		"too many requests":      {err: apierrors.NewTooManyRequests("slow down", 1), transient: true},
		"a timeout":              {err: apierrors.NewTimeoutError("slow", 1), transient: true},
		"the server is away":     {err: errors.New("connection refused")},
		"somebody else was here": {err: apierrors.NewConflict(resourceOfTests, "p", nil)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if isRefusal(c.err) != c.refusal || isTransient(c.err) != c.transient {
				t.Errorf("refusal %v, transient %v", isRefusal(c.err), isTransient(c.err))
			}
		})
	}
}
