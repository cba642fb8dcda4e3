package compile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func newServer(t *testing.T) *admission.Server {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func examples(t *testing.T, directory string) []string {
	t.Helper()
	files, err := filepath.Glob("../../config/" + directory + "/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples in %s: %v", directory, err)
	}
	return files
}

func TestSamplesCompileToTheirPlans(t *testing.T) {
	server := newServer(t)
	for _, file := range examples(t, "samples") {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			objects, err := server.LoadFile(nil, file)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			for _, o := range objects {
				p, errs := compile.Compile(o.LoadTest)
				if err := o.Faults(errs); err != nil {
					t.Fatal(err)
				}
				got.Write(readable(t, p))
			}
			golden(t, filepath.Join("testdata", name+".plan.json"), got.Bytes())
		})
	}
}

func TestExamplesCompile(t *testing.T) {
	server := newServer(t)
	for _, file := range slices.Concat(examples(t, "../examples"), examples(t, "../examples/devices")) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			objects, err := server.LoadFile(nil, file)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range objects {
				_, errs := compile.Compile(o.LoadTest)
				if err := o.Faults(errs); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// readable is a plan with each stream in one line: their bytes are the business of package profile.
func readable(t *testing.T, p *plan.Plan) []byte {
	t.Helper()
	document := struct {
		*plan.Plan
		Streams []string `json:"streams"`
	}{Plan: p}
	for _, g := range p.Generators {
		for i := range g.Ports {
			for _, s := range g.Ports[i].Streams {
				line := fmt.Sprintf("%s %s: %s %v %s, %d bytes, VLAN and addresses %x, %d instructions", g.Name,
					g.Ports[i].Link, s.Mode.Type, s.Mode.Rate.Value, s.Mode.Rate.Type, len(s.Packet.Binary),
					s.Packet.Binary[12:min(42, len(s.Packet.Binary))], len(s.VM.Instructions))
				document.Streams = append(document.Streams, line)
			}
			g.Ports[i].Streams = nil
		}
	}
	text, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(text, '\n')
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the plan differs from %s (run with -update to accept):\n%s", file, got)
	}
}

// Each invalid example has one fault. Its first line says what its author must be told ("# want: …"), its
// second, where there is one, that the schema can't see the fault: an API server takes the object, and the
// compiler refuses it, always ("# refused by: compile") or where it is to run in a cluster ("# refused by:
// cluster").
func TestInvalidExamplesAreRefused(t *testing.T) {
	server := newServer(t)
	for _, file := range examples(t, "invalid-examples") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, rest, _ := strings.Cut(string(text), "\n")
			want, ok := strings.CutPrefix(first, "# want: ")
			if !ok || want == "" {
				t.Fatalf("the first line is %q: it must say what is wanted", first)
			}
			inCluster := strings.HasPrefix(rest, "# refused by: cluster\n")
			byCompiler := inCluster || strings.HasPrefix(rest, "# refused by: compile\n")

			objects, err := server.Load(file, bytes.NewReader(text))
			if (err == nil) != byCompiler {
				t.Fatalf("refused by the schema: %v, by its second line: %v (%v)", err != nil, !byCompiler, err)
			}
			for _, o := range objects {
				_, errs := compile.Compile(o.LoadTest)
				if inCluster {
					if len(errs) > 0 {
						t.Errorf("wrong on one machine too: %v", errs)
					}
					_, errs = compile.ForCluster(o.LoadTest)
				}
				err = o.Faults(errs)
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("got %v\nwant …%s…", err, want)
			}
			for _, fault := range faults(t, err) {
				if fault.Line < 1 || !strings.HasPrefix(fault.Error(), file+":") {
					t.Errorf("%v: want the file and a line", fault)
				}
			}
			if len(faults(t, err)) > 1 {
				t.Errorf("one fault makes several messages:\n%v", err)
			}
		})
	}
}

func faults(t *testing.T, err error) admission.Faults {
	t.Helper()
	faults, ok := errors.AsType[admission.Faults](err)
	if !ok {
		t.Fatalf("%T is not admission.Faults", err)
	}
	return faults
}
