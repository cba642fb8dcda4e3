package loadtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// lookCloser finds out what a decision asks for; again says that it is to be made again, with what came of it.
func (r *Reconciler) lookCloser(ctx context.Context, seen *observation, decision lifecycle.Decision) (again bool, err error) {
	switch {
	case decision.ReadReport:
		return true, r.readReport(ctx, seen)
	case decision.ReadBaseline:
		return true, r.readBaseline(ctx, seen)
	case len(decision.Try) > 0:
		return true, r.try(ctx, seen, decision.Try)
	case decision.Protect || decision.Unprotect:
		return true, r.finalize(ctx, seen, decision)
	}
	return false, nil
}

// readReport reads the Report past the cache: as the runner wrote it, and judged anew; of a test that is over the copy, as the original is gone. Once the status
// has the digest of what counted, what is read is held to it. That there is none, or none that can be read, is an answer too.
func (r *Reconciler) readReport(ctx context.Context, seen *observation) error {
	name := client.ObjectKey{Namespace: r.options.Settings.Namespace, Name: manifests.OriginalName(seen.Test, lifecycle.Attempt(seen.Observed))}
	counted := seen.Test.Status.Report
	over := meta.IsStatusConditionTrue(seen.Test.Status.Conditions, v1alpha1.ConditionComplete) && counted != nil
	if over && counted.NotPublished == "" {
		name = client.ObjectKey{Namespace: seen.Test.Namespace, Name: counted.ConfigMap}
	}
	var kept corev1.ConfigMap
	if err := r.live.Get(ctx, name, &kept); apierrors.IsNotFound(err) {
		seen.Children.ReportFault = fmt.Sprintf("ConfigMap %s in namespace %s is gone", name.Name, name.Namespace)
		return nil
	} else if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	size, err := delivery.SizeOf(kept.BinaryData[delivery.KeyReport])
	if err != nil {
		seen.Children.ReportFault = fmt.Sprintf("ConfigMap %s: %s: %v", kept.Name, delivery.KeyReport, err)
		return nil
	}
	if err := r.makeRoom(ctx, seen, size.Memory()); err != nil {
		return err
	}
	original, err := delivery.DecodeOriginal(kept.BinaryData, kept.Annotations)
	if err == nil && name.Namespace == r.options.Settings.Namespace {
		original, err = lifecycle.Judged(original)
	}
	if err == nil && over && original.Envelope.Digest != counted.Digest {
		err = fmt.Errorf("it holds another Report (%s) than the one that counted (%s): somebody replaced it", original.Envelope.Digest, counted.Digest)
	}
	if err != nil {
		seen.Children.ReportFault = fmt.Sprintf("ConfigMap %s: %v", kept.Name, err)
		return nil
	}
	// It may have been written anew since it was announced: report and envelope are of one moment.
	c := &seen.Children
	c.Report, c.ReportPacked, c.Envelope, c.Followed, c.ReportWritten = original.Report, original.Packed, &original.Envelope, original.Followed, lastWritten(&kept)
	if r.options.Reports != nil {
		r.options.Reports.Keep(seen.Test, original.Envelope.Digest, original.Report, size.Memory())
	}
	return nil
}

// lastWritten is when an object was written last, by the API server's clock; zero: it doesn't say.
func lastWritten(object client.Object) (at time.Time) {
	for _, fields := range object.GetManagedFields() {
		if fields.Time != nil && fields.Time.After(at) {
			at = fields.Time.Time
		}
	}
	return at
}

// finalize puts the teardown's finalizer on the test, or takes it off, over the version that was decided from. What follows in this pass is decided from the version that it made.
// A patch replaces the list whole, and the cache has no finalizers of others: it is read past the cache. A test that is gone meanwhile is found so by the next pass.
func (r *Reconciler) finalize(ctx context.Context, seen *observation, decision lifecycle.Decision) error {
	kind := v1alpha1.GroupVersion.WithKind(v1alpha1.LoadTestKind)
	there, before := caches.MetadataOf(kind), caches.MetadataOf(kind)
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(seen.Test), there); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("read the finalizers: %w", err)
	}
	before.Namespace, before.Name, before.ResourceVersion, before.Finalizers = seen.Test.Namespace, seen.Test.Name, seen.Test.ResourceVersion, there.Finalizers
	after := before.DeepCopy()
	if decision.Protect {
		controllerutil.AddFinalizer(after, v1alpha1.FinalizerTeardown)
	} else {
		controllerutil.RemoveFinalizer(after, v1alpha1.FinalizerTeardown)
	}
	ctrl.LoggerFrom(ctx).Info("finalizer", "finalizers", after.Finalizers, "why", decision.Message)
	if err := client.IgnoreNotFound(r.client.Patch(ctx, after, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))); err != nil {
		if apierrors.IsConflict(err) {
			r.metrics.Conflict()
		}
		return fmt.Errorf("write the finalizers: %w", err)
	}
	next := seen.Test.DeepCopy()
	next.ResourceVersion, next.Finalizers = after.ResourceVersion, after.Finalizers
	r.memory.statusWritten(next, next.ResourceVersion)
	r.recordEvents(seen.Test, decision)
	seen.Test = next
	return nil
}

// try asks the API server which of these objects it would take, and creates none. It isn't asked about pods like those that it would have taken a moment ago.
func (r *Reconciler) try(ctx context.Context, seen *observation, objects []manifests.Object) error {
	seen.Refusals = []lifecycle.Refusal{}
	now := r.options.Clock()
	objects = r.welcome.others(seen.Test, objects, now)
	for i, answer := range r.createAll(ctx, objects, client.DryRunAll) {
		if answer.err == nil {
			changed := changedDevices(objects[i], answer.object)
			if seen.refuse(objects[i], changed); changed == "" {
				r.welcome.add(seen.Test, objects[i], now)
			}
			continue
		}
		if err := r.refused(ctx, seen, objects[i], answer.err); err != nil {
			return err
		}
	}
	return nil
}

// refused keeps why the API server didn't take an object, where that is for the user to mend. It returns what is no refusal of the object.
func (r *Reconciler) refused(ctx context.Context, seen *observation, object manifests.Object, err error) error {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) && seen.Test.DeletionTimestamp != nil && !seen.refusedAlready(object):
		seen.Refusals = append(seen.Refusals, lifecycle.Refusal{Pod: object.GetName(), Message: err.Error(), NamespaceGoes: true})
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err
	case apierrors.IsAlreadyExists(err) && manifests.IsKept(object):
		return r.checkKept(ctx, seen, object)
	case apierrors.IsAlreadyExists(err):
		return r.checkTaken(ctx, seen, object)
	case (isTransient(err) || manifests.IsKept(object) && isAnswer(err) && !isRefusal(err)) && !seen.refusedAlready(object):
		seen.Refusals = append(seen.Refusals, lifecycle.Refusal{Pod: object.GetName(), Message: err.Error(), Transient: true})
		return nil
	case isRefusal(err) && !seen.refusedAlready(object):
		r.welcome.refused(seen.Test.Namespace)
		seen.refuse(object, err.Error())
		return nil
	}
	return fmt.Errorf("create %s: %w", object.GetName(), err)
}

// refusedAlready says that a refusal of the object was decided upon, and the decision was to create it.
func (o *observation) refusedAlready(object manifests.Object) bool {
	return slices.ContainsFunc(o.Refusals, func(r lifecycle.Refusal) bool { return r.Pod == object.GetName() })
}

func (o *observation) refuse(object manifests.Object, message string) {
	if message != "" {
		o.Refusals = append(o.Refusals, lifecycle.Refusal{Pod: object.GetName(), Message: message})
	}
}

// checkTaken finds out whose object has the name that a child was to have.
func (r *Reconciler) checkTaken(ctx context.Context, seen *observation, object manifests.Object) error {
	gvk, err := apiutil.GVKForObject(object, r.client.Scheme())
	if err != nil {
		return err
	}
	err = r.checkName(ctx, seen.Test, &seen.Children, childRef{gvk: gvk, namespace: object.GetNamespace(), name: object.GetName()})
	if apierrors.IsNotFound(err) {
		return pass.Wait("an object that had a child's name went away just now", time.Second)
	}
	return err
}

// checkKept finds out who has the name that a kept Report was to have: this very Report, from a pass that failed half-way, or an object of somebody
// else's, which stays as it is.
func (r *Reconciler) checkKept(ctx context.Context, seen *observation, object manifests.Object) error {
	there := caches.MetadataOf(configMapKind)
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), there); err != nil {
		return fmt.Errorf("look at the kept Report %s: %w", object.GetName(), err)
	}
	if !manifests.IsKept(there) || there.Annotations[delivery.AnnotationDigest] != object.GetAnnotations()[delivery.AnnotationDigest] {
		seen.refuse(object, "its name is taken by an object of somebody else's")
	}
	return nil
}

// isRefusal says that the object itself is refused: by validation, admission, quota, or for want of a right.
func isRefusal(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && slices.Contains([]int32{http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity, http.StatusRequestEntityTooLarge}, status.Status().Code)
}

// isAnswer says that it is the API server's answer, or an admission webhook's, which may be any.
func isAnswer(err error) bool {
	_, is := errors.AsType[*apierrors.StatusError](err)
	return is
}

// isTransient says that the answer is about the moment: an admission webhook that can't be reached, a server that has much to do.
func isTransient(err error) bool {
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) || apierrors.IsInternalError(err) ||
		apierrors.IsServiceUnavailable(err)
}

// changedDevices says which device requests of a pod admission changed. An injector that adds to what is counted already would take twice
// as many devices as the test has links.
func changedDevices(asked, answered client.Object) string {
	sent, isPod := asked.(*corev1.Pod)
	got, stillIs := answered.(*corev1.Pod)
	if !isPod || !stillIs {
		return ""
	}
	requested, granted := inventory.Devices(sent), inventory.Devices(got)
	names := maps.Clone(requested)
	maps.Copy(names, granted)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if requested[name] != granted[name] {
			return fmt.Sprintf("admission in this cluster changes its request for %s from %d to %d, and linerate requests as many devices as the pod has links: "+
				"exempt pods with the label %s from webhooks that change pods, such as a network resources injector", name, requested[name], granted[name], v1alpha1.LabelTest)
		}
	}
	return ""
}
