package loadtest

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// readWhatDecisionAsks observes what a decision asks for. observedMore says that it did, and that the decision
// must be made again.
func (r *Reconciler) readWhatDecisionAsks(ctx context.Context, observed *observation,
	decision lifecycle.Decision) (observedMore bool, err error) {
	switch {
	case decision.ReadReport:
		return true, r.readReport(ctx, observed)
	case decision.ReadBaseline:
		return true, r.readBaseline(ctx, observed)
	case len(decision.Try) > 0:
		return true, r.try(ctx, observed, decision.Try)
	case decision.Protect || decision.Unprotect:
		return true, r.finalize(ctx, observed, decision)
	}
	return false, nil
}

// finalize adds or removes the teardown's finalizer, over the version that the decision was made from. The rest
// of the pass decides from the new version. A patch replaces the whole list, and the cache lacks other people's
// finalizers, so the list is read past the cache. If the test is deleted meanwhile, the next pass notices.
func (r *Reconciler) finalize(ctx context.Context, observed *observation, decision lifecycle.Decision) error {
	kind := v1alpha1.GroupVersion.WithKind(v1alpha1.LoadTestKind)
	stored, base := caches.MetadataOf(kind), caches.MetadataOf(kind)
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(observed.Test), stored); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the finalizers: %w", err)
	}
	base.Namespace, base.Name, base.ResourceVersion, base.Finalizers = observed.Test.Namespace, observed.Test.Name,
		observed.Test.ResourceVersion, stored.Finalizers
	changed := base.DeepCopy()
	if decision.Protect {
		controllerutil.AddFinalizer(changed, v1alpha1.FinalizerTeardown)
	} else {
		controllerutil.RemoveFinalizer(changed, v1alpha1.FinalizerTeardown)
	}
	ctrl.LoggerFrom(ctx).Info("finalizer", "finalizers", changed.Finalizers, "why", decision.Message)
	if err := client.IgnoreNotFound(r.client.Patch(ctx, changed, client.MergeFromWithOptions(base,
		client.MergeFromWithOptimisticLock{}))); err != nil {
		if apierrors.IsConflict(err) {
			r.metrics.Conflict()
		}
		return fmt.Errorf("write the finalizers: %w", err)
	}
	next := observed.Test.DeepCopy()
	next.ResourceVersion, next.Finalizers = changed.ResourceVersion, changed.Finalizers
	r.memory.statusWritten(next, next.ResourceVersion)
	r.recordEvents(observed.Test, decision)
	observed.Test = next
	return nil
}
