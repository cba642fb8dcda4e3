package metrics

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// everything is a scene in which each metric has a figure.
func everything(t *testing.T) []*dto.MetricFamily {
	t.Helper()
	m, run := NewTests(), running("run")
	ended := measured("done", 0)
	tcp := running("tcp")
	tcp.Spec.Traffic.Type = v1alpha1.TrafficSessions
	m.Decided("running", time.Second)
	m.StatusWritten(run, &ended.Status, noon)
	_, families := scene{maxTests: 9, objects: []client.Object{
		run, progressMap(t, run, nil), ended, tcp,
		progressMap(t, tcp, func(p *delivery.Progress) { p.GoodputBitsPerSecond = new(int64(80_000_000)) }),
		ofSessions("tcp-done", pathLimited), aTest("waits"), node(nil), holder("holds", "a", corev1.PodRunning),
		aSuite("night", "Complete=True Measured", "Passed=True CriteriaMet"),
	}}.gather(t, append(m.collectors(), NewSuites().completed)...)
	return families
}

func TestNamesAreAsPrometheusHasThem(t *testing.T) {
	problems, err := promlint.NewWithMetricFamilies(everything(t)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestTheDocumentHasEachMetric compares docs/observability.md's rows `name` | type | labels | meaning.
func TestTheDocumentHasEachMetric(t *testing.T) {
	text, err := os.ReadFile("../../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, exported []string
	for row := range strings.Lines(string(text)) {
		if strings.HasPrefix(row, "| `linerate_") {
			cells := strings.Split(strings.Replace(row, " | test's | ", " | `loadtest`, `namespace`, `product` | ", 1),
				" | ")
			documented = append(documented, strings.TrimPrefix(strings.Join(cells[:3], " "), "| "))
		}
	}
	for _, f := range everything(t) {
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		exported = append(exported, strings.TrimSpace(fmt.Sprintf("`%s` %s %s", f.GetName(),
			strings.ToLower(f.GetType().String()), strings.Join(labels, ", "))))
	}
	for i := range documented {
		documented[i] = strings.TrimSpace(documented[i])
	}
	slices.Sort(documented)
	slices.Sort(exported)
	if diff := cmp.Diff(exported, documented); diff != "" {
		t.Errorf("the operator's (-), the document's (+):\n%s", diff)
	}
	if len(exported) < 20 {
		t.Errorf("only %d metrics were seen", len(exported))
	}
}

// rows are the first cells of a document's table rows below a heading, as far as all their other cells that are
// given agree.
func rows(t *testing.T, file, heading, second string) (cells []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for row := range strings.Lines(section) {
		if cell := strings.Split(row, " | "); strings.HasPrefix(row, "| `") && (second == "" || cell[1] == second) {
			cells = append(cells, strings.Trim(cell[0], "|` "))
		}
	}
	slices.Sort(cells)
	return cells
}

func TestEachEndIsToldOfFromTheStart(t *testing.T) {
	want := rows(t, "../../docs/conditions.md", "Complete", "True")
	got := endReasons()
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 10 {
		t.Errorf("docs/conditions.md's (-), the metric's (+):\n%s", diff)
	}
}

func TestEachEndOfASuiteIsToldOfFromTheStart(t *testing.T) {
	var want []string
	text, err := os.ReadFile("../../docs/suites.md")
	if err != nil {
		t.Fatal(err)
	}
	for row := range strings.Lines(string(text)) {
		if cell := strings.Split(row, " | "); len(cell) > 3 && cell[0] == "| Complete" &&
			strings.HasPrefix(cell[2], "True") {
			want = append(want, strings.Trim(cell[1], "`"))
		}
	}
	got := suiteEndReasons()
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" || len(got) < 5 {
		t.Errorf("docs/suites.md's (-), the metric's (+):\n%s", diff)
	}
}

func TestTheDocumentHasEachStateOfASuite(t *testing.T) {
	want := suiteStates()
	slices.Sort(want)
	if diff := cmp.Diff(want, rows(t, "../../docs/observability.md", "States of suites", "")); diff != "" {
		t.Errorf("the operator's (-), the document's (+):\n%s", diff)
	}
}

func TestTheDocumentHasEachState(t *testing.T) {
	want := allStates()
	slices.Sort(want)
	if diff := cmp.Diff(want, rows(t, "../../docs/observability.md", "States", "")); diff != "" {
		t.Errorf("the operator's (-), the document's (+):\n%s", diff)
	}
}
