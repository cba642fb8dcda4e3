package lifecycle

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// eventsOf are the events of a change of status: a handful in a test's life. They follow from the two statuses,
// so each is recorded once.
func eventsOf(was, is *v1alpha1.LoadTestStatus) []Event {
	var out []Event
	if is.LostRuns > was.LostRuns {
		out = append(out, Event{true, lostBy(is), fmt.Sprintf("a run came to nothing (%d until now): what it measured "+
			"doesn't count, the next one begins at warm-up", is.LostRuns)})
	}
	if r := is.Report; r != nil && r.NotKept != "" && (was.Report == nil || was.Report.NotKept == "") {
		out = append(out, Event{true, v1alpha1.EventReportNotKept, wording.Limited("the Report goes with its LoadTest, "+
			"although spec.reportRetention is Keep: "+r.NotKept, 1024)})
	}
	for _, kind := range []string{
		v1alpha1.ConditionScheduled, v1alpha1.ConditionDUTReady, v1alpha1.ConditionGeneratorsReady, v1alpha1.ConditionComplete,
	} {
		c := meta.FindStatusCondition(is.Conditions, kind)
		if c == nil || !deservesEvent(c) || repeatsEnding(is, c) || unchanged(meta.FindStatusCondition(was.Conditions, kind),
			c) {
			continue
		}
		out = append(out, Event{Warning: warns(c), Reason: c.Reason, Message: wording.Limited(c.Message, 1024)})
	}
	return out
}

// lostBy is why a run was lost, as a condition's reason.
func lostBy(is *v1alpha1.LoadTestStatus) string {
	if c := meta.FindStatusCondition(is.Conditions, v1alpha1.ConditionScheduled); c != nil {
		switch c.Reason {
		case v1alpha1.ReasonSuspended:
			return v1alpha1.ReasonSuspended
		case v1alpha1.ReasonQueued:
			return v1alpha1.ReasonEvicted
		}
	}
	return v1alpha1.ReasonRunnerFailed
}

// repeatsEnding says whether a condition's reason is the one for which the test ends: that event is recorded already.
func repeatsEnding(is *v1alpha1.LoadTestStatus, c *metav1.Condition) bool {
	end := meta.FindStatusCondition(is.Conditions, v1alpha1.ConditionComplete)
	return c.Type != v1alpha1.ConditionComplete && end != nil && isEndReason(end.Reason)
}

// unchanged says whether a condition is the same as before.
func unchanged(was, is *metav1.Condition) bool {
	return was != nil && was.Status == is.Status && was.Reason == is.Reason
}

// deservesEvent says whether a condition's change gets an event: the beginning of a run and its end do, and
// every warning.
func deservesEvent(c *metav1.Condition) bool {
	if c.Type == v1alpha1.ConditionComplete {
		return c.Status == metav1.ConditionTrue || c.Reason == v1alpha1.ReasonRunning
	}
	return warns(c)
}

// warns says whether the event is a Warning: a person should look.
func warns(c *metav1.Condition) bool {
	switch c.Reason {
	case v1alpha1.ReasonMultusMissing, v1alpha1.ReasonNetworkMissing, v1alpha1.ReasonNetworkInvalid,
		v1alpha1.ReasonResourceMissing,
		v1alpha1.ReasonHugepages, v1alpha1.ReasonPodRefused, v1alpha1.ReasonNameTaken, v1alpha1.ReasonUnschedulable,
		v1alpha1.ReasonNodeRefused, v1alpha1.ReasonPortHeld, v1alpha1.ReasonGivenBack, v1alpha1.ReasonImage, v1alpha1.ReasonLost:
		return true
	}
	return c.Type == v1alpha1.ConditionComplete && c.Status == metav1.ConditionTrue && failed(c.Reason)
}
