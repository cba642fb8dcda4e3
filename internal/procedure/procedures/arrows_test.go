package procedures_test

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the path that the product's own packages begin with.
const module = "github.com/linerate-dev/linerate/"

// stages are the packages that an answer passes on its way from the windows to people, in order. A package belongs to
// the stage with the longest prefix of its path. Others (machines, engines, compile, run) are beside the way.
//
//	document ◀── procedure: Conclude ◀── result: Report.Result, figures, sentences ◀── formats, status, gate, suites
var stages = [][]string{
	{"internal/document"},
	{"internal/procedure"},
	{"internal/result"},
	{"internal/render", "internal/cluster", "internal/cli", "internal/pod/job", "controllers", "cmd"},
}

// stageOf is the index of a package's stage, and -1 beside the way.
func stageOf(pkg string) int {
	return slices.IndexFunc(stages, func(folders []string) bool {
		return slices.ContainsFunc(folders, func(f string) bool { return pkg == f || strings.HasPrefix(pkg, f+"/") })
	})
}

// importsOf are the product's own packages that each package imports.
func importsOf(files map[string]*ast.File) map[string]map[string]bool {
	imports := map[string]map[string]bool{}
	for name, file := range files {
		pkg := path.Dir(name)
		if imports[pkg] == nil {
			imports[pkg] = map[string]bool{}
		}
		for _, spec := range file.Imports {
			if target, _ := strconv.Unquote(spec.Path.Value); strings.HasPrefix(target, module) {
				imports[pkg][strings.TrimPrefix(target, module)] = true
			}
		}
	}
	return imports
}

// reached are all packages that a package imports, the packages that these import included.
func reached(imports map[string]map[string]bool, pkg string) map[string]bool {
	found, open := map[string]bool{}, slices.Collect(maps.Keys(imports[pkg]))
	for len(open) > 0 {
		next := open[len(open)-1]
		if open = open[:len(open)-1]; !found[next] {
			found[next] = true
			open = slices.AppendSeq(open, maps.Keys(imports[next]))
		}
	}
	return found
}

// No stage of the way imports a later one, whatever lies between, and the last stage imports no procedure: formats,
// status, gate and suites read the Report.
func TestNoImportGoesBackFromTheAnswer(t *testing.T) {
	imports, seen := importsOf(product(t)), map[int]int{}
	for pkg := range imports {
		stage := stageOf(pkg)
		if stage < 0 {
			continue
		}
		seen[stage]++
		for other := range reached(imports, pkg) {
			if stageOf(other) > stage {
				t.Errorf("%s imports %s, which reads what it yields", pkg, other)
			}
		}
		for other := range imports[pkg] {
			if stage == len(stages)-1 && stageOf(other) == 1 {
				t.Errorf("%s imports %s: let it read the Report, or ask internal/result, compile or run", pkg, other)
			}
		}
	}
	for i := range stages {
		if seen[i] == 0 {
			t.Errorf("no package of %v was found", stages[i])
		}
	}
}

// The Report is plain data: it imports documents and units alone, and with the Plan a type for secrets.
func TestTheReportIsPlainData(t *testing.T) {
	imports := importsOf(product(t))
	if len(imports["internal/document/report"]) == 0 {
		t.Fatal("the Report's imports were not found")
	}
	for other := range reached(imports, "internal/document/report") {
		if stageOf(other) != 0 && !strings.HasPrefix(other+"/", "internal/units/") && other != "internal/host/credential" {
			t.Errorf("the Report imports %s", other)
		}
	}
}

// One file turns what a procedure concludes into the Report's answer. All that follows reads the answer.
func TestOneFileReadsWhatProceduresConclude(t *testing.T) {
	var reads []string
	for name, file := range product(t) {
		if strings.HasPrefix(name, "internal/procedure/") || !slices.ContainsFunc(file.Imports,
			func(s *ast.ImportSpec) bool {
				return s.Path.Value == strconv.Quote(module+"internal/procedure/procedures")
			}) {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Conclude" {
				reads = append(reads, name)
			}
			return true
		})
	}
	if !slices.Equal(reads, []string{"internal/result/analysis/answer.go"}) {
		t.Errorf("conclusions are read in %v", reads)
	}
}
