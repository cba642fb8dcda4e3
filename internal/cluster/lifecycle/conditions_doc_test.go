package lifecycle_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// documented are the reasons that docs/conditions.md has for each condition.
func documented(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/conditions.md")
	if err != nil {
		t.Fatal(err)
	}
	reasons, kind := map[string][]string{}, ""
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			kind = strings.TrimSpace(heading)
			reasons[kind] = nil
		}
		if row, ok := strings.CutPrefix(line, "| `"); ok {
			reason, _, _ := strings.Cut(row, "`")
			reasons[kind] = append(reasons[kind], reason)
		}
	}
	return reasons
}

// declared are the constants of api/v1alpha1/conditions.go by their names' prefix.
func declared(t *testing.T, prefix string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../../../api/v1alpha1/conditions.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, value)
		return true
	})
	slices.Sort(lines)
	return lines
}

func TestEachConditionAndReasonIsDocumented(t *testing.T) {
	docs := documented(t)
	if got, want := slices.Sorted(maps.Keys(docs)), declared(t, "Condition"); !slices.Equal(got, want) {
		t.Errorf("docs/conditions.md has the conditions %v, conditions.go has %v", got, want)
	}
	var reasons []string
	for _, of := range docs {
		reasons = append(reasons, of...)
	}
	slices.Sort(reasons)
	if got, want := slices.Compact(reasons), declared(t, "Reason"); !slices.Equal(got, want) {
		t.Errorf("docs/conditions.md has the reasons\n%v\nconditions.go has\n%v", got, want)
	}
}

func TestEachReasonThatLivesGiveIsDocumentedWithItsCondition(t *testing.T) {
	docs := documented(t)
	seenReasons := map[string]bool{}
	for _, l := range lives() {
		maps.Copy(seenReasons, undisturbed(t, l).reasons)
	}
	for pair := range seenReasons {
		kind, reason, _ := strings.Cut(pair, "/")
		if kind == "Reconciling" || kind == "Stalled" {
			kind = "Complete"
		}
		if !slices.Contains(docs[kind], reason) {
			t.Errorf("a life says %s, and docs/conditions.md doesn't know it", pair)
		}
	}
	for kind, reasons := range docs {
		for _, reason := range reasons {
			if !seenReasons[kind+"/"+reason] {
				t.Errorf("no life says %s/%s, which docs/conditions.md tells of", kind, reason)
			}
		}
	}
}
