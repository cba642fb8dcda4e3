//go:build full

package e2e

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/packets/foursystems"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

var table = flag.String("table", "", "TestFourSystems: write what was measured to this page, docs/measured/four-systems.md")

// TestFourSystems makes the published table by one file, as a person does: examples/suites/four-systems.yaml in a namespace that has networks of
// its own called west and east, by the operator.
func TestFourSystems(t *testing.T) {
	s := begin(t)
	s.network("west", s.resource("west"))
	s.network("east", s.resource("east"))
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	said := s.types("run", foursystems.File).wants(0, "line rate", "all measured")
	took := watch.Since(begun)
	t.Logf("\n%s", said.out)
	rendered := foursystems.Render(func(format string) string {
		return s.types("report", "four-systems", "-o", format).wants(0, "imix", "").out
	})
	if text := rendered("text"); text != said.out {
		t.Errorf("report prints it as\n%s", text)
	}
	faults := foursystems.Faults(rendered)
	for _, fault := range faults {
		t.Logf("%s: %s (%s)", took.Outcome(faults), fault, took)
	}
	if took.Outcome(faults) == calm.Wrong {
		t.Error("figures are off on a calm machine")
	}
	s.inStatus(rendered)
	if *table != "" {
		if err := foursystems.Publish(*table, "operator", "kubectl linerate run examples/suites/four-systems.yaml -n lab", rendered, faults, took.Row()); err != nil {
			t.Error(err)
		}
	}
}

// inStatus: the object's status has the same figures, and says that it is complete.
func (s *scene) inStatus(r foursystems.Render) {
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
