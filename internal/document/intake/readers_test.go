package intake_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// decoders are what reads to the end, unpacks or decodes, whatever the size: by package, the beginnings of
// functions' names.
var decoders = map[string][]string{
	"encoding/json":                     {"Unmarshal", "NewDecoder"},
	"encoding/xml":                      {"Unmarshal", "NewDecoder"},
	"encoding/csv":                      {"NewReader"},
	"encoding/gob":                      {"NewDecoder"},
	"sigs.k8s.io/json":                  {"Unmarshal"},
	"k8s.io/apimachinery/pkg/util/json": {"Unmarshal"},
	"k8s.io/apimachinery/pkg/util/yaml": {"Unmarshal", "NewYAML", "ToJSON"},
	"sigs.k8s.io/yaml":                  {"Unmarshal", "YAMLToJSON"},
	"go.yaml.in/yaml/v3":                {"Unmarshal", "NewDecoder"},
	"go.yaml.in/yaml/v2":                {"Unmarshal", "NewDecoder"},
	"compress/gzip":                     {"NewReader"},
	"compress/zlib":                     {"NewReader"},
	"compress/flate":                    {"NewReader"},
	"compress/bzip2":                    {"NewReader"},
	"archive/tar":                       {"NewReader"},
	"archive/zip":                       {"NewReader", "OpenReader"},
	"os":                                {"ReadFile"},
	"io":                                {"ReadAll"},
	"io/fs":                             {"ReadFile"},
	"embed":                             {},
}

// exceptions are who decodes elsewhere, and why that can't fill memory: a file, or a folder with all that is in it.
var exceptions = map[string]string{
	"internal/document/intake": "the door itself",

	// Files of the kernel's, a few bytes or lines each.
	"internal/host/machine/awake.go":      "a name of sysfs",
	"internal/host/profile/fold.go":       "a line of /proc",
	"internal/device/forwarder/cpu.go":    "a name of /proc",
	"internal/device/forwarder/reset.go":  "a number of /proc",
	"internal/device/lab/fault.go":        "a setting of /proc/sys",
	"internal/device/lab/shield.go":       "a setting of /proc/sys",
	"internal/device/lab/lab.go":          "a line of /proc, and what its own child process says",
	"internal/host/machine/machine.go":    "small files of /proc and /sys",
	"internal/host/netif/sysctl.go":       "a setting of /proc/sys",
	"internal/host/machine/precedence.go": "a line of /proc",
	"internal/run/sessions/drops.go":      "tables of /proc/net",
	"internal/run/sessions/iperf2.go":     "a table of /proc/net",
	"internal/host/reception":             "small files of /proc and /sys",
	"internal/host/card/tree.go":          "small files of /proc and /sys",
	"internal/cli/qualify/inspect.go":     "small files of /proc and /sys",
	"internal/host/machine":               "small files of /proc and /sys",
	"cmd/manager/manager.go":              "the namespace's name, which the kubelet wrote",
	"internal/pod/launch/binary.go":       "4 kB at most",

	// What the program itself wrote or carries.
	"internal/compile/admission/schema.go": "the embedded definitions",
	"internal/cli/kubectl/doctor/look.go":  "the embedded definitions",
	"internal/cli/kubectl/doctor/runs.go":  "an embedded role",
	"internal/device/lab/device.go":        "the process that started it",
	"internal/device/lab/host.go":          "the process that started it",
	"internal/device/lab/questions.go":     "its own child process",
	"internal/document/plan/method.go":     "a value that was just encoded",
	"internal/result/verify/differ.go":     "a value that was just encoded",

	// Answers and messages of other machines: the reader bounds each before, and the types that decode themselves
	// get a part of such a message.
	"internal/pod/collect":             "answers and credentials up to a bound of each observer's reader",
	"internal/run/iperf3":              "a message's length is checked before it is read",
	"internal/pod/reset":               "an answer up to a bound",
	"internal/engine/softgen":          "a request's size is checked before it is read, and what it unpacks to",
	"api/v1alpha1/memory.go":           "the API server bounds an object's size",
	"internal/engine/trex":             "an answer's size is checked before it is read, and what it unpacks to",
	"internal/device/tunnel":           "a line of the other gateway, up to a bound",
	"internal/pod/vitals":              "an answer up to a bound",
	"internal/pod/launch/heartbeat.go": "a line of the launcher's, up to a bound",
}

// use is where a decoder is used.
type use struct{ file, decoder string }

// decodersIn are the uses of decoders in a file: in whatever way the function is named, and not as the decoder that
// the door is handed.
func decodersIn(t *testing.T, name string, text any) (uses []use) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string]string{} // by the name in the file
	for _, i := range file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value)
		local := path.Base(imported)
		if strings.HasPrefix(local, "v") && strings.Trim(local, "v0123456789") == "" {
			local = path.Base(path.Dir(imported))
		}
		if i.Name != nil {
			local = i.Name.Name
		}
		packages[local] = imported
		if _, decodes := decoders[imported]; decodes && local == "." {
			uses = append(uses, use{name, "import . " + imported})
		}
	}
	handed := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, is := n.Fun.(*ast.SelectorExpr); is && len(n.Args) > 0 && s.Sel.Name == "DecodeBy" && qualifier(s) == "intake" {
				ast.Inspect(n.Args[0], func(inside ast.Node) bool { handed[inside] = true; return true })
			}
		case *ast.SelectorExpr:
			imported, is := packages[qualifier(n)]
			if is && !handed[n] && slices.ContainsFunc(decoders[imported], func(begins string) bool {
				return strings.HasPrefix(n.Sel.Name, begins) && !slices.Contains([]string{"Unmarshaler", "UnmarshalTypeError"}, n.Sel.Name)
			}) {
				uses = append(uses, use{name, imported + "." + n.Sel.Name})
			}
		}
		return true
	})
	return uses
}

// qualifier is the package's name before a selected one.
func qualifier(s *ast.SelectorExpr) string {
	if name, is := s.X.(*ast.Ident); is {
		return name.Name
	}
	return ""
}

// exceptionOf is the entry that a file falls under.
func exceptionOf(file string) (entry string, is bool) {
	for at := file; at != "."; at = path.Dir(at) {
		if _, is := exceptions[at]; is {
			return at, true
		}
	}
	return "", false
}

// A reader that decodes before anything was bounded is found on the day when somebody adds it.
func TestNobodyDecodesPastTheDoor(t *testing.T) {
	root := "../../.."
	needed := map[string]bool{}
	for _, folder := range []string{"api", "cmd", "controllers", "internal"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			relative, err := filepath.Rel(root, name)
			if err != nil {
				return err
			}
			for _, u := range decodersIn(t, filepath.ToSlash(relative), text) {
				entry, excepted := exceptionOf(u.file)
				if needed[entry] = true; !excepted {
					t.Errorf("%s uses %s: let internal/document/intake read it within bounds, or give the reason why nobody can fill memory there in exceptions", u.file, u.decoder)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, entry := range slices.Sorted(maps.Keys(exceptions)) {
		if !needed[entry] {
			t.Errorf("nothing decodes in %s any more: remove it from exceptions", entry)
		}
	}
}

func TestAReaderThatDecodesBeforeItBoundsIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want int
	}{
		"a call":                     {`import "encoding/json"; func f(b []byte) { var v any; _ = json.Unmarshal(b, &v) }`, 1},
		"under another name":         {`import k "sigs.k8s.io/json"; func f(b []byte) { var v any; _ = k.UnmarshalCaseSensitivePreserveInts(b, &v) }`, 1},
		"without its package's name": {`import . "encoding/json"; func f(b []byte) { var v any; _ = Unmarshal(b, &v) }`, 1},
		"as a value":                 {`import "encoding/json"; var read = json.Unmarshal`, 1},
		"a whole file":               {`import "os"; func f() { _, _ = os.ReadFile("x") }`, 1},
		"all of a stream":            {`import ("io"; "compress/gzip"); func f(r io.Reader) { z, _ := gzip.NewReader(r); _, _ = io.ReadAll(z) }`, 2},
		"YAML of a versioned path":   {`import "go.yaml.in/yaml/v3"; func f(b []byte) { var v any; _ = yaml.Unmarshal(b, &v) }`, 1},
		"by the door":                {`import ("encoding/json"; "x/intake"); func f(b []byte) { var v any; _ = intake.DecodeBy(json.Unmarshal, b, &v, intake.Small) }`, 0},
		"an error's type":            {`import "encoding/json"; var x *json.UnmarshalTypeError`, 0},
	} {
		if got := decodersIn(t, "x.go", "package x\n"+c.text); len(got) != c.want {
			t.Errorf("%s: found %v, want %d", name, got, c.want)
		}
	}
}
