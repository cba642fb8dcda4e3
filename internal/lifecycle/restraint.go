package lifecycle

import (
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/report"
)

// restrained is the status that is worth a write now. What is only a detail, such as a percentage or one more pod of many that is ready, is
// written at most each 10 s: a test with many generators would else write its status for each step of each pod. The moment that is
// returned is when the details are due; zero: they are in.
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
	if was != nil && was.At != nil && detailOnly(v.was, &st) {
		if due := was.At.Add(progressEvery); v.Now.Before(due) && !was.At.After(v.Now) {
			return *v.was.DeepCopy(), due
		}
	}
	st.Progress.At = &metav1.Time{Time: v.Now}
	return st, time.Time{}
}

// detailOnly says whether a status differs from the one before in details only: not in what it says, but in how far it is. That the traffic of a run
// is over is one too: its Report comes in the next moment, and says more.
func detailOnly(before, next *v1alpha1.LoadTestStatus) bool {
	a, b := gist(before), gist(next)
	if a.Progress != nil && b.Progress != nil && report.Phase(b.Progress.Step).AfterTraffic() {
		b.Progress.Step = a.Progress.Step
	}
	return equality.Semantic.DeepEqual(a, b)
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
	return out
}

// The states of pods that have ended.
const (
	stateSucceeded = "Succeeded"
	stateFailed    = "Failed"
)
