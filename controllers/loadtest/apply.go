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
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// apply does what was decided, in the order of the decision's fields. What fails half-way is done again after the next observation. Again
// says that something couldn't be created for a reason that is to be decided upon; nothing was said of the test then.
//
// A pass that makes children of a test that goes on writes no status: the next one, which sees them, does, and mostly has more to say by then. A
// status is the dearest of all writes, and a worker that makes one request after the other keeps other tests waiting.
func (r *Reconciler) apply(ctx context.Context, seen *observation, decision lifecycle.Decision) (again bool, err error) {
	if err := r.delete(ctx, seen, decision.Delete); err != nil {
		return false, err
	}
	if err := r.wires.Take(ctx, decision.Take); err != nil {
		return false, err
	}
	if slices.ContainsFunc(decision.Create, isPod) {
		if err := r.guards.PutUp(ctx, seen.Test.Namespace); err != nil {
			return false, err
		}
	}
	made, again, err := r.create(ctx, seen, decision.Create)
	if again || err != nil {
		return again, err
	}
	if made && seesItSoon(decision) {
		return false, nil
	}
	decision, err = r.writeStatus(ctx, seen, decision)
	if err != nil {
		return false, err
	}
	r.recordEvents(seen.Test, decision)
	for _, hold := range decision.GiveBack {
		if err := r.wires.GiveBack(ctx, hold); err != nil {
			return false, err
		}
	}
	if decision.DeleteTest {
		return false, r.deleteTest(ctx, seen.Test)
	}
	return false, nil
}

func isPod(o manifests.Object) bool {
	_, is := o.(*corev1.Pod)
	return is
}

// seesItSoon says that nothing is lost if the status is left to the pass that sees the children which this one made: it would be decided anew from
// them, as it is after a crash. What was deleted may be all that proves what the status says, and what was taken over from others is told of once.
func seesItSoon(decision lifecycle.Decision) bool {
	return len(decision.Delete)+len(decision.Take) == 0 && lifecycle.Ongoing(&decision.Status)
}

// delete deletes children that were seen, side by side. One request for all pods would make the API server list them first as they are now, which
// takes it longer than to delete them.
func (r *Reconciler) delete(ctx context.Context, seen *observation, deletions []lifecycle.Deletion) error {
	type doomed struct {
		child childRef
		why   string
	}
	var all []doomed
	for _, d := range deletions {
		for _, child := range seen.chosen(d, deletions) {
			all = append(all, doomed{child, d.Why})
		}
	}
	failed := make([]error, len(all))
	pass.SideBySide(len(all), func(i int) {
		ctx := ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("why", all[i].why))
		failed[i] = r.deleteChild(ctx, seen, all[i].child)
	})
	return errors.Join(failed...)
}

// chosen are the children that a deletion means. Where it means all pods, those of a Job that goes with them are Kubernetes' to delete, and the next
// pass's where it didn't: its garbage collector does so in the same moment, and each would wait for the other.
func (o *observation) chosen(d lifecycle.Deletion, beside []lifecycle.Deletion) (children []childRef) {
	if d.Kind == lifecycle.KindDocuments {
		return o.family.plans // which own all else
	}
	if d.Name != "" {
		if child, found := o.family.find(d.Kind, d.Name); found {
			children = append(children, child)
		}
		return children
	}
	for i := range o.Children.Pods {
		pod := &o.Children.Pods[i]
		if d.Attempt == 0 || pod.Labels[v1alpha1.LabelAttempt] == strconv.Itoa(int(d.Attempt)) {
			if child := o.family.refs[pod.UID]; !o.goesWithJob(pod, beside) && !o.goesWithPlan(pod, beside) {
				children = append(children, child)
			}
		}
	}
	return children
}

// goesWithJob says whether the Job that made a pod is about to be deleted, and wasn't before.
func (o *observation) goesWithJob(pod *corev1.Pod, deletions []lifecycle.Deletion) bool {
	owner := metav1.GetControllerOf(pod)
	if owner == nil || owner.Kind != jobKind.Kind {
		return false
	}
	job, seen := o.family.refs[owner.UID]
	return seen && !job.going && slices.ContainsFunc(deletions, func(d lifecycle.Deletion) bool { return d.Kind == job.gvk.Kind && d.Name == job.name })
}

// goesWithPlan says whether a runner's pod goes as its Job does, which its Plan's ConfigMap owns.
func (o *observation) goesWithPlan(pod *corev1.Pod, deletions []lifecycle.Deletion) bool {
	return manifests.IsOfRun(pod) && len(o.family.plans) > 0 && slices.ContainsFunc(deletions, func(d lifecycle.Deletion) bool { return d.Kind == lifecycle.KindDocuments })
}

// deleteChild deletes a child. One that is going already isn't asked to again.
func (r *Reconciler) deleteChild(ctx context.Context, seen *observation, child childRef) error {
	if child.going {
		return nil
	}
	ctrl.LoggerFrom(ctx).Info("deleting", "child", child.String())
	if err := r.deleteObject(ctx, child); err != nil {
		return err
	}
	r.memory.childDeleted(seen.Test, child, r.options.Clock())
	return nil
}

// deleteObject deletes an object; one that is gone is fine. A Job's pods go with it: they get SIGTERM, and their grace. The UID: somebody else's object of this
// name is let be.
func (r *Reconciler) deleteObject(ctx context.Context, child childRef) error {
	object := caches.MetadataOf(child.gvk)
	object.Namespace, object.Name = child.namespace, child.name
	err := r.client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &child.uid})
	if err := pass.IgnoreGone(err); err != nil {
		return fmt.Errorf("delete %s: %w", child, err)
	}
	return nil
}

// create creates what isn't there yet, in waves. What is there, and is the test's own, is fine. Made says that a child was made, which the caches will
// show.
func (r *Reconciler) create(ctx context.Context, seen *observation, objects []manifests.Object) (made, again bool, err error) {
	for _, wave := range waves(objects) {
		if !seen.family.own(wave) {
			return made, false, pass.Wait("the ConfigMap of the Plan, which owns what is made next, isn't seen yet", time.Second)
		}
		refusals, foreign := len(seen.Refusals), len(seen.Children.Foreign)
		madeNow, err := r.createWave(ctx, seen, wave)
		if err != nil {
			return made, false, err
		}
		made = made || madeNow
		if len(seen.Refusals) > refusals || len(seen.Children.Foreign) > foreign {
			return made, true, nil
		}
	}
	return made, false, nil
}

// waves parts objects into those that others need, and those others: what owns the rest of a run, then what is mounted, then pods and Jobs. Within a wave the order
// doesn't matter.
func waves(objects []manifests.Object) [3][]manifests.Object {
	var out [3][]manifests.Object
	for _, o := range objects {
		wave := 1
		switch o.(type) {
		case *corev1.Pod, *batchv1.Job:
			wave = 2
		}
		if manifests.IsPlan(o) {
			wave = 0
		}
		out[wave] = append(out[wave], o)
	}
	return out
}

// createWave creates all of a wave, and keeps what came of each. Made says that one of them was created, and is a child.
func (r *Reconciler) createWave(ctx context.Context, seen *observation, objects []manifests.Object) (made bool, err error) {
	var errs []error
	for i, answer := range r.createAll(ctx, objects) {
		if answer.err != nil {
			errs = append(errs, r.refused(ctx, seen, objects[i], answer.err))
			continue
		}
		gvk, err := apiutil.GVKForObject(answer.object, r.client.Scheme())
		errs = append(errs, err)
		child := childRef{gvk: gvk, namespace: answer.object.GetNamespace(), name: answer.object.GetName(), uid: answer.object.GetUID()}
		ctrl.LoggerFrom(ctx).Info("created", "child", child.String())
		if manifests.IsKept(answer.object) { // no child: it outlives the test
			continue
		}
		r.memory.childCreated(seen.Test, child, r.options.Clock())
		seen.family.made(answer.object, child)
		made = true
	}
	return made, errors.Join(errs...)
}

// answer is what the API server made of an object, or why it didn't.
type answer struct {
	object client.Object
	err    error
}

// createAll asks for all objects, some at once; the answers are in the objects' order.
func (r *Reconciler) createAll(ctx context.Context, objects []manifests.Object, options ...client.CreateOption) []answer {
	answers := make([]answer, len(objects))
	pass.SideBySide(len(objects), func(i int) {
		made := objects[i].DeepCopyObject().(client.Object)
		answers[i] = answer{object: made, err: r.client.Create(ctx, made, options...)}
	})
	return answers
}

// writeStatus writes the status, or what is said in place of one that the API server refuses. It returns what was said.
func (r *Reconciler) writeStatus(ctx context.Context, seen *observation, decision lifecycle.Decision) (lifecycle.Decision, error) {
	err := r.patchStatus(ctx, seen.Test, decision)
	if !pass.RefusedForGood(err) {
		return decision, err
	}
	ctrl.LoggerFrom(ctx).Error(err, "the API server refuses the status")
	said, endable := lifecycle.Refused(seen.Observed, decision, err.Error())
	if !endable {
		return decision, reconcile.TerminalError(err)
	}
	if err := r.patchStatus(ctx, seen.Test, said); pass.RefusedForGood(err) {
		return said, reconcile.TerminalError(err)
	} else if err != nil {
		return said, err
	}
	return said, nil
}

// patchStatus writes a status where it differs from what is stored, and only over the version that it was decided from.
func (r *Reconciler) patchStatus(ctx context.Context, test *v1alpha1.LoadTest, decision lifecycle.Decision) error {
	same, err := sameStatus(test.Status, decision.Status)
	if same || err != nil {
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

// sameStatus compares what would be stored: there a time has no fractions of seconds.
func sameStatus(a, b v1alpha1.LoadTestStatus) (bool, error) {
	stored, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	decided, err := json.Marshal(b)
	return bytes.Equal(stored, decided), err
}

// mostNote is how long the text of an event may be (events.k8s.io/v1).
const mostNote = 1024

// recordEvents records the decision's events.
func (r *Reconciler) recordEvents(test *v1alpha1.LoadTest, decision lifecycle.Decision) {
	for _, event := range decision.Events {
		kind := corev1.EventTypeNormal
		if event.Warning {
			kind = corev1.EventTypeWarning
		}
		note := event.Message[:min(len(event.Message), mostNote)]
		r.events.Eventf(test, nil, kind, event.Reason, decision.Rule, "%s", note)
	}
}

func (r *Reconciler) deleteTest(ctx context.Context, test *v1alpha1.LoadTest) error {
	ctrl.LoggerFrom(ctx).Info("deleting the LoadTest: its time to live is over")
	uid := test.UID
	if err := pass.IgnoreGone(r.client.Delete(ctx, test.DeepCopy(), client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})); err != nil {
		return fmt.Errorf("delete the LoadTest: %w", err)
	}
	return nil
}
