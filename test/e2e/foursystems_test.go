package e2e

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/foursystems"
)

var (
	wholeSuite = flag.Bool("all", false, "TestFourSystems: the whole file, each cell twice (about 8 minutes), not two cells once")
	table      = flag.String("table", "", "TestFourSystems: with -all, write what was measured to this page, docs/four-systems.md")
)

// TestFourSystems makes the published table by one file, as a person does: examples/suites/four-systems.yaml in a namespace that has networks of
// its own called west and east, by the operator. In each run it is one cell of each load, which take 20 s each; in `make four-systems` the whole
// file as it is.
func TestFourSystems(t *testing.T) {
	s := begin(t)
	s.network("west", s.resource("west"))
	s.network("east", s.resource("east"))
	file, cells := foursystems.File, []string(nil)
	if !*wholeSuite {
		cells = []string{"linux-imix", "openbsd-64b"}
		file = s.part(cells)
	}
	said := s.types("run", file).wants(0, "line rate", "all measured")
	t.Logf("\n%s", said.out)
	rendered := foursystems.Render(func(format string) string {
		return s.types("report", "four-systems", "-o", format).wants(0, "imix", "").out
	})
	if text := rendered("text"); text != said.out {
		t.Errorf("report prints it as\n%s", text)
	}
	for _, fault := range foursystems.Faults(rendered, cells...) {
		t.Error(fault)
	}
	s.toldInStatus(rendered)
	if *wholeSuite && *table != "" && !t.Failed() {
		if err := foursystems.Publish(*table, "operator", "kubectl linerate run examples/suites/four-systems.yaml -n lab", rendered); err != nil {
			t.Error(err)
		}
	}
}

// part is a file with some of the suite's cells.
func (s *scene) part(cells []string) string {
	s.Helper()
	text, err := foursystems.Part(foursystems.File, cells...)
	if err != nil {
		s.Fatal(err)
	}
	file := filepath.Join(s.TempDir(), "four-systems.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	return file
}

// toldInStatus: who asks for the object alone finds the same figures in it, and that it is complete.
func (s *scene) toldInStatus(r foursystems.Render) {
	s.Helper()
	document, err := r.Suite()
	if err != nil {
		s.Fatal(err)
	}
	var suite lineratev1alpha1.LoadTestSuite
	if err := lab.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: document.Name}, &suite); err != nil {
		s.Fatal(err)
	}
	if c := meta.FindStatusCondition(suite.Status.Conditions, lineratev1alpha1.ConditionComplete); c == nil || c.Reason != lineratev1alpha1.ReasonMeasured {
		s.Errorf("Complete is %+v, want it Measured", c)
	}
	var want, got []string
	for _, c := range document.Cells {
		want = append(want, fmt.Sprintf("%s %d packets/s", c.Name, c.Figures.PacketsPerSecond))
	}
	for _, row := range suite.Status.Table {
		got = append(got, fmt.Sprintf("%s %d packets/s", row.Cell, row.PacketsPerSecond))
	}
	if !slices.Equal(got, want) {
		s.Errorf("the status' table has %q, and the report %q", got, want)
	}
	runs := len(document.Cells) * int(suite.Spec.Repetitions)
	if n := suite.Status.Counts; int(n.Measured) != runs || n.NotMeasured+n.Waiting+n.Running > 0 {
		s.Errorf("counts are %+v, want %d measured and nothing else", n, runs)
	}
}
