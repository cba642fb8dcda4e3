package lifecycle_test

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// ended is a test whose second attempt's runner has written its final Report a minute after it began, as the
// operator reads it.
func ended(t *testing.T) (*world, lifecycle.Observed) {
	t.Helper()
	w := newWorld(t, reference)
	w.test.Status.Attempt = 2
	r := w.toRun()
	w.clock = w.clock.Add(time.Minute)
	w.finish(r, report.Completed)
	o := w.observe()
	w.readReport(&o)
	return w, o
}

// Each way in which a Report isn't this attempt's runner's ends the test without a figure and without a
// verdict, and says which it is.
func TestAReportThatDoesNotFitIsNotBelieved(t *testing.T) {
	for name, c := range map[string]struct {
		change    func(*world, *lifecycle.Children)
		wantFault string // "" is believed
	}{
		"as it should be": {func(*world, *lifecycle.Children) {}, ""},
		"another test's": {func(_ *world, c *lifecycle.Children) { c.Report.Plan.Test.UID = "another" },
			"it is of a LoadTest with UID another, and this one's is " + theUID},
		"one that says of no test": {func(_ *world, c *lifecycle.Children) { c.Report.Plan.Test.UID = "" },
			"it is of a LoadTest with UID nobody"},
		"an earlier attempt's": {func(_ *world, c *lifecycle.Children) { c.Report.Plan.Test.Attempt = 1 },
			"it is of attempt 1, and this is attempt 2"},
		"a later attempt's": {func(_ *world, c *lifecycle.Children) { c.Report.Plan.Test.Attempt = 3 },
			"it is of attempt 3, and this is attempt 2"},
		"by another Plan": {func(_ *world, c *lifecycle.Children) { c.Followed.Plan = "sha256:other" },
			"it was made by another Plan (sha256:other) than the one that its runner was told (sha256:"},
		"against a baseline that nobody gave": {func(_ *world,
			c *lifecycle.Children) {
			c.Followed.Baseline = "sha256:easy"
		},
			"it was compared with another baseline than the one that its runner was told"},
		"with its Plan gone": {func(_ *world, c *lifecycle.Children) { c.Order = nil },
			"the Plan's ConfigMap in the operator's own namespace was deleted"},
		"signed by nobody": {func(_ *world, c *lifecycle.Children) {
			c.Envelope.Runner, c.Envelope.RunnerUID = "",
				""
		}, "it is signed by nobody"},
		"signed by another pod": {func(_ *world,
			c *lifecycle.Children) {
			c.Envelope.Runner = "other-12345678-1-runner-x7k2p"
		},
			"it is signed by other-12345678-1-runner-x7k2p"},
		"signed by a pod that had its name": {func(_ *world, c *lifecycle.Children) { c.Envelope.RunnerUID = "former" },
			"with UID former, which is no pod of its runner's Job"},
		"signed by a runner that is gone since": {func(w *world, c *lifecycle.Children) {
			c.Envelope.Runner, c.Envelope.RunnerUID = manifests.RunnerJobName(w.test, 2)+"-gone1", "gone"
		}, ""},
		"signed by a runner of an earlier attempt": {func(w *world, c *lifecycle.Children) {
			c.Envelope.Runner, c.Envelope.RunnerUID = manifests.RunnerJobName(w.test, 1)+"-gone1", "gone"
		}, "-1-runner-gone1 with UID gone, which is no pod of its runner's Job"},
		"signed by a runner's name without a UID": {func(w *world, c *lifecycle.Children) {
			c.Envelope.Runner, c.Envelope.RunnerUID = manifests.RunnerJobName(w.test, 2)+"-gone1", ""
		}, "-2-runner-gone1 with UID nobody, which is no pod of its runner's Job"},
		"of a run that was longer than its Job is there": {func(_ *world,
			c *lifecycle.Children) {
			c.Report.Started = c.Report.Finished.Add(-2 * time.Minute)
		},
			"it says that the run took 2m0s, and it was written 1m0s after its runner's Job was made"},
		"that ends before it begins": {func(_ *world,
			c *lifecycle.Children) {
			c.Report.Started = c.Report.Finished.Add(time.Second)
		}, "it ends before it begins"},
		"from last week": {func(_ *world, c *lifecycle.Children) {
			c.Report.Started, c.Report.Finished = c.Report.Started.AddDate(0, 0, -7), c.Report.Finished.AddDate(0, 0,
				-7)
		}, "no clock is so wrong"},
		"by a clock that is three hours slow": {func(_ *world, c *lifecycle.Children) {
			c.Report.Started, c.Report.Finished = c.Report.Started.Add(-3*time.Hour),
				c.Report.Finished.Add(-3*time.Hour)
		}, ""},
		"by a clock that is three hours fast": {func(_ *world, c *lifecycle.Children) {
			c.Report.Started, c.Report.Finished = c.Report.Started.Add(3*time.Hour), c.Report.Finished.Add(3*time.Hour)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w, o := ended(t)
			c.change(w, &o.Children)
			d := lifecycle.Decide(o)
			if c.wantFault == "" {
				if d.Reason != v1alpha1.ReasonMeasured || d.Status.Result == nil {
					t.Errorf("it isn't believed: %s – %s", d.Reason, d.Message)
				}
				return
			}
			if d.Reason != v1alpha1.ReasonRunnerFailed || !strings.Contains(d.Message, "its Report can't be read: ") ||
				!strings.Contains(d.Message, c.wantFault) {
				t.Errorf("%s – %s\nwant %s – … %s", d.Reason, d.Message, v1alpha1.ReasonRunnerFailed, c.wantFault)
			}
			if d.Status.Result != nil || d.Status.Report != nil || len(d.Create) > 0 {
				t.Errorf("it is told of all the same: %+v", d.Status)
			}
		})
	}
}

// The runner's own verdict doesn't count. The operator judges the criteria by the figures.
func TestCriteriaAreJudgedAnew(t *testing.T) {
	criteria := []plan.Criterion{{Name: "enough", Metric: "PacketsPerSecond", Direction: "Each", Min: "20000"}}
	written := func(outcome report.Outcome) delivery.Original {
		t.Helper()
		r := aReport(report.Completed, 1, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		r.Plan.Criteria = criteria
		r.Verdict = report.Verdict{Outcome: outcome,
			Criteria: []report.CriterionResult{{Name: "enough", Outcome: outcome, Message: "as the runner says"}}}
		data, annotations, err := delivery.EncodeReport(r, true, 1)
		if err != nil {
			t.Fatal(err)
		}
		annotations[delivery.AnnotationRunner] = "pod/uid"
		o, err := delivery.DecodeOriginal(data, annotations)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}
	t.Run("one that the figures don't carry is replaced, and the Report says so", func(t *testing.T) {
		forged := written(report.Passed)
		judged, err := lifecycle.Judged(forged)
		if err != nil {
			t.Fatal(err)
		}
		if judged.Report.Verdict.Outcome != report.DidFail || judged.Envelope.Digest == forged.Envelope.Digest ||
			judged.Envelope.Runner != "pod" {
			t.Errorf("it is %s, %+v", judged.Report.Verdict.Outcome, judged.Envelope)
		}
		decoded, _, err := delivery.DecodeReport(map[string][]byte{delivery.KeyReport: judged.Packed},
			judged.Envelope.Annotations())
		if err != nil || decoded.Verdict.Outcome != report.DidFail || len(decoded.Notes) != 1 ||
			!strings.Contains(decoded.Notes[0].Message, "the runner's verdict was Passed") {
			t.Errorf("the copy is to say %+v, %v", decoded, err)
		}
	})
	t.Run("one that they carry stays, byte for byte", func(t *testing.T) {
		honest := written(report.DidFail)
		judged, err := lifecycle.Judged(honest)
		if err != nil || judged.Envelope.Digest != honest.Envelope.Digest ||
			string(judged.Packed) != string(honest.Packed) {
			t.Errorf("it became %+v, %v", judged.Envelope, err)
		}
	})
}

// The copy is made before Complete becomes True. An object of the test's that has the copy's name is replaced, and
// somebody else's is let be.
func TestTheReportIsCopiedToTheTestsNamespace(t *testing.T) {
	copied := func(d lifecycle.Decision) (ok bool) {
		for _, o := range d.Create {
			ok = ok || o.GetNamespace() == "bench" && o.GetName() == "first-report"
		}
		return ok
	}
	t.Run("it is made", func(t *testing.T) {
		_, o := ended(t)
		d := lifecycle.Decide(o)
		if !copied(d) || d.Status.Report == nil || publishedCondition(d.Status).Status != "True" ||
			d.Status.Report.Digest != o.Children.Envelope.Digest {
			t.Errorf("%s; report %+v", strings.Join(actions(d), " "), d.Status.Report)
		}
	})
	t.Run("one that an earlier pass made stays", func(t *testing.T) {
		_, o := ended(t)
		o.Children.Present["ConfigMap/first-report"], o.Children.Published = true, o.Children.Envelope.Digest
		if d := lifecycle.Decide(o); copied(d) || publishedCondition(d.Status).Status != "True" {
			t.Errorf("%s; report %+v", strings.Join(actions(d), " "), d.Status.Report)
		}
	})
	t.Run("another one is replaced", func(t *testing.T) {
		_, o := ended(t)
		o.Children.Present["ConfigMap/first-report"], o.Children.Published = true, "sha256:forged"
		if d := lifecycle.Decide(o); !copied(d) || len(d.Delete) == 0 || d.Delete[0].Name != "first-report" {
			t.Errorf("%s", strings.Join(actions(d), " "))
		}
	})
	for name, hinder := range map[string]func(*lifecycle.Observed){
		"it exists and doesn't belong to this LoadTest": func(o *lifecycle.Observed) { o.Children.Foreign = []string{"ConfigMap/first-report"} },
		"exceeded quota: bench": func(o *lifecycle.Observed) {
			o.Refusals = []lifecycle.Refusal{{Pod: "first-report", Message: "exceeded quota: bench"}}
		},
	} {
		t.Run("where that can't be, the verdict stands: "+name, func(t *testing.T) {
			_, o := ended(t)
			hinder(&o)
			d := lifecycle.Decide(o)
			if d.Reason != v1alpha1.ReasonMeasured || copied(d) || d.Status.Result == nil ||
				publishedCondition(d.Status).Status != "False" {
				t.Errorf("%s – %s; report %+v", d.Reason, strings.Join(actions(d), " "), d.Status.Report)
			}
		})
	}
	t.Run("where that can't be for a while, it is made later", func(t *testing.T) {
		w, _ := ended(t)
		w.unmade = &lifecycle.Refusal{Pod: "first-report", Message: "timeout", Transient: true}
		w.settle()
		if st := w.test.Status; w.condition("Complete").Reason != v1alpha1.ReasonMeasured ||
			publishedCondition(st).Reason != v1alpha1.ReasonRetrying || len(w.Documents) != 2 {
			w.fail("while it is refused: %s, %+v, %d documents", w.condition("Complete").Reason, st.Report,
				len(w.Documents))
		}
		w.unmade = nil
		w.pass(time.Minute)
		if st := w.test.Status; publishedCondition(st).Status != "True" || !w.Present["ConfigMap/first-report"] ||
			w.Published != st.Report.Digest || len(w.Documents) != 0 {
			w.fail("when it isn't any more: %+v, %d documents", st.Report, len(w.Documents))
		}
	})
	t.Run("where that can't be for long, what the run left goes all the same", func(t *testing.T) {
		w, _ := ended(t)
		w.unmade = &lifecycle.Refusal{Pod: "first-report", Message: "exceeded quota: bench"}
		w.pass(10 * time.Minute)
		if st := w.test.Status; !strings.Contains(publishedCondition(st).Message, "exceeded quota") || len(w.Documents) != 0 {
			w.fail("%+v, %d documents", st.Report, len(w.Documents))
		}
	})
}

// What a run left in the operator's own namespace goes when the test is over, or deleted.
func TestWhatARunLeftIsDeleted(t *testing.T) {
	w := newWorld(t, reference)
	r := w.toRun()
	w.progress(r, "Ramping", 30)
	w.finish(r, report.Completed)
	if len(w.Documents) != 3 {
		t.Fatalf("there are %v", w.Documents)
	}
	w.settle()
	if len(w.Documents) != 0 || !w.Present["ConfigMap/first-report"] {
		t.Errorf("%v is left, and the copy is there: %v", w.Documents, w.Present["ConfigMap/first-report"])
	}
}

// What says in the test's namespace that it is the runner, while there is one, takes nothing from it.
func TestAnImpostorInTheTestsNamespaceIsIgnored(t *testing.T) {
	w := newWorld(t, reference)
	r := w.toRun()
	impostor := w.mustPod(r).DeepCopy()
	impostor.Namespace, impostor.Name, impostor.UID = "bench", "first-1-runner-forged", "forged"
	w.Pods = append(w.Pods, *impostor)
	job := w.Jobs[0].DeepCopy()
	job.Namespace, job.Name = "bench", "first-1-runner"
	o := w.observe()
	o.Children.Jobs = append(o.Children.Jobs, *job)
	if d := lifecycle.Decide(o); d.Rule != "running" || d.Status.Attempt != 1 || len(d.Delete) != 0 {
		w.fail("%s: attempt %d, %d deletions", d.Rule, d.Status.Attempt, len(d.Delete))
	}
}
