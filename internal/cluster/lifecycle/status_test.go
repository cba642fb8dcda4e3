package lifecycle_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

func TestResultAsMeasured(t *testing.T) {
	w := newWorld(t, reference)
	r := w.toRun()
	w.finish(r, report.Completed)
	w.Report.Answer.Resolution = 5000
	w.Report.Answer.Directions[0].Limit = &report.DirectionLimit{Reason: report.LossAboveLimit, Saturated: true,
		Confirmed: true, Window: 7, Lossy: 9, Resolution: 5_000_000, LimitsAll: true}
	w.Report.Answer.Directions[1].Limit = &report.DirectionLimit{Reason: report.OtherDirection, Confirmed: true,
		Window: 7}
	w.settle()
	west, east := &v1alpha1.FlowDirection{From: "west", To: "east"}, &v1alpha1.FlowDirection{From: "east", To: "west"}
	want := &v1alpha1.Result{
		Reason:    "LossAboveLimit",
		Claim:     v1alpha1.Claim{Saturated: true, Confirmed: true, Resolution: "0.0005%"},
		LimitedBy: []v1alpha1.FlowDirection{*west},
		Figures: []v1alpha1.Figure{
			{Metric: "PacketsPerSecond", Low: "20000", Open: true},
			{Metric: "Layer1BitsPerSecond", Low: "60000000", Open: true},
			{Metric: "LineRatePercent", Low: "0%", Open: true},
			{Metric: "LossRatio", Low: "0%"},
			{Metric: "PacketsPerSecond", Direction: west, Low: "10000", High: "10050.251256281407"},
			{Metric: "PacketsPerSecond", Direction: east, Low: "10000", Open: true},
		},
	}
	st := w.test.Status
	if diff := cmp.Diff(want, st.Result); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if want := "west→east 10.0 kpps, east→west ≥ 10.0 kpps"; st.Summary != want {
		t.Errorf("summary is %q, not %q", st.Summary, want)
	}
	if st.Report == nil || st.Report.ConfigMap != "first-report" || st.Report.Digest != w.Envelope.Digest {
		t.Errorf("report is %+v", st.Report)
	}
}

func TestFiguresOfWhatWasCutShort(t *testing.T) {
	for _, c := range []struct {
		ending    report.Ending
		reason    string
		published bool
	}{
		{report.Completed, "Measured", true},
		{report.GeneratorLost, "GeneratorLost", true},
		{report.DeadlineExceeded, "DeadlineExceeded", true},
		{report.Interrupted, "NotMeasured", false},
		{report.Failed, "RunnerFailed", true},
		{"Parked", "NotMeasured", false},
	} {
		t.Run(string(c.ending), func(t *testing.T) {
			w := newWorld(t, reference)
			w.finish(w.toRun(), c.ending)
			w.pass(time.Minute)
			if got := w.condition("Complete").Reason; got != c.reason {
				t.Errorf("Complete says %s, not %s", got, c.reason)
			}
			if got := w.test.Status.Result != nil; got != c.published {
				t.Errorf("a result is published: %v, not %v", got, c.published)
			}
			if passed := w.condition("Passed").Status == "True"; passed != (c.ending == report.Completed) {
				t.Errorf("Passed is %v", passed)
			}
		})
	}
}

// Both happen at once. The stop is decided, and the run comes to its own end before it hears of it.
func TestAStopThatCrossesTheEndOfTheRunKeepsTheFigures(t *testing.T) {
	w := newWorld(t, reference)
	r := w.toRun()
	w.edit(func(s *v1alpha1.LoadTestSpec) { s.Stop = true })
	w.reconcile()
	w.finish(r, report.Completed)
	w.settle()
	if got := w.condition("Complete"); got.Status != "True" || got.Reason != v1alpha1.ReasonStopped {
		t.Errorf("Complete=%s/%s", got.Status, got.Reason)
	}
	if w.test.Status.Result == nil || w.test.Status.Summary == "" {
		t.Error("what was measured is lost")
	}
	if got := w.condition("Passed"); got.Status != "Unknown" {
		t.Errorf("a stopped test has the verdict %s", got.Status)
	}
}

func TestProgressIsCopiedAtMostEachFifteenSeconds(t *testing.T) {
	w := newWorld(t, reference)
	r := w.toRun()
	w.progress(r, "Ramping", 1)
	w.settle()
	writes := w.writes
	for i := range 60 {
		w.progress(r, []string{"Ramping", "Refining", "Confirming", "Holding"}[i/7%4], i)
		w.pass(time.Second)
	}
	if got := w.writes - writes; got < 3 || got > 4 {
		t.Errorf("%d writes in a minute of nine steps", got)
	}
	w.progress(r, "Confirming", 90)
	w.pass(15 * time.Second)
	if got := w.test.Status.Progress.Phase; got != "Confirming" {
		t.Errorf("fifteen seconds later the step is %s", got)
	}
}

// A run begins a moment after the last pod is ready. A status that is written at the latest then isn't written pod by
// pod before. Where a pod isn't ready for long, the others are told of.
func TestThatPodsAreReadyIsLeftToTheRun(t *testing.T) {
	w := newWorld(t, reference)
	w.settle()
	w.schedule()
	w.settle()
	writes := w.writes
	w.run()
	generator := w.mustPod("first-1-generator-0")
	set(generator, corev1.PodReady, corev1.ConditionFalse, w.clock)
	w.settle()
	if got := w.writes - writes; got != 0 {
		t.Errorf("%d writes as the device is ready", got)
	}
	w.pass(3 * time.Second)
	if got := w.condition("DUTReady"); got.Status != "True" || w.writes-writes != 1 {
		t.Errorf("%d writes within three seconds, and DUTReady=%s/%s", w.writes-writes, got.Status, got.Reason)
	}
	set(generator, corev1.PodReady, corev1.ConditionTrue, w.clock)
	w.settle()
	if got := w.condition("GeneratorsReady"); got.Status != "True" || w.writes-writes != 2 {
		t.Errorf("%d writes until the run begins, and GeneratorsReady=%s/%s", w.writes-writes, got.Status, got.Reason)
	}
}

func TestTheEndOfTheTrafficIsLeftToTheReport(t *testing.T) {
	w := newWorld(t, reference)
	r := w.toRun()
	w.progress(r, "Confirming", 90)
	w.settle()
	writes := w.writes
	for _, step := range []string{"Draining", "Ended"} {
		w.progress(r, step, 99)
		w.settle()
	}
	if got := w.writes - writes; got != 0 || w.test.Status.Progress.Phase != "Confirming" {
		t.Errorf("%d writes, and the step is %s", got, w.test.Status.Progress.Phase)
	}
	w.pass(31 * time.Second)
	if got := w.test.Status.Progress.Phase; got != "Ended" {
		t.Errorf("the Report doesn't come, and the step is still %s", got)
	}
}

func TestProgressForPeople(t *testing.T) {
	w := newWorld(t, reference)
	w.progress(w.toRun(), "Ramping", 42)
	w.settle()
	p := w.test.Status.Progress
	if p.IntendedPacketsPerSecond != 20_000 || p.ReceivedPacketsPerSecond != 20_000 || *p.Percent != 42 ||
		p.Run != 1 || p.LossRatio != "0%" {
		t.Errorf("progress is %+v", p)
	}
}

func TestProgressOfOneDirectionAfterAnother(t *testing.T) {
	w := newWorld(t, reference)
	w.progress(w.toRun(), "Ramping", 42)
	w.Progress.Varied, w.Progress.Message = "west→east", ""
	w.pass(16 * time.Second)
	if p := w.test.Status.Progress; p.VariedDirection == nil ||
		*p.VariedDirection != (v1alpha1.FlowDirection{From: "west", To: "east"}) {
		t.Errorf("progress is %+v", p)
	}
}

const tcp = `
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: first}
spec:
  dut: {type: Reference}
  generator: {engine: Software}
  links:
  - {name: west, network: west, lineRate: 1gbps}
  - {name: east, network: east, lineRate: 1gbps}
  traffic: {type: Sessions}
  procedure: {type: ConstantLoad, constantLoad: {rate: Unlimited}}
`

func TestProgressOfSessionsIsGoodput(t *testing.T) {
	w := newWorld(t, tcp)
	r := w.toRun()
	for _, goodput := range []*int64{nil, new(int64), new(int64(92_900_000))} {
		w.progress(r, "Holding", 42)
		w.Progress.IntendedPacketsPerSecond, w.Progress.ReceivedPacketsPerSecond, w.Progress.LossRatio,
			w.Progress.GoodputBitsPerSecond = 0, 0, "", goodput
		w.pass(11 * time.Second)
		p := w.test.Status.Progress
		if diff := cmp.Diff(goodput, p.GoodputBitsPerSecond); diff != "" || p.LossRatio != "" {
			t.Errorf("of a goodput of %v progress is %+v", goodput, p)
		}
	}
}

func TestManyGeneratorsDontMakeManyWrites(t *testing.T) {
	w := newWorld(t, strings.Replace(reference, "  links:", "  generator: {engine: Software, replicas: 64}\n  links:",
		1))
	w.settle()
	writes := w.writes
	for i := range w.Pods {
		p := &w.Pods[i]
		p.Spec.NodeName = "rack-1"
		set(p, corev1.PodScheduled, corev1.ConditionTrue, w.clock)
		w.settle()
	}
	for i := range w.Pods {
		p := &w.Pods[i]
		p.Status.Phase, p.Status.PodIP = corev1.PodRunning, fmt.Sprintf("10.0.0.%d", i+1)
		set(p, corev1.PodReady, corev1.ConditionTrue, w.clock)
		w.settle()
	}
	if got := w.writes - writes; got > 8 {
		t.Errorf("%d writes while 65 pods start", got)
	}
	if w.condition("GeneratorsReady").Status != "True" || len(w.test.Status.Pods) != 65 {
		t.Errorf("GeneratorsReady is %s, %d pods", w.condition("GeneratorsReady").Status, len(w.test.Status.Pods))
	}
}

func TestPodsAreToldWithTheirNodes(t *testing.T) {
	w := newWorld(t, reference)
	w.toRun()
	w.pass(15 * time.Second)
	got := map[string]string{}
	for _, p := range w.test.Status.Pods {
		got[string(p.Role)] = p.Node + " " + p.State
	}
	want := map[string]string{"DUT": "rack-2 Ready", "Generator": "rack-1 Ready", "Runner": "rack-2 Ready"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pods (-want +got):\n%s", diff)
	}
}

func TestAPodOfARoleThatLaterVersionsHave(t *testing.T) {
	w := newWorld(t, reference)
	w.toRun()
	p := w.mustPod("first-1-dut").DeepCopy()
	p.Name, p.Labels[v1alpha1.LabelRole] = "first-1-mirror", "mirror"
	w.Pods = append(w.Pods, *p)
	w.settle()
	for _, s := range w.test.Status.Pods {
		if s.Role == "" {
			t.Errorf("pod %s has no role that the schema knows", s.Name)
		}
	}
}

func TestRefusalsAreTriedAgainLessAndLessOften(t *testing.T) {
	w := newWorld(t, reference)
	w.refusals = append(w.refusals, quota)
	w.settle()
	var waits []time.Duration
	for range 9 {
		waits = append(waits, w.woken.Sub(w.clock))
		w.clock = w.woken
		w.reconcile()
	}
	for i, wait := range waits {
		if wait < 10*time.Second || wait > 5*time.Minute || i > 0 && wait < waits[i-1] {
			t.Errorf("waits %v", waits)
		}
	}
	if longest := waits[len(waits)-1]; longest != 5*time.Minute && longest < time.Minute {
		t.Errorf("waits %v in the end", longest)
	}
}
