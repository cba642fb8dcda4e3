package pass

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var resourceOfTests = schema.GroupResource{Group: "linerate.dev", Resource: "loadtests"}

func terminating() error {
	err := apierrors.NewForbidden(resourceOfTests, "imix", errors.New("namespace lab is being terminated"))
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	return err
}

func TestHowAPassEnds(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	cases := map[string]struct {
		due          time.Time
		err          error
		requeueAfter time.Duration
		fails        bool
	}{
		"nothing is due":                 {},
		"something is due in a minute":   {due: now.Add(time.Minute), requeueAfter: time.Minute},
		"something was due a minute ago": {due: now.Add(-time.Minute), requeueAfter: time.Millisecond},
		"the test was changed meanwhile": {err: fmt.Errorf("write the status: %w",
			apierrors.NewConflict(resourceOfTests, "imix", nil)), requeueAfter: errConflict.atMost},
		"the namespace goes": {err: fmt.Errorf("create: %w", terminating()),
			requeueAfter: errNamespace.atMost},
		"something is waited for": {err: fmt.Errorf("look: %w", Wait("the networks are being listed",
			10*time.Second)), requeueAfter: 10 * time.Second},
		"the API server is away": {err: errors.New("connection refused"), fails: true},
		"a right is missing":     {err: apierrors.NewForbidden(resourceOfTests, "imix", nil), fails: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := Next(t.Context(), c.due, now, c.err)
			if result.RequeueAfter != c.requeueAfter || (err != nil) != c.fails {
				t.Errorf("looked at again after %s, error %v; want %s, error: %v", result.RequeueAfter, err,
					c.requeueAfter, c.fails)
			}
		})
	}
}

func TestAnOrderlyEndIsNoFault(t *testing.T) {
	refused := errors.New("refused")
	for name, c := range map[string]struct {
		ends      bool // the manager
		err, want error
	}{
		"cut short by the manager's end":         {true, fmt.Errorf("list: %w", context.Canceled), nil},
		"a fault at the manager's end":           {true, refused, refused},
		"something else was cancelled in a pass": {false, context.Canceled, context.Canceled},
		"a pass that did what it had to":         {false, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, end := context.WithCancel(t.Context())
			defer end()
			if c.ends {
				end()
			}
			whole := Orderly(reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result,
				error) {
				return ctrl.Result{}, c.err
			}))
			if _, err := whole.Reconcile(ctx, ctrl.Request{}); !errors.Is(err, c.want) ||
				(err == nil) != (c.want == nil) {
				t.Errorf("it ends with %v, want %v", err, c.want)
			}
		})
	}
}
