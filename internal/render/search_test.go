package render

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// searched is a search for NDR and PDR through a simulated device that forwards 10 kpps one way and 8 kpps the other.
func searched(t *testing.T) *report.Report {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "search.json"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := report.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASearchInEachFormat(t *testing.T) {
	for format, name := range map[string]string{"text": "search.txt", "markdown": "search.md", "html": "search.html"} {
		t.Run(format, func(t *testing.T) { golden(t, name, rendered(t, format, searched(t))) })
	}
}

// The sections of a search are in what people read, the reasons to doubt them among the warnings.
func TestASearchTellsItsMethod(t *testing.T) {
	r := searched(t)
	r.Answer.Sections[0].Warnings = []string{"goal NDR is irregular (MaximumClean): even the max load met it"}
	for _, format := range []string{"text", "markdown", "html"} {
		said := strings.Join(strings.Fields(strings.NewReplacer("&#39;", "'", "&gt;", ">", `\_`, "_").Replace(string(renderedWithEvidence(t, format, r)))), " ")
		for _, want := range []string{"relevant lower bound", "as a share of the upper one's intended load", "0.5%", "50%", "RFC9971",
			"1kpps (min load)", "20kpps (max load)", "goal NDR is irregular (MaximumClean): even the max load met it", "not judged", "until counters stood still"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s doesn't say %q:\n%s", format, want, said)
			}
		}
	}
}

// A goal that has an answer is on the page also where the first one has none.
func TestTheOtherGoalsAnswerStands(t *testing.T) {
	r := searched(t)
	first := &r.Answer.Goals[0]
	first.Answer = report.Answer{Reason: report.NoCleanLoad, Message: "no load met it"}
	goals, sections := r.Answer.Goals, r.Answer.Sections
	r.Answer = first.Answer
	r.Answer.Goals, r.Answer.Sections = goals, sections
	for _, format := range []string{"text", "markdown", "html"} {
		if said := string(renderedWithEvidence(t, format, r)); !strings.Contains(said, "PDR") || !strings.Contains(said, "15.86 kpps") {
			t.Errorf("%s doesn't tell of both:\n%s", format, said)
		}
	}
}

// Each trial of the search is drawn once.
func TestEachPointOfAnOrderedPlotIsDrawn(t *testing.T) {
	r := searched(t)
	d := newOrderedDrawing(r, r.Answer.Sections[1], "t", false)
	if points := r.Answer.Sections[1].Plot.Points; len(d.Marks) != len(points) || len(points) < 8 {
		t.Fatalf("%d marks of %d trials", len(d.Marks), len(points))
	}
	for _, m := range d.Marks {
		if m.Title == "" || strings.Contains(m.D, "NaN") {
			t.Errorf("%+v", m)
		}
	}
}
