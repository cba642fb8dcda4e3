package delivery

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// suiteOf has so many cells of five runs each, every one with so many random characters to say.
func suiteOf(cells, words int) *report.Suite {
	random := rand.New(rand.NewPCG(1, 2))
	s := &report.Suite{Name: "night", Started: time.Date(2026, 3, 14, 1, 0, 0, 0, time.UTC), Verdict: report.Verdict{Outcome: report.Passed}}
	for i := range cells {
		cell := report.SuiteCell{Name: fmt.Sprintf("cell-%d", i), Product: fmt.Sprint(i), Loadtest: "64b", Figures: &report.Figures{Runs: 5, PacketsPerSecond: random.Int64N(1e9)}}
		for r := range 5 {
			var said strings.Builder
			for range words {
				said.WriteByte(byte('!' + random.IntN(90)))
			}
			cell.Runs = append(cell.Runs, report.SuiteRun{Test: fmt.Sprintf("night-cell-%d-r%d", i, r+1), Repetition: r + 1, Report: fmt.Sprintf("sha256:%064x", random.Uint64()),
				Message: said.String(), Reason: "LossAboveLimit", Figures: &report.Figures{Runs: 1, PacketsPerSecond: random.Int64N(1e9)}})
		}
		s.Cells = append(s.Cells, cell)
	}
	return s
}

func TestASuiteTravels(t *testing.T) {
	for name, c := range map[string]struct {
		suite      *report.Suite
		runs, said int // of the first cell, and how long its first run's message is
	}{
		"as it is":            {suiteOf(10, 20), 5, 20},
		"of 1 000 cells":      {suiteOf(1000, 20), 5, 20},
		"without its words":   {suiteOf(1000, 400), 5, 0},
		"without single runs": {suiteOf(10_000, 20), 0, 0},
		"without its reasons": {judged(suiteOf(10_000, 20), 8), 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			data, annotations, err := EncodeSuite(c.suite)
			if err != nil {
				t.Fatal(err)
			}
			if size := len(data[KeySuite]); size > MaxPacked {
				t.Errorf("it takes %d bytes", size)
			}
			s, err := DecodeSuite(data, annotations)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Cells) != len(c.suite.Cells) || s.Cells[0].Figures.PacketsPerSecond != c.suite.Cells[0].Figures.PacketsPerSecond {
				t.Error("cells or their figures are lost")
			}
			first := s.Cells[0]
			if len(first.Runs) != c.runs || c.runs > 0 && len(first.Runs[0].Message) != c.said {
				t.Errorf("%d runs of the first cell: %+v", len(first.Runs), first.Runs)
			}
			if thinned := len(s.Notes) > 0; thinned != (c.runs == 0 || c.said == 0) {
				t.Errorf("the notes are %q", s.Notes)
			}
		})
	}
}

func TestASuiteThatSomebodyChangedIsRefused(t *testing.T) {
	data, annotations, err := EncodeSuite(suiteOf(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	annotations[AnnotationDigest] = "sha256:0"
	if _, err := DecodeSuite(data, annotations); err == nil || !strings.Contains(err.Error(), "somebody changed it") {
		t.Errorf("another digest: %v", err)
	}
	if _, err := DecodeSuite(nil, annotations); err == nil || !strings.Contains(err.Error(), KeySuite) {
		t.Errorf("no data: %v", err)
	}
}

// judged gives each cell a verdict by so many criteria, each of which has something of its own to say.
func judged(s *report.Suite, criteria int) *report.Suite {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range s.Cells {
		v := &report.Verdict{Outcome: report.DidFail}
		for c := range criteria {
			v.Criteria = append(v.Criteria, report.CriterionResult{Name: fmt.Sprintf("criterion-%d", c), Outcome: report.DidFail,
				Message: fmt.Sprintf("west→east: median %d pps of 5 runs (%d pps to %d pps), at least %d pps demanded; all 5 runs do not meet it", random.Int64N(1e9), random.Int64N(1e9), random.Int64N(1e9), random.Int64N(1e9))})
		}
		s.Cells[i].Verdict = v
	}
	return s
}

// What a suite lacks is told however many runs it has: its exit code follows from it.
func TestASuiteWithoutSingleRunsStillSaysWhatItLacks(t *testing.T) {
	s := suiteOf(10_000, 20)
	s.Finished = s.Started
	lacking := &s.Cells[7]
	lacking.Figures.Runs = 4
	lacking.Runs[2].Figures, lacking.Runs[2].Reason = nil, "GeneratorLost"
	again := &s.Cells[8]
	again.Runs = append(again.Runs, again.Runs[1])
	again.Runs[1].Figures, again.Runs[1].Reason = nil, "NodeLost"
	again.Runs[5].Test, again.Runs[5].Retry = again.Runs[1].Test+"t2", 1
	data, annotations, err := EncodeSuite(s)
	if err != nil {
		t.Fatal(err)
	}
	read, err := DecodeSuite(data, annotations)
	if err != nil {
		t.Fatal(err)
	}
	if runs := read.Cells[7].Runs; len(read.Notes) == 0 || len(runs) != 1 || runs[0].Reason != "GeneratorLost" || read.ExitCode() != report.ExitNotMeasured {
		t.Errorf("%+v, exit code %d", runs, read.ExitCode())
	}
	if runs := read.Cells[8].Runs; len(runs) != 0 {
		t.Errorf("its second try was measured: %+v", runs)
	}
}
