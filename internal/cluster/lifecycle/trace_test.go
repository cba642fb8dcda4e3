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

// record adds a decision to the trace as one line.
//
//	00:12 measuringPodLost – GeneratorFailed: pod … failed | -Pod/x +ConfigMap/y | Complete=False/GeneratorFailed | !GeneratorFailed | wake 01:12
func (w *world) record(previous *v1alpha1.LoadTestStatus, d lifecycle.Decision) {
	parts := []string{fmt.Sprintf("%s %s – %s: %s", w.elapsed(w.clock), d.Rule, d.Reason, d.Message)}
	if p := d.Status.Progress; p != nil && p.Percent != nil && !sameJSON(previous.Progress, p) {
		parts = append(parts, fmt.Sprintf("%s %d%%", p.Phase, *p.Percent))
	}
	parts = appendSome(parts, strings.Join(append(actions(d), portActions(d)...), " "))
	parts = appendSome(parts, strings.Join(changes(previous.Conditions, d.Status.Conditions), " "))
	parts = appendSome(parts, strings.Join(events(d), " "))
	if !d.RequeueAt.IsZero() {
		parts = append(parts, "wake "+w.elapsed(d.RequeueAt))
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
	var actions []string
	for _, del := range d.Delete {
		name := del.Name
		if name == "" {
			name = "*"
		}
		if del.Attempt != 0 {
			name += fmt.Sprintf("(attempt %d)", del.Attempt)
		}
		actions = append(actions, "-"+del.Kind+"/"+name)
	}
	for _, o := range d.Create {
		actions = append(actions, "+"+strings.TrimPrefix(fmt.Sprintf("%T", o), "*v1.")+"/"+o.GetName())
	}
	if d.DeleteTest {
		actions = append(actions, "-LoadTest")
	}
	return actions
}

// changes are the conditions that say something else than before.
func changes(previous, current []metav1.Condition) []string {
	var actions []string
	for _, c := range current {
		old := meta.FindStatusCondition(previous, c.Type)
		if old == nil || old.Status != c.Status || old.Reason != c.Reason {
			actions = append(actions, fmt.Sprintf("%s=%s/%s", c.Type, c.Status, c.Reason))
		}
	}
	for _, c := range previous {
		if meta.FindStatusCondition(current, c.Type) == nil {
			actions = append(actions, "no "+c.Type)
		}
	}
	return actions
}

func events(d lifecycle.Decision) []string {
	var actions []string
	for _, e := range d.Events {
		sign := "*"
		if e.Warning {
			sign = "!"
		}
		actions = append(actions, sign+e.Reason)
	}
	return actions
}

// check holds each step to what must never be.
func (w *world) check(o lifecycle.Observed, previous *v1alpha1.LoadTestStatus, d lifecycle.Decision) {
	w.t.Helper()
	if repeated := lifecycle.Decide(o); !sameJSON(repeated.Status, d.Status) && !d.ReadReport && d.Try == nil {
		w.fail("the same observation makes another decision: %s, %s", d.Rule, repeated.Rule)
	}
	w.checkDue(o, d)
	if w.test == nil {
		return
	}
	w.checkConditions(previous)
	w.checkChildren()
	w.checkPorts()
	w.checkKstatus()
}

// checkDue fails on a decision that is due between two whole seconds, as the operator's clock has them. It would be
// made again and again until the second is over.
func (w *world) checkDue(o lifecycle.Observed, d lifecycle.Decision) {
	w.t.Helper()
	if second := d.RequeueAt.Truncate(time.Second); second.After(o.ObservedAt) && !d.RequeueAt.Equal(second) {
		o.ObservedAt = second
		if repeated := lifecycle.Decide(o); repeated.RequeueAt.Equal(d.RequeueAt) {
			w.fail("%s wants the next look at %s, and nothing before", d.Rule, d.RequeueAt)
		}
	}
}

func (w *world) fail(format string, args ...any) {
	w.t.Helper()
	w.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(w.trace, "\n"))
}

func (w *world) condition(kind string) metav1.Condition {
	if w.test == nil {
		return metav1.Condition{}
	}
	if c := meta.FindStatusCondition(w.test.Status.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

func (w *world) checkConditions(previous *v1alpha1.LoadTestStatus) {
	w.t.Helper()
	st := w.test.Status
	if len(st.Conditions) == 0 {
		return // the operator died before its first word
	}
	ofPods := []string{"Scheduled", "GeneratorsReady", "DUTReady"}
	kinds := []string{"Complete", "Passed"}
	if st.CompletionTime == nil {
		kinds = append(append(kinds, "Accepted"), ofPods...)
	}
	for _, kind := range ofPods {
		if st.CompletionTime != nil && w.condition(kind).Status != "" {
			w.fail("condition %s speaks of pods, and the test is over", kind)
		}
	}
	for _, kind := range kinds {
		c := w.condition(kind)
		if c.Status == "" || c.Reason == "" || c.Message == "" {
			w.fail("condition %s says %q, %q, %q", kind, c.Status, c.Reason, c.Message)
		}
		if c.ObservedGeneration != 0 {
			w.fail("condition %s repeats the generation %d, which the status has", kind, c.ObservedGeneration)
		}
		if old := meta.FindStatusCondition(previous.Conditions, kind); old != nil && old.Status == c.Status &&
			!old.LastTransitionTime.Equal(&c.LastTransitionTime) {
			w.fail("condition %s changed its time and not its status", kind)
		}
	}
	complete, passed := w.condition("Complete"), w.condition("Passed")
	if passed.Status == metav1.ConditionTrue && complete.Reason != v1alpha1.ReasonMeasured {
		w.fail("Passed is True, and it ended with %s", complete.Reason)
	}
	if old := meta.FindStatusCondition(previous.Conditions, "Complete"); old != nil &&
		old.Status == metav1.ConditionTrue && (complete.Status != old.Status || complete.Reason != old.Reason) {
		w.fail("what was complete (%s) isn't any more: %s %s", old.Reason, complete.Status, complete.Reason)
	}
	if (complete.Status == metav1.ConditionTrue) != (st.CompletionTime != nil) {
		w.fail("Complete is %s, completionTime is %v", complete.Status, st.CompletionTime)
	}
}

func (w *world) checkChildren() {
	w.t.Helper()
	attempts, jobs := map[string]bool{}, 0
	for i := range w.Pods {
		if p := &w.Pods[i]; p.DeletionTimestamp == nil && (p.Status.Phase == corev1.PodPending ||
			p.Status.Phase == corev1.PodRunning) {
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
	complete := w.condition("Complete")
	switch {
	case w.test.DeletionTimestamp != nil:
		return status.TerminatingStatus
	case complete.Status == metav1.ConditionTrue && (complete.Reason == "Measured" || complete.Reason == "Stopped"):
		return status.CurrentStatus
	case complete.Status == metav1.ConditionTrue:
		return status.FailedStatus
	case w.condition("Scheduled").Reason == "Suspended" && w.condition("Reconciling").Status == "":
		return status.CurrentStatus
	}
	return status.InProgressStatus
}
