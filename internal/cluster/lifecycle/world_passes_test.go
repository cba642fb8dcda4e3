package lifecycle_test

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// decide looks as closely as the decisions ask for.
func (w *world) decide() (lifecycle.Observed, lifecycle.Decision) {
	o := w.observe()
	d := lifecycle.Decide(o)
	for range 5 {
		switch {
		case d.ReadReport:
			w.reads++
			w.readReport(&o)
		case d.ReadBaseline:
			w.compared++
			o.Baseline = &w.baseline
		case d.Protect || d.Unprotect:
			w.finalize(d)
			o.Test = w.test.DeepCopy()
		case d.Try != nil:
			w.tries += len(d.Try)
			o.Refusals = append([]lifecycle.Refusal{}, w.refusals...)
		case w.unmade != nil && o.Refusals == nil &&
			slices.ContainsFunc(d.Create, func(o manifests.Object) bool { return o.GetName() == w.unmade.Pod }):
			o.Refusals = []lifecycle.Refusal{*w.unmade}
		case w.unkept != nil && keptIn(d) != nil && o.Refusals == nil:
			o.Refusals = []lifecycle.Refusal{{Pod: keptIn(d).Name, Message: w.unkept.Message,
				Transient: w.unkept.Transient}}
		default:
			return o, d
		}
		d = lifecycle.Decide(o)
	}
	w.t.Fatalf("the decision %s asks for a closer look again and again", d.Rule)
	return o, d
}

func (w *world) readReport(o *lifecycle.Observed) {
	switch {
	case w.unread != "":
		o.Children.ReportFault = w.unread
	case w.Report == nil:
		o.Children.ReportFault = "there is no report"
	default:
		o.Children.Report, o.Children.ReportPacked, o.Children.ReportWritten = w.Report, []byte("packed"), w.clock
		envelope := *w.Envelope
		o.Children.Envelope = &envelope
		if o.Children.Order != nil {
			o.Children.Followed = *o.Children.Order
		}
	}
}

// reconcile is one pass, and says whether it changed anything.
func (w *world) reconcile() bool {
	w.t.Helper()
	if w.test == nil {
		return false
	}
	o, d := w.decide()
	previous := w.test.Status.DeepCopy()
	changed := w.apply(d)
	if changed || d.Rule != w.lastRule {
		w.record(previous, d)
	}
	w.lastRule, w.woken = d.Rule, d.RequeueAt
	w.check(o, previous, d)
	if w.test != nil && w.test.DeletionTimestamp != nil && len(w.test.Finalizers) == 0 {
		w.test, changed = nil, true
	}
	return changed
}

// finalize puts the teardown's finalizer on the test, or takes it off.
func (w *world) finalize(d lifecycle.Decision) {
	w.test.Finalizers = slices.DeleteFunc(w.test.Finalizers,
		func(f string) bool { return f == v1alpha1.FinalizerTeardown })
	if d.Protect {
		w.test.Finalizers = append(w.test.Finalizers, v1alpha1.FinalizerTeardown)
	}
	for _, e := range d.Events {
		w.trace = append(w.trace, w.elapsed(w.clock)+" told: "+e.Message)
	}
	w.finalizes++
}

// remove deletes the test, as a person does. The test stays as long as it has finalizers.
func (w *world) remove(finalizers ...string) {
	w.test.Finalizers = append(w.test.Finalizers, finalizers...)
	w.test.DeletionTimestamp = &metav1.Time{Time: w.clock}
	w.test.Generation++
	w.settle()
}

// apply does what was decided, in the order of the fields. Where the operator dies, the rest isn't done.
func (w *world) apply(d lifecycle.Decision) (changed bool) {
	for _, del := range d.Delete {
		if w.dies() {
			return true
		}
		changed = w.delete(del) || changed
	}
	if len(d.ClaimPorts) > 0 && w.dies() {
		return true
	}
	changed = w.claimPorts(d.ClaimPorts) || changed
	for _, o := range d.Create {
		if w.dies() {
			return true
		}
		changed = w.create(o) || changed
	}
	if w.dies() {
		return true
	}
	if w.refuses != nil && w.refuses(&d.Status) {
		refused, ok := lifecycle.Refused(w.observe(), d, "status.result.figures[1].direction.from: Too long")
		if !ok {
			w.fail("what is said of a test that is over is refused")
		}
		d.Status, d.Events = refused.Status, refused.Events
	}
	if !sameJSON(w.test.Status, d.Status) {
		w.test.Status = *d.Status.DeepCopy()
		w.roundTrip()
		if w.onStatus != nil {
			w.onStatus(&w.test.Status)
		}
		w.writes++
		w.events += len(d.Events)
		changed = true
	}
	for _, h := range d.ReleasePorts {
		if w.dies() {
			return true
		}
		w.deletes++
		w.releasePort(h)
		changed = true
	}
	if d.DeleteTest {
		w.test, changed = nil, true
	}
	return changed
}

func (w *world) dies() bool { return w.mischief != nil && w.mischief() }

// roundTrip stores the status as an API server does, which drops fractions of seconds.
func (w *world) roundTrip() {
	text, err := json.Marshal(w.test.Status)
	if err != nil {
		w.t.Fatal(err)
	}
	w.test.Status = v1alpha1.LoadTestStatus{}
	if err := json.Unmarshal(text, &w.test.Status); err != nil {
		w.t.Fatal(err)
	}
}

func sameJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// settle reconciles until nothing changes any more, as watches make an operator do. In a muddle it looks before
// it has seen all.
func (w *world) settle() {
	w.t.Helper()
	w.muddle()
	for range 60 {
		if !w.reconcile() {
			return
		}
	}
	w.t.Fatalf("the operator doesn't come to rest:\n%s", strings.Join(w.trace, "\n"))
}

// pass lets time go by, without anybody's looking but at the times that the operator asked for.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	end := w.clock.Add(d)
	w.settle()
	for {
		next := end
		if due := w.nextDue(); !due.IsZero() && due.Before(next) {
			next = due
		}
		w.clock = latestOf(w.clock, next)
		w.endPods()
		w.settle()
		if !w.clock.Before(end) {
			return
		}
	}
}

// nextDue is when something happens by itself, such as the operator's wake-up or the end of a pod.
func (w *world) nextDue() time.Time {
	var due time.Time
	if w.woken.After(w.clock) {
		due = w.woken
	}
	for i := range w.Pods {
		p := &w.Pods[i]
		if p.DeletionTimestamp != nil && !w.stubborn[p.Name] && p.DeletionTimestamp.After(w.clock) &&
			(due.IsZero() || p.DeletionTimestamp.Time.Before(due)) {
			due = p.DeletionTimestamp.Time
		}
	}
	return due
}

func latestOf(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
