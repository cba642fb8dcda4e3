package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"
)

// release is a gate with all that can become of a row.
func release() *Gate {
	at := time.Date(2026, 3, 14, 1, 0, 0, 0, time.UTC)
	figures := func(packets int64, spread string) *Figures {
		return &Figures{Runs: 5, PacketsPerSecond: packets, Layer1BitsPerSecond: packets * 672, LineRatePercent: percent("50"), LineRatePercentSum: percent("100"),
			Spread: &Spread{Percent: percent(spread), LowPacketsPerSecond: packets - 100, HighPacketsPerSecond: packets + 100, Confidence: percent("93.75")}}
	}
	change := func(p, low, high string) *Change {
		l, h := percent(low), percent(high)
		return &Change{Percent: percent(p), LowPercent: &l, HighPercent: &h, Confidence: percent("97.5")}
	}
	g := &Gate{Producer: "linerate 0.9", Namespace: "lab", Notes: []string{"1 test was repeated after ending without a measurement"}, Suites: []*Suite{night()}, Rows: []GateRow{
		{Test: "nightly", Suite: "night", Cell: "vpp-imix", Product: "vpp", Loadtest: "imix", Outcome: Passed, BaselineName: "cell main-imix",
			Criteria:  []CriterionResult{{Name: "no-slower", Outcome: Passed, Message: "west→east: 0.1 % less than the baseline (-0.4 % to +0.2 %), 2 % allowed"}},
			Candidate: Compared{Figures: figures(653_700, "0.12"), Judgement: NotShown, Change: change("-0.1", "-0.4", "0.2")}, Baseline: &Compared{Figures: figures(654_400, "0.1")}},
		{Suite: "night", Cell: "vpp-64b", Product: "vpp", Loadtest: "64b", Outcome: DidFail, BaselineName: "cell main-64b",
			Criteria:  []CriterionResult{{Name: "no-slower", Outcome: DidFail, Message: "west→east: 5 % less than the baseline (-5.4 % to -4.6 %), 2 % allowed"}},
			Candidate: Compared{Figures: figures(1_691_000, "0.3"), Judgement: Less, Change: change("-5", "-5.4", "-4.6"), Outliers: []string{"night-vpp-64b-r2"}}, Baseline: &Compared{Figures: figures(1_780_000, "0.2")}},
		{Suite: "night", Cell: "linux-64b", Product: "linux|<b>", Loadtest: "64b", Outcome: Undecided, BaselineName: "cell main-64b",
			Criteria:  []CriterionResult{{Name: "no-slower", Outcome: Undecided, Message: "west→east: 3 runs against 5 are too few to tell; about 5 of each would do"}},
			Candidate: Compared{Missing: []Missing{{Test: "night-linux-64b-r1", Reason: "GeneratorLost", Message: "generator-0 didn't answer for 10s"}}}, Baseline: &Compared{Figures: figures(1_780_000, "0.2")}},
	}}
	g.Suites[0].Namespace, g.Suites[0].Started, g.Suites[0].Finished = "lab", at, at.Add(time.Hour)
	g.Conclude()
	return g
}

func inFormat(t *testing.T, g *Gate, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := g.Write(&out, format); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAGateInEachFormat(t *testing.T) {
	for format, ext := range map[string]string{"text": "txt", "markdown": "md", "junit": "xml", "json": "json", "html": "html"} {
		t.Run(format, func(t *testing.T) { golden(t, "gate."+ext, []byte(inFormat(t, release(), format))) })
	}
	t.Run("without anything to compare with", func(t *testing.T) {
		g := release()
		for i := range g.Rows {
			g.Rows[i].Baseline, g.Rows[i].BaselineName = nil, ""
		}
		golden(t, "gate-absolute.md", []byte(inFormat(t, g, "markdown")))
		if page := inFormat(t, g, "html"); !strings.Contains(page, "1.69") || strings.Contains(page, "baseline</th>") {
			t.Error("the page doesn't have the table alone")
		}
	})
	t.Run("another format is refused", func(t *testing.T) {
		if err := release().Write(&bytes.Buffer{}, "pdf"); err == nil {
			t.Error("there is no error")
		}
	})
}

func TestWhatAGateConcludes(t *testing.T) {
	rows := func(outcomes ...Outcome) *Gate {
		g := &Gate{}
		for _, o := range outcomes {
			g.Rows = append(g.Rows, GateRow{Outcome: o})
		}
		g.Conclude()
		return g
	}
	for name, c := range map[string]struct {
		gate    *Gate
		code    int
		outcome Outcome
		says    string
	}{
		"all met":                    {rows(Passed, Passed), ExitOK, Passed, "all criteria are met, in 2 tests"},
		"one missed":                 {rows(Passed, DidFail), ExitFailed, DidFail, "1 of 2 tests doesn't meet the criteria"},
		"a miss outweighs doubt":     {rows(Undecided, DidFail, DidFail), ExitFailed, DidFail, "2 of 3 tests don't meet the criteria, and 1 is undecided"},
		"doubt outweighs what's met": {rows(Passed, Undecided), ExitNotMeasured, Undecided, "1 of 2 tests is undecided"},
		"an outcome nobody set":      {rows(""), ExitNotMeasured, Undecided, "the test is undecided"},
		"nothing at all":             {rows(), ExitNotMeasured, Undecided, "nothing was measured"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.gate.ExitCode != c.code || c.gate.Outcome != c.outcome || !strings.Contains(c.gate.Message, c.says) {
				t.Errorf("%d %s %q, want %d %s %q", c.gate.ExitCode, c.gate.Outcome, c.gate.Message, c.code, c.outcome, c.says)
			}
		})
	}
}

func TestAGateOfAThousandCells(t *testing.T) {
	g := release()
	row := g.Rows[1]
	row.Criteria[0].Message = strings.Repeat("figures ", 500)
	g.Rows = nil
	for i := range 1000 {
		row.Loadtest = fmt.Sprint("load-", i)
		g.Rows = append(g.Rows, row)
	}
	g.Conclude()
	const comment = 65_536
	if got := inFormat(t, g, "markdown"); len([]rune(got)) > comment || !strings.Contains(got, "940 rows more") {
		t.Errorf("a comment takes %d characters, and the markdown has %d", comment, len([]rune(got)))
	}
	var whole Gate
	if err := json.Unmarshal([]byte(inFormat(t, g, "json")), &whole); err != nil || len(whole.Rows) != 1000 || whole.Version != GateVersion {
		t.Errorf("%v, %d rows, version %s", err, len(whole.Rows), whole.Version)
	}
}

func TestAGateWithoutAMeasurementIsNoGreenJUnit(t *testing.T) {
	g := &Gate{}
	g.Conclude()
	var doc junitSuites
	if err := xml.Unmarshal([]byte(inFormat(t, g, "junit")), &doc); err != nil || doc.Errors != 1 || doc.Tests != 1 {
		t.Errorf("%v, %d tests, %d errors", err, doc.Tests, doc.Errors)
	}
}
