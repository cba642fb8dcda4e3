package render

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
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

// What the standard wants told of a search is in what people read: the bounds, each attribute of each goal, which
// quantity the width is of, the classification, and what is irregular.
func TestASearchTellsItsMethod(t *testing.T) {
	r := searched(t)
	r.Plan.Procedure.Search.Goals[1].ExceedRatio = units.One / 8
	r.Result.Goals[0].Irregular, r.Result.Goals[0].Upper = "MaximumClean", nil
	for _, format := range []string{"text", "markdown", "html"} {
		said := strings.Join(strings.Fields(strings.NewReplacer("&#39;", "'", "&gt;", ">", `\_`, "_").Replace(string(renderedWithEvidence(t, format, r)))), " ")
		for _, want := range []string{"relevant lower bound", "relevant upper bound", "as a share of the upper one's intended load", "12.5%", "0.5%", "50%", "onditional throughput", "RFC9971",
			"1kpps (min load)", "20kpps (max load)", "goal NDR is irregular (MaximumClean): even the max load met it", "not judged", "until counters stood still"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s doesn't say %q:\n%s", format, want, said)
			}
		}
	}
}

// Sequential tells the chance of a wrong class with what it takes for granted, and claims no standard.
func TestSequentialTellsHowOftenItIsWrong(t *testing.T) {
	r := searched(t)
	r.Plan.Procedure.Search.Classification = plan.ClassifySequential
	for i := range r.Result.Goals {
		r.Result.Goals[i].WrongClass = units.One * 28 / 10_000
	}
	for _, format := range []string{"text", "markdown", "html"} {
		said := strings.Join(strings.Fields(string(renderedWithEvidence(t, format, r))), " ")
		for _, want := range []string{"0.28", "with a probability of 0.2, or of 0.8", "none of a standard"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s doesn't say %q", format, want)
			}
		}
		if strings.Contains(strings.ToLower(said), "conform") {
			t.Errorf("%s says that it conforms to something", format)
		}
	}
}

// A trial that was ended early for NDR is drawn with the least that the whole one would have lost, and says nothing
// of PDR; nor is it counted as good or bad there.
func TestATrialThatWasEndedEarly(t *testing.T) {
	r := searched(t)
	i := slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Phase == report.Trial })
	w := &r.Windows[i]
	w.Evidence, w.Decided = nil, &report.Decided{At: w.Duration, Planned: 2 * w.Duration}
	for d := range w.Directions {
		m := &w.Directions[d]
		m.EdgeFrames, m.DisturbedFrames = 0, 0
		m.Returned.Packets = m.Sent.Packets - m.Sent.Packets*6/1000
		m.LossRatio = units.RatioOf(m.Sent.Packets-m.Returned.Packets, m.Sent.Packets)
	}
	got := trialsOf(r, "")[0]
	if got.class != "some" || got.loss < 0.0025 || got.loss > 0.0031 || !strings.HasSuffix(got.title(), ": bad for NDR, ended early: says nothing of PDR") {
		t.Errorf("%s, %g: %s", got.class, got.loss, got.title())
	}
	if said, want := goodTrials(report.GoalResult{Lower: &report.GoalBound{Windows: []int{1, 2, 3}, Good: 2, Open: 1}}), "2/2 + 1 ended early for another goal, -"; said != want {
		t.Errorf("%q, want %q", said, want)
	}
}

// A goal that has an answer is on the page also where the first one has none.
func TestTheOtherGoalsAnswerStands(t *testing.T) {
	r := searched(t)
	first := &r.Result.Goals[0]
	first.Irregular, first.Lower, first.ConditionalThroughput = "MinimumLossy", nil, 0
	first.Result = report.Result{Reason: report.NoCleanLoad, Message: "no load met it"}
	goals := r.Result.Goals
	r.Result = first.Result
	r.Result.Goals = goals
	for _, format := range []string{"text", "markdown", "html"} {
		if said := string(renderedWithEvidence(t, format, r)); !strings.Contains(said, "PDR") || !strings.Contains(said, "15.86 kpps") || !strings.Contains(said, "(MinimumLossy)") {
			t.Errorf("%s doesn't tell of both:\n%s", format, said)
		}
	}
}

// Each trial of the search is drawn once, as good or bad as it was for the goals.
func TestEachTrialIsDrawn(t *testing.T) {
	r := searched(t)
	trials := trialsOf(r, "")
	d, ok := newTrialsDrawing(r, "t", "", false)
	if !ok || len(d.Marks) != len(trials) || len(trials) < 8 {
		t.Fatalf("%d marks of %d trials", len(d.Marks), len(trials))
	}
	for class, want := range map[string]bool{"good": true, "lossy": true, "invalid": false} {
		if got := slices.ContainsFunc(trials, func(t trial) bool { return t.class == class }); got != want {
			t.Errorf("some trial is %s: %t", class, got)
		}
	}
	for _, m := range d.Marks {
		if m.Title == "" || strings.Contains(m.D, "NaN") {
			t.Errorf("%+v", m)
		}
	}
}
