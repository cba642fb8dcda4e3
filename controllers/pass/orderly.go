package pass

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Orderly wraps a reconciler so that a pass which the manager's own shutdown interrupts isn't an error. Every
// controller uses it.
func Orderly(r reconcile.Reconciler) reconcile.Reconciler { return orderly{r} }

type orderly struct{ reconcile.Reconciler }

func (o orderly) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	result, err := o.Reconciler.Reconcile(ctx, request)
	if cutShort(ctx, err) {
		ctrl.LoggerFrom(ctx).V(1).Info("cut short: the manager ends, and the next one reconciles everything")
		return ctrl.Result{}, nil
	}
	return result, err
}

// cutShort says that a pass failed because the manager ends. The next manager reconciles everything.
func cutShort(ctx context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && ctx.Err() != nil
}
