package loadtestsuite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/suite"
)

// apply does what was decided, in the order of the decision's fields: what a test measured is stored before the test may go. What fails half-way
// is done again after the next observation; what didn't fail is remembered, and isn't.
func (r *Reconciler) apply(ctx context.Context, seen *observation, decision suite.Decision) error {
	if err := r.storing(ctx, seen, func() error { return r.storeReport(ctx, seen, decision.Report) }); err != nil {
		return err
	}
	if err := r.stopTests(ctx, seen, decision.Stop); err != nil {
		return err
	}
	obstacles := len(seen.notes.obstacles)
	if err := r.createTests(ctx, seen, decision.Create); err != nil {
		return err
	}
	decision, err := r.writeStatus(ctx, seen, decision)
	if err != nil {
		return err
	}
	for _, event := range decision.Events {
		kind := corev1.EventTypeNormal
		if event.Warning {
			kind = corev1.EventTypeWarning
		}
		r.events.Eventf(seen.Suite, nil, kind, event.Reason, decision.Rule, "%s", event.Message)
	}
	if err := r.deleteTests(ctx, seen, decision.Delete); err != nil {
		return err
	}
	if decision.DeleteSuite {
		return r.deleteOwn(ctx, seen.Suite.DeepCopy())
	}
	if len(seen.notes.obstacles) > obstacles {
		return pass.Wait("some tests can't be made", time.Millisecond) // which is said, and others made, by the next pass
	}
	return nil
}

// stopTests asks tests to end, side by side.
func (r *Reconciler) stopTests(ctx context.Context, seen *observation, names []string) error {
	failed := make([]error, len(names))
	pass.SideBySide(len(names), func(i int) { failed[i] = r.stop(ctx, seen.Tests[names[i]]) })
	for i, name := range names {
		if failed[i] == nil {
			seen.notes.pending[name] = pending{stop: true, until: seen.Now.Add(caches.MostBehind)}
		}
	}
	return errors.Join(failed...)
}

// stop asks a test to end. A stopped test may be asked again.
func (r *Reconciler) stop(ctx context.Context, test *v1alpha1.LoadTest) error {
	ctrl.LoggerFrom(ctx).Info("stopping", "test", test.Name)
	target := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: test.Namespace, Name: test.Name}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"stop":true}}`, test.UID))
	if err := pass.IgnoreGone(r.client.Patch(ctx, target, patch)); err != nil {
		return fmt.Errorf("stop %s: %w", test.Name, err)
	}
	return nil
}

// createTests makes tests, side by side, as far as they may be tried. Those that were made are known to be also where another one wasn't.
func (r *Reconciler) createTests(ctx context.Context, seen *observation, wanted []suite.Wanted) error {
	room, _ := seen.notes.mayTry(r.options.Clock())
	wanted = wanted[:min(len(wanted), room)]
	failed := make([]error, len(wanted))
	pass.SideBySide(len(wanted), func(i int) { failed[i] = r.createTest(ctx, seen.Matrix, wanted[i]) })
	for i, w := range wanted {
		made, err := r.answered(ctx, seen, w.Name, failed[i])
		if failed[i] = err; made {
			seen.notes.made(w.Name, r.options.Clock())
		}
	}
	return errors.Join(failed...)
}

func (r *Reconciler) createTest(ctx context.Context, m *suite.Matrix, wanted suite.Wanted) error {
	content, err := m.Content(wanted.Cell, wanted.Repetition, wanted.Try)
	if err != nil {
		return err
	}
	return r.client.Create(ctx, &unstructured.Unstructured{Object: content})
}

// answered says whether a test is there now. What is there and the suite's own is fine; what the API server doesn't take is kept, to be said.
func (r *Reconciler) answered(ctx context.Context, seen *observation, name string, err error) (made bool, _ error) {
	switch {
	case err == nil:
		ctrl.LoggerFrom(ctx).Info("created", "test", name)
		return true, nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return false, err
	case apierrors.IsAlreadyExists(err):
		return r.isOwnTest(ctx, seen, name)
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err):
		r.inTheWay(seen, name, err.Error())
		return false, nil
	}
	return false, fmt.Errorf("create %s: %w", name, err)
}

// isOwnTest asks whether a test that is there is the suite's own, made a moment ago.
func (r *Reconciler) isOwnTest(ctx context.Context, seen *observation, name string) (own bool, _ error) {
	there := caches.MetadataOf(v1alpha1.GroupVersion.WithKind(v1alpha1.LoadTestKind))
	err := r.live.Get(ctx, client.ObjectKey{Namespace: seen.Suite.Namespace, Name: name}, there)
	switch {
	case apierrors.IsNotFound(err):
		return false, pass.Wait("a test of this name was there a moment ago", pass.TakenAgain/60)
	case err != nil:
		return false, fmt.Errorf("look whose %s is: %w", name, err)
	case ofFormer(there, seen.Suite):
		return false, pass.Wait("a test of an earlier suite of this name is being deleted", time.Second)
	case !isOf(there, seen.Suite):
		r.inTheWay(seen, name, "a LoadTest of this name is somebody else's: delete that, or give the suite another name")
		return false, nil
	}
	return true, nil
}

// ofFormer says that an object belongs to another suite of this name, an earlier one: it goes by itself.
func ofFormer(object client.Object, s *v1alpha1.LoadTestSuite) bool {
	owner := suiteOf(object)
	return owner != nil && owner.Name == s.Name && owner.UID != s.UID
}

func (r *Reconciler) inTheWay(seen *observation, name, why string) {
	seen.notes.refuse(name, why, seen.Now)
}

// deleteTests deletes tests, side by side.
func (r *Reconciler) deleteTests(ctx context.Context, seen *observation, names []string) error {
	failed := make([]error, len(names))
	pass.SideBySide(len(names), func(i int) { failed[i] = r.deleteOwn(ctx, seen.Tests[names[i]]) })
	for i, name := range names {
		if failed[i] == nil {
			seen.notes.gone[seen.Tests[name].UID] = seen.Now.Add(caches.MostBehind)
		}
	}
	return errors.Join(failed...)
}

// deleteOwn deletes a test or the suite, and what belongs to it in the background.
func (r *Reconciler) deleteOwn(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	ctrl.LoggerFrom(ctx).Info("deleting", "object", object.GetName())
	err := r.client.Delete(ctx, object.DeepCopyObject().(client.Object), client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
	if err := pass.IgnoreGone(err); err != nil {
		return fmt.Errorf("delete %s: %w", object.GetName(), err)
	}
	return nil
}

// writeStatus writes the status, or what is said in place of one that the API server refuses. It returns what was said.
func (r *Reconciler) writeStatus(ctx context.Context, seen *observation, decision suite.Decision) (suite.Decision, error) {
	err := r.patchStatus(ctx, seen, decision)
	if !pass.RefusedForGood(err) {
		return decision, err
	}
	ctrl.LoggerFrom(ctx).Error(err, "the API server refuses the status")
	said := suite.Refused(seen.Observed, decision, err.Error())
	if err := r.patchStatus(ctx, seen, said); pass.RefusedForGood(err) {
		return said, reconcile.TerminalError(err)
	} else if err != nil {
		return said, err
	}
	return said, nil
}

// patchStatus writes a status where it differs from what is stored, and only over the version that it was decided from.
func (r *Reconciler) patchStatus(ctx context.Context, seen *observation, decision suite.Decision) error {
	stored, err := json.Marshal(seen.Suite.Status)
	decided, err2 := json.Marshal(decision.Status)
	if err := errors.Join(err, err2); err != nil || bytes.Equal(stored, decided) {
		return err
	}
	object := seen.Suite.DeepCopy()
	object.Status = decision.Status
	patch := client.MergeFromWithOptions(seen.Suite.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, object, patch); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("write the status: %w", err)
	}
	seen.notes.version = object.ResourceVersion
	r.metrics.StatusWritten(seen.Suite.Status.Conditions, decision.Status.Conditions)
	seen.Suite = object
	ctrl.LoggerFrom(ctx).V(1).Info("status written", "summary", decision.Status.Summary, "message", decision.Message)
	return nil
}
