package pass

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Orderly is a reconciler whose passes end without an error where the manager's own end cut them short: an end that was asked for is no fault.
// Every controller completes with it.
func Orderly(r reconcile.Reconciler) reconcile.Reconciler { return orderly{r} }

type orderly struct{ reconcile.Reconciler }

func (o orderly) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	result, err := o.Reconciler.Reconcile(ctx, request)
	if cutShort(ctx, err) {
		ctrl.LoggerFrom(ctx).V(1).Info("cut short: the manager ends, and the next one looks at everything anew")
		return ctrl.Result{}, nil
	}
	return result, err
}

// cutShort says that a pass failed because the manager ends; the next one looks at everything anew.
func cutShort(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && ctx.Err() != nil
}
