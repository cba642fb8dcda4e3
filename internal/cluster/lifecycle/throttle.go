package lifecycle

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// throttleStatus is the part of a status that is worth writing now, since status writes cost the most. Details, such as
// a percentage or one more ready pod, are written at most every 15 s. That all pods have nodes, or are ready, is
// written at most every 3 s, since the run begins a moment later. due is when the rest is written. Zero means that
// nothing was left out.
func throttleStatus(previous *v1alpha1.LoadTestStatus, next v1alpha1.LoadTestStatus,
	moment time.Time) (st v1alpha1.LoadTestStatus, due time.Time) {
	if next.Progress == nil || next.CompletionTime != nil {
		return next, time.Time{}
	}
	if previous.Progress != nil {
		next.Progress.UpdateTime = previous.Progress.UpdateTime
	}
	if equality.Semantic.DeepEqual(*previous, next) {
		return next, time.Time{}
	}
	if p := previous.Progress; p != nil && p.UpdateTime != nil && !p.UpdateTime.After(moment) {
		if due := p.UpdateTime.Add(minWriteInterval(previous, &next)); moment.Before(due) {
			return *previous.DeepCopy(), due
		}
	}
	next.Progress.UpdateTime = &metav1.Time{Time: moment}
	return next, time.Time{}
}

// minWriteInterval is how long after the last write the next status is worth one, by what has changed. 0 means at
// once.
func minWriteInterval(previous, next *v1alpha1.LoadTestStatus) time.Duration {
	a, b := significantFields(previous), significantFields(next)
	if equality.Semantic.DeepEqual(a, b) {
		if next.Progress != nil && report.Phase(next.Progress.Phase).AfterTraffic() {
			return endedEvery
		}
		return progressEvery
	}
	if previous.StartTime == nil && next.StartTime == nil {
		withoutReadiness(&a, &b)
		if equality.Semantic.DeepEqual(a, b) {
			return stepEvery
		}
	}
	return 0
}

// withoutReadiness removes from two statuses the news that pods were placed or became ready, which every test
// has a moment before its run begins.
func withoutReadiness(previous, next *v1alpha1.LoadTestStatus) {
	if previous.Progress != nil && next.Progress != nil && next.Progress.Phase == activityStarting {
		previous.Progress.Phase = activityStarting
	}
	for _, kind := range []string{
		v1alpha1.ConditionScheduled, v1alpha1.ConditionGeneratorsReady, v1alpha1.ConditionDUTReady} {
		previous, current := meta.FindStatusCondition(previous.Conditions, kind),
			meta.FindStatusCondition(next.Conditions, kind)
		usual := previous != nil && (previous.Reason == v1alpha1.ReasonStarting ||
			previous.Reason == v1alpha1.ReasonPending)
		if usual && current != nil && current.Status == metav1.ConditionTrue {
			*previous = *current
		}
	}
}

// significantFields is a status without its details.
func significantFields(st *v1alpha1.LoadTestStatus) v1alpha1.LoadTestStatus {
	significant := *st.DeepCopy()
	significant.Phase, significant.Reason = "", "" // they follow from the others
	for i := range significant.Conditions {
		significant.Conditions[i].Message = ""
	}
	for i := range significant.Pods {
		p := &significant.Pods[i]
		p.Node, p.Links = "", nil
		if p.State != string(corev1.PodSucceeded) && p.State != string(corev1.PodFailed) {
			p.State = ""
		}
	}
	if significant.Result == nil {
		significant.Summary = "" // the place in line
	}
	significant.Progress = nil
	if st.Progress != nil {
		significant.Progress = &v1alpha1.Progress{Phase: st.Progress.Phase, Run: st.Progress.Run}
	}
	if st.StartTime != nil && Ongoing(st) { // how far the run is, and that its runner's pod comes up
		if significant.Progress != nil {
			significant.Progress.Phase = ""
		}
		significant.Pods = slices.DeleteFunc(significant.Pods,
			func(p v1alpha1.PodStatus) bool { return p.Role == v1alpha1.RoleRunner && p.State == "" })
	}
	return significant
}
