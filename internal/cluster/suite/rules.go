package suite

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/retention"
)

func deleted(v *situation) *step {
	if v.Suite.DeletionTimestamp == nil {
		return nil
	}
	return &step{message: "the LoadTestSuite is being deleted, and its LoadTests with it", final: true}
}

// finished deletes the suite once its time to live is over. It deletes only the suite's LoadTests if a tool
// would create the suite again, which would load the network again.
func finished(v *situation) *step {
	c := v.previousCondition(v1alpha1.ConditionComplete)
	if c.Status != metav1.ConditionTrue {
		return nil
	}
	s := &step{message: "the suite is over", reason: c.Reason, final: true, complete: true}
	switch due := v.expires(); {
	case due.IsZero():
	case v.Now.Before(due):
		s.requeueAt = due
	case v.thinned():
		s.message = "its time to live after the end, spec.ttlAfterFinished, is over: its LoadTests go, and it stays " +
			"with its report, as " + v.tracker() + " would make it again"
	default:
		s.message, s.deleteSuite = "its time to live after the end, spec.ttlAfterFinished, is over", true
	}
	return s
}

// expires is when a complete suite's time to live is over. It is zero if that never happens, or if the suite
// isn't complete.
func (v *situation) expires() time.Time {
	c := v.previousCondition(v1alpha1.ConditionComplete)
	ttl, err := v.spec.TTLAfterFinished.Std()
	if c.Status != metav1.ConditionTrue || v.spec.TTLAfterFinished == "" || err != nil {
		return time.Time{}
	}
	finished := c.LastTransitionTime.Time
	if v.lastStatus.CompletionTime != nil {
		finished = v.lastStatus.CompletionTime.Time
	}
	return finished.Add(ttl)
}

// tracker is the tool that would create the suite again, or empty.
func (v *situation) tracker() string { return retention.TrackedBy(v.Suite.Labels, v.Suite.Annotations) }

// thinned says that the suite's time to live is over, and that the suite stays without its LoadTests.
func (v *situation) thinned() bool {
	due := v.expires()
	return !due.IsZero() && !v.Now.Before(due) && v.tracker() != ""
}

// unchecked has the cells validated. A spec can't be changed, so this happens once.
func unchecked(v *situation) *step {
	if v.Checked || v.previousCondition(v1alpha1.ConditionAccepted).Status == metav1.ConditionTrue {
		return nil
	}
	return &step{message: "the cells are checked as LoadTests", check: true}
}

func invalid(v *situation) *step {
	if len(v.Faults) == 0 {
		return nil
	}
	return &step{message: v.Faults.Error(), reason: v1alpha1.ReasonInvalid, complete: true, invalid: v.Faults.Error()}
}

func testsEnded(v *situation) *step {
	if len(v.unread) == 0 {
		return nil
	}
	return &step{message: "tests ended: what they measured is read", read: v.unread[:min(len(v.unread), readsAtOnce)]}
}

// stopped stops running tests, which keep what they have measured. The suite waits for them.
func stopped(v *situation) *step {
	if !v.spec.Stop {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonStopped, message: v.tally("spec.stop: nothing further is measured"),
		complete: len(v.active) == 0}
	for _, name := range v.active {
		if t := v.Tests[name]; t != nil && !t.Spec.Stop && t.DeletionTimestamp == nil && !v.Pending[name] {
			s.stop = append(s.stop, name)
		}
	}
	return s
}

func testFailed(v *situation) *step {
	if v.spec.FailurePolicy != v1alpha1.FailureStop || v.failed == 0 {
		return nil
	}
	message := v.tally("spec.failurePolicy Stop, and a test ended without a measurement: nothing further is started")
	return &step{reason: v1alpha1.ReasonTestFailed, message: message, complete: len(v.active) == 0}
}

// unstored waits while the API server refuses to store results. Nothing more is measured, since it would be
// lost.
func unstored(v *situation) *step {
	if v.Unstored == "" {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonWaiting, unkept: true, requeueAt: v.Now.Add(obstacleAgain)}
	if stop := stopped(v); stop != nil {
		s.stop = stop.stop
	}
	s.message = v.tally("what the suite measures can't be kept: " + v.Unstored +
		"; nothing further is started until it can, and it is tried again each minute")
	return s
}

// nameTaken waits while another person's ConfigMap has a name under which results are stored. Tests that must
// stop are still stopped.
func nameTaken(v *situation) *step {
	if len(v.TakenNames) == 0 {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonNameTaken, unkept: true, requeueAt: v.Now.Add(obstacleAgain)}
	if stop := stopped(v); stop != nil {
		s.stop = stop.stop
	}
	name, namespace := v.TakenNames[0], v.Suite.Namespace
	s.message = v.tally(fmt.Sprintf("ConfigMap %[1]s is somebody else's, and what the suite measures is kept under "+
		"that name: remove it (kubectl delete configmap %[1]s -n %[2]s), "+
		"or create the suite under another name; nothing further is started until then, and it is looked at again "+
		"each minute", name, namespace))
	return s
}

func allEnded(v *situation) *step {
	if len(v.active)+len(v.missing) > 0 {
		return nil
	}
	s := &step{reason: v1alpha1.ReasonMeasured, complete: true, message: v.tally("")}
	switch {
	case v.measured == 0:
		s.reason = v1alpha1.ReasonNotMeasured
	case v.failed > 0:
		s.reason = v1alpha1.ReasonPartlyMeasured
	}
	return s
}

func suspended(v *situation) *step {
	if !v.spec.Suspend {
		return nil
	}
	s := v.goingOn("spec.suspend: no further tests are started")
	s.idle = len(v.active) == 0
	return s
}

func testsNeeded(v *situation) *step {
	room := int(v.spec.Parallelism) - len(v.active)
	s := v.goingOn("")
	starting := map[int]bool{}
	for _, w := range v.missing {
		switch {
		case room <= len(s.create) || v.Obstacles[w.Name] != "" || v.holds(w, starting):
		case len(s.create) < createAtOnce:
			s.create = append(s.create, w)
		default:
			s.requeueAt = v.Now
		}
	}
	if len(s.create) == 0 {
		return nil
	}
	if v.Now.Before(v.CreateFrom) {
		s.create, s.requeueAt = nil, v.CreateFrom
		return s
	}
	if len(v.active) > 0 || len(v.obstructed) == 0 { // else perhaps nothing can be made
		s.reason = v1alpha1.ReasonRunning
	}
	return s
}

func testsGoingOn(v *situation) *step { return v.goingOn("") }

// goingOn says how far the suite is.
func (v *situation) goingOn(reason string) *step {
	s := &step{reason: v1alpha1.ReasonRunning, message: v.tally(reason)}
	if len(v.active) == 0 {
		s.reason = v1alpha1.ReasonWaiting
	}
	if v.spec.Suspend && len(v.active) == 0 {
		s.reason = v1alpha1.ReasonSuspended
	}
	if awaited := v.awaitedNodes(); awaited != "" {
		s.message += "; " + awaited
	}
	if len(v.obstructed) > 0 {
		s.message += fmt.Sprintf("; %d %s can't be made: %s: %s", len(v.obstructed), plural(int32(len(v.obstructed)),
			"test"), v.obstructed[0], v.Obstacles[v.obstructed[0]])
		s.requeueAt = v.Now.Add(obstacleAgain)
	}
	return s
}

// tally is a sentence about how far the suite is.
func (v *situation) tally(reason string) string {
	text := fmt.Sprintf("%d of %d %s measured", v.measured, len(v.Matrix.slots), plural(int32(len(v.Matrix.slots)),
		"test"))
	if v.failed > 0 {
		text += fmt.Sprintf(", %d without a measurement", v.failed)
	}
	if n := len(v.active); n > 0 {
		text += fmt.Sprintf(", %d under way", n)
	}
	if v.retried > 0 {
		text += fmt.Sprintf(", %d repeated", v.retried)
	}
	if reason != "" {
		text = reason + "; " + text
	}
	return text
}

// earliest is the earlier of two moments, where zero means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// plural is the word with an s, unless there is one.
func plural(n int32, word string) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
