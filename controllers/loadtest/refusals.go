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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// creator creates children, in dry runs too, and records why the API server refuses them.
type creator struct {
	*childObserver
	acceptedPods *acceptedPods
}

// try finds out by a dry run which of these objects the API server would accept. It skips pods like those that
// were accepted recently, and refused objects until they are due.
func (r *creator) try(ctx context.Context, observed *observation, objects []manifests.Object) error {
	now := r.clock()
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
func (r *creator) refused(ctx context.Context, observed *observation, object manifests.Object, err error) error {
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
func (r *creator) checkTaken(ctx context.Context, observed *observation, object manifests.Object) error {
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
func (r *creator) checkKept(ctx context.Context, observed *observation, object manifests.Object) error {
	existing := caches.MetadataOf(configMapKind)
	if err := r.live.Get(ctx, client.ObjectKeyFromObject(object), existing); err != nil {
		return fmt.Errorf("look at the kept Report %s: %w", object.GetName(), err)
	}
	digest := object.GetAnnotations()[delivery.AnnotationDigest]
	if !manifests.IsKept(existing) || existing.Annotations[delivery.AnnotationDigest] != digest {
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
			return fmt.Sprintf("admission in this cluster changes its request for %s from %d to %d, and linerate "+
				"requests as many devices as the pod has links: "+
				"exempt pods with the label %s from webhooks that change pods, such as a network resources injector",
				name, requested[name], granted[name], v1alpha1.LabelTest)
		}
	}
	return ""
}
