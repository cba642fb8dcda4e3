package lifecycle

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// tearsDown says whether a teardown pod is owed: one is asked for, and something was made that it may have to undo.
func (v *view) tearsDown() bool {
	return v.spec.DUT.Teardown != nil && v.used() && v.compiled() != nil
}

// tearDown gives the pods back, waits until they are gone, and runs the teardown pod to its end. Its failure is told, and changes no figure.
func (v *view) tearDown(e *ending) *step {
	if s := v.clearAway(e); s != nil {
		return s
	}
	pods := v.of(v1alpha1.RoleTeardown)
	switch {
	case len(pods) == 0 && len(v.recorded(v1alpha1.RoleTeardown)) > 0:
		return v.tornDown(e, "the teardown pod was deleted before it was seen to end")
	case len(pods) == 0:
		s := v.toward(e, "TearingDown")
		s.create = []manifests.Object{manifests.Links(v.input()), manifests.Teardown(v.input())}
		return s
	}
	return v.awaitTeardown(e, pods[0])
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
	return v.toward(e, "TearingDown").waitUntil(due)
}

// tornDown completes the test. The teardown pod stays until that is written: it proves that nothing is owed any more.
func (v *view) tornDown(e *ending, trouble string) *step {
	if trouble != "" {
		e.message = joined("; ", e.message, trouble+": look after the device under test")
	}
	e.complete = true
	return v.toward(e, e.reason)
}

// clearAway deletes all pods but the teardown's, one by one, and waits until they are gone or can't be waited for. Nil: they are.
func (v *view) clearAway(e *ending) *step {
	if v.keeps(e.reason) {
		return nil
	}
	s := v.toward(e, "Releasing")
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

// stuck says whether a pod that is being deleted should be gone since long: its node doesn't answer. Its traffic has stopped by itself, as
// no runner's heartbeat reaches it.
func (v *view) stuck(p *corev1.Pod) bool { return !v.Now.Before(v.stuckAt(p)) }
