package render

import (
	"bytes"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestASuitesTable(t *testing.T) {
	var out bytes.Buffer
	if err := Write(&out, "text", OfTable(reporttest.Night().Table()), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	golden(t, "suite.txt", out.Bytes())
	if text := out.String(); strings.Contains(text, "loss: none") || !strings.Contains(text, "r2 lies far") {
		t.Errorf("it tells of what was met, or not of the outlier:\n%s", text)
	}
}

// A try that gave no figure and was repeated is no measurement that is missing: it is told as what it is.
func TestATryThatWasRepeatedIsListedAsSuch(t *testing.T) {
	s := reporttest.Night()
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
	if lines := runLines(c); !strings.Contains(lines, "r1: repeated, as it gave no figure: GeneratorLost") || !strings.Contains(lines, "r2-t2: not measured: GeneratorLost") {
		t.Errorf("JUnit says\n%s", lines)
	}
	if got := runsText(s.Table().Cells[1]); got != "1 of 2" {
		t.Errorf("it counts %s runs", got)
	}
}

// A run that was repeated although it has figures keeps them, and is no part of the cell's.
func TestARunThatWasDisturbedIsListedAsSuch(t *testing.T) {
	s := reporttest.Night()
	c := &s.Cells[0]
	again := c.Runs[0]
	again.Test, again.Retry = "night-vpp-64b-r1t2", 1
	bound := *c.Runs[0].Figures
	bound.PacketsPerSecond, bound.LowerBound = 900_000, true
	c.Runs[0].Figures, c.Runs[0].Reason, c.Runs[0].Message = &bound, "GeneratorLimited", "window 7 was clean"
	c.Runs[0].Repeated = report.DisturbedWords(&report.Figures{PacketsPerSecond: 900_000}, 1_780_000)
	c.Runs = append(c.Runs, again)
	document, _, err := report.SuiteJSON(s)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = report.ReadSuite(document); err != nil {
		t.Fatal(err)
	}
	c = &s.Cells[0]
	const why = "GeneratorLimited: the generator was the limit at 900.00 kpps, but other runs measured 1.78 Mpps: this run was disturbed"
	missing, repeated := c.Gaps()
	if len(missing) != 0 || len(repeated) != 1 || repeated[0].LowerBound != 900_000 || repeated[0].Test != "night-vpp-64b-r1" || missingWords(repeated[0]) != why {
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
	if lines := runLines(c); !strings.Contains(lines, "night-vpp-64b-r1: repeated: "+why) || !strings.Contains(lines, "night-vpp-64b-r1t2: 1.78 Mpps") {
		t.Errorf("JUnit says\n%s", lines)
	}
	if got := runsText(s.Table().Cells[0]); got != "2" || unmeasuredCell(c) != nil {
		t.Errorf("it counts %s runs: %+v", got, unmeasuredCell(c))
	}
	c.Runs[0].Repeated = ""
	if _, _, err := report.SuiteJSON(s); err == nil || !strings.Contains(err.Error(), "3 runs") {
		t.Errorf("figures of two of three runs are written: %v", err)
	}
	t.Run("the cell names a second try that came to nothing", func(t *testing.T) {
		c.Runs[2].Figures, c.Runs[2].Reason = nil, "GeneratorLost"
		if missing, repeated := c.Gaps(); len(missing)+len(repeated) > 0 {
			t.Errorf("missing are %+v, repeated %+v", missing, repeated)
		}
	})
}

func FuzzReadSuite(f *testing.F) {
	document, _, err := report.SuiteJSON(reporttest.Night())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	f.Fuzz(func(t *testing.T, document []byte) {
		s, err := report.ReadSuite(document)
		if err != nil {
			return
		}
		if _, _, err := report.SuiteJSON(s); err != nil {
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

func TestAFieldsPathStaysAsItIsWritten(t *testing.T) {
	for text, want := range map[string]string{"spec.activeDeadline of 1m is over": "spec.activeDeadline of 1m is over", "it ended.": "It ended.", "lost": "Lost"} {
		if got := capital(text); got != want {
			t.Errorf("%q becomes %q", text, got)
		}
	}
}

// A search for several goals has a row for each, in every format.
func TestASuitesGoalsAreShown(t *testing.T) {
	s := reporttest.Night()
	c := &s.Cells[0]
	c.Goals = []report.GoalFigures{{Goal: "NDR", Figures: c.Figures}, {Goal: "PDR", Figures: &report.Figures{Runs: 2, PacketsPerSecond: 1_900_000, Layer1BitsPerSecond: 1_276_800_000}}}
	for format, wants := range map[string][]string{"text": {"64b, NDR", "64b, PDR", "1.90 M"}, "markdown": {"64b, NDR", "64b, PDR", "1.90 M"}, "html": {"64b, NDR", "64b, PDR", "1.90 M"}, "csv": {`"64b, PDR"`, "1900000"}} {
		var out bytes.Buffer
		if err := Write(&out, format, OfTests(report.Documents{Suites: []*report.Suite{s}}), TextOptions{}); err != nil {
			t.Fatal(err)
		}
		for _, want := range wants {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s doesn't say %q:\n%s", format, want, out.String())
			}
		}
	}
}
