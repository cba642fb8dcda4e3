package report

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"
)

// night is a suite of two systems, one of which gave no figure in one run.
func night() *Suite {
	at := time.Date(2026, 3, 14, 1, 0, 0, 0, time.UTC)
	figures := func(runs int, pps int64) *Figures {
		return &Figures{Runs: runs, PacketsPerSecond: pps, Layer1BitsPerSecond: pps * 672, LineRatePercent: percent("50"), LineRatePercentSum: percent("100")}
	}
	run := func(test string, repetition int, pps int64) SuiteRun {
		r := SuiteRun{Test: test, Repetition: repetition, Started: at, Finished: at.Add(time.Minute), Reason: "LossAboveLimit", Report: "sha256:0f", Plan: "ab"}
		if pps == 0 {
			r.Reason, r.Message, r.Report = "GeneratorLost", "generator-0 didn't answer for 10s", ""
			return r
		}
		r.Figures = figures(1, pps)
		return r
	}
	return &Suite{Producer: "linerate v0.1.0", Name: "night", Namespace: "lab", Started: at, Finished: at.Add(time.Hour),
		Axes: []Axis{{"system", []string{"vpp", "linux"}}, {"frames", []string{"64b"}}},
		Cells: []SuiteCell{
			{Name: "vpp-64b", Values: []AxisValue{{"system", "vpp"}, {"frames", "64b"}}, Product: "vpp", Loadtest: "64b", Figures: figures(2, 1_780_000), Outliers: []string{"night-vpp-64b-r2"},
				Verdict: &Verdict{Outcome: DidFail, Criteria: []CriterionResult{{"fast", DidFail, "1.78 Mpps, at least 2 Mpps demanded"}, {"loss", Passed, "none"}}},
				Runs:    []SuiteRun{run("night-vpp-64b-r1", 1, 1_780_000), run("night-vpp-64b-r2", 2, 1_700_000)}},
			{Name: "linux-64b", Product: "linux", Loadtest: "64b", Runs: []SuiteRun{run("night-linux-64b-r1", 1, 0)}},
		},
		Verdict: Verdict{Outcome: DidFail}, Baseline: &Baseline{Kind: "LoadTestSuite", Name: "last-night"}}
}

func TestASuiteReadsBackAsItWasWritten(t *testing.T) {
	document, digest, err := SuiteJSON(night())
	if err != nil {
		t.Fatal(err)
	}
	again, err := ReadSuite(document)
	if err != nil {
		t.Fatal(err)
	}
	want := night()
	want.Version = SuiteVersion
	if !reflect.DeepEqual(again, want) {
		t.Errorf("reads back as %+v", again)
	}
	if second, same, err := SuiteJSON(again); err != nil || same != digest || !bytes.Equal(second, document) || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("the same suite has the digests %s and %s (%v)", digest, same, err)
	}
}

func TestASuiteThatContradictsItselfIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*Suite)
		says  string
	}{
		"no name":                 {func(s *Suite) { s.Name = "" }, "no name"},
		"a cell twice":            {func(s *Suite) { s.Cells[1].Name = s.Cells[0].Name }, "name of its own"},
		"a run of nothing":        {func(s *Suite) { s.Cells[0].Runs[0].Test = "" }, "no test"},
		"figures of more runs":    {func(s *Suite) { s.Cells[0].Figures.Runs = 5 }, "5 runs"},
		"runs without the median": {func(s *Suite) { s.Cells[0].Figures = nil }, "no figures"},
	} {
		t.Run(name, func(t *testing.T) {
			s := night()
			c.spoil(s)
			if _, _, err := SuiteJSON(s); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("written with %v, want an error that says %q", err, c.says)
			}
		})
	}
	for document, says := range map[string]string{
		`{"version":"linerate.dev/report.v1alpha1"}`:                             "version",
		`{"version":"linerate.dev/suite-report.v1alpha1","name":"x","x":1}`:      "unknown field",
		`{"version":"linerate.dev/suite-report.v1alpha1","cells":[{"name":""}]}`: "no name",
		`[`: "not a report",
	} {
		if _, err := ReadSuite([]byte(document)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want an error that says %q", document, err, says)
		}
	}
}

func TestASuitesTable(t *testing.T) {
	var out bytes.Buffer
	if err := night().Table().Text(&out, TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "suite.txt", out.Bytes())
	if text := out.String(); strings.Contains(text, "loss: none") || !strings.Contains(text, "r2 lies far") {
		t.Errorf("it tells of what was met, or not of the outlier:\n%s", text)
	}
}

// A try that gave no figure and was repeated is no measurement that is missing: it is told as what it is.
func TestATryThatWasRepeatedIsListedAsSuch(t *testing.T) {
	s := night()
	c := &s.Cells[1]
	second, third := c.Runs[0], c.Runs[0]
	second.Test, second.Retry, second.Figures = "night-linux-64b-r1-t2", 1, s.Cells[0].Runs[0].Figures
	third.Test, third.Repetition = "night-linux-64b-r2", 2
	last := third
	last.Test, last.Retry = "night-linux-64b-r2-t2", 1
	c.Runs, c.Figures = append(c.Runs, second, third, last), second.Figures
	missing, repeated := c.Gaps()
	if len(missing) != 1 || missing[0].Test != last.Test || len(repeated) != 2 || repeated[0].Test != "night-linux-64b-r1" || repeated[1].Test != third.Test {
		t.Errorf("missing are %+v, repeated %+v", missing, repeated)
	}
	for name, write := range tableFormats() {
		var out bytes.Buffer
		if err := write(s.Table(), &out); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ") // however lines are broken
		if name != "json" && (strings.Contains(text, "r1 was not measured") || !strings.Contains(text, "night-linux-64b-r1 was repeated, as it gave no figure: GeneratorLost") || !strings.Contains(text, "r2-t2 was not measured")) {
			t.Errorf("%s:\n%s", name, out.String())
		}
	}
	if lines := c.runLines(); !strings.Contains(lines, "r1: repeated, as it gave no figure: GeneratorLost") || !strings.Contains(lines, "r2-t2: not measured: GeneratorLost") {
		t.Errorf("JUnit says\n%s", lines)
	}
	if got := runsText(s.Table().Cells[1]); got != "1 of 2" {
		t.Errorf("it counts %s runs", got)
	}
}

// A run that was repeated although it has figures keeps them, and is no part of the cell's.
func TestARunThatWasDisturbedIsListedAsSuch(t *testing.T) {
	s := night()
	c := &s.Cells[0]
	again := c.Runs[0]
	again.Test, again.Retry = "night-vpp-64b-r1t2", 1
	bound := *c.Runs[0].Figures
	bound.PacketsPerSecond, bound.LowerBound = 900_000, true
	c.Runs[0].Figures, c.Runs[0].Reason, c.Runs[0].Message = &bound, "GeneratorLimited", "window 7 was clean"
	c.Runs[0].Repeated = DisturbedWords(900_000, 1_780_000)
	c.Runs = append(c.Runs, again)
	document, _, err := SuiteJSON(s)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = ReadSuite(document); err != nil {
		t.Fatal(err)
	}
	c = &s.Cells[0]
	const why = "GeneratorLimited: the generator was the limit at 900.00 Kpps, and other runs of it measured 1.78 Mpps: it was disturbed"
	missing, repeated := c.Gaps()
	if len(missing) != 0 || len(repeated) != 1 || repeated[0].LowerBound != 900_000 || repeated[0].Test != "night-vpp-64b-r1" || repeated[0].words() != why {
		t.Errorf("missing are %+v, repeated %+v", missing, repeated)
	}
	for name, write := range tableFormats() {
		var out bytes.Buffer
		if err := write(s.Table(), &out); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ") // however lines are broken
		if name != "json" && !strings.Contains(text, "night-vpp-64b-r1 was repeated: "+why) {
			t.Errorf("%s:\n%s", name, out.String())
		}
	}
	if lines := c.runLines(); !strings.Contains(lines, "night-vpp-64b-r1: repeated: "+why) || !strings.Contains(lines, "night-vpp-64b-r1t2: 1.78 Mpps") {
		t.Errorf("JUnit says\n%s", lines)
	}
	if got := runsText(s.Table().Cells[0]); got != "2" || c.unmeasured() != nil {
		t.Errorf("it counts %s runs: %+v", got, c.unmeasured())
	}
	c.Runs[0].Repeated = ""
	if _, _, err := SuiteJSON(s); err == nil || !strings.Contains(err.Error(), "3 runs") {
		t.Errorf("figures of two of three runs are written: %v", err)
	}
	t.Run("a second try that came to nothing is told by the cell", func(t *testing.T) {
		c.Runs[2].Figures, c.Runs[2].Reason = nil, "GeneratorLost"
		if missing, repeated := c.Gaps(); len(missing)+len(repeated) > 0 {
			t.Errorf("missing are %+v, repeated %+v", missing, repeated)
		}
	})
}

func TestWhyARunWasDisturbed(t *testing.T) {
	for others, want := range map[int64]string{
		21_006: "the generator was the limit at 10.42 Kpps, and other runs of it measured 21.01 Kpps: it was disturbed",
		9_000:  "the generator was the limit at 10.42 Kpps, and other runs of it had measured more: it was disturbed",
		0:      "the generator was the limit at 10.42 Kpps, and other runs of it had measured more: it was disturbed",
	} {
		if got := DisturbedWords(10_422, others); got != want {
			t.Errorf("%d: %s", others, got)
		}
	}
}

func FuzzReadSuite(f *testing.F) {
	document, _, err := SuiteJSON(night())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	f.Fuzz(func(t *testing.T, document []byte) {
		s, err := ReadSuite(document)
		if err != nil {
			return
		}
		if _, _, err := SuiteJSON(s); err != nil {
			t.Errorf("what was read can't be written: %v", err)
		}
		for _, write := range tableFormats() {
			var out bytes.Buffer
			if err := write(s.Table(), &out); err != nil {
				t.Errorf("the table can't be written: %v", err)
			}
		}
	})
}

func TestATableTellsOfCellsWithoutATest(t *testing.T) {
	s := night()
	if notes := s.Table().Notes; len(notes) != 0 {
		t.Errorf("each cell has a test, and it says %q", notes)
	}
	s.Cells = append(s.Cells, SuiteCell{Name: "danos-64b", Product: "danos", Loadtest: "64b"})
	if notes := s.Table().Notes; len(notes) != 1 || notes[0] != "of 1 of 3 cells no test has ended" {
		t.Errorf("it says %q", notes)
	}
}

func TestAFieldsPathStaysAsItIsWritten(t *testing.T) {
	for text, want := range map[string]string{"spec.activeDeadline of 1m is over": "spec.activeDeadline of 1m is over.", "it ended.": "It ended.", "lost": "Lost."} {
		if got := sentence(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}
