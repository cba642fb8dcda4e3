package plan_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/plan"
)

// mayNameAnEngine are the files that name engines: where they are declared, the lists of them, and who writes a Plan without a LoadTest.
var mayNameAnEngine = []string{
	"api/v1alpha1/generator.go",
	"internal/plan/sends.go",
	"internal/compile/engine.go",
	"internal/manifests/engine.go",
	"internal/cli/sends.go",
	"internal/cli/ramp.go",                // the published staircase drives a TRex that runs already
	"internal/cli/trex_launch.go",         // TRex' own verb
	"internal/report/reporttest/bench.go", // makes Reports up
	"internal/report/reporttest/sessions.go",
}

// TestNobodyButTheListsNamesAnEngine: who asks which engine it is forgets the next one. What differs is asked of the engine, in the lists' rooms.
func TestNobodyButTheListsNamesAnEngine(t *testing.T) {
	engines := []string{plan.EngineTRex, plan.EngineSoftware, plan.EngineExternal}
	named := map[string]bool{}
	for _, folder := range []string{"api", "cmd", "controllers", "internal"} {
		root := os.DirFS("../..")
		err := fs.WalkDir(root, folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, filepath.Join("../..", path), nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				name := ""
				switch n := n.(type) {
				case *ast.Ident:
					if slices.Contains(engines, strings.TrimPrefix(n.Name, "Engine")) && strings.HasPrefix(n.Name, "Engine") {
						name = n.Name
					}
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); err == nil && slices.Contains(engines, text) {
						name = n.Value
					}
				}
				if name != "" {
					named[path] = true
					if !slices.Contains(mayNameAnEngine, path) {
						t.Errorf("%s names the engine %s: ask the engine in its room's list for what differs", files.Position(n.Pos()), name)
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range mayNameAnEngine {
		if !named[path] {
			t.Errorf("%s names no engine any more: take it out of this test", path)
		}
	}
}

func TestAPlanIsElsewhereWhereItsGeneratorsHaveServers(t *testing.T) {
	for name, c := range map[string]struct {
		generators []plan.Generator
		want       bool
	}{
		"none is told of":      {nil, false},
		"ours to start":        {[]plan.Generator{{Name: "generator-0"}, {Name: "generator-1"}}, false},
		"servers run already":  {[]plan.Generator{{Name: "generator-0", Server: "a:4501"}, {Name: "generator-1", Server: "b:4501"}}, true},
		"one of them does, so": {[]plan.Generator{{Name: "generator-0"}, {Name: "generator-1", Server: "b:4501"}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := (&plan.Plan{Engine: plan.EngineExternal, Generators: c.generators}).Elsewhere(); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
