package lifecycle_test

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// compared is the baseline that the decision which makes the runner sends along. Nil means none.
func compared(t *testing.T, w *world) *report.Baseline {
	t.Helper()
	w.settle()
	w.schedule()
	w.settle()
	w.run()
	for range 20 {
		_, d := w.decide()
		for _, o := range d.Create {
			if c, ok := o.(*corev1.ConfigMap); ok && c.BinaryData[delivery.KeyPlan] != nil {
				files := fstest.MapFS{}
				for key, data := range c.BinaryData {
					files[key] = &fstest.MapFile{Data: data}
				}
				b, err := delivery.ReadBaseline(files)
				if err != nil {
					t.Fatal(err)
				}
				return b
			}
		}
		w.reconcile()
	}
	t.Fatal("no runner was made")
	return nil
}

func relative(baseline string) string {
	spec := strings.Replace(reference, `min: "9900"`, "maxRegression: 2%", 1)
	if baseline == "" {
		return spec
	}
	return withLines(spec, "baseline: "+baseline)
}

func TestWhatATestIsComparedWithTravelsWithItsPlan(t *testing.T) {
	w := newWorld(t, relative("{loadTest: main}"))
	w.baseline = lifecycle.Baseline{Sources: []lifecycle.BaselineSource{
		{Name: "main-report", Digest: "sha256:1",
			Report: &report.Report{Plan: &plan.Plan{Test: plan.Test{Name: "main"}}, Ending: report.Completed,
				Answer: report.Answer{Measured: true}}},
		{Name: "other-report", Fault: "there is no such ConfigMap"},
	}}
	b := compared(t, w)
	if b == nil || b.String() != "LoadTest main" || b.Message != "" || len(b.Runs) != 2 || w.compared == 0 {
		t.Fatalf("%+v", b)
	}
	if got := b.Runs[0]; got.Test != "main" || got.Report != "sha256:1" ||
		!strings.Contains(got.Message, "main was measured in another way") {
		t.Errorf("%+v", got)
	}
	if got := b.Runs[1]; got.Message != "other-report: there is no such ConfigMap" {
		t.Errorf("%+v", got)
	}
}

func TestABaselineThatIsMissingIsToldToTheRunner(t *testing.T) {
	w := newWorld(t, relative("{reports: [{configMap: main-report}]}"))
	w.baseline = lifecycle.Baseline{Fault: "there is no such thing"}
	if b := compared(t, w); b == nil || b.String() != "Report main-report" || b.Message != "there is no such thing" {
		t.Errorf("%+v", b)
	}
}

func TestABaselineIsLookedAtOnlyWhereACriterionCompares(t *testing.T) {
	for name, spec := range map[string]string{"without a baseline": relative(""),
		"without a relative criterion": withLines(reference, "baseline: {loadTest: main}")} {
		w := newWorld(t, spec)
		if b := compared(t, w); b != nil || w.compared != 0 {
			t.Errorf("%s: looked %d times: %+v", name, w.compared, b)
		}
	}
}

// A hundred Reports aren't read at each look at a test whose generators' addresses aren't known yet.
func TestABaselineIsLookedAtOnceTheRunnerCanBeMade(t *testing.T) {
	w := newWorld(t, relative("{loadTest: main}"))
	w.settle()
	w.schedule()
	w.settle()
	w.run()
	w.mustPod("first-1-generator-0").Status.PodIP = ""
	for range 5 {
		w.settle()
		w.pass(time.Second)
	}
	if w.compared > 0 {
		t.Errorf("it was read %d times, and no runner could be made", w.compared)
	}
	w.mustPod("first-1-generator-0").Status.PodIP = "10.0.0.1"
	if w.settle(); w.compared == 0 {
		t.Error("it isn't read when a runner can be made")
	}
}
