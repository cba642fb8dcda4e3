package lifecycle

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/report"
)

// restrained is the status that is worth a write now: a status is the dearest of all writes. What is only a detail, such as a percentage or one more pod of many
// that is ready, is written at most each 15 s, and that all pods have their nodes, or are ready, at most each 3 s: the run begins a moment later. The moment that is
// returned is when the rest is due; zero: all is in.
func restrained(v *view, st v1alpha1.LoadTestStatus) (v1alpha1.LoadTestStatus, time.Time) {
	if st.Progress == nil {
		return st, time.Time{}
	}
	was := v.was.Progress
	if was != nil {
		st.Progress.At = was.At
	}
	if equality.Semantic.DeepEqual(*v.was, st) {
		return st, time.Time{}
	}
	if was != nil && was.At != nil && !was.At.After(v.Now) {
		if due := was.At.Add(worthAfter(v.was, &st)); v.Now.Before(due) {
			return *v.was.DeepCopy(), due
		}
	}
	st.Progress.At = &metav1.Time{Time: v.Now}
	return st, time.Time{}
}

// worthAfter is how long after the status before the next one is worth a write, by what it says that the one before didn't; 0: at once.
func worthAfter(before, next *v1alpha1.LoadTestStatus) time.Duration {
	a, b := gist(before), gist(next)
	for i := range min(len(a.Pods), len(b.Pods)) {
		if a.Pods[i].Name == b.Pods[i].Name && a.Pods[i].UID == "" { // an earlier release told none
			a.Pods[i].UID = b.Pods[i].UID
		}
	}
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

// withoutReadiness leaves out of two statuses that pods were placed and became ready in between, as those of every test do a moment before its run begins.
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

// gist is a status without its details.
func gist(st *v1alpha1.LoadTestStatus) v1alpha1.LoadTestStatus {
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
	if st.StartedAt != nil && GoesOn(st) { // how far the run is, and that its runner's pod comes up
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
