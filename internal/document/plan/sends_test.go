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

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// mayNameAnEngine are the files that name engines: where they are declared, the lists of them, and who writes a
// Plan without a LoadTest.
var mayNameAnEngine = []string{
	"api/v1alpha1/generator.go",
	"internal/document/plan/sends.go",
	"internal/compile/engine.go",
	"internal/cluster/manifests/engine.go",
	"internal/pod/job/generator_kinds.go",
	"internal/cli/generator_kinds.go",
	"internal/cli/ramp.go",        // the published staircase drives a TRex that runs already
	"internal/cli/trex_launch.go", // TRex' own verb
	"internal/cli/doctor.go",      // its flag says which engine is to have the card
}

// mayNameAKind are the files that name kinds of traffic: where they are declared, the lists, and what has something
// else to say of each kind. Who looks whether a Plan or a Report has sessions (a member that it has or hasn't)
// names no kind.
var mayNameAKind = []string{
	"api/v1alpha1/traffic.go",
	"internal/document/plan/sends.go",
	"internal/compile/traffic.go",
	"internal/compile/engine.go",
	"internal/cluster/manifests/engine.go",
	"internal/pod/job/generator_kinds.go",
	"internal/cli/generator_kinds.go",
	"controllers/metrics/tests.go", // a series for each kind: frames are counted, payload is summed up
}

// TestNobodyButTheListsNamesAnEngine: who asks which engine it is forgets the next one. What differs is asked of
// the engine, in the lists' rooms.
func TestNobodyButTheListsNamesAnEngine(t *testing.T) {
	onlyNamedIn(t, mayNameAnEngine, "Engine", plan.EngineTRex, plan.EngineSoftware)
}

// TestNobodyButTheListsNamesAKindOfTraffic: the same of kinds of traffic, which ask compile's list, or the engine
// that sends them.
func TestNobodyButTheListsNamesAKindOfTraffic(t *testing.T) {
	onlyNamedIn(t, mayNameAKind, "Traffic", plan.TrafficFrames, plan.TrafficSessions)
}

// onlyNamedIn fails for each file that names one of the names, as a constant of the prefix or as text, and isn't
// listed; and for each listed one that doesn't.
func onlyNamedIn(t *testing.T, listed []string, prefix string, names ...string) {
	t.Helper()
	named := map[string]bool{}
	for _, folder := range []string{"api", "cmd", "controllers", "internal"} {
		root := os.DirFS("../../..")
		err := fs.WalkDir(root, folder, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, filepath.Join("../../..", path), nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				name := ""
				switch n := n.(type) {
				case *ast.Ident:
					if slices.Contains(names, strings.TrimPrefix(n.Name, prefix)) && strings.HasPrefix(n.Name, prefix) {
						name = n.Name
					}
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); err == nil && slices.Contains(names, text) {
						name = n.Value
					}
				}
				if name != "" {
					named[path] = true
					if !slices.Contains(listed, path) {
						t.Errorf("%s names %s: ask its room's list for what differs", files.Position(n.Pos()), name)
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
	for _, path := range listed {
		if !named[path] {
			t.Errorf("%s names no %s any more: take it out of this test", path, strings.ToLower(prefix))
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
			if got := (&plan.Plan{Engine: plan.EngineTRex, Generators: c.generators}).GeneratorsRunAlready(); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}
