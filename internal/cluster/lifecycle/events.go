package lifecycle

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// eventsOf are the events of a change of status, a handful in a test's life. They follow from the two statuses, so each
// event is recorded once.
func eventsOf(previous, next *v1alpha1.LoadTestStatus) []Event {
	var events []Event
	if next.Operator.LostRuns > previous.Operator.LostRuns {
		events = append(events, Event{true, lostBy(next), fmt.Sprintf("a run came to nothing (%d until now): "+
			"what it measured doesn't count, the next one begins at warm-up", next.Operator.LostRuns)})
	}
	if c := notKept(next); c != nil && notKept(previous) == nil {
		events = append(events, Event{true, v1alpha1.EventReportNotKept, wording.Limited(
			"the Report goes with its LoadTest, although spec.reportRetention is Keep: "+c.Message, 1024)})
	}
	for _, kind := range []string{
		v1alpha1.ConditionScheduled, v1alpha1.ConditionDUTReady, v1alpha1.ConditionGeneratorsReady,
		v1alpha1.ConditionComplete,
	} {
		c := meta.FindStatusCondition(next.Conditions, kind)
		if c == nil || !deservesEvent(c) || repeatsEnding(next, c) ||
			unchanged(meta.FindStatusCondition(previous.Conditions, kind), c) {
			continue
		}
		events = append(events, Event{Warning: warns(c), Reason: c.Reason, Message: wording.Limited(c.Message, 1024)})
	}
	return events
}

// notKept is the condition Kept of a Report that will not be kept. Nil means that it is kept, or may be.
func notKept(st *v1alpha1.LoadTestStatus) *metav1.Condition {
	c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionKept)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason == v1alpha1.ReasonRetrying {
		return nil
	}
	return c
}

// lostBy is why a run was lost, as a condition's reason.
func lostBy(next *v1alpha1.LoadTestStatus) string {
	if c := meta.FindStatusCondition(next.Conditions, v1alpha1.ConditionScheduled); c != nil {
		switch c.Reason {
		case v1alpha1.ReasonSuspended:
			return v1alpha1.ReasonSuspended
		case v1alpha1.ReasonQueued:
			return v1alpha1.ReasonEvicted
		}
	}
	return v1alpha1.ReasonRunnerFailed
}

// repeatsEnding says whether a condition's reason is the one for which the test ends, whose event is recorded already.
func repeatsEnding(next *v1alpha1.LoadTestStatus, c *metav1.Condition) bool {
	end := meta.FindStatusCondition(next.Conditions, v1alpha1.ConditionComplete)
	return c.Type != v1alpha1.ConditionComplete && end != nil && isEndReason(end.Reason)
}

// unchanged says whether a condition is the same as before.
func unchanged(previous, next *metav1.Condition) bool {
	return previous != nil && previous.Status == next.Status && previous.Reason == next.Reason
}

// deservesEvent says whether a condition's change gets an event. The beginning of a run, its end, and every warning do.
func deservesEvent(c *metav1.Condition) bool {
	if c.Type == v1alpha1.ConditionComplete {
		return c.Status == metav1.ConditionTrue || c.Reason == v1alpha1.ReasonRunning
	}
	return warns(c)
}

// warns says whether the event is a Warning, for which a person should look.
func warns(c *metav1.Condition) bool {
	switch c.Reason {
	case v1alpha1.ReasonMultusMissing, v1alpha1.ReasonNetworkMissing, v1alpha1.ReasonNetworkInvalid,
		v1alpha1.ReasonResourceMissing, v1alpha1.ReasonHugepages, v1alpha1.ReasonPodRefused, v1alpha1.ReasonNameTaken,
		v1alpha1.ReasonUnschedulable, v1alpha1.ReasonNodeRefused, v1alpha1.ReasonPortHeld, v1alpha1.ReasonGivenBack,
		v1alpha1.ReasonImage, v1alpha1.ReasonLost:
		return true
	}
	return c.Type == v1alpha1.ConditionComplete && c.Status == metav1.ConditionTrue && isFailure(c.Reason)
}
