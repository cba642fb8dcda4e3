package render

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// release is a gate with all that can become of a row.
func release() *report.Gate {
	at := time.Date(2026, 3, 14, 1, 0, 0, 0, time.UTC)
	figures := func(packets int64, spread string) *report.Figures {
		return &report.Figures{Runs: 5, PacketsPerSecond: packets, Layer1BitsPerSecond: packets * 672, LineRatePercent: reporttest.Percent("50"), LineRatePercentSum: reporttest.Percent("100"),
			Spread: &report.Spread{Percent: reporttest.Percent(spread), LowPacketsPerSecond: packets - 100, HighPacketsPerSecond: packets + 100, Confidence: reporttest.Percent("93.75")}}
	}
	change := func(p, low, high string) *report.Change {
		l, h := reporttest.Percent(low), reporttest.Percent(high)
		return &report.Change{Percent: reporttest.Percent(p), LowPercent: &l, HighPercent: &h, Confidence: reporttest.Percent("97.5")}
	}
	g := &report.Gate{Producer: "linerate 0.9", Namespace: "lab", Notes: []string{"1 test was repeated after ending without a measurement"}, Suites: []*report.Suite{reporttest.Night()}, Rows: []report.GateRow{
		{Test: "nightly", Suite: "night", Cell: "vpp-imix", Product: "vpp", Loadtest: "imix", Outcome: report.Passed, BaselineName: "cell main-imix",
			Criteria:  []report.CriterionResult{{Name: "no-slower", Outcome: report.Passed, Message: "west→east: 0.1 % less than the baseline (-0.4 % to +0.2 %), 2 % allowed"}},
			Candidate: report.Compared{Figures: figures(653_700, "0.12"), Judgement: report.NotShown, Change: change("-0.1", "-0.4", "0.2")}, Baseline: &report.Compared{Figures: figures(654_400, "0.1")}},
		{Suite: "night", Cell: "vpp-64b", Product: "vpp", Loadtest: "64b", Outcome: report.DidFail, BaselineName: "cell main-64b",
			Criteria:  []report.CriterionResult{{Name: "no-slower", Outcome: report.DidFail, Chance: 1, Message: "west→east: 5 % less than the baseline (-5.4 % to -4.6 %), 2 % allowed"}},
			Candidate: report.Compared{Figures: figures(1_691_000, "0.3"), Judgement: report.Less, Change: change("-5", "-5.4", "-4.6"), Outliers: []string{"night-vpp-64b-r2"}}, Baseline: &report.Compared{Figures: figures(1_780_000, "0.2")}},
		{Suite: "night", Cell: "linux-64b", Product: "linux|<b>", Loadtest: "64b", Outcome: report.Undecided, BaselineName: "cell main-64b",
			Criteria:  []report.CriterionResult{{Name: "no-slower", Outcome: report.Undecided, Message: "west→east: 3 runs against 5 are too few to tell; about 5 of each would do"}},
			Candidate: report.Compared{Missing: []report.Missing{{Test: "night-linux-64b-r1", Reason: "GeneratorLost", Message: "generator-0 didn't answer for 10s"}}}, Baseline: &report.Compared{Figures: figures(1_780_000, "0.2")}},
	}}
	each := func(test string, around int64, apart ...int64) (all []report.ComparedRun) {
		for i, d := range apart {
			low := around + d
			all = append(all, report.ComparedRun{Test: fmt.Sprintf("%s-r%d", test, i+1), Low: report.Number(fmt.Sprint(low)), High: report.Number(fmt.Sprint(low + low/200))})
		}
		return all
	}
	failed := &g.Rows[1]
	failed.Baseline.Each, failed.Candidate.Each = each("night-main-64b", 1_780_000, 0, -2000, 3000, 1000, -1000), each("night-vpp-64b", 1_691_000, 0, -42_000, 2000, -1000, 3000)
	failed.Candidate.Each[4].High, failed.Candidate.Each[0].High = "", failed.Candidate.Each[0].Low
	failed.Candidate.SmallestPercent = new(reporttest.Percent("2.82"))
	g.Suites[0].Namespace, g.Suites[0].Started, g.Suites[0].Finished = "lab", at, at.Add(time.Hour)
	g.Conclude()
	return g
}

func inFormat(t *testing.T, g *report.Gate, format string) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, format, OfGate(g), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAGateInEachFormat(t *testing.T) {
	for format, ext := range map[string]string{"text": "txt", "markdown": "md", "junit": "xml", "json": "json", "html": "html"} {
		t.Run(format, func(t *testing.T) { golden(t, "gate."+ext, []byte(inFormat(t, release(), format))) })
	}
	t.Run("a gate has nothing to compare with", func(t *testing.T) {
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
		if err := Write(&bytes.Buffer{}, "pdf", OfGate(release()), TextOptions{}); err == nil {
			t.Error("there is no error")
		}
	})
}

func TestAGateOfAThousandCells(t *testing.T) {
	g := release()
	row := g.Rows[1]
	row.Criteria[0].Message = strings.Repeat("figures ", 500)
	row.Candidate.Each = slices.Repeat(row.Candidate.Each, 20) // a hundred runs
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
	var whole report.Gate
	if err := json.Unmarshal([]byte(inFormat(t, g, "json")), &whole); err != nil || len(whole.Rows) != 1000 || whole.Version != report.GateVersion {
		t.Errorf("%v, %d rows, version %s", err, len(whole.Rows), whole.Version)
	}
}

func TestAGateWithoutAMeasurementIsNoGreenJUnit(t *testing.T) {
	g := &report.Gate{}
	g.Conclude()
	var doc junitSuites
	if err := xml.Unmarshal([]byte(inFormat(t, g, "junit")), &doc); err != nil || doc.Errors != 1 || doc.Tests != 1 {
		t.Errorf("%v, %d tests, %d errors", err, doc.Tests, doc.Errors)
	}
}

// TestTheJUnitOfAGateSaysWhatItsRowsSay: a witness that decides nothing is no error of a gate that passed, nor the
// search of its name, and what failed since the anchor fails there.
func TestTheJUnitOfAGateSaysWhatItsRowsSay(t *testing.T) {
	verdict := func(o report.Outcome) *report.Verdict {
		return &report.Verdict{Outcome: o, Criteria: []report.CriterionResult{{Name: "no-slower", Outcome: o, Message: "as it may be"}}}
	}
	suite := func(name string, o report.Outcome) *report.Suite {
		return &report.Suite{Name: name, Cells: []report.SuiteCell{{Name: "new", Figures: &report.Figures{Runs: 1}, Verdict: verdict(o), Runs: []report.SuiteRun{{Test: name + "-r1", Figures: &report.Figures{Runs: 1}}}}}}
	}
	since := report.CriterionResult{Name: "no-slower since the anchor", Outcome: report.DidFail, Message: "4 % less"}
	for name, c := range map[string]struct {
		search, witness           report.Outcome
		silent                    bool
		anchor                    []report.CriterionResult
		failures, errors, skipped int
		gate                      report.Outcome
	}{
		"a witness that is silent":   {report.Passed, report.Undecided, true, nil, 0, 0, 1, report.Passed},
		"a witness that decides":     {report.Passed, report.DidFail, false, nil, 2, 0, 0, report.DidFail},
		"a search that is undecided": {report.Undecided, report.Passed, false, nil, 0, 2, 0, report.Undecided},
		"less since the anchor":      {report.Passed, report.Passed, false, []report.CriterionResult{since}, 2, 0, 0, report.DidFail},
	} {
		t.Run(name, func(t *testing.T) {
			g := &report.Gate{Suites: []*report.Suite{suite("router-1a", c.search), suite("router-overload-2b", c.witness)}, Rows: []report.GateRow{
				{Test: "router", Suite: "router-1a", Cell: "new", Outcome: c.search, Criteria: verdict(c.search).Criteria},
				{Test: "router", Suite: "router-overload-2b", Cell: "new", Outcome: c.witness, Criteria: verdict(c.witness).Criteria, Witness: report.WitnessOverload, Silent: c.silent}}}
			if c.anchor != nil {
				g.Rows[0].AnchorName, g.Rows[0].Outcome, g.Rows[0].Criteria = "releases/1.0", report.DidFail, append(g.Rows[0].Criteria, c.anchor...)
			}
			g.Conclude()
			var doc junitSuites
			if err := xml.Unmarshal([]byte(inFormat(t, g, "junit")), &doc); err != nil {
				t.Fatal(err)
			}
			skipped := 0
			for _, s := range doc.Suites {
				skipped += s.Skipped
			}
			if g.Outcome != c.gate || doc.Failures != c.failures || doc.Errors != c.errors || skipped != c.skipped {
				t.Errorf("%s with %d failures, %d errors and %d skipped; want %s with %d, %d and %d", g.Outcome, doc.Failures, doc.Errors, skipped, c.gate, c.failures, c.errors, c.skipped)
			}
			if search, witness := doc.Suites[1].Cases[0].ClassName, doc.Suites[2].Cases[0].ClassName; search != "router.new" || witness != "router-overload.new" {
				t.Errorf("the cases are of %s and of %s", search, witness)
			}
		})
	}
}
