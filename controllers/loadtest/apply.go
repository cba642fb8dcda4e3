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
	"github.com/linerate-dev/linerate/controllers/guards"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// apply carries out a decision, in the order of its fields. After a failure half-way the next observation leads to the rest. again says that
// something couldn't be created for a reason that a new decision has to take into account; the status isn't written then.
//
// A pass that creates children of an ongoing test writes no status: the next pass, which sees the children, does, and mostly has more to say. Status
// writes cost the most, and a worker that makes one request after the other keeps other tests waiting.
func (r *Reconciler) apply(ctx context.Context, observed *observation, decision lifecycle.Decision) (again bool, err error) {
	if err := r.delete(ctx, observed, decision.Delete); err != nil {
		return false, err
	}
	if err := r.wires.Take(ctx, decision.ClaimPorts); err != nil {
		return false, err
	}
	if slices.ContainsFunc(decision.Create, isPod) {
		if err := r.guards.Ensure(ctx, observed.Test.Namespace); err != nil {
			return false, err
		}
		err := r.guards.EnsureFor(ctx, observed.Test)
		if unmade, is := errors.AsType[*guards.UnmadeError](err); is {
			err = r.refused(ctx, observed, unmade.Policy, unmade.Err)
			return err == nil, err
		}
	}
	made, again, err := r.create(ctx, observed, decision.Create)
	if again || err != nil {
		return again, err
	}
	if made && seesItSoon(decision) {
		return false, nil
	}
	decision, err = r.writeStatus(ctx, observed, decision)
	if err != nil {
		return false, err
	}
	r.recordEvents(observed.Test, decision)
	for _, hold := range decision.ReleasePorts {
		if err := r.wires.GiveBack(ctx, hold); err != nil {
			return false, err
		}
	}
	if decision.DeleteTest {
		return false, r.deleteTest(ctx, observed.Test)
	}
	return false, nil
}

func isPod(o manifests.Object) bool {
	_, is := o.(*corev1.Pod)
	return is
}

// seesItSoon says whether the status can be left to the pass that sees the children which this pass made, since it follows from them. It can't be left
// after deletions, which may have removed the only proof of what the status says, or after a takeover of ports, whose event is recorded once.
func seesItSoon(decision lifecycle.Decision) bool {
	return len(decision.Delete)+len(decision.ClaimPorts) == 0 && lifecycle.Ongoing(&decision.Status)
}

// delete deletes observed children, several at a time. A single request to delete all pods would make the API server list them first, which takes
// longer than deleting them one by one.
func (r *Reconciler) delete(ctx context.Context, observed *observation, deletions []lifecycle.Deletion) error {
	type doomed struct {
		child childRef
		why   string
	}
	var all []doomed
	for _, d := range deletions {
		for _, child := range observed.chosen(d, deletions) {
			all = append(all, doomed{child, d.Reason})
		}
	}
	failed := make([]error, len(all))
	pass.SideBySide(len(all), func(i int) {
		ctx := ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("why", all[i].why))
		failed[i] = r.deleteChild(ctx, observed, all[i].child)
	})
	return errors.Join(failed...)
}

// chosen are the children that a deletion names. Where it names all pods, it leaves out those whose Job is deleted too: Kubernetes' garbage collector
// deletes them in the same moment, and the two would wait for each other. The next pass deletes any that it missed.
func (o *observation) chosen(d lifecycle.Deletion, beside []lifecycle.Deletion) (children []childRef) {
	if d.Kind == lifecycle.KindDocuments {
		return o.childList.plans // which own all else
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
			if child := o.childList.refs[pod.UID]; !o.goesWithJob(pod, beside) && !o.goesWithPlan(pod, beside) {
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
	job, observed := o.childList.refs[owner.UID]
	return observed && !job.going && slices.ContainsFunc(deletions, func(d lifecycle.Deletion) bool { return d.Kind == job.gvk.Kind && d.Name == job.name })
}

// goesWithPlan says whether a runner's pod goes as its Job does, which its Plan's ConfigMap owns.
func (o *observation) goesWithPlan(pod *corev1.Pod, deletions []lifecycle.Deletion) bool {
	return manifests.IsOfRun(pod) && len(o.childList.plans) > 0 && slices.ContainsFunc(deletions, func(d lifecycle.Deletion) bool { return d.Kind == lifecycle.KindDocuments })
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

// deleteObject deletes an object; that it is gone is no error. A Job's pods are deleted with it: they get SIGTERM, and their grace. The UID spares an object of the
// same name that somebody else made.
func (r *Reconciler) deleteObject(ctx context.Context, child childRef) error {
	object := caches.MetadataOf(child.gvk)
	object.Namespace, object.Name = child.namespace, child.name
	err := r.client.Delete(ctx, object, client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &child.uid})
	if err := pass.IgnoreGone(err); err != nil {
		return fmt.Errorf("delete %s: %w", child, err)
	}
	return nil
}

// create creates the objects that don't exist yet, in waves. That one exists and is the test's own is no error. made says that a child was created, which the
// caches will show.
func (r *Reconciler) create(ctx context.Context, observed *observation, objects []manifests.Object) (made, again bool, err error) {
	for _, wave := range waves(objects) {
		if !observed.childList.own(wave) {
			return made, false, pass.Wait("the ConfigMap of the Plan, which owns what is made next, isn't seen yet", time.Second)
		}
		refusals, foreign := len(observed.Refusals), len(observed.Children.Foreign)
		madeNow, err := r.createWave(ctx, observed, wave)
		if err != nil {
			return made, false, err
		}
		made = made || madeNow
		if len(observed.Refusals) > refusals || len(observed.Children.Foreign) > foreign {
			return made, true, nil
		}
	}
	return made, false, nil
}

// waves sorts objects by what depends on them: first the Plan's ConfigMap, which owns the rest of a run, then what pods mount, then pods and Jobs. Within a wave the
// order doesn't matter.
//
// Where some pods can't share a node, each pod is a wave: the scheduler takes them in the order in which they are made, one at a time, without a look at those that come. The device
// is first, since it wants the most from one node; then the generators link by link, since the end of a link that comes before its other end still has nodes to choose from.
func waves(objects []manifests.Object) (out [][]manifests.Object) {
	var plan, mounted, pods []manifests.Object
	apart := false
	for _, o := range objects {
		switch of := o.(type) {
		case *corev1.Pod:
			pods, apart = append(pods, o), apart || keptApart(of)
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
	out = [][]manifests.Object{plan, mounted}
	if apart {
		return slices.AppendSeq(out, slices.Chunk(pods, 1))
	}
	return append(out, pods)
}

// keptApart says that a pod can't share a node with some others.
func keptApart(p *corev1.Pod) bool {
	a := p.Spec.Affinity
	return a != nil && a.PodAntiAffinity != nil && len(a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution) > 0
}

// createWave creates all objects of a wave, and records each answer. made says that one was created and is a child.
func (r *Reconciler) createWave(ctx context.Context, observed *observation, objects []manifests.Object) (made bool, err error) {
	var errs []error
	for i, answer := range r.createAll(ctx, objects) {
		if answer.err != nil {
			errs = append(errs, r.refused(ctx, observed, objects[i], answer.err))
			continue
		}
		gvk, err := apiutil.GVKForObject(answer.object, r.client.Scheme())
		errs = append(errs, err)
		child := childRef{gvk: gvk, namespace: answer.object.GetNamespace(), name: answer.object.GetName(), uid: answer.object.GetUID()}
		ctrl.LoggerFrom(ctx).Info("created", "child", child.String())
		if manifests.IsKept(answer.object) { // no child: it outlives the test
			continue
		}
		r.memory.childCreated(observed.Test, child, r.options.Clock())
		observed.childList.made(answer.object, child)
		made = true
	}
	return made, errors.Join(errs...)
}

// answer is the API server's answer to the creation of an object.
type answer struct {
	object client.Object
	err    error
}

// createAll creates all objects, several at a time; the answers are in the objects' order.
func (r *Reconciler) createAll(ctx context.Context, objects []manifests.Object, options ...client.CreateOption) []answer {
	answers := make([]answer, len(objects))
	pass.SideBySide(len(objects), func(i int) {
		made := objects[i].DeepCopyObject().(client.Object)
		answers[i] = answer{object: made, err: r.client.Create(ctx, made, options...)}
	})
	return answers
}

// writeStatus writes the status or, if the API server refuses it, the one that replaces it (lifecycle.Refused). It returns the decision whose status was written.
func (r *Reconciler) writeStatus(ctx context.Context, observed *observation, decision lifecycle.Decision) (lifecycle.Decision, error) {
	err := r.patchStatus(ctx, observed.Test, decision)
	if !pass.RefusedForGood(err) {
		return decision, err
	}
	ctrl.LoggerFrom(ctx).Error(err, "the API server refuses the status")
	said, endable := lifecycle.Refused(observed.Observed, decision, err.Error())
	if !endable {
		return decision, reconcile.TerminalError(err)
	}
	if err := r.patchStatus(ctx, observed.Test, said); pass.RefusedForGood(err) {
		return said, reconcile.TerminalError(err)
	} else if err != nil {
		return said, err
	}
	return said, nil
}

// patchStatus writes a status if it differs from the stored one, and only over the version that the decision was made from.
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
