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
	"github.com/linerate-dev/linerate/internal/cluster/suite"
)

// apply carries out a decision, in the order of its fields. A test's measurement is stored before the test may
// be deleted. After a failure half-way the next observation leads to the rest. What succeeded is remembered,
// and not repeated.
func (r *Reconciler) apply(ctx context.Context, observed *observation, decision suite.Decision) error {
	if err := r.storing(ctx, observed, func() error {
		return r.storeReport(ctx, observed,
			decision.Report)
	}); err != nil {
		return err
	}
	if err := r.stopTests(ctx, observed, decision.Stop); err != nil {
		return err
	}
	obstacles := len(observed.notes.obstacles)
	if err := r.createTests(ctx, observed, decision.Create); err != nil {
		return err
	}
	decision, err := r.writeStatus(ctx, observed, decision)
	if err != nil {
		return err
	}
	for _, event := range decision.Events {
		kind := corev1.EventTypeNormal
		if event.Warning {
			kind = corev1.EventTypeWarning
		}
		r.events.Eventf(observed.Suite, nil, kind, event.Reason, decision.Rule, "%s", event.Message)
	}
	if err := r.deleteTests(ctx, observed, decision.Delete); err != nil {
		return err
	}
	if decision.DeleteSuite {
		return r.deleteOwn(ctx, observed.Suite.DeepCopy())
	}
	if len(observed.notes.obstacles) > obstacles {
		return pass.Wait("some tests can't be made", time.Millisecond) // the next pass reports it, and makes others
	}
	return nil
}

// stopTests sets spec.stop of tests, several at a time.
func (r *Reconciler) stopTests(ctx context.Context, observed *observation, names []string) error {
	failed := make([]error, len(names))
	pass.SideBySide(len(names), func(i int) { failed[i] = r.stop(ctx, observed.Tests[names[i]]) })
	for i, name := range names {
		if failed[i] == nil {
			observed.notes.pending[name] = pending{stop: true, expiry: observed.Now.Add(caches.MaxBehind)}
		}
	}
	return errors.Join(failed...)
}

// stop sets spec.stop of a test. A second call changes nothing.
func (r *Reconciler) stop(ctx context.Context, test *v1alpha1.LoadTest) error {
	ctrl.LoggerFrom(ctx).Info("stopping", "test", test.Name)
	target := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: test.Namespace, Name: test.Name}}
	patch := client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"uid":%q},"spec":{"stop":true}}`,
		test.UID))
	if err := pass.IgnoreGone(r.client.Patch(ctx, target, patch)); err != nil {
		return fmt.Errorf("stop %s: %w", test.Name, err)
	}
	return nil
}

// createTests creates the tests that may be tried now, several at a time. It records those that were created
// even if another creation fails.
func (r *Reconciler) createTests(ctx context.Context, observed *observation, wanted []suite.Wanted) error {
	room, _ := observed.notes.mayTry(r.options.Clock())
	wanted = wanted[:min(len(wanted), room)]
	failed := make([]error, len(wanted))
	pass.SideBySide(len(wanted), func(i int) { failed[i] = r.createTest(ctx, observed.Matrix, wanted[i]) })
	for i, w := range wanted {
		created, err := r.answered(ctx, observed, w.Name, failed[i])
		if failed[i] = err; created {
			observed.notes.recordCreated(w.Name, r.options.Clock())
		}
	}
	return errors.Join(failed...)
}

func (r *Reconciler) createTest(ctx context.Context, m *suite.Matrix, wanted suite.Wanted) error {
	content, err := m.ContentOf(wanted)
	if err != nil {
		return err
	}
	return r.client.Create(ctx, &unstructured.Unstructured{Object: content})
}

// answered says that a test exists after the API server's answer, because it was created, or exists as the
// suite's own. A refusal is recorded for the status.
func (r *Reconciler) answered(
	ctx context.Context, observed *observation, name string, err error,
) (created bool, _ error) {
	switch {
	case err == nil:
		ctrl.LoggerFrom(ctx).Info("created", "test", name)
		return true, nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return false, err
	case apierrors.IsAlreadyExists(err):
		return r.isOwnTest(ctx, observed, name)
	case apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err):
		observed.notes.refuse(name, err.Error(), observed.Now)
		return false, nil
	}
	return false, fmt.Errorf("create %s: %w", name, err)
}

// isOwnTest says that the existing test of this name is the suite's own, made a moment ago.
func (r *Reconciler) isOwnTest(ctx context.Context, observed *observation, name string) (owned bool, _ error) {
	existing := caches.MetadataOf(v1alpha1.GroupVersion.WithKind(v1alpha1.LoadTestKind))
	err := r.live.Get(ctx, client.ObjectKey{Namespace: observed.Suite.Namespace, Name: name}, existing)
	switch {
	case apierrors.IsNotFound(err):
		return false, pass.Wait("a test of this name was there a moment ago", pass.TakenAgain/60)
	case err != nil:
		return false, fmt.Errorf("look whose %s is: %w", name, err)
	case ofEarlierSuite(existing, observed.Suite):
		return false, pass.Wait("a test of an earlier suite of this name is being deleted", time.Second)
	case !isOf(existing, observed.Suite):
		observed.notes.refuse(name, "a LoadTest of this name is somebody else's: delete that, or give the suite "+
			"another name", observed.Now)
		return false, nil
	}
	return true, nil
}

// ofEarlierSuite says that an object belongs to an earlier suite of this name, and is garbage collected with
// it.
func ofEarlierSuite(object client.Object, s *v1alpha1.LoadTestSuite) bool {
	owner := suiteOf(object)
	return owner != nil && owner.Name == s.Name && owner.UID != s.UID
}

// deleteTests deletes tests, several at a time.
func (r *Reconciler) deleteTests(ctx context.Context, observed *observation, names []string) error {
	failed := make([]error, len(names))
	pass.SideBySide(len(names), func(i int) { failed[i] = r.deleteOwn(ctx, observed.Tests[names[i]]) })
	for i, name := range names {
		if failed[i] == nil {
			observed.notes.deleted[observed.Tests[name].UID] = observed.Now.Add(caches.MaxBehind)
		}
	}
	return errors.Join(failed...)
}

// deleteOwn deletes a test, a sheet or the suite, and what belongs to it in the background.
func (r *Reconciler) deleteOwn(ctx context.Context, object client.Object) error {
	uid := object.GetUID()
	ctrl.LoggerFrom(ctx).Info("deleting", "object", object.GetName())
	err := r.client.Delete(ctx, object.DeepCopyObject().(client.Object),
		client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
	if err := pass.IgnoreGone(err); err != nil {
		return fmt.Errorf("delete %s: %w", object.GetName(), err)
	}
	return nil
}

// writeStatus writes the status or, if the API server refuses it, the one that replaces it. It returns the
// decision whose status was written.
func (r *Reconciler) writeStatus(
	ctx context.Context, observed *observation, decision suite.Decision,
) (suite.Decision, error) {
	err := r.patchStatus(ctx, observed, decision)
	if !pass.RefusedForGood(err) {
		return decision, err
	}
	ctrl.LoggerFrom(ctx).Error(err, "the API server refuses the status")
	replaced := suite.Refused(observed.Observed, decision, err.Error())
	if err := r.patchStatus(ctx, observed, replaced); pass.RefusedForGood(err) {
		return replaced, reconcile.TerminalError(err)
	} else if err != nil {
		return replaced, err
	}
	return replaced, nil
}

// patchStatus writes a status if it differs from the stored one, and only over the version that the decision
// was made from.
func (r *Reconciler) patchStatus(ctx context.Context, observed *observation, decision suite.Decision) error {
	stored, err := json.Marshal(observed.Suite.Status)
	decided, err2 := json.Marshal(decision.Status)
	if err := errors.Join(err, err2); err != nil || bytes.Equal(stored, decided) {
		return err
	}
	object := observed.Suite.DeepCopy()
	object.Status = decision.Status
	patch := client.MergeFromWithOptions(observed.Suite.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, object, patch); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("write the status: %w", err)
	}
	observed.notes.version = object.ResourceVersion
	r.metrics.StatusWritten(observed.Suite.Status.Conditions, decision.Status.Conditions)
	observed.Suite = object
	ctrl.LoggerFrom(ctx).V(1).Info("status written", "summary", decision.Status.Summary, "message", decision.Message)
	return nil
}
