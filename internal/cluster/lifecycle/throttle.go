package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// throttleStatus is the part of a status that is worth writing now, since status writes cost the most. Details, such as a
// percentage or one more ready pod, are written at most every 15 s; that all pods have nodes, or are ready, at most every
// 3 s, since the run begins a moment later. due is when the rest is written; zero: nothing was left out.
func throttleStatus(was *v1alpha1.LoadTestStatus, next v1alpha1.LoadTestStatus, now time.Time) (st v1alpha1.LoadTestStatus, due time.Time) {
	if next.Progress == nil {
		return next, time.Time{}
	}
	if was.Progress != nil {
		next.Progress.At = was.Progress.At
	}
	if equality.Semantic.DeepEqual(*was, next) {
		return next, time.Time{}
	}
	if p := was.Progress; p != nil && p.At != nil && !p.At.After(now) {
		if due := p.At.Add(minWriteInterval(was, &next)); now.Before(due) {
			return *was.DeepCopy(), due
		}
	}
	next.Progress.At = &metav1.Time{Time: now}
	return next, time.Time{}
}

// minWriteInterval is how long after the last write the next status is worth one, by what has changed; 0: at once.
func minWriteInterval(before, next *v1alpha1.LoadTestStatus) time.Duration {
	a, b := significantFields(before), significantFields(next)
	if equality.Semantic.DeepEqual(a, b) {
		if next.Progress != nil && report.Phase(next.Progress.Step).AfterTraffic() {
			return endedEvery
		}
		return progressEvery
	}
	if before.StartedAt == nil && next.StartedAt == nil {
		withoutReadiness(&a, &b)
		if equality.Semantic.DeepEqual(a, b) {
			return stepEvery
		}
	}
	return 0
}

// withoutReadiness removes from two statuses the news that pods were placed or became ready, which every test has a moment before its run begins.
func withoutReadiness(before, next *v1alpha1.LoadTestStatus) {
	if before.Progress != nil && next.Progress != nil && next.Progress.Step == activityStarting {
		before.Progress.Step = activityStarting
	}
	for _, kind := range []string{v1alpha1.ConditionScheduled, v1alpha1.ConditionGeneratorsReady, v1alpha1.ConditionDUTReady} {
		was, is := meta.FindStatusCondition(before.Conditions, kind), meta.FindStatusCondition(next.Conditions, kind)
		usual := was != nil && (was.Reason == v1alpha1.ReasonStarting || was.Reason == v1alpha1.ReasonPending)
		if usual && is != nil && is.Status == metav1.ConditionTrue {
			*was = *is
		}
	}
}

// significantFields is a status without its details.
func significantFields(st *v1alpha1.LoadTestStatus) v1alpha1.LoadTestStatus {
	out := *st.DeepCopy()
	for i := range out.Conditions {
		out.Conditions[i].Message = ""
	}
	for i := range out.Pods {
		p := &out.Pods[i]
		p.Node, p.Links, p.Containers = "", nil, nil
		if p.State != stateSucceeded && p.State != stateFailed {
			p.State = ""
		}
	}
	if out.Result == nil {
		out.Summary = "" // the place in line
	}
	out.Progress = nil
	if st.Progress != nil {
		out.Progress = &v1alpha1.Progress{Step: st.Progress.Step, Run: st.Progress.Run}
	}
	if st.StartedAt != nil && Ongoing(st) { // how far the run is, and that its runner's pod comes up
		if out.Progress != nil {
			out.Progress.Step = ""
		}
		out.Pods = slices.DeleteFunc(out.Pods, func(p v1alpha1.PodStatus) bool { return p.Role == v1alpha1.RoleRunner && p.State == "" })
	}
	return out
}

// The states of pods that have ended.
const (
	stateSucceeded = "Succeeded"
	stateFailed    = "Failed"
)
