package procedures_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// room is a procedure that nothing but its own package, its API, its parameters in the Plan, compile and the registry
// knows.
type room struct {
	name, folder string
	// most is how many files outside the package name the procedure at most, so that whoever adds one finds them all.
	most int
	// others are names that contain the procedure's, but are of a metric, of a form of RFC 2544, or of looking for
	// something else.
	others []string
}

var rooms = []room{
	{"Soak", "soak", 5, nil},
	{"BackToBack", "backtoback", 5, []string{"BackToBackFrames", "MetricBackToBackFrames"}},
	{"ConstantLoad", "constantload", 6, nil}, // traffic of sessions is checked against its load
	{"FrameLoss", "frameloss", 5, []string{"FrameLossPoint"}},
	{"MaximumOfferedLoad", "maximumload", 6, nil}, // which calibrations are, as tests that the operator writes
	{"ProcedureTrains", "trains", 4, nil},         // as engines send trains, and windows hold them
	{"EachDirection", "eachdirection", 4, nil},
	{"Search", "search", 6, []string{"BinarySearchFunc", "NoBurstSearched", "newSearch", "beginSearch", "endSearch",
		"Searches", "composeSearch"}}, // whose defaults have a file of the compiler
}

// doors are where a procedure may be named, outside its own package.
var doors = []string{"api/v1alpha1/", "internal/document/plan/", "internal/compile/", "internal/procedure/procedures/"}

// writesTests is the file that writes tests, as users do, and so chooses a procedure for them.
const writesTests = "internal/cluster/suite/calibration.go"

// product are the product's own Go files, by their paths from the module's root.
func product(t *testing.T) map[string]*ast.File {
	t.Helper()
	const root = "../../.."
	files := map[string]*ast.File{}
	for _, folder := range []string{"api", "cmd", "controllers", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.HasPrefix(d.Name(), "zz_generated") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			files[filepath.ToSlash(name)] = file
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// names says which of a file's identifiers and imports are the procedure's.
func (r room) names(file *ast.File) (names []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && of.Name == "sort" {
				return false // which is the standard library's
			}
		case *ast.ImportSpec:
			if strings.HasSuffix(strings.Trim(n.Path.Value, `"`), "/internal/procedure/"+r.folder) {
				names = append(names, n.Path.Value)
			}
		case *ast.Ident:
			if strings.Contains(n.Name, r.name) && !slices.Contains(r.others, n.Name) {
				names = append(names, n.Name)
			}
		}
		return true
	})
	return names
}

// What a procedure finds goes from its own package to the Report as figures and sections, so that neither formats nor
// status, criteria, comparisons or suites ask which procedure it was.
func TestAProcedureIsKnownInItsOwnRoomAlone(t *testing.T) {
	files := product(t)
	if len(files) < 300 {
		t.Fatalf("only %d files were found", len(files))
	}
	for _, r := range rooms {
		var known []string
		for path, file := range files {
			names := r.names(file)
			if len(names) == 0 || strings.HasPrefix(path, "internal/procedure/"+r.folder+"/") ||
				strings.HasPrefix(path, "internal/procedure/goals/") {
				continue
			}
			known = append(known, path)
			if path != writesTests && !slices.ContainsFunc(doors, func(door string) bool { return strings.HasPrefix(path, door) }) {
				t.Errorf("%s knows the procedure %s: %v; let it read figures, sections or traits instead", path, r.name,
					names)
			}
		}
		if slices.Sort(known); len(known) < 2 || len(known) > r.most {
			t.Errorf("%s is named in %d files outside its package, want 2 to %d: %v", r.name, len(known), r.most, known)
		}
	}
}

// A page draws sections, and has no part for one procedure.
func TestNoPageHasAPartForOneProcedure(t *testing.T) {
	pages, err := filepath.Glob("../../render/page/*")
	if err != nil || len(pages) < 5 {
		t.Fatalf("%v: %v", pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rooms {
			if strings.Contains(strings.ToLower(string(text)), r.folder) {
				t.Errorf("%s has a part for the procedure %s", page, r.name)
			}
		}
	}
}
