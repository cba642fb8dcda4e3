package report_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestASuitesExitCode(t *testing.T) {
	whole := func(change func(*report.Suite)) *report.Suite {
		s := reporttest.Night()
		s.Cells = s.Cells[:1]
		s.Cells[0].Verdict = nil
		change(s)
		return s
	}
	for name, c := range map[string]struct {
		suite *report.Suite
		want  int
	}{
		"all is measured":                    {whole(func(*report.Suite) {}), report.ExitOK},
		"a cell isn't":                       {reporttest.Night(), report.ExitNotMeasured},
		"a cell failed":                      {whole(func(s *report.Suite) { s.Cells[0].Verdict = &report.Verdict{Outcome: report.DidFail} }), report.ExitFailed},
		"a cell is undecided":                {whole(func(s *report.Suite) { s.Cells[0].Verdict = &report.Verdict{Outcome: report.Undecided} }), report.ExitNotMeasured},
		"it isn't over":                      {whole(func(s *report.Suite) { s.Finished = time.Time{} }), report.ExitNotMeasured},
		"what was repeated counts":           {whole(func(s *report.Suite) { tryAgain(&s.Cells[0], 1) }), report.ExitOK},
		"a repetition that gave nothing":     {whole(func(s *report.Suite) { tryAgain(&s.Cells[0], 3) }), report.ExitNotMeasured},
		"runs that were left out are no end": {whole(func(s *report.Suite) { s.Cells[0].Runs = nil }), report.ExitOK},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.suite.ExitCode(); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

// tryAgain adds a run of a repetition that gave no figure; of one that is there it was the first try.
func tryAgain(c *report.SuiteCell, repetition int) {
	c.Runs = append([]report.SuiteRun{{Test: "lost", Repetition: repetition, Reason: "GeneratorLost", Message: "its node went away"}}, c.Runs...)
}

func TestASuiteReadsBackAsItWasWritten(t *testing.T) {
	document, digest, err := report.SuiteJSON(reporttest.Night())
	if err != nil {
		t.Fatal(err)
	}
	again, err := report.ReadSuite(document)
	if err != nil {
		t.Fatal(err)
	}
	want := reporttest.Night()
	want.Version = report.SuiteVersion
	if !reflect.DeepEqual(again, want) {
		t.Errorf("reads back as %+v", again)
	}
	if second, same, err := report.SuiteJSON(again); err != nil || same != digest || !bytes.Equal(second, document) || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("the same suite has the digests %s and %s (%v)", digest, same, err)
	}
}

func TestASuiteThatContradictsItselfIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*report.Suite)
		says  string
	}{
		"no name":              {func(s *report.Suite) { s.Name = "" }, "no name"},
		"a cell twice":         {func(s *report.Suite) { s.Cells[1].Name = s.Cells[0].Name }, "name of its own"},
		"a run of nothing":     {func(s *report.Suite) { s.Cells[0].Runs[0].Test = "" }, "no test"},
		"figures of more runs": {func(s *report.Suite) { s.Cells[0].Figures.Runs = 5 }, "5 runs"},
		"a goal of more runs": {func(s *report.Suite) {
			*s = *searchedNight()
			s.Cells[0].Goals[1].Figures = &report.Figures{Runs: 2}
		}, `goal "PDR" are of 2 runs, but 1 run has`},
		"a goal without the median": {func(s *report.Suite) {
			*s = *searchedNight()
			s.Cells[0].Goals[1].Figures = nil
		}, `goal "PDR" are of 0 runs, but 1 run has`},
		"runs without the median": {func(s *report.Suite) { s.Cells[0].Figures = nil }, "no figures"},
	} {
		t.Run(name, func(t *testing.T) {
			s := reporttest.Night()
			c.spoil(s)
			if _, _, err := report.SuiteJSON(s); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("written with %v, want an error that says %q", err, c.says)
			}
		})
	}
	for document, says := range map[string]string{
		`{"version":"linerate.dev/report.v1alpha1"}`:                             "version",
		`{"version":"linerate.dev/suite-report.v1alpha1","cells":[{"name":""}]}`: "no name",
		`[`: "not a report",
	} {
		if _, err := report.ReadSuite([]byte(document)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want an error that says %q", document, err, says)
		}
	}
}

func TestWhyARunWasDisturbed(t *testing.T) {
	for others, want := range map[int64]string{
		21_006: "the generator was the limit at 10.42 kpps, but other runs measured 21.01 kpps: this run was disturbed",
		9_000:  "the generator was the limit at 10.42 kpps, but other runs had measured more: this run was disturbed",
		0:      "the generator was the limit at 10.42 kpps, but other runs had measured more: this run was disturbed",
	} {
		if got := report.DisturbedWords(&report.Figures{PacketsPerSecond: 10_422}, others); got != want {
			t.Errorf("%d: %s", others, got)
		}
	}
	const want = "the generator was the limit at 40.00 Mb/s goodput, but other runs measured 90.00 Mb/s goodput: this run was disturbed"
	if got := report.DisturbedWords(&report.Figures{GoodputBitsPerSecond: new(int64(40_000_000))}, 90_000_000); got != want {
		t.Errorf("of sessions: %s", got)
	}
}

// searchedNight is a suite whose first cell has two runs of a search for NDR and PDR; one of them has no PDR.
func searchedNight() *report.Suite {
	s := reporttest.Night()
	c := &s.Cells[0]
	pdr := &report.Figures{Runs: 1, PacketsPerSecond: 1_900_000}
	c.Runs[0].Goals = []report.GoalFigures{{Goal: "NDR", Figures: c.Runs[0].Figures}, {Goal: "PDR", Figures: pdr}}
	c.Runs[1].Goals = []report.GoalFigures{{Goal: "NDR", Figures: c.Runs[1].Figures}, {Goal: "PDR"}}
	c.Goals = []report.GoalFigures{{Goal: "NDR", Figures: c.Figures}, {Goal: "PDR", Figures: pdr}}
	return s
}

func TestATableHasARowForEachGoal(t *testing.T) {
	document, _, err := report.SuiteJSON(searchedNight())
	if err != nil {
		t.Fatal(err)
	}
	s, err := report.ReadSuite(document)
	if err != nil {
		t.Fatal(err)
	}
	rows := s.Table().Cells
	if len(rows) != 3 || rows[0].Loadtest != "64b, NDR" || rows[1].Loadtest != "64b, PDR" || rows[2].Loadtest != "64b" {
		t.Fatalf("%+v", rows)
	}
	if ndr, pdr := rows[0], rows[1]; ndr.Verdict != report.DidFail || ndr.Figures.PacketsPerSecond != 1_780_000 || pdr.Verdict != "" || pdr.Product != "vpp" || pdr.Figures.PacketsPerSecond != 1_900_000 ||
		len(pdr.Missing) != 1 || pdr.Missing[0].Test != "night-vpp-64b-r2" || pdr.Missing[0].Message != "it has no figure of goal PDR" {
		t.Errorf("%+v\n%+v", ndr, pdr)
	}
	if rows[0].Unjudged != "" || rows[1].Unjudged != "with NDR" {
		t.Errorf("the goals are judged together, in the first one's row: %q, %q", rows[0].Unjudged, rows[1].Unjudged)
	}
	s.Cells[0].Goals = s.Cells[0].Goals[:1]
	if rows := s.Table().Cells; len(rows) != 2 || rows[0].Loadtest != "64b" {
		t.Errorf("of a single goal: %+v", rows)
	}
}

func TestATableTellsOfCellsWithoutATest(t *testing.T) {
	s := reporttest.Night()
	if notes := s.Table().Notes; len(notes) != 0 {
		t.Errorf("each cell has a test, and it says %q", notes)
	}
	s.Cells = append(s.Cells, report.SuiteCell{Name: "danos-64b", Product: "danos", Loadtest: "64b"})
	if notes := s.Table().Notes; len(notes) != 1 || notes[0] != "in 1 of 3 cells no test has ended yet" {
		t.Errorf("it says %q", notes)
	}
}
