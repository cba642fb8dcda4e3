package controllers

import (
	"context"
	"errors"
	"fmt"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestAnOrderlyEndIsNoFault(t *testing.T) {
	refused := errors.New("refused")
	ending, end := context.WithCancel(t.Context())
	end()
	for name, c := range map[string]struct {
		ctx       context.Context
		err, want error
	}{
		"cut short by the manager's end":         {ending, fmt.Errorf("list: %w", context.Canceled), nil},
		"a fault at the manager's end":           {ending, refused, refused},
		"something else was cancelled in a pass": {t.Context(), context.Canceled, context.Canceled},
		"a pass that did what it had to":         {t.Context(), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			pass := orderly{reconcile.Func(func(context.Context, ctrl.Request) (ctrl.Result, error) { return ctrl.Result{}, c.err })}
			if _, err := pass.Reconcile(c.ctx, ctrl.Request{}); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("it ends with %v, want %v", err, c.want)
			}
		})
	}
}
