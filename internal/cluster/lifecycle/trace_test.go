package lifecycle_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// tell adds a decision to the trace: one line.
//
//	00:12 measuringPodLost – GeneratorFailed: pod … failed | -Pod/x +ConfigMap/y | Complete=False/GeneratorFailed | !GeneratorFailed | wake 01:12
func (w *world) tell(before *v1alpha1.LoadTestStatus, d lifecycle.Decision) {
	parts := []string{fmt.Sprintf("%s %s – %s: %s", w.clock(w.now), d.Rule, d.Reason, d.Message)}
	if p := d.Status.Progress; p != nil && p.Percent != nil && !sameJSON(before.Progress, p) {
		parts = append(parts, fmt.Sprintf("%s %d%%", p.Step, *p.Percent))
	}
	parts = appendSome(parts, strings.Join(append(actions(d), wired(d)...), " "))
	parts = appendSome(parts, strings.Join(changes(before.Conditions, d.Status.Conditions), " "))
	parts = appendSome(parts, strings.Join(events(d), " "))
	if !d.RequeueAt.IsZero() {
		parts = append(parts, "wake "+w.clock(d.RequeueAt))
	}
	w.trace = append(w.trace, strings.Join(parts, " | "))
}

func appendSome(list []string, text string) []string {
	if text == "" {
		return list
	}
	return append(list, text)
}

func actions(d lifecycle.Decision) []string {
	var out []string
	for _, del := range d.Delete {
		name := del.Name
		if name == "" {
			name = "*"
		}
		if del.Attempt != 0 {
			name += fmt.Sprintf("(attempt %d)", del.Attempt)
		}
		out = append(out, "-"+del.Kind+"/"+name)
	}
	for _, o := range d.Create {
		out = append(out, "+"+strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1.")+"/"+o.GetName())
	}
	if d.DeleteTest {
		out = append(out, "-LoadTest")
	}
	return out
}

// changes are the conditions that say something else than before.
func changes(was, is []metav1.Condition) []string {
	var out []string
	for _, c := range is {
		old := meta.FindStatusCondition(was, c.Type)
		if old == nil || old.Status != c.Status || old.Reason != c.Reason {
			out = append(out, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
		}
	}
	for _, c := range was {
		if meta.FindStatusCondition(is, c.Type) == nil {
			out = append(out, "no "+c.Type)
		}
	}
	return out
}

func events(d lifecycle.Decision) []string {
	var out []string
	for _, e := range d.Events {
		sign := "*"
		if e.Warning {
			sign = "!"
		}
		out = append(out, sign+e.Reason)
	}
	return out
}

// check holds each step to what must never be.
func (w *world) check(o lifecycle.Observed, before *v1alpha1.LoadTestStatus, d lifecycle.Decision) {
	w.t.Helper()
	if again := lifecycle.Decide(o); !sameJSON(again.Status, d.Status) && !d.ReadReport && d.Try == nil {
		w.fail("the same observation makes another decision: %s, %s", d.Rule, again.Rule)
	}
	w.checkDue(o, d)
	if w.test == nil {
		return
	}
	w.checkConditions(before)
	w.checkChildren()
	w.checkWires()
	w.checkKstatus()
}

// checkDue: the operator's clock has whole seconds. What is due between two of them, and not before, would be looked at again and again until the second
// is over.
func (w *world) checkDue(o lifecycle.Observed, d lifecycle.Decision) {
	w.t.Helper()
	if second := d.RequeueAt.Truncate(time.Second); second.After(o.Now) && !d.RequeueAt.Equal(second) {
		o.Now = second
		if again := lifecycle.Decide(o); again.RequeueAt.Equal(d.RequeueAt) {
			w.fail("%s wants the next look at %s, and nothing before", d.Rule, d.RequeueAt)
		}
	}
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.trace, "\n"))
}

func (w *world) says(kind string) metav1.Condition {
	if w.test == nil {
		return metav1.Condition{}
	}
	if c := meta.FindStatusCondition(w.test.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func (w *world) checkConditions(before *v1alpha1.LoadTestStatus) {
	w.t.Helper()
	st := w.test.Status
	if len(st.Conditions) == 0 {
		return // the operator died before its first word
	}
	for _, kind := range []string{"Accepted", "Scheduled", "GeneratorsReady", "DUTReady", "Complete", "Passed"} {
		c := w.says(kind)
		if c.Status == "" || c.Reason == "" || c.Message == "" {
			w.fail("condition %s says %q, %q, %q", kind, c.Status, c.Reason, c.Message)
		}
		if c.ObservedGeneration != st.ObservedGeneration {
			w.fail("condition %s is of generation %d, status of %d", kind, c.ObservedGeneration, st.ObservedGeneration)
		}
		if old := meta.FindStatusCondition(before.Conditions, kind); old != nil && old.Status == c.Status && !old.LastTransitionTime.Equal(&c.LastTransitionTime) {
			w.fail("condition %s changed its time and not its status", kind)
		}
	}
	complete, passed := w.says("Complete"), w.says("Passed")
	if passed.Status == metav1.ConditionTrue && complete.Reason != v1alpha1.ReasonMeasured {
		w.fail("Passed is True, and it ended with %s", complete.Reason)
	}
	if old := meta.FindStatusCondition(before.Conditions, "Complete"); old != nil && old.Status == metav1.ConditionTrue && (complete.Status != old.Status || complete.Reason != old.Reason) {
		w.fail("what was complete (%s) isn't any more: %s %s", old.Reason, complete.Status, complete.Reason)
	}
	if (complete.Status == metav1.ConditionTrue) != (st.FinishedAt != nil) {
		w.fail("Complete is %s, finishedAt is %v", complete.Status, st.FinishedAt)
	}
}

func (w *world) checkChildren() {
	w.t.Helper()
	attempts, jobs := map[string]bool{}, 0
	for i := range w.Pods {
		if p := &w.Pods[i]; p.DeletionTimestamp == nil && (p.Status.Phase == corev1.PodPending || p.Status.Phase == corev1.PodRunning) {
			attempts[p.Labels[v1alpha1.LabelAttempt]] = true
		}
	}
	if jobs = len(w.Jobs); jobs > 1 {
		w.fail("%d runner Jobs", jobs)
	}
	if len(attempts) > 1 {
		w.fail("pods of %d attempts", len(attempts))
	}
	if plans := w.plans(); len(plans) > 2 {
		w.fail("there are Plans of the attempts %v", plans)
	}
}

// checkKstatus asks the library that waits for resources everywhere.
func (w *world) checkKstatus() {
	w.t.Helper()
	if len(w.test.Status.Conditions) == 0 || w.test.Status.ObservedGeneration != w.test.Generation {
		return
	}
	stored := w.test.DeepCopy()
	stored.APIVersion, stored.Kind = v1alpha1.GroupVersion.String(), "LoadTest"
	text, err := json.Marshal(stored)
	if err != nil {
		w.t.Fatal(err)
	}
	if string(text) == w.asked {
		return
	}
	w.asked = string(text)
	var u unstructured.Unstructured
	if err := u.UnmarshalJSON(text); err != nil {
		w.t.Fatal(err)
	}
	got, err := status.Compute(&u)
	if err != nil {
		w.t.Fatal(err)
	}
	if want := w.wantedKstatus(); got.Status != want {
		w.fail("kstatus says %s, not %s: %s", got.Status, want, text)
	}
}

func (w *world) wantedKstatus() status.Status {
	complete := w.says("Complete")
	switch {
	case w.test.DeletionTimestamp != nil:
		return status.TerminatingStatus
	case complete.Status == metav1.ConditionTrue && (complete.Reason == "Measured" || complete.Reason == "Stopped"):
		return status.CurrentStatus
	case complete.Status == metav1.ConditionTrue:
		return status.FailedStatus
	case w.says("Scheduled").Reason == "Suspended" && w.says("Reconciling").Status == "":
		return status.CurrentStatus
	}
	return status.InProgressStatus
}
