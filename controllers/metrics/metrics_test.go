package metrics

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// noon is when all tests here are looked at.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// scene is what the caches hold.
type scene struct {
	objects []client.Object
	// lacks are what tests stand in line for, by their names.
	lacks    map[string]string
	maxTests int
	standby  bool
	broken   error
}

// aTest is a LoadTest that was made an hour ago, with conditions such as "Complete=False Running".
func aTest(name string, conditions ...string) *v1alpha1.LoadTest {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{
		Namespace: "lab", Name: name, UID: types.UID(name + "-uid"),
		CreationTimestamp: metav1.NewTime(noon.Add(-time.Hour)),
		Labels:            map[string]string{v1alpha1.LabelProduct: "VPP"},
	}}
	test.Status.Attempt = 1
	for _, text := range conditions {
		kind, value, _ := strings.Cut(text, "=")
		status, reason, _ := strings.Cut(value, " ")
		test.Status.Conditions = append(test.Status.Conditions, metav1.Condition{
			Type: kind, Status: metav1.ConditionStatus(status), Reason: reason,
			LastTransitionTime: metav1.NewTime(noon.Add(-30 * time.Minute)),
		})
	}
	return test
}

func running(name string) *v1alpha1.LoadTest {
	return aTest(name, "Scheduled=True AllScheduled", "GeneratorsReady=True Ready", "DUTReady=True Ready",
		"Complete=False Running", "Reconciling=True Running")
}

func measured(name string, ago time.Duration) *v1alpha1.LoadTest {
	test := aTest(name, "Scheduled=True AllScheduled", "Complete=True Measured", "Passed=True CriteriaMet")
	test.Status.CompletionTime = new(metav1.NewTime(noon.Add(-ago)))
	test.Status.Result = &v1alpha1.Result{Claim: v1alpha1.Claim{Saturated: true}, Figures: []v1alpha1.Figure{
		{Metric: "PacketsPerSecond", Low: "654400"}, {Metric: "Layer1BitsPerSecond", Low: "2000000000"},
		{Metric: "LineRatePercent", Low: "99.95%"}, {Metric: "LossRatio", Low: "0.01%", High: "0.03%"},
		{Metric: "PacketsPerSecond", Low: "327200", Direction: &v1alpha1.FlowDirection{From: "west", To: "east"}}}}
	return test
}

func ofSessions(name, reason string) *v1alpha1.LoadTest {
	test := measured(name, time.Minute)
	test.Spec.Traffic.Type = v1alpha1.TrafficSessions
	test.Status.Result = &v1alpha1.Result{Reason: reason, Figures: []v1alpha1.Figure{
		{Metric: "GoodputBitsPerSecond", Low: "93000000"}, {Metric: "RetransmitRatio", Low: "0.21%"},
		{Metric: "RoundTripMicroseconds", Low: "47800"}}}
	return test
}

func progressMap(t testing.TB, test *v1alpha1.LoadTest, change func(*delivery.Progress)) *corev1.ConfigMap {
	t.Helper()
	p := delivery.Progress{
		Attempt: 1, Run: 1, UpdateTime: noon.Add(-5 * time.Second), Phase: "Ramping", Percent: 40,
		OfferedPacketsPerSecond: 4_000_000, ReceivedPacketsPerSecond: 3_000_000, LossRatio: "0.25",
	}
	if change != nil {
		change(&p)
	}
	data, err := delivery.EncodeProgress(p)
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{v1alpha1.LabelUID: string(test.UID)}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "linerate-system",
		Name: manifests.ProgressName(test, 1), Labels: labels}, Data: data}
}

// node has four devices.
func node(change func(*corev1.Node)) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{"intel.com/sriov": resource.MustParse("4")},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
	if change != nil {
		change(n)
	}
	return n
}

func holder(name, onNode string, phase corev1.PodPhase) *corev1.Pod {
	limits := corev1.ResourceList{"intel.com/sriov": resource.MustParse("2"), "cpu": resource.MustParse("4")}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name},
		Spec: corev1.PodSpec{NodeName: onNode,
			Containers: []corev1.Container{{Name: "trex", Resources: corev1.ResourceRequirements{Limits: limits}}}},
		Status: corev1.PodStatus{Phase: phase},
	}
}

// brokenReader is a cache that can't be read.
type brokenReader struct {
	client.Reader
	err error
}

func (b brokenReader) List(context.Context, client.ObjectList, ...client.ListOption) error {
	return b.err
}

// gather is what Prometheus scrapes, as lines such as `linerate_loadtests{state="running"} 1`, and as families.
func (s scene) gather(t *testing.T, counters ...prometheus.Collector) (lines []string, families []*dto.MetricFamily) {
	t.Helper()
	scheme, err := caches.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	var reader client.Reader = fake.NewClientBuilder().WithScheme(scheme).WithObjects(s.objects...).Build()
	leads := make(chan struct{})
	if !s.standby {
		close(leads)
	}
	drawn := queue.Line{Turns: map[string]queue.Turn{}}
	for name, resource := range s.lacks {
		drawn.Turns[name+"-uid"] = queue.Turn{Waits: true, Lacks: resource}
	}
	current := &states{Sources{Tests: reader, Progress: reader, OperatorNamespace: "linerate-system", Leads: leads,
		Clock: func() time.Time { return noon }, Line: func() queue.Line { return drawn }, MaxTests: s.maxTests}}
	if s.broken != nil {
		current.Tests = brokenReader{reader, s.broken}
	}
	registry := prometheus.NewPedanticRegistry()
	for _, c := range append(counters, current) {
		if err := registry.Register(c); err != nil {
			t.Fatal(err)
		}
	}
	families, err = registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			lines = append(lines, line(f, m))
		}
	}
	return lines, families
}

func line(f *dto.MetricFamily, m *dto.Metric) string {
	var labels []string
	for _, l := range m.GetLabel() {
		labels = append(labels, fmt.Sprintf("%s=%q", l.GetName(), l.GetValue()))
	}
	name := f.GetName()
	if len(labels) > 0 {
		name += "{" + strings.Join(labels, ",") + "}"
	}
	return fmt.Sprintf("%s %v", name, m.GetGauge().GetValue()+m.GetCounter().GetValue())
}

// wantLines fails unless each line is there, and none that begins as those after "not".
func wantLines(t *testing.T, lines []string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if prefix, absent := strings.CutPrefix(want, "not "); absent {
			if i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, prefix) }); i >= 0 {
				t.Errorf("there is %s", lines[i])
			}
		} else if !slices.Contains(lines, want) {
			t.Errorf("there is no %s in\n%s", want, strings.Join(lines, "\n"))
		}
	}
}

func TestTestsAreCountedByState(t *testing.T) {
	suspended := aTest("suspended", "Scheduled=False Suspended", "Complete=False Waiting")
	resumed := aTest("resumed", "Scheduled=False Unschedulable", "Complete=False Waiting", "Reconciling=True Waiting")
	resumed.CreationTimestamp = metav1.NewTime(noon.Add(-24 * time.Hour))
	lines, _ := scene{objects: []client.Object{
		resumed, suspended, running("running"), measured("measured", time.Minute),
		aTest("starting", "Scheduled=True AllScheduled", "GeneratorsReady=False ImageProblem", "Complete=False Waiting",
			"Reconciling=True Waiting"),
		aTest("ending", "Scheduled=True AllScheduled", "Complete=False Measured"),
		aTest("lost", "Scheduled=True AllScheduled", "Complete=True GeneratorLost"),
		aTest("stopped", "Scheduled=False Suspended", "Complete=True Stopped"),
	}}.gather(t)
	for _, state := range allStates() {
		wantLines(t, lines, fmt.Sprintf("linerate_loadtests{state=%q} 1", state))
	}
	wantLines(t, lines,
		`linerate_waiting_loadtests{reason="Unschedulable"} 1`, `linerate_waiting_loadtests{reason="ImageProblem"} 1`,
		`not linerate_waiting_loadtests{reason="S`,
		"linerate_oldest_waiting_seconds 1800") // what was resumed half an hour ago has waited for that long
	t.Run("one that nobody has looked at waits", func(t *testing.T) {
		lines, _ := scene{objects: []client.Object{aTest("new")}}.gather(t)
		wantLines(t, lines, `linerate_loadtests{state="waiting"} 1`, `linerate_waiting_loadtests{reason="Pending"} 1`,
			"linerate_oldest_waiting_seconds 3600")
	})
	t.Run("where there is none each state is told as 0", func(t *testing.T) {
		lines, _ := scene{}.gather(t)
		wantLines(t, lines, `linerate_loadtests{state="failed"} 0`, "linerate_oldest_waiting_seconds 0",
			"not linerate_waiting_loadtests")
	})
}

func TestTheLineForEachResourceIsTold(t *testing.T) {
	queued := func(name string, waits time.Duration) *v1alpha1.LoadTest {
		test := aTest(name, "Scheduled=False Queued", "Complete=False Waiting")
		test.CreationTimestamp = metav1.NewTime(noon.Add(-waits))
		return test
	}
	s := scene{
		objects: []client.Object{node(nil), queued("first", 2*time.Hour), queued("second", time.Minute),
			running("runs"), aTest("new")},
		// the line is behind: one runs by now
		lacks: map[string]string{"first": "intel.com/sriov", "second": "intel.com/sriov", "runs": "intel.com/sriov"},
	}
	lines, _ := s.gather(t)
	wantLines(t, lines, `linerate_queue_length{resource="intel.com/sriov"} 2`,
		`linerate_queue_oldest_seconds{resource="intel.com/sriov"} 7200`)
	s.lacks = nil
	lines, _ = s.gather(t)
	wantLines(t, lines, `linerate_queue_length{resource="intel.com/sriov"} 0`,
		`linerate_queue_oldest_seconds{resource="intel.com/sriov"} 0`)
}

func TestARunIsToldOfWhileItRuns(t *testing.T) {
	const labels = `{loadtest="imix",namespace="lab",product="VPP"} `
	test := running("imix")
	lines, _ := scene{maxTests: 1, objects: []client.Object{test, progressMap(t, test, nil)}}.gather(t)
	wantLines(t, lines,
		"linerate_loadtest_offered_packets_per_second"+labels+"4e+06", "linerate_loadtest_received_packets_per_second"+
			labels+"3e+06",
		"linerate_loadtest_loss_ratio"+labels+"0.25", "linerate_loadtest_progress_ratio"+labels+"0.4",
		"linerate_loadtests_left_out 0")
	ended := measured("imix", time.Minute)
	silent := map[string][]client.Object{
		"no more once it ends":         {ended, progressMap(t, ended, nil)},
		"not before its runner speaks": {test},
		"not what was told a while ago": {test,
			progressMap(t, test, func(p *delivery.Progress) { p.UpdateTime = noon.Add(-2 * time.Minute) })},
		"not what the last attempt told": {test, progressMap(t, test, func(p *delivery.Progress) { p.Attempt = 2 })},
		"not what a test before it told": {test, progressMap(t, running("other"), nil),
			renamed(progressMap(t, running("other"), nil), test)},
		"not what can't be read, or is odd": {test, &corev1.ConfigMap{ObjectMeta: progressMap(t, test, nil).ObjectMeta,
			Data: map[string]string{"progress.json": "{"}}},
	}
	for name, objects := range silent {
		t.Run(name, func(t *testing.T) {
			lines, _ := scene{maxTests: 1, objects: objects}.gather(t)
			wantLines(t, lines, "not linerate_loadtest_offered", "not linerate_loadtest_loss",
				"not linerate_loadtest_progress", "linerate_loadtests_left_out 0")
		})
	}
}

func renamed(configMap *corev1.ConfigMap, test *v1alpha1.LoadTest) *corev1.ConfigMap {
	configMap.Name = manifests.ProgressName(test, 1)
	return configMap
}

func TestAResultIsToldOf(t *testing.T) {
	const labels = `{loadtest="imix",namespace="lab",product="VPP"} `
	lines, _ := scene{maxTests: 1, objects: []client.Object{measured("imix", time.Minute)}}.gather(t)
	wantLines(t, lines,
		"linerate_loadtest_result_packets_per_second"+labels+"654400",
		"linerate_loadtest_result_layer1_bytes_per_second"+labels+"2.5e+08",
		"linerate_loadtest_result_line_rate_ratio"+labels+"0.9995", "linerate_loadtest_result_loss_ratio"+labels+
			"0.0003",
		"linerate_loadtest_result_saturated"+labels+"1", "linerate_loadtest_passed"+labels+"1",
		"linerate_loadtest_finished_timestamp_seconds"+labels+"1.77236634e+09")
	t.Run("what failed, and is no limit, is told as that", func(t *testing.T) {
		test := measured("imix", time.Minute)
		test.Status.Conditions[2].Status, test.Status.Result.Claim.Saturated = metav1.ConditionFalse, false
		lines, _ := scene{maxTests: 1, objects: []client.Object{test}}.gather(t)
		wantLines(t, lines, "linerate_loadtest_passed"+labels+"0", "linerate_loadtest_result_saturated"+labels+"0")
	})
	t.Run("a loss without an upper bound of its own is its lower bound, unless it is open", func(t *testing.T) {
		test := measured("imix", time.Minute)
		loss := &test.Status.Result.Figures[3]
		loss.High = ""
		lines, _ := scene{maxTests: 1, objects: []client.Object{test}}.gather(t)
		wantLines(t, lines, "linerate_loadtest_result_loss_ratio"+labels+"0.0001")
		loss.Open = true
		lines, _ = scene{maxTests: 1, objects: []client.Object{test}}.gather(t)
		wantLines(t, lines, "not linerate_loadtest_result_loss_ratio")
	})
	t.Run("what isn't known isn't told", func(t *testing.T) {
		test := measured("imix", time.Minute)
		test.Status.Conditions, test.Status.Result.Figures = test.Status.Conditions[:2], test.Status.Result.Figures[:2]
		lines, _ := scene{maxTests: 1, objects: []client.Object{test}}.gather(t)
		wantLines(t, lines, "not linerate_loadtest_passed", "not linerate_loadtest_result_line",
			"linerate_loadtest_result_saturated"+labels+"1")
	})
}

// A status has neither a ratio nor a round trip if both may be the ends' own.
func TestRetransmitsThatAreNoFigureAreNoGauge(t *testing.T) {
	test := ofSessions("tcp", "GeneratorLimited")
	test.Status.Result.Figures = test.Status.Result.Figures[:1]
	lines, _ := scene{maxTests: 1, objects: []client.Object{test}}.gather(t)
	wantLines(t, lines, `linerate_loadtest_result_goodput_bytes_per_second{loadtest="tcp",namespace="lab",product="VPP"} 1.1625e+07`,
		"not linerate_loadtest_result_retransmit_ratio", "not linerate_loadtest_result_round_trip_seconds")
}

func TestSessionsTellOfGoodputAndOfNoFrames(t *testing.T) {
	const labels = `{loadtest="tcp",namespace="lab",product="VPP"} `
	for reason, limited := range map[string]string{"PathLimited": "1", "GeneratorLimited": "0", "Inconclusive": "0"} {
		lines, _ := scene{maxTests: 1, objects: []client.Object{ofSessions("tcp", reason)}}.gather(t)
		wantLines(t, lines, "linerate_loadtest_result_goodput_bytes_per_second"+labels+"1.1625e+07",
			"linerate_loadtest_result_path_limited"+labels+limited,
			"linerate_loadtest_result_retransmit_ratio"+labels+"0.0021", "linerate_loadtest_result_round_trip_seconds"+
				labels+"0.0478",
			"linerate_loadtest_passed"+labels+"1", "linerate_loadtest_finished_timestamp_seconds"+labels+
				"1.77236634e+09",
			"not linerate_loadtest_result_packets", "not linerate_loadtest_result_layer1",
			"not linerate_loadtest_result_line", "not linerate_loadtest_result_loss",
			"not linerate_loadtest_result_saturated")
	}
	run := running("tcp")
	run.Spec.Traffic.Type = v1alpha1.TrafficSessions
	lines, _ := scene{maxTests: 1, objects: []client.Object{run, progressMap(t, run, func(p *delivery.Progress) {
		p.OfferedPacketsPerSecond, p.ReceivedPacketsPerSecond, p.LossRatio, p.GoodputBitsPerSecond = 0, 0, "",
			new(int64(80_000_000))
	})}}.gather(t)
	wantLines(t, lines, "linerate_loadtest_progress_ratio"+labels+"0.4", "linerate_loadtest_goodput_bytes_per_second"+
		labels+"1e+07", "not linerate_loadtest_offered", "not linerate_loadtest_received", "not linerate_loadtest_loss")
	for goodput, told := range map[*int64]string{nil: "not linerate_loadtest_goodput",
		new(int64): "linerate_loadtest_goodput_bytes_per_second" + labels + "0"} {
		lines, _ := scene{maxTests: 1, objects: []client.Object{run,
			progressMap(t, run, func(p *delivery.Progress) { p.GoodputBitsPerSecond = goodput })}}.gather(t)
		wantLines(t, lines, told)
	}
}

func TestFiguresOfTestsAreBounded(t *testing.T) {
	run := running("z-runs")
	objects := []client.Object{run, progressMap(t, run, nil)}
	for i := range 5 {
		objects = append(objects, measured(fmt.Sprintf("m-%d", i), time.Duration(i+1)*time.Minute))
	}
	cases := map[int]string{0: "", 1: "z-runs", 3: "m-0 m-1 z-runs", 9: "m-0 m-1 m-2 m-3 m-4 z-runs"}
	for most, want := range cases {
		t.Run(fmt.Sprintf("%d: what runs first, then what ended last", most), func(t *testing.T) {
			lines, families := scene{maxTests: most, objects: objects}.gather(t)
			tests := map[string]bool{}
			for _, f := range families {
				for _, m := range f.GetMetric() {
					for _, l := range m.GetLabel() {
						tests[l.GetValue()] = tests[l.GetValue()] || l.GetName() == "loadtest"
					}
				}
			}
			maps.DeleteFunc(tests, func(_ string, isTest bool) bool { return !isTest })
			if got := strings.Join(slices.Sorted(maps.Keys(tests)), " "); got != want {
				t.Errorf("told are %q, want %q", got, want)
			}
			wantLines(t, lines, fmt.Sprintf("linerate_loadtests_left_out %d", max(0, 6-most)))
		})
	}
}

func TestDevicesAreCounted(t *testing.T) {
	cordoned := node(func(n *corev1.Node) { n.Name, n.Spec.Unschedulable = "b", true })
	lines, _ := scene{objects: []client.Object{
		node(nil), cordoned,
		holder("holds", "a", corev1.PodRunning), holder("holds-too", "b", corev1.PodPending),
		holder("has-no-node", "", corev1.PodPending), holder("ended", "a", corev1.PodSucceeded),
		holder("failed", "a", corev1.PodFailed),
	}}.gather(t)
	wantLines(t, lines, `linerate_devices_held{resource="intel.com/sriov"} 4`,
		`linerate_devices_allocatable{resource="intel.com/sriov"} 4`, `not linerate_devices_held{resource="cpu"}`)
	t.Run("none held is told as 0", func(t *testing.T) {
		lines, _ := scene{objects: []client.Object{node(nil)}}.gather(t)
		wantLines(t, lines, `linerate_devices_held{resource="intel.com/sriov"} 0`)
	})
}

func TestWhoDoesNotKnowSaysNothing(t *testing.T) {
	for name, s := range map[string]scene{"a replica that stands by": {standby: true},
		"a cache that can't be read": {broken: errors.New("not now")}} {
		t.Run(name, func(t *testing.T) {
			s.objects = []client.Object{aTest("a")}
			if lines, _ := s.gather(t); len(lines) > 0 {
				t.Errorf("it says\n%s", strings.Join(lines, "\n"))
			}
		})
	}
}

func TestWhatAStatusTellsIsCountedOnce(t *testing.T) {
	m := NewTests()
	waiting := aTest("a", "Scheduled=False Pending", "Complete=False Waiting")
	ended := measured("a", 0)
	ended.Status.Operator.LostRuns = 2
	m.StatusWritten(waiting, &ended.Status, noon)
	m.StatusWritten(ended, &ended.Status, noon)
	lines, families := scene{standby: true}.gather(t, m.collectors()...)
	wantLines(t, lines, `linerate_lost_runs_total{reason="RunnerFailed"} 2`,
		`linerate_lost_runs_total{reason="Suspended"} 0`,
		`linerate_completed_loadtests_total{reason="Measured"} 1`,
		`linerate_completed_loadtests_total{reason="Evicted"} 0`, `linerate_verdicts_total{verdict="passed"} 1`)
	for _, f := range families {
		h := f.GetMetric()[0].GetHistogram()
		if strings.HasSuffix(f.GetName(), "_duration_seconds") && (h.GetSampleCount() != 1 ||
			h.GetSampleSum() != 3600) {
			t.Errorf("%s: %d observations, %v s", f.GetName(), h.GetSampleCount(), h.GetSampleSum())
		}
	}
}

// A run is lost to the user who suspended the test, to Kueue, or else to the runner.
func TestWhoRunsWereLostTo(t *testing.T) {
	for scheduled, want := range map[string]string{"False Suspended": "Suspended", "False Queued": "Evicted",
		"True AllScheduled": "RunnerFailed"} {
		m, lost := NewTests(), aTest("a", "Scheduled="+scheduled)
		lost.Status.Operator.LostRuns = 1
		m.StatusWritten(aTest("a"), &lost.Status, noon)
		lines, _ := scene{standby: true}.gather(t, m.collectors()...)
		wantLines(t, lines, fmt.Sprintf("linerate_lost_runs_total{reason=%q} 1", want))
	}
}

func TestVerdictsInAWord(t *testing.T) {
	for said, want := range map[string]string{
		"True CriteriaMet": "passed", "False CriteriaNotMet": "failed", "Unknown Undecided": "undecided",
		"Unknown NoCriteria": "none",
	} {
		if got := verdictOf(&aTest("a", "Passed="+said).Status); got != want {
			t.Errorf("%s is %s, want %s", said, got, want)
		}
	}
}
