package operator

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
)

var update = flag.Bool("update", false, "write what is scraped to test/api/chart/testdata/scrapes, which the dashboard is tried on")

// scrape is what Prometheus would read.
func (p *program) scrape() string {
	p.l.t.Helper()
	ctx, cancel := context.WithTimeout(p.l.t.Context(), 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.flag("--metrics-address")+"/metrics", nil)
	p.l.must(err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "" // it doesn't listen yet
	}
	defer response.Body.Close() //nolint:errcheck // it is read only
	text, err := io.ReadAll(response.Body)
	p.l.must(err)
	if response.StatusCode != http.StatusOK {
		p.l.t.Fatalf("scraped: %s\n%s", response.Status, text)
	}
	return strings.ReplaceAll(string(text), p.l.namespace, "lab")
}

// awaitMetrics waits until a scrape has all lines; it returns the scrape.
func (p *program) awaitMetrics(lines ...string) (scrape string) {
	p.l.t.Helper()
	defer func() {
		if p.l.t.Failed() {
			p.l.t.Logf("want\n%s\nin\n%s", strings.Join(lines, "\n"), strings.Join(ours(scrape), "\n"))
		}
	}()
	p.l.await("metrics", func() bool {
		scrape = p.scrape()
		return !slices.ContainsFunc(lines, func(l string) bool { return !strings.Contains(scrape, "\n"+l+"\n") })
	})
	return scrape
}

func ours(scrape string) (lines []string) {
	for line := range strings.Lines(scrape) {
		if strings.HasPrefix(line, "linerate_") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// A morning in a lab, as metrics, log and events show it: a test measured, one that runs, one that waits, one that is suspended, one that fails.
func TestAMorningInALab(t *testing.T) {
	l := newLab(t)
	l.wire(l.namespace, "west", "lab.example/sriov-west")
	l.wire(l.namespace, "east", "lab.example/sriov-east")
	l.wire(l.namespace, "rare", "lab.example/nobody-has-it")
	p := l.startProgram(writeKubeconfig(t), "--health-address=0", "--metrics-secure=false", "--metrics-address="+freeAddress(t))
	start := p.awaitMetrics(`linerate_loadtests{state="running"} 0`, `linerate_devices_held{resource="lab.example/sriov-west"} 0`)

	l.create(minimal("broken"))
	l.breakGenerator("broken")
	l.create(minimal("paused", func(test *v1alpha1.LoadTest) { test.Spec.Suspend = true }))
	l.create(minimal("queued", func(test *v1alpha1.LoadTest) { test.Spec.Links[0].Network = "rare" }))
	night := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "night"}}
	l.must(yaml.UnmarshalStrict([]byte(loopbackCells+"suspend: true\n"), &night.Spec))
	l.must(admin.Create(t.Context(), night))
	l.create(minimal("64b", of("VPP"), judged))
	l.finishRun("64b", l.beginRun("64b"))
	l.create(minimal("tcp", of("VPP"), ofSessions))
	tcp := l.beginRunOf("tcp", 3, delivery.Progress{Phase: "Holding", Percent: 42, GoodputBitsPerSecond: new(int64(92_900_000))})
	sessions := p.awaitMetrics(`linerate_loadtest_goodput_bytes_per_second{loadtest="tcp",namespace="lab",product="VPP"} 1.16125e+07`)
	if strings.Contains(sessions, `_packets_per_second{loadtest="tcp"`) {
		t.Error("sessions have metrics of frames")
	}
	l.endRun("tcp", tcp, tcp.measuredSessions())
	l.create(minimal("imix", of("VPP"), judged))
	run := l.beginRun("imix")
	during := p.awaitMetrics(
		`linerate_loadtests{state="failed"} 1`, `linerate_loadtests{state="suspended"} 1`, `linerate_loadtests{state="waiting"} 1`,
		`linerate_loadtests{state="running"} 1`, `linerate_loadtests{state="measured"} 2`, `linerate_waiting_loadtests{reason="ResourceMissing"} 1`,
		`linerate_devices_held{resource="lab.example/sriov-west"} 2`,
		`linerate_suites{state="suspended"} 1`, `linerate_suite_tests{namespace="lab",state="waiting",suite="night"} 4`, `linerate_completed_suites_total{reason="Measured"} 0`,
		`linerate_loadtest_offered_packets_per_second{loadtest="imix",namespace="lab",product="VPP"} 8.4e+06`,
		`linerate_loadtest_result_packets_per_second{loadtest="64b",namespace="lab",product="VPP"} 654400`,
		`linerate_loadtest_result_goodput_bytes_per_second{loadtest="tcp",namespace="lab",product="VPP"} 1.1625e+07`,
		`linerate_completed_loadtests_total{reason="GeneratorFailed"} 1`)
	l.finishRun("imix", run)
	end := p.awaitMetrics(
		`linerate_loadtests{state="running"} 0`, `linerate_loadtests{state="measured"} 3`, `linerate_devices_held{resource="lab.example/sriov-west"} 0`,
		`linerate_loadtest_result_saturated{loadtest="imix",namespace="lab",product="VPP"} 1`, `linerate_loadtest_passed{loadtest="imix",namespace="lab",product="VPP"} 1`,
		`linerate_verdicts_total{verdict="passed"} 3`, `linerate_completion_duration_seconds_count 4`)
	if strings.Contains(end, "linerate_loadtest_offered_packets_per_second{") {
		t.Error("nothing runs, and there is a rate")
	}
	l.must(p.end())
	l.follows("imix", p.said(), "waiting starting running measured")
	l.fewEvents("imix", "Running", "Measured")
	keepScrapes(t, map[string]string{"start": start, "sessions": sessions, "during": during, "end": end})
}

func of(product string) func(*v1alpha1.LoadTest) {
	return func(test *v1alpha1.LoadTest) { test.Labels = map[string]string{v1alpha1.LabelProduct: product} }
}

// ofSessions makes a test one of TCP, with a criterion.
func ofSessions(test *v1alpha1.LoadTest) {
	test.Spec.Generator.Engine = v1alpha1.EngineSoftware
	test.Spec.Traffic = v1alpha1.TrafficSpec{Type: v1alpha1.TrafficSessions, Sessions: &v1alpha1.SessionsSpec{}}
	test.Spec.Procedure = v1alpha1.ProcedureSpec{Type: v1alpha1.ProcedureConstantLoad, ConstantLoad: v1alpha1.ConstantLoadSpec{Rate: "Unlimited"}}
	test.Spec.Criteria = []v1alpha1.Criterion{{Name: "enough", Metric: v1alpha1.MetricGoodputBitsPerSecond, Min: "10000000"}}
}

// judged gives a test a criterion.
func judged(test *v1alpha1.LoadTest) {
	test.Spec.Criteria = []v1alpha1.Criterion{{Name: "rate", Metric: "PacketsPerSecond", Min: "100000"}}
}

// breakGenerator lets a test's generator fail as it starts.
func (l *lab) breakGenerator(name string) {
	l.t.Helper()
	l.await("pods", func() bool { return len(l.pods()) == 2 })
	l.schedule()
	pod := l.pod("generator")
	l.setStatus(pod, endedStatus(pod, 1, "no such interface"))
	l.await("the end of "+name, func() bool {
		l.reap()
		return len(l.pods()) == 0
	})
	l.awaitCondition(name, "Complete=True GeneratorFailed")
}

// beginRun brings a test to where its runner writes its progress. No other test may have pods.
func (l *lab) beginRun(name string) *runner {
	l.t.Helper()
	return l.beginRunOf(name, 2, delivery.Progress{Phase: "Ramping", Percent: 42,
		IntendedPacketsPerSecond: 8_400_000, OfferedPacketsPerSecond: 8_400_000, ReceivedPacketsPerSecond: 8_316_000, LossRatio: "0.01"})
}

// beginRunOf does so with a test that has so many pods besides the runner's, and tells this progress.
func (l *lab) beginRunOf(name string, pods int, told delivery.Progress) *runner {
	l.t.Helper()
	l.await("pods", func() bool { return len(l.pods()) == pods })
	l.schedule()
	l.awaitCondition(name, "Scheduled=True AllScheduled")
	l.start()
	l.awaitCondition(name, "Complete=False Running")
	l.await("the runner's pod", func() bool {
		l.runJobs()
		return len(l.pods()) == pods+1
	})
	l.schedule()
	l.start()
	r := l.runner(name, 1)
	told.UpdateTime = time.Now().UTC()
	r.progress(told)
	return r
}

// finishRun lets a run end with a result that passes.
func (l *lab) finishRun(name string, r *runner) {
	l.t.Helper()
	document := r.measured()
	document.Answer.Total.LineRatePercent = 999_500_000
	l.endRun(name, r, document)
}

// endRun lets a run end with this Report, whose criterion is met.
func (l *lab) endRun(name string, r *runner, document *report.Report) {
	l.t.Helper()
	document.Verdict = report.Verdict{Outcome: report.Passed, Criteria: []report.CriterionResult{{Name: "rate", Outcome: report.Passed, Message: "enough"}}}
	r.report(document, true)
	l.await("the end of "+name, func() bool {
		l.reap()
		return len(l.pods()) == 0
	})
	l.awaitCondition(name, "Complete=True Measured")
}

// follows fails unless the log has a test's states in this order, each line with the keys that it is found by.
func (l *lab) follows(name string, lines []string, states string) {
	l.t.Helper()
	var told []string
	for _, line := range lines {
		var said struct {
			Loadtest, Namespace, Msg, State, Rule, Level string
			Attempt                                      int
		}
		err := json.Unmarshal([]byte(line), &said)
		if err != nil || said.Level == "ERROR" {
			l.t.Errorf("it said (%v): %s", err, line)
		}
		if said.Loadtest != name {
			continue
		}
		if said.Namespace != l.namespace || said.Rule == "" || said.Attempt != 1 {
			l.t.Errorf("a line without namespace, rule or attempt: %s", line)
		}
		if said.Msg == "state changed" {
			told = append(told, said.State)
		}
	}
	if got := strings.Join(slices.Compact(told), " "); got != states {
		l.t.Errorf("the logged states of %s are %q, want %q", name, got, states)
	}
}

// fewEvents fails unless a test has these events and no other.
func (l *lab) fewEvents(name string, reasons ...string) {
	l.t.Helper()
	var list eventsv1.EventList
	l.list(l.t.Context(), &list)
	var told []string
	for _, e := range list.Items {
		if e.Regarding.Name == name {
			told = append(told, e.Reason)
		}
	}
	slices.Sort(told)
	slices.Sort(reasons)
	if diff := cmp.Diff(reasons, told); diff != "" {
		l.t.Errorf("events of %s, want (-), got (+):\n%s", name, diff)
	}
}

// keepScrapes fails unless what was scraped has the same metrics, with the same labels, as the files that the dashboard is tried on.
func keepScrapes(t *testing.T, scrapes map[string]string) {
	t.Helper()
	for name, scrape := range scrapes {
		file := fmt.Sprintf("../chart/testdata/scrapes/%s.txt", name)
		if *update {
			if err := os.WriteFile(file, []byte(ofInterest(scrape)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(shape(string(kept)), shape(scrape)); diff != "" {
			t.Errorf("%s (-), scraped (+), -update writes it anew:\n%s", file, diff)
		}
	}
}

// ofInterest leaves out metrics that aren't linerate's: the Go runtime's, and those of the controller of networks.
func ofInterest(scrape string) string {
	var kept strings.Builder
	for line := range strings.Lines(scrape) {
		bare := strings.TrimPrefix(strings.TrimPrefix(line, "# HELP "), "# TYPE ")
		wanted := slices.ContainsFunc([]string{"linerate_", "controller_runtime_", "workqueue_", "rest_client_", "leader_election_", "process_"}, func(prefix string) bool {
			return strings.HasPrefix(bare, prefix)
		})
		if wanted && !strings.Contains(line, `"networks"`) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// shape is each of our metrics with its labels' names.
func shape(scrape string) (names []string) {
	for _, line := range ours(scrape) {
		name, labels, _ := strings.Cut(line[:strings.LastIndex(line, " ")], "{")
		for label := range strings.SplitSeq(labels, ",") {
			key, _, _ := strings.Cut(label, "=")
			name += " " + key
		}
		names = append(names, strings.TrimSpace(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}
