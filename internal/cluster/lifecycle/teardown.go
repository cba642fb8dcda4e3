package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// teardown answers whether a teardown is owed, and takes it to its end.
type teardown struct {
	test       *v1alpha1.LoadTest
	attempt    *attempt
	blueprint  *blueprint
	cleanup    *cleanup
	refusals   []Refusal
	observedAt time.Time
}

// isOwed says whether the spec asks for a teardown, and something was made that it may have to undo.
func (td *teardown) isOwed() bool {
	return td.test.Spec.DUT.Teardown != nil && (td.attempt.isUsed() || td.attempt.number > 1) &&
		td.blueprint.cluster() != nil
}

// isProtected says whether the test's object stays until its teardown ran.
func (td *teardown) isProtected() bool {
	return slices.Contains(td.test.Finalizers, v1alpha1.FinalizerTeardown)
}

// lacksProtection says whether the finalizer is missing although a step makes, or an earlier one made, something that
// the teardown may have to undo. Deleting the test would then skip the teardown.
func (td *teardown) lacksProtection(s *step) bool {
	if td.test.Spec.DUT.Teardown == nil || td.isProtected() || td.test.DeletionTimestamp != nil || s.complete ||
		s.ending != nil && s.ending.complete {
		return false
	}
	return td.attempt.isUsed() || slices.ContainsFunc(s.create, func(o manifests.Object) bool {
		_, isPod := o.(*corev1.Pod)
		return isPod
	})
}

// run gives the pods back, waits until they are gone, and runs the teardown pod to its end. If that pod fails,
// the message says so, and no figure changes.
func (td *teardown) run(e *ending) *step {
	if s := td.cleanup.deletePods(e); s != nil {
		return s
	}
	pods := td.attempt.podsWithRole(v1alpha1.RoleTeardown)
	switch {
	case len(pods) == 0 && len(td.attempt.recordedPods(v1alpha1.RoleTeardown)) > 0:
		return td.complete(e, "the teardown pod was deleted before it was seen to end")
	case len(pods) == 0 && td.refusal() != "":
		s := stepToEnd(e, "TearingDown")
		s.message = wording.JoinNonEmpty("; ", e.message, "the teardown pod is refused, and tried again: "+td.refusal())
		return s.waitUntil(td.observedAt.Add(teardownAgain))
	case len(pods) == 0:
		s := stepToEnd(e, "TearingDown")
		s.create = []manifests.Object{manifests.Links(td.blueprint.input()), manifests.Teardown(td.blueprint.input())}
		return s
	}
	return td.wait(e, pods[0])
}

// refusal is why the API server refuses the teardown pod. Empty means no refusal.
func (td *teardown) refusal() string {
	if r := refusalOf(td.refusals, manifests.TeardownPodName(td.test.Name, td.attempt.number)); r != nil {
		return r.Message
	}
	return ""
}

func (td *teardown) wait(e *ending, p *corev1.Pod) *step {
	due := p.CreationTimestamp.Add(duration(td.test.Spec.DUT.Teardown.Deadline) + hookMargin)
	switch {
	case p.Status.Phase == corev1.PodSucceeded:
		return td.complete(e, "")
	case p.Status.Phase == corev1.PodFailed:
		return td.complete(e, fmt.Sprintf("the teardown pod %s failed (%s)", p.Name, lastWords(p)))
	case p.DeletionTimestamp != nil:
		return td.complete(e, fmt.Sprintf("the teardown pod %s was deleted by somebody else", p.Name))
	case !td.observedAt.Before(due):
		return td.complete(e, fmt.Sprintf("the teardown pod %s didn't end within dut.teardown.deadline (%s)",
			p.Name, stateOf(p)))
	}
	return stepToEnd(e, "TearingDown").waitUntil(due)
}

// complete completes the test. The teardown pod stays until that is written, as the proof that the teardown ran.
func (td *teardown) complete(e *ending, trouble string) *step {
	if trouble != "" {
		e.message = wording.JoinNonEmpty("; ", e.message, trouble+": look after the device under test")
	}
	e.complete = true
	return stepToEnd(e, e.reason)
}

// overdueAt is when a pod that is being deleted isn't waited for any more.
func overdueAt(p *corev1.Pod) time.Time { return p.DeletionTimestamp.Add(goneGrace) }

// isOverdue says whether a pod that is being deleted should have been gone for long, because its node doesn't
// answer. It sends nothing any more, since no runner's heartbeat reaches it.
func isOverdue(p *corev1.Pod, moment time.Time) bool { return !moment.Before(overdueAt(p)) }
