package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// tearsDown says whether a teardown is owed: the spec asks for one, and something was made that it may have to undo.
func (v *view) tearsDown() bool {
	return v.spec.DUT.Teardown != nil && (v.used() || v.attempt > 1) && v.compiled() != nil
}

// protected says whether the test's object stays until its teardown ran.
func (v *view) protected() bool {
	return slices.Contains(v.Test.Finalizers, v1alpha1.FinalizerTeardown)
}

// unprotected says whether the finalizer is missing although a step makes, or an earlier one made, something that the teardown may have to undo: deleting the test would skip the teardown.
func (v *view) unprotected(s *step) bool {
	if v.spec.DUT.Teardown == nil || v.protected() || v.Test.DeletionTimestamp != nil || s.over || s.ending != nil && s.ending.complete {
		return false
	}
	return v.used() || slices.ContainsFunc(s.create, func(o manifests.Object) bool { _, is := o.(*corev1.Pod); return is })
}

// lastTeardown runs the teardown of a test that is being deleted, and then removes the finalizer. The run ends like a stopped one, in bounded time. If the
// teardown can't run any more, an event says so, and the test is deleted without it.
func (v *view) lastTeardown() *step {
	gone := &step{reason: "Deleted", message: "the LoadTest is being deleted, and owes no teardown", unprotect: true}
	if !v.tearsDown() {
		return gone
	}
	e := &ending{reason: v1alpha1.ReasonStopped, message: "the LoadTest is being deleted: what was made for it is given back, and its teardown runs, before it goes"}
	c := v.previousCondition(v1alpha1.ConditionComplete)
	if c.Status == metav1.ConditionFalse && isEndReason(c.Reason) {
		e.reason, e.message = c.Reason, c.Message
	}
	due := v.Test.DeletionTimestamp.Add(duration(v.spec.DUT.Teardown.Deadline) + deletionMargin)
	why := ""
	switch {
	case c.Status == metav1.ConditionTrue:
		return gone
	case slices.ContainsFunc(v.Refusals, func(r Refusal) bool { return r.NamespaceGoes }):
		why = "its namespace is being deleted, and takes no new pod"
	case !v.Now.Before(due):
		why = fmt.Sprintf("it didn't end within dut.teardown.deadline and %s", deletionMargin)
	default:
		return v.end(e).waitUntil(due)
	}
	gone.message = "the LoadTest goes without its teardown: " + why + ": look after the device under test"
	gone.events = []Event{{Warning: true, Reason: v1alpha1.ReasonStopped, Message: gone.message}}
	return gone
}

// tearDown gives the pods back, waits until they are gone, and runs the teardown pod to its end. If that pod fails, the message says so, and no figure changes.
func (v *view) tearDown(e *ending) *step {
	if s := v.clearAway(e); s != nil {
		return s
	}
	pods := v.podsWithRole(v1alpha1.RoleTeardown)
	switch {
	case len(pods) == 0 && len(v.recorded(v1alpha1.RoleTeardown)) > 0:
		return v.tornDown(e, "the teardown pod was deleted before it was seen to end")
	case len(pods) == 0 && v.teardownRefused() != "":
		s := v.stepToEnd(e, "TearingDown")
		s.message = wording.JoinNonEmpty("; ", e.message, "the teardown pod is refused, and tried again: "+v.teardownRefused())
		return s.waitUntil(v.Now.Add(teardownAgain))
	case len(pods) == 0:
		s := v.stepToEnd(e, "TearingDown")
		s.create = []manifests.Object{manifests.Links(v.input()), manifests.Teardown(v.input())}
		return s
	}
	return v.awaitTeardown(e, pods[0])
}

// teardownRefused is why the API server refuses the teardown pod; empty: it doesn't, or wasn't asked.
func (v *view) teardownRefused() string {
	for _, r := range v.Refusals {
		if r.Pod == manifests.TeardownPodName(v.Test.Name, v.attempt) {
			return r.Message
		}
	}
	return ""
}

func (v *view) awaitTeardown(e *ending, p *corev1.Pod) *step {
	due := p.CreationTimestamp.Add(duration(v.spec.DUT.Teardown.Deadline) + hookMargin)
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		return v.tornDown(e, "")
	case p.Status.Phase == corev1.PodFailed:
		return v.tornDown(e, fmt.Sprintf("the teardown pod %s failed (%s)", p.Name, lastWords(p)))
	case p.DeletionTimestamp != nil:
		return v.tornDown(e, fmt.Sprintf("the teardown pod %s was deleted by somebody else", p.Name))
	case !v.Now.Before(due):
		return v.tornDown(e, fmt.Sprintf("the teardown pod %s didn't end within dut.teardown.deadline (%s)", p.Name, stateOf(p)))
	}
	return v.stepToEnd(e, "TearingDown").waitUntil(due)
}

// tornDown completes the test. The teardown pod stays until that is written, as the proof that the teardown ran.
func (v *view) tornDown(e *ending, trouble string) *step {
	if trouble != "" {
		e.message = wording.JoinNonEmpty("; ", e.message, trouble+": look after the device under test")
	}
	e.complete = true
	return v.stepToEnd(e, e.reason)
}

// clearAway deletes all pods but the teardown's, and waits until they are gone, or until that wait is over. Nil: neither is to be waited for.
func (v *view) clearAway(e *ending) *step {
	if v.keepsPods(e.reason) {
		return nil
	}
	s := v.stepToEnd(e, "Releasing")
	var going bool
	for i := range v.Children.Pods {
		p := &v.Children.Pods[i]
		switch {
		case roleOf(p) == v1alpha1.RoleTeardown:
		case p.DeletionTimestamp == nil:
			s.del = append(s.del, Deletion{Kind: "Pod", Name: p.Name, Why: "its device is to be given back before the teardown"})
			going = true
		case !v.stuck(p):
			s.waitUntil(v.stuckAt(p))
			going = true
		}
	}
	if !going {
		return nil
	}
	s.del = append(v.endJobs(), s.del...)
	return s
}

// stuckAt is when a pod that is being deleted isn't waited for any more.
func (v *view) stuckAt(p *corev1.Pod) time.Time { return p.DeletionTimestamp.Add(goneGrace) }

// stuck says whether a pod that is being deleted should have been gone for long, because its node doesn't answer. It sends nothing any more, since no
// runner's heartbeat reaches it.
func (v *view) stuck(p *corev1.Pod) bool { return !v.Now.Before(v.stuckAt(p)) }
