package lifecycle_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func keepReports(s *v1alpha1.LoadTestSpec) { s.ReportRetention = v1alpha1.ReportKeep }

// keptIn is the ConfigMap among a decision's objects that keeps the Report. Nil means that none is made.
func keptIn(d lifecycle.Decision) *corev1.ConfigMap {
	for _, o := range d.Create {
		if c, ok := o.(*corev1.ConfigMap); ok && manifests.IsKept(c) {
			return c
		}
	}
	return nil
}

// keptCondition and publishedCondition are what a status says of the Report's two copies.
func keptCondition(st v1alpha1.LoadTestStatus) metav1.Condition {
	return conditionOf(st, v1alpha1.ConditionKept)
}

func publishedCondition(st v1alpha1.LoadTestStatus) metav1.Condition {
	return conditionOf(st, v1alpha1.ConditionPublished)
}

func conditionOf(st v1alpha1.LoadTestStatus, kind string) metav1.Condition {
	if c := meta.FindStatusCondition(st.Conditions, kind); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// measured is a world in which the run has just ended.
func measured(t *testing.T, spec string, ending report.Ending) *world {
	t.Helper()
	w := newWorld(t, spec)
	w.edit(keepReports)
	r := w.toRun()
	w.measure(r)
	w.finish(r, ending)
	return w
}

func TestAReportIsKeptBeforeTheTestIsComplete(t *testing.T) {
	w := measured(t, reference, report.Completed)
	_, d := w.decide()
	copied := keptIn(d)
	if copied == nil {
		t.Fatalf("%s keeps nothing", d.Rule)
	}
	if string(copied.BinaryData["report.json.gz"]) != "packed" || d.Status.Report.KeptReport != copied.Name ||
		len(copied.OwnerReferences) > 0 {
		t.Errorf("it is kept as %+v, and the status says %+v", copied, d.Status.Report)
	}
	w.settle()
	if w.condition("Complete").Reason != v1alpha1.ReasonMeasured || !w.Present["ConfigMap/"+copied.Name] {
		t.Errorf("it isn't kept when the test is complete:\n%s", strings.Join(w.trace, "\n"))
	}
}

func TestWhatIsKept(t *testing.T) {
	t.Run("with a teardown, at the first step to the end", func(t *testing.T) {
		w := newWorld(t, hooks)
		w.edit(keepReports)
		r := w.setUp()
		w.measure(r)
		w.finish(r, report.Completed)
		if _, d := w.decide(); keptIn(d) == nil || d.Status.CompletionTime != nil {
			t.Errorf("%s keeps nothing, or is complete", d.Rule)
		}
	})
	t.Run("nothing where nobody asked for it", func(t *testing.T) {
		w := newWorld(t, reference)
		r := w.toRun()
		w.finish(r, report.Completed)
		if _, d := w.decide(); keptIn(d) != nil || d.Status.Report == nil || keptCondition(d.Status).Status != "" {
			t.Errorf("%s keeps it: %+v", d.Rule, d.Status.Report)
		}
	})
	t.Run("also what tells of no figure", func(t *testing.T) {
		w := measured(t, reference, report.PathNotProven)
		if _, d := w.decide(); keptIn(d) == nil {
			t.Errorf("%s keeps nothing", d.Rule)
		}
	})
	t.Run("nothing that a fault acted on", func(t *testing.T) {
		w := newWorld(t, reference)
		w.edit(keepReports)
		r := w.toRun()
		w.measure(r)
		w.kill("dut")
		w.finish(r, report.Completed)
		w.pass(10 * time.Minute)
		if st := w.test.Status; st.Report == nil || st.Report.KeptReport != "" ||
			!strings.Contains(keptCondition(st).Message, "a fault acted") || st.Result != nil {
			t.Errorf("the status says %+v, and the result is %+v", st.Report, st.Result)
		}
	})
}

// kill ends the pod of a role, as if it had crashed.
func (w *world) kill(role string) {
	w.t.Helper()
	for i := range w.Pods {
		if p := &w.Pods[i]; p.Labels[v1alpha1.LabelRole] == role {
			w.ends(p.Name, 137, "killed")
			return
		}
	}
	w.t.Fatalf("there is no pod of the role %s", role)
}

func TestAReportThatCantBeKeptDoesntKeepTheTestFromItsEnd(t *testing.T) {
	w := measured(t, reference, report.Completed)
	o, d := w.decide()
	copied := keptIn(d)
	o.Refusals = []lifecycle.Refusal{{Pod: copied.Name, Message: "exceeded quota: small"}}
	d = lifecycle.Decide(o)
	if r := d.Status.Report; keptIn(d) != nil || d.Status.CompletionTime == nil || r.KeptReport != "" ||
		keptCondition(d.Status).Reason != v1alpha1.ReasonRefused ||
		!strings.Contains(keptCondition(d.Status).Message, "exceeded quota") {
		t.Errorf("the status says %+v", d.Status)
	}
	var hasEvent bool
	for _, e := range d.Events {
		hasEvent = hasEvent || e.Reason == v1alpha1.EventReportNotKept && e.Warning &&
			strings.Contains(e.Message, "exceeded quota")
	}
	if !hasEvent {
		t.Errorf("nobody is told: %+v", d.Events)
	}
}

func TestAReportIsKeptWhenTheMomentIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		spec  string
		toRun func(*world) string
	}{"without a teardown": {reference, (*world).toRun}, "with a teardown": {hooks, (*world).setUp}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.spec)
			w.edit(keepReports)
			r := c.toRun(w)
			w.measure(r)
			w.finish(r, report.Completed)
			w.unkept = &lifecycle.Refusal{Message: "failed calling webhook", Transient: true}
			w.pass(time.Minute)
			st := w.test.Status
			if w.condition("Complete").Status == "True" || st.Report == nil ||
				keptCondition(st).Reason != v1alpha1.ReasonRetrying || st.Result == nil {
				t.Fatalf("while it is tried the status says %+v of %+v", st.Report, st.Conditions)
			}
			for i := range w.Pods {
				if p := &w.Pods[i]; p.DeletionTimestamp == nil &&
					p.Labels[v1alpha1.LabelRole] != string(v1alpha1.RoleRunner) {
					t.Errorf("meanwhile it holds %s", p.Name)
				}
			}
			w.unkept = nil
			w.pass(2 * time.Minute)
			if st := w.test.Status; st.Report.KeptReport == "" || keptCondition(st).Status != "True" ||
				!w.Present["ConfigMap/"+st.Report.KeptReport] {
				t.Errorf("then the status says %+v", st.Report)
			}
		})
	}
}

func TestAReportIsTriedToBeKeptForAWhile(t *testing.T) {
	w := measured(t, reference, report.Completed)
	w.unkept = &lifecycle.Refusal{Message: "failed calling webhook", Transient: true}
	began := w.clock
	w.pass(time.Hour)
	st := w.test.Status
	if st.CompletionTime == nil || st.CompletionTime.Sub(began) < 4*time.Minute || st.CompletionTime.Sub(began) > 7*time.Minute {
		t.Fatalf("it began at %s, and ended at %s:\n%s", began, st.CompletionTime, strings.Join(w.trace, "\n"))
	}
	if st.Report.KeptReport != "" || keptCondition(st).Reason != v1alpha1.ReasonRefused ||
		!strings.Contains(keptCondition(st).Message, "for 5m0s: failed calling webhook") || st.Result == nil {
		t.Errorf("the status says %+v", st.Report)
	}
	if reads := w.reads; reads > 20 {
		t.Errorf("the Report was read %d times", reads)
	}
}

func TestAReportIsKeptAlsoWhenThatIsAskedForLater(t *testing.T) {
	w := newWorld(t, reference)
	r := w.toRun()
	w.finish(r, report.Completed)
	w.settle()
	w.edit(keepReports)
	_, d := w.decide()
	copied := keptIn(d)
	if d.Rule != "finished" || copied == nil || d.Status.Report.KeptReport != copied.Name {
		t.Fatalf("%s, and the status says %+v", d.Rule, d.Status.Report)
	}
	w.settle()
	creates, reads := w.creates, w.reads
	w.edit(func(s *v1alpha1.LoadTestSpec) { s.TTLAfterFinished = "1h" })
	w.settle()
	w.pass(2 * time.Hour)
	if w.test != nil || w.creates != creates || w.reads != reads {
		t.Errorf("afterwards it is read %d times, and %d objects are made; the test is gone: %t", w.reads-reads,
			w.creates-creates, w.test == nil)
	}
}

// However often the operator dies between two writes, the Report is there when the test is complete, and once.
func TestAReportIsKeptWhateverTheOperatorDies(t *testing.T) {
	for seed := range uint64(40) {
		w := measured(t, reference, report.Completed)
		chance := rand.New(rand.NewPCG(seed, 7))
		w.mischief = func() bool { return chance.IntN(3) == 0 }
		for range 30 {
			w.reconcile()
			if w.condition("Complete").Status == "True" {
				break
			}
		}
		w.mischief = nil
		w.settle()
		st := w.test.Status
		if st.Report == nil || st.Report.KeptReport == "" || !w.Present["ConfigMap/"+st.Report.KeptReport] {
			t.Fatalf("seed %d: the status says %+v:\n%s", seed, st.Report, strings.Join(w.trace, "\n"))
		}
	}
}
