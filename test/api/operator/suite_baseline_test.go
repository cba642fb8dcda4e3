package operator

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// another makes one more suite in the lab, and turns to it.
func (l *suiteLab) another(name, spec string) {
	l.t.Helper()
	l.name = name
	s := &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name}}
	l.must(yaml.UnmarshalStrict([]byte(spec), &s.Spec))
	l.must(admin.Create(l.t.Context(), s))
}

// playAll carries the suite to its end.
func (l *suiteLab) playAll() {
	l.t.Helper()
	for range 10 {
		l.passSuite()
		names := l.goingOn()
		if len(names) == 0 {
			return
		}
		l.play(names[0])
	}
	l.t.Fatalf("it doesn't come to its end: %s", l.told())
}

const oneFrame = `
template:
  spec:
    generator: {engine: Software}
    dut: {type: Loopback}
    links: [{name: west, network: wire, lineRate: 10gbps}, {name: east, network: wire, lineRate: 10gbps}]
    procedure: {ramp: {targetRate: 2mpps, rampDuration: 2m}}
axes:
- name: frames
  values: [{name: imix}]
criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%, assumedSpread: 0.3%}]
`

// A suite is compared with an earlier one cell by cell, when all is measured; what that one lacks is named.
func TestASuiteIsComparedWithAnEarlierOne(t *testing.T) {
	l := newSuiteLab(t, oneFrame)
	l.playAll()
	l.wantSuite("Complete=True Measured")
	two := strings.Replace(oneFrame, "[{name: imix}]", "[{name: imix}, {name: 64b, patch: {traffic: {profile: FixedSize, frameSize: 64}}}]", 1)
	l.another("night-2", two+"baseline: {suite: night}\n")
	l.forgetful = true
	l.playAll()
	l.wantSuite("Complete=True Measured")
	l.wantSuite("Passed=Unknown Undecided")
	l.wantRow("imix", v1alpha1.VerdictPassed, "the baseline is LoadTestSuite night")
	l.wantRow("64b", v1alpha1.VerdictUndecided, "LoadTestSuite night: it has no cell frames 64b")

	l.another("night-3", oneFrame+"baseline: {suite: never-was}\n")
	l.playAll()
	l.wantRow("imix", v1alpha1.VerdictUndecided, "LoadTestSuite never-was: there is no such LoadTestSuite in namespace "+l.namespace)
}

// A suite that compares with an earlier one is measured on its nodes, and says before the first run what it knows.
func TestASuiteStaysOnTheNodesOfItsBaseline(t *testing.T) {
	l := newSuiteLab(t, oneFrame)
	on := func(node string) *report.Environment {
		return &report.Environment{Generators: []report.GeneratorEnvironment{{Name: "generator-0",
			Machine: report.Machine{Node: node}}}}
	}
	l.environment = on(nodeName)
	l.playAll()
	l.another("night-2", oneFrame+"baseline: {suite: night}\n")
	l.forgetful = true
	l.passSuite()
	l.wantSuite("Comparable=True Comparable")
	placement := l.get(l.goingOn()[0]).Spec.Generator.Placement
	if placement == nil || placement.Nodes["generator-0"] != nodeName {
		t.Fatalf("its test is placed by %+v, want node %s", placement, nodeName)
	}
	l.playAll()
	l.wantSuite("Complete=True Measured")
	l.wantRow("imix", v1alpha1.VerdictPassed, "the baseline is LoadTestSuite night")

	l.environment = on("scrapped")
	l.another("night-3", oneFrame)
	l.playAll()
	l.another("night-4", oneFrame+"baseline: {suite: night-3}\n")
	l.passSuite()
	if words := l.wantSuite("Comparable=False NodeUnavailable"); !strings.Contains(words, "tests wait for node scrapped, on "+
		"which LoadTestSuite night-3 ran, which the cluster doesn't have any more") {
		t.Errorf("it says %q", words)
	}
}

// wantRow fails unless a cell has the verdict, and its message the words.
func (l *suiteLab) wantRow(cell string, verdict v1alpha1.SuiteVerdict, words string) {
	l.t.Helper()
	for _, row := range l.suite().Status.Table {
		if row.Cell == cell && row.Verdict == verdict && strings.Contains(row.Message, words) {
			return
		}
	}
	l.t.Errorf("want cell %s %s: %s; status:\n%s", cell, verdict, words, l.told())
}
