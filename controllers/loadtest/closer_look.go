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
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
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

// readReport reads the Report past the cache, and judges it again. For a complete test it reads the copy, since
// the original is gone. Once the status has the digest of the Report that counted, only that Report is
// accepted. A missing or unreadable Report is no error, and becomes ReportFault.
func (r *Reconciler) readReport(ctx context.Context, observed *observation) error {
	name := client.ObjectKey{Namespace: r.options.Settings.Namespace, Name: manifests.OriginalName(observed.Test,
		lifecycle.Attempt(observed.Observed))}
	counted := observed.Test.Status.Report
	complete := meta.IsStatusConditionTrue(observed.Test.Status.Conditions, v1alpha1.ConditionComplete) &&
		counted != nil
	if complete && counted.NotPublished == "" {
		name = client.ObjectKey{Namespace: observed.Test.Namespace, Name: counted.ConfigMap}
	}
	var configMap corev1.ConfigMap
	if err := r.live.Get(ctx, name, &configMap); apierrors.IsNotFound(err) {
		observed.Children.ReportFault = fmt.Sprintf("ConfigMap %s in namespace %s is gone", name.Name, name.Namespace)
		return nil
	} else if err != nil {
		return fmt.Errorf("read the report: %w", err)
	}
	size, err := delivery.SizeOf(configMap.BinaryData[delivery.KeyReport])
	if err != nil {
		observed.Children.ReportFault = fmt.Sprintf("ConfigMap %s: %s: %v", configMap.Name, delivery.KeyReport, err)
		return nil
	}
	if err := r.makeRoom(ctx, observed, size.Memory()); err != nil {
		return err
	}
	original, err := delivery.DecodeOriginal(configMap.BinaryData, configMap.Annotations)
	if err == nil && name.Namespace == r.options.Settings.Namespace {
		original, err = lifecycle.Judged(original)
	}
	if err == nil && complete && original.Envelope.Digest != counted.Digest {
		err = fmt.Errorf("it holds another Report (%s) than the one that counted (%s): somebody replaced it",
			original.Envelope.Digest, counted.Digest)
	}
	if err != nil {
		observed.Children.ReportFault = fmt.Sprintf("ConfigMap %s: %v", configMap.Name, err)
		return nil
	}
	// The Report may have been written again since the cache saw it, so report and envelope must come from one read.
	c := &observed.Children
	c.Report, c.ReportPacked, c.Envelope, c.Followed, c.ReportWritten = original.Report, original.Packed,
		&original.Envelope, original.Followed, lastWritten(&configMap)
	if r.options.Reports != nil {
		r.options.Reports.Keep(observed.Test, original.Envelope.Digest, original.Report, size.Memory())
	}
	return nil
}

// lastWritten is when an object was last written, by the API server's clock, or zero if the object doesn't say.
func lastWritten(object client.Object) (latest time.Time) {
	for _, fields := range object.GetManagedFields() {
		if fields.Time != nil && fields.Time.After(latest) {
			latest = fields.Time.Time
		}
	}
	return latest
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

// try finds out by a dry run which of these objects the API server would accept. It skips pods like those that
// were accepted recently, and refused objects until they are due.
func (r *Reconciler) try(ctx context.Context, observed *observation, objects []manifests.Object) error {
	now := r.options.Clock()
	if observed.Refusals = r.memory.refusedTry(observed.Test, objects, now); len(observed.Refusals) > 0 {
		return nil
	}
	observed.Refusals, observed.tried = []lifecycle.Refusal{}, objects
	objects = r.acceptedPods.untried(observed.Test, objects, now)
	start := time.Now()
	answers := r.createAll(ctx, objects, client.DryRunAll)
	observed.tryTook = time.Since(start)
	for i, answer := range answers {
		if answer.err == nil {
			changed := changedDevices(objects[i], answer.object)
			if observed.refuse(objects[i], changed); changed == "" {
				r.acceptedPods.add(observed.Test, objects[i], now)
			}
			continue
		}
		if err := r.refused(ctx, observed, objects[i], answer.err); err != nil {
			return err
		}
	}
	return nil
}

// refused records why the API server refused an object, if the user must act. It returns every error that isn't
// a refusal of the object.
func (r *Reconciler) refused(ctx context.Context, observed *observation, object manifests.Object, err error) error {
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) && observed.Test.DeletionTimestamp != nil &&
		!observed.refusedAlready(object):
		observed.Refusals = append(observed.Refusals, lifecycle.Refusal{Pod: object.GetName(), Message: err.Error(),
			NamespaceGoes: true})
		return nil
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return err
	case apierrors.IsAlreadyExists(err) && manifests.IsKept(object):
		return r.checkKept(ctx, observed, object)
	case apierrors.IsAlreadyExists(err):
		return r.checkTaken(ctx, observed, object)
	case (isTransient(err) || manifests.IsKept(object) && isAnswer(err) && !isRefusal(err)) &&
		!observed.refusedAlready(object):
		observed.Refusals = append(observed.Refusals, lifecycle.Refusal{Pod: object.GetName(), Message: err.Error(),
			Transient: true})
		return nil
	case isRefusal(err) && !observed.refusedAlready(object):
		r.acceptedPods.refused(observed.Test.Namespace)
		observed.refuse(object, err.Error())
		return nil
	}
	return fmt.Errorf("create %s: %w", object.GetName(), err)
}

// refusedAlready says that the decision to create the object took its refusal into account.
func (o *observation) refusedAlready(object manifests.Object) bool {
	return slices.ContainsFunc(o.Refusals, func(r lifecycle.Refusal) bool { return r.Pod == object.GetName() })
}

func (o *observation) refuse(object manifests.Object, message string) {
	if message != "" {
		o.Refusals = append(o.Refusals, lifecycle.Refusal{Pod: object.GetName(), Message: message})
	}
}

// checkTaken finds out whose object has a child's name.
func (r *Reconciler) checkTaken(ctx context.Context, observed *observation, object manifests.Object) error {
	gvk, err := apiutil.GVKForObject(object, r.client.Scheme())
	if err != nil {
		return err
	}
	err = r.checkName(ctx, observed.Test, &observed.Children, childRef{gvk: gvk, namespace: object.GetNamespace(),
		name: object.GetName()})
	if apierrors.IsNotFound(err) {
		return pass.Wait("an object that had a child's name went away just now", time.Second)
	}
	return err
}

// checkKept finds out which object has the name of a kept Report. It may be this very Report, from a pass that
// failed half-way, or another person's object, which isn't changed.
func (r *Reconciler) checkKept(ctx context.Context, observed *observation, object manifests.Object) error {
	existing := caches.MetadataOf(configMapKind)
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), existing); err != nil {
		return fmt.Errorf("look at the kept Report %s: %w", object.GetName(), err)
	}
	if !manifests.IsKept(existing) || existing.Annotations[delivery.AnnotationDigest] != object.GetAnnotations()[delivery.AnnotationDigest] {
		observed.refuse(object, "its name is taken by an object of somebody else's")
	}
	return nil
}

// isRefusal says that the API server refused the object itself by validation, admission or quota, or because a
// right is missing.
func isRefusal(err error) bool {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	return ok && slices.Contains([]int32{http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity,
		http.StatusRequestEntityTooLarge}, status.Status().Code)
}

// isAnswer says that an error is an answer of the API server, or of an admission webhook, which may have any
// status.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*apierrors.StatusError](err)
	return ok
}

// isTransient says that a refusal may pass, because a webhook can't be reached, or the server is overloaded.
func isTransient(err error) bool {
	return apierrors.IsTimeout(err) || apierrors.IsServerTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsInternalError(err) ||
		apierrors.IsServiceUnavailable(err)
}

// changedDevices says which device requests of a pod admission has changed. An injector that adds requests on
// top of the operator's would take twice as many devices as the test has links.
func changedDevices(asked, answered client.Object) string {
	sent, isPod := asked.(*corev1.Pod)
	got, stillIs := answered.(*corev1.Pod)
	if !isPod || !stillIs {
		return ""
	}
	requested, granted := lifecycle.Devices(sent), lifecycle.Devices(got)
	names := maps.Clone(requested)
	maps.Copy(names, granted)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if requested[name] != granted[name] {
			return fmt.Sprintf("admission in this cluster changes its request for %s from %d to %d, and linerate requests as many devices as the pod has links: "+
				"exempt pods with the label %s from webhooks that change pods, such as a network resources injector",
				name, requested[name], granted[name], v1alpha1.LabelTest)
		}
	}
	return ""
}
