package lifecycle

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// conditionsInDocs are the conditions that docs/conditions.md knows, with the rows `reason` | status of each.
func conditionsInDocs(t *testing.T) (conditions []metav1.Condition) {
	t.Helper()
	kind := ""
	for line := range strings.Lines(document(t, "conditions.md")) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			kind = strings.TrimSpace(heading)
		}
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") {
			conditions = append(conditions, metav1.Condition{Type: kind, Status: metav1.ConditionStatus(cells[1]),
				Reason: strings.Trim(cells[0], "|` ")})
		}
	}
	return conditions
}

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEachRuleHasANameOfItsOwn(t *testing.T) {
	names := RuleNames()
	slices.Sort(names)
	if unique := slices.Compact(slices.Clone(names)); len(unique) != len(names) ||
		len(names) != len(rules(newSituation(Observed{Test: &v1alpha1.LoadTest{}})))+1 || slices.Contains(names, "") {
		t.Errorf("%d rules have the names %v", len(rules(newSituation(Observed{Test: &v1alpha1.LoadTest{}}))), names)
	}
	if got := Decide(Observed{Test: &v1alpha1.LoadTest{}}).Rule; !slices.Contains(names, got) {
		t.Errorf("%s isn't among them", got)
	}
}

// TestTheDocumentHasEachEvent tells each condition that there is, and a run that is lost, and compares what is
// told with docs/observability.md.
func TestTheDocumentHasEachEvent(t *testing.T) {
	recorded := map[string]bool{}
	tell := func(next v1alpha1.LoadTestStatus) {
		for _, e := range eventsOf(&v1alpha1.LoadTestStatus{}, &next) {
			kind := "Normal"
			if e.Warning {
				kind = "Warning"
			}
			recorded[fmt.Sprintf("| `%s` | %s", e.Reason, kind)] = true
		}
	}
	for _, c := range conditionsInDocs(t) {
		tell(v1alpha1.LoadTestStatus{Conditions: []metav1.Condition{c}})
	}
	tell(v1alpha1.LoadTestStatus{Operator: v1alpha1.TestMemory{LostRuns: 1}})
	tell(v1alpha1.LoadTestStatus{Operator: v1alpha1.TestMemory{LostRuns: 1}, Conditions: []metav1.Condition{{Type: v1alpha1.ConditionScheduled,
		Reason: v1alpha1.ReasonSuspended}}})

	_, table, _ := strings.Cut(document(t, "observability.md"), "\n## Events\n")
	table, _, _ = strings.Cut(table, "\n## ")
	var documented, want []string
	for row := range strings.Lines(table) {
		for _, reason := range regexp.MustCompile("`([A-Za-z]+)`").FindAllStringSubmatch(row, -1) {
			if kind, next := strings.CutPrefix(row, "| "); next {
				kind, _, _ = strings.Cut(kind, " ")
				documented = append(documented, fmt.Sprintf("| `%s` | %s", reason[1], kind))
			}
		}
	}
	for row := range recorded {
		want = append(want, row)
	}
	slices.Sort(documented)
	slices.Sort(want)
	if diff := cmp.Diff(want, documented); diff != "" || len(want) < 20 {
		t.Errorf("told (-), docs/observability.md's (+):\n%s", diff)
	}
}
