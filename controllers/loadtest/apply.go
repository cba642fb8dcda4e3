package loadtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/controllers/policies"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// apply carries out a decision, in the order of its fields. After a failure half-way the next observation leads
// to the rest. decideAgain says that an object couldn't be created, which a new decision must take into
// account. The status isn't written then. A pass that creates children of an ongoing test writes no status. The
// next pass, which sees the children, writes it, and mostly has more to report. Status writes cost the most,
// and a worker that makes one request after the other delays other tests.
func (r *Reconciler) apply(
	ctx context.Context, observed *observation, decision lifecycle.Decision,
) (decideAgain bool, err error) {
	if err := r.delete(ctx, observed, decision.Delete); err != nil {
		return false, err
	}
	if err := r.portClaims.Claim(ctx, decision.ClaimPorts); err != nil {
		return false, err
	}
	if slices.ContainsFunc(decision.Create, isPod) {
		if err := r.policies.Ensure(ctx, observed.Test.Namespace); err != nil {
			return false, err
		}
		err := r.policies.EnsureForTest(ctx, observed.Test)
		if unmade, ok := errors.AsType[*policies.NotCreatedError](err); ok {
			err = r.refused(ctx, observed, unmade.Policy, unmade.Err)
			return err == nil, err
		}
	}
	created, decideAgain, err := r.create(ctx, observed, decision.Create)
	if decideAgain || err != nil {
		return decideAgain, err
	}
	if created && nextPassWritesStatus(decision) {
		return false, nil
	}
	decision, err = r.writeStatus(ctx, observed, decision)
	if err != nil {
		return false, err
	}
	r.recordEvents(observed.Test, decision)
	for _, hold := range decision.ReleasePorts {
		if err := r.portClaims.Release(ctx, hold); err != nil {
			return false, err
		}
	}
	if decision.DeleteTest {
		return false, r.deleteTest(ctx, observed.Test)
	}
	return false, nil
}

func isPod(o manifests.Object) bool {
	_, ok := o.(*corev1.Pod)
	return ok
}

// nextPassWritesStatus says that the status can be left to the pass that sees the children which this pass
// created, since it follows from them. It can't be left after deletions, which may have removed the only proof
// of the status, or after a takeover of ports, whose event is recorded once.
func nextPassWritesStatus(decision lifecycle.Decision) bool {
	return len(decision.Delete)+len(decision.ClaimPorts) == 0 && lifecycle.Ongoing(&decision.Status)
}

// delete deletes observed children, several at a time. A single request to delete all pods would make the API
// server list them first, which takes longer than deleting them one by one.
func (r *Reconciler) delete(ctx context.Context, observed *observation, deletions []lifecycle.Deletion) error {
	type doomed struct {
		child  childRef
		reason string
	}
	var targets []doomed
	for _, d := range deletions {
		for _, child := range observed.chosen(d, deletions) {
			targets = append(targets, doomed{child, d.Reason})
		}
	}
	failed := make([]error, len(targets))
	pass.SideBySide(len(targets), func(i int) {
		ctx := ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("why", targets[i].reason))
		failed[i] = r.deleteChild(ctx, observed, targets[i].child)
	})
	return errors.Join(failed...)
}

// chosen are the children that a deletion names. If it names all pods, chosen leaves out those whose Job is
// deleted too. Kubernetes' garbage collector deletes those at the same moment, and the two would wait for each
// other. The next pass deletes any that the collector missed.
func (o *observation) chosen(d lifecycle.Deletion, deletions []lifecycle.Deletion) (children []childRef) {
	if d.Kind == lifecycle.KindDocuments {
		return o.childList.plans // they own all other objects of the run
	}
	if d.Name != "" {
		if child, found := o.childList.find(d.Kind, d.Name); found {
			children = append(children, child)
		}
		return children
	}
	for i := range o.Children.Pods {
		pod := &o.Children.Pods[i]
		if d.Attempt == 0 || pod.Labels[v1alpha1.LabelAttempt] == strconv.Itoa(int(d.Attempt)) {
			if child := o.childList.refs[pod.UID]; !o.deletedWithJob(pod, deletions) &&
				!o.deletedWithPlan(pod, deletions) {
				children = append(children, child)
			}
		}
	}
	return children
}

// deletedWithJob says that the Job that made a pod is about to be deleted, and wasn't before.
func (o *observation) deletedWithJob(pod *corev1.Pod, deletions []lifecycle.Deletion) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != jobKind.Kind {
		return false
	}
	job, observed := o.childList.refs[owner.UID]
	return observed && !job.going && slices.ContainsFunc(deletions,
		func(d lifecycle.Deletion) bool { return d.Kind == job.gvk.Kind && d.Name == job.name })
}

// deletedWithPlan says that a runner's pod is deleted with its Job, which its Plan's ConfigMap owns.
func (o *observation) deletedWithPlan(pod *corev1.Pod, deletions []lifecycle.Deletion) bool {
	return manifests.IsOfRun(pod) && len(o.childList.plans) > 0 &&
		slices.ContainsFunc(deletions, func(d lifecycle.Deletion) bool { return d.Kind == lifecycle.KindDocuments })
}

// deleteChild deletes a child, unless it is being deleted already.
func (r *Reconciler) deleteChild(ctx context.Context, observed *observation, child childRef) error {
	if child.going {
		return nil
	}
	ctrl.LoggerFrom(ctx).Info("deleting", "child", child.String())
	if err := r.deleteObject(ctx, child); err != nil {
		return err
	}
	r.memory.childDeleted(observed.Test, child, r.options.Clock())
	return nil
}

// create creates the objects that don't exist yet, in waves. It is no error if one exists and is the test's
// own. created says that a child was created, which the caches will show.
func (r *creator) create(
	ctx context.Context, observed *observation, objects []manifests.Object,
) (created, decideAgain bool, err error) {
	for _, wave := range waves(objects) {
		if !observed.childList.setOwner(wave) {
			return created, false, pass.Wait("the ConfigMap of the Plan, which owns what is made next, isn't seen yet",
				time.Second)
		}
		refusals, foreign := len(observed.Refusals), len(observed.Children.Foreign)
		createdNow, err := r.createWave(ctx, observed, wave)
		if err != nil {
			return created, false, err
		}
		created = created || createdNow
		if len(observed.Refusals) > refusals || len(observed.Children.Foreign) > foreign {
			return created, true, nil
		}
	}
	return created, false, nil
}

// waves sorts objects by their dependencies. The Plan's ConfigMap, which owns the rest of a run, is first, then
// what pods mount, and then pods and Jobs. Within a wave the order doesn't matter. If some pods can't share a
// node, each pod is a wave, since the scheduler places pods in the order of their creation, one at a time, and
// doesn't consider later pods. The device is first, since it needs the most from one node. The generators
// follow link by link, since the first end of a link still has nodes to choose from.
func waves(objects []manifests.Object) (batches [][]manifests.Object) {
	var plan, mounted, pods []manifests.Object
	spread := false
	for _, o := range objects {
		switch object := o.(type) {
		case *corev1.Pod:
			pods, spread = append(pods, o), spread || keptApart(object)
		case *batchv1.Job:
			pods = append(pods, o)
		default:
			if manifests.IsPlan(o) {
				plan = append(plan, o)
			} else {
				mounted = append(mounted, o)
			}
		}
	}
	batches = [][]manifests.Object{plan, mounted}
	if spread {
		return slices.AppendSeq(batches, slices.Chunk(pods, 1))
	}
	return append(batches, pods)
}

// keptApart says that a pod can't share a node with some others.
func keptApart(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && a.PodAntiAffinity != nil &&
		len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// createWave creates all objects of a wave, and records each answer. created says that one was created and is a
// child.
func (r *creator) createWave(
	ctx context.Context, observed *observation, objects []manifests.Object,
) (created bool, err error) {
	var errs []error
	for i, answer := range r.createAll(ctx, objects) {
		if answer.err != nil {
			errs = append(errs, r.refused(ctx, observed, objects[i], answer.err))
			continue
		}
		gvk, err := apiutil.GVKForObject(answer.object, r.client.Scheme())
		errs = append(errs, err)
		child := childRef{gvk: gvk, namespace: answer.object.GetNamespace(), name: answer.object.GetName(),
			uid: answer.object.GetUID()}
		ctrl.LoggerFrom(ctx).Info("created", "child", child.String())
		if manifests.IsKept(answer.object) { // a kept Report outlives the test, and isn't a child
			continue
		}
		r.memory.childCreated(observed.Test, child, r.clock())
		observed.childList.addOwner(answer.object, child)
		created = true
	}
	return created, errors.Join(errs...)
}

// answer is the API server's answer to the creation of an object.
type answer struct {
	object client.Object
	err    error
}

// createAll creates all objects, several at a time. The answers are in the objects' order.
func (r *creator) createAll(ctx context.Context, objects []manifests.Object,
	options ...client.CreateOption) []answer {
	answers := make([]answer, len(objects))
	pass.SideBySide(len(objects), func(i int) {
		object := objects[i].DeepCopyObject().(client.Object)
		answers[i] = answer{object: object, err: r.client.Create(ctx, object, options...)}
	})
	return answers
}

// writeStatus writes the status or, if the API server refuses it, the one that replaces it (lifecycle.Refused).
// It returns the decision whose status was written.
func (r *Reconciler) writeStatus(ctx context.Context, observed *observation,
	decision lifecycle.Decision) (lifecycle.Decision, error) {
	err := r.patchStatus(ctx, observed.Test, decision)
	if !pass.RefusedForGood(err) {
		return decision, err
	}
	ctrl.LoggerFrom(ctx).Error(err, "the API server refuses the status")
	replaced, endable := lifecycle.Refused(observed.Observed, decision, err.Error())
	if !endable {
		return decision, reconcile.TerminalError(err)
	}
	if err := r.patchStatus(ctx, observed.Test, replaced); pass.RefusedForGood(err) {
		return replaced, reconcile.TerminalError(err)
	} else if err != nil {
		return replaced, err
	}
	return replaced, nil
}

// patchStatus writes a status if it differs from the stored one, and only over the version that the decision
// was made from.
func (r *Reconciler) patchStatus(ctx context.Context, test *v1alpha1.LoadTest, decision lifecycle.Decision) error {
	equal, err := sameStatus(test.Status, decision.Status)
	if equal || err != nil {
		return err
	}
	decided := test.DeepCopy()
	decided.Status = decision.Status
	patch := client.MergeFromWithOptions(test.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if err := r.client.Status().Patch(ctx, decided, patch); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		if apierrors.IsConflict(err) {
			r.metrics.Conflict()
		}
		return fmt.Errorf("write the status: %w", err)
	}
	r.memory.statusWritten(test, decided.ResourceVersion)
	r.metrics.StatusWritten(test, &decision.Status, r.options.Clock())
	logDecided(ctrl.LoggerFrom(ctx), test, decision)
	return nil
}

// sameStatus compares the stored forms of two statuses, in which a time has no fractions of seconds.
func sameStatus(a, b v1alpha1.LoadTestStatus) (bool, error) {
	stored, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	decided, err := json.Marshal(b)
	return bytes.Equal(stored, decided), err
}

// maxNote is the maximum length of an event's text (events.k8s.io/v1).
const maxNote = 1024

// recordEvents records the decision's events.
func (r *Reconciler) recordEvents(test *v1alpha1.LoadTest, decision lifecycle.Decision) {
	for _, event := range decision.Events {
		kind := corev1.EventTypeNormal
		if event.Warning {
			kind = corev1.EventTypeWarning
		}
		note := event.Message[:min(len(event.Message), maxNote)]
		r.events.Eventf(test, nil, kind, event.Reason, decision.Rule, "%s", note)
	}
}

func (r *Reconciler) deleteTest(ctx context.Context, test *v1alpha1.LoadTest) error {
	ctrl.LoggerFrom(ctx).Info("deleting the LoadTest: its time to live is over")
	uid := test.UID
	if err := pass.IgnoreGone(r.client.Delete(ctx, test.DeepCopy(),
		client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})); err != nil {
		return fmt.Errorf("delete the LoadTest: %w", err)
	}
	return nil
}
