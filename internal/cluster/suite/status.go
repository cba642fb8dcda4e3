package suite

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// maxConditionMessage is the maximum length of a condition's message in bytes.
const maxConditionMessage = 4096

// maxSummary is the maximum length of status.summary in bytes. The schema bounds its characters, which are
// never more.
const maxSummary = 256

// statusOf is the status after a step, without the table.
func statusOf(v *situation, s *step, document *StoredReport) v1alpha1.LoadTestSuiteStatus {
	st := *v.lastStatus.DeepCopy()
	st.ObservedGeneration = v.Suite.Generation
	if s.final {
		return st
	}
	if s.invalid == "" {
		v.progress(&st, s)
	} else {
		st.Summary = wording.Limited(wording.Printable(s.invalid), maxSummary)
	}
	if document != nil && document.Err == nil {
		st.Report = &v1alpha1.ReportReference{ConfigMap: ReportName(v.Suite.Name),
			Digest: document.Annotations[delivery.AnnotationDigest]}
	}
	if s.complete && st.CompletionTime == nil {
		st.CompletionTime = &metav1.Time{Time: v.Now}
	}
	if st.StartTime != nil { // set even if none are stored, since otherwise other people could add some
		st.Operator.StoredRuns = v.Sheets.Published()
	}
	if st.Operator.StartedTests = v.begunTests(); s.complete {
		st.Operator.StartedTests = nil
	}
	setConditions(&st, v, s)
	SetPhase(&st)
	return st
}

// SetPhase writes the phase, and the reason for it where the phase alone doesn't say it.
func SetPhase(st *v1alpha1.LoadTestSuiteStatus) {
	st.Phase, st.Reason = PhaseOf(st), ""
	c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionComplete)
	if c != nil && c.Reason != string(st.Phase) {
		st.Reason = c.Reason
	}
}

// PhaseOf is a suite's state in a word, by its conditions.
func PhaseOf(st *v1alpha1.LoadTestSuiteStatus) v1alpha1.Phase {
	c := meta.FindStatusCondition(st.Conditions, v1alpha1.ConditionComplete)
	if c == nil {
		return v1alpha1.PhaseWaiting
	}
	ended := c.Status == metav1.ConditionTrue
	switch c.Reason {
	case v1alpha1.ReasonRunning:
		return v1alpha1.PhaseRunning
	case v1alpha1.ReasonSuspended:
		return v1alpha1.PhaseSuspended
	case v1alpha1.ReasonWaiting, v1alpha1.ReasonNameTaken:
		return v1alpha1.PhaseWaiting
	case v1alpha1.ReasonMeasured, v1alpha1.ReasonPartlyMeasured:
		if ended {
			return v1alpha1.PhaseMeasured
		}
	case v1alpha1.ReasonStopped:
		if ended {
			return v1alpha1.PhaseStopped
		}
	default:
		if ended {
			return v1alpha1.PhaseFailed
		}
	}
	return v1alpha1.PhaseEnding
}

// progress writes how far the suite is.
func (v *situation) progress(st *v1alpha1.LoadTestSuiteStatus, s *step) {
	n := int32(len(v.Matrix.slots))
	st.Counts = v1alpha1.SuiteCounts{
		Cells: int32(len(v.Matrix.Cells)), Tests: n, Running: v.running, Measured: v.measured, NotMeasured: v.failed,
		Retried: v.retried,
		Waiting: n - v.running - v.measured - v.failed,
	}
	if s.complete { // missing tests are never made
		st.Counts.NotMeasured, st.Counts.Waiting = v.failed+st.Counts.Waiting, 0
	}
	if st.StartTime == nil && len(s.create)+len(v.Tests)+len(v.Runs) > 0 { // set again if an earlier write was lost
		st.StartTime = &metav1.Time{Time: v.Now}
	}
	st.Summary = fmt.Sprintf("%d of %d measured", v.measured, n)
}

// setConditions sets all conditions, on each pass.
func setConditions(st *v1alpha1.LoadTestSuiteStatus, v *situation, s *step) {
	accepted := condition(v1alpha1.ConditionAccepted, metav1.ConditionTrue, v1alpha1.ReasonValid,
		fmt.Sprintf("%d cells can be measured as they are written", len(v.Matrix.Cells)))
	if s.invalid != "" {
		accepted = condition(v1alpha1.ConditionAccepted, metav1.ConditionFalse, v1alpha1.ReasonInvalid, s.invalid)
	}
	complete := condition(v1alpha1.ConditionComplete, metav1.ConditionFalse, s.reason, s.message)
	if s.complete {
		complete.Status = metav1.ConditionTrue
	}
	for _, c := range []metav1.Condition{accepted, complete, passed(v, s)} {
		v.setCondition(st, c)
	}
	if v.lastStatus.StartTime == nil && s.invalid == "" {
		if c := v.comparability(); c != nil {
			v.setCondition(st, *c)
		}
	}
	if s.complete && s.invalid == "" { // it was carried out
		meta.RemoveStatusCondition(&st.Conditions, v1alpha1.ConditionAccepted)
	}
	v.setWhile(st, v1alpha1.ConditionReconciling, !s.complete && !s.idle, s)
	v.setWhile(st, v1alpha1.ConditionStalled, s.complete && s.reason != v1alpha1.ReasonMeasured &&
		s.reason != v1alpha1.ReasonStopped, s)
}

func condition(kind string, status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

// setCondition sets a condition. Its time changes with its status only. It is of the status' observedGeneration, as
// all are, and doesn't repeat that.
func (v *situation) setCondition(st *v1alpha1.LoadTestSuiteStatus, c metav1.Condition) {
	c.Message = wording.Limited(wording.Printable(c.Message), maxConditionMessage)
	c.LastTransitionTime = metav1.Time{Time: v.Now}
	meta.SetStatusCondition(&st.Conditions, c)
}

// setWhile sets a condition that exists only while it is true.
func (v *situation) setWhile(st *v1alpha1.LoadTestSuiteStatus, kind string, holds bool, s *step) {
	if !holds {
		meta.RemoveStatusCondition(&st.Conditions, kind)
		return
	}
	v.setCondition(st, condition(kind, metav1.ConditionTrue, s.reason, s.message))
}

// throttleStatus is the part of a status that is worth a write now. Counts and a small suite's table are
// written at most every 10 s. The table is only made then, since it can't change without the counts. The time
// is when they are due, and zero if they are included.
func throttleStatus(v *situation, s *step, st v1alpha1.LoadTestSuiteStatus) (v1alpha1.LoadTestSuiteStatus, time.Time) {
	if s.final || equality.Semantic.DeepEqual(*v.lastStatus, st) {
		return st, time.Time{}
	}
	if written := v.lastStatus.UpdateTime; written != nil &&
		equality.Semantic.DeepEqual(significantFields(v.lastStatus),
			significantFields(&st)) {
		if due := written.Add(detailEvery); v.Now.Before(due) && !written.After(v.Now) {
			return *v.lastStatus.DeepCopy(), due
		}
	}
	if st.UpdateTime = nil; !s.complete {
		st.UpdateTime = &metav1.Time{Time: v.Now}
	}
	if s.invalid == "" {
		st.Table = v.table(s)
	}
	return st, time.Time{}
}

// significantFields is a status without the fields that are written less often.
func significantFields(st *v1alpha1.LoadTestSuiteStatus) v1alpha1.LoadTestSuiteStatus {
	significant := v1alpha1.LoadTestSuiteStatus{ObservedGeneration: st.ObservedGeneration, StartTime: st.StartTime,
		CompletionTime: st.CompletionTime, Operator: v1alpha1.SuiteMemory{StoredRuns: st.Operator.StoredRuns}}
	for _, c := range st.Conditions {
		c.Message = ""
		significant.Conditions = append(significant.Conditions, c)
	}
	return significant
}

// eventsOf are the events of a change of status. They say that the suite was refused, began, or is complete.
func eventsOf(old, updated *v1alpha1.LoadTestSuiteStatus) []Event {
	var events []Event
	previous, c := meta.FindStatusCondition(old.Conditions, v1alpha1.ConditionComplete),
		meta.FindStatusCondition(updated.Conditions, v1alpha1.ConditionComplete)
	switch {
	case c != nil && c.Reason == v1alpha1.ReasonNameTaken:
		if previous == nil || previous.Reason != c.Reason {
			events = append(events, Event{Warning: true, Reason: c.Reason, Message: wording.Limited(c.Message, 1024)})
		}
	case c == nil || previous != nil && previous.Status == c.Status:
	case c.Status == metav1.ConditionTrue:
		stalled := meta.IsStatusConditionTrue(updated.Conditions, v1alpha1.ConditionStalled)
		events = append(events, Event{Warning: stalled, Reason: c.Reason, Message: wording.Limited(c.Message, 1024)})
	}
	if c := meta.FindStatusCondition(updated.Conditions, v1alpha1.ConditionComparable); c != nil &&
		c.Status == metav1.ConditionFalse && !meta.IsStatusConditionFalse(old.Conditions, c.Type) {
		events = append(events, Event{Warning: true, Reason: c.Reason, Message: wording.Limited(c.Message, 1024)})
	}
	if old.StartTime == nil && updated.StartTime != nil {
		events = append(events, Event{Reason: v1alpha1.ReasonRunning,
			Message: fmt.Sprintf("the first of %d tests is made", updated.Counts.Tests)})
	}
	return events
}
