package exit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// declared are the exit codes of internal/document/report and what stands beside them, as rows of a table: "| 0 | measured … |".
func declared(t *testing.T) (rows, codes []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../report/exit.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || !strings.HasPrefix(spec.Names[0].Name, "Exit") {
			return true
		}
		code := spec.Values[0].(*ast.BasicLit).Value
		codes = append(codes, code)
		rows = append(rows, fmt.Sprintf("| %s | %s |", code, strings.TrimSpace(spec.Comment.Text())))
		return true
	})
	if len(codes) < 5 {
		t.Fatalf("internal/document/report declares the exit codes %q", codes)
	}
	return rows, codes
}

// table are the rows of the first table below a line of a document that begin with a number.
func table(t *testing.T, document, below string) (rows, codes []string) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/" + document)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "\n"+below)
	if !found {
		t.Fatalf("docs/%s has no %q", document, below)
	}
	row := regexp.MustCompile(`^\| (\d+) \|`)
	for line := range strings.Lines(rest) {
		switch m := row.FindStringSubmatch(line); {
		case m != nil:
			rows, codes = append(rows, strings.TrimSpace(line)), append(codes, m[1])
		case len(rows) > 0:
			return rows, codes
		}
	}
	return rows, codes
}

// Scripts are written by the documents: they have the very codes that the commands end with, and no others.
func TestTheDocumentsHaveTheExitCodes(t *testing.T) {
	want, all := declared(t)
	if got, _ := table(t, "cli.md", "## Exit codes"); !slices.Equal(got, want) {
		t.Errorf("docs/cli.md (-), internal/document/report/exit.go (+):\n%s", cmp.Diff(got, want))
	}
	if _, got := table(t, "gate.md", "## Exit codes"); !slices.Equal(got, all) {
		t.Errorf("docs/gate.md has the exit codes %q, want %q", got, all)
	}
	if _, got := table(t, "history.md", "| exit code of `compare`"); !slices.Equal(got, all[:4]) {
		t.Errorf("docs/history.md has the exit codes %q of compare, want %q", got, all[:4])
	}
}
