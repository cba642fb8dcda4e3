package answer

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// longestValues are as long as people make names and figures.
func longestValues() map[string]string {
	name := strings.Repeat("a long name ", 20)
	return map[string]string{"row": name, "criterion": name, "reason": name, "side": name, "first": name, "check": name,
		"change": "1234.56 %", "allowed": "12.34 %", "smallest": "12.34 %", "work": "at least 12.34 µs",
		"changed": "environment"}
}

func TestEachSentenceBesideATableReadsAtOnce(t *testing.T) {
	numbered := regexp.MustCompile(`(?i)\b(windows?|threads?|process(es)?) [0-9]|[0-9] (windows?|threads?|process(es)?)\b`)
	needsNone := map[besideCause]bool{gatePassed: true, gateShows: true, sideMore: true, sideKept: true, cellsMeasured: true,
		cellsPassed: true, latestUsual: true}
	for cause, r := range besides() {
		text := besideSentence(cause, longestValues())
		if n := utf8.RuneCountInString(text); n > longest {
			t.Errorf("%s: %d characters, at most %d are read: %s", cause, n, longest, text)
		}
		if strings.ContainsAny(text, "{}[]") || strings.Contains(text, "unknown value") || numbered.MatchString(text) ||
			!strings.HasSuffix(text, ".") {
			t.Errorf("%s: %s", cause, text)
		}
		if (r.wayOut == noWayOut) != needsNone[cause] {
			t.Errorf("%s has this way out: %q", cause, r.wayOut)
		}
	}
}

func percent(hundredths int64) *units.Percent {
	return new(units.Hundred * units.Percent(hundredths) / 10_000)
}

// measuredSide has figures that differ so much from the first side's.
func measuredSide(j report.Judgement, hundredths int64) report.Compared {
	return report.Compared{Figures: &report.Figures{Runs: 5}, Judgement: j, Change: &report.Change{Percent: *percent(hundredths)}}
}

func TestAGatesAnswer(t *testing.T) {
	row := func(o report.Outcome, c report.Compared, criteria ...report.CriterionResult) report.GateRow {
		return report.GateRow{Product: "VPP", Loadtest: "64b", Outcome: o, Candidate: c, Criteria: criteria}
	}
	slower := report.CriterionResult{Name: "no-slower", Outcome: report.DidFail, Chance: 1}
	passes := row(report.Passed, measuredSide(report.NotShown, 10))
	for name, c := range map[string]struct {
		rows   []report.GateRow
		doubt  string
		figure string
		want   string
	}{
		"slower than its baseline": {[]report.GateRow{passes, row(report.DidFail, measuredSide(report.Less, -506), slower)}, "",
			"Failed: 1 of 2 tests doesn't meet the criteria.",
			"VPP 64b carries 5.06 % less than its baseline, which criterion no-slower forbids. Find what changed in the device."},
		"more work for a frame": {[]report.GateRow{row(report.DidFail, report.Compared{Figures: &report.Figures{Runs: 5}},
			report.CriterionResult{Name: "no-slower", Outcome: report.DidFail, Chance: 1, Reason: report.MoreWorkPerFrame,
				TimePerFrame: &report.TimeChange{Direction: "west→east", Nanoseconds: "502", LowNanoseconds: "455",
					HighNanoseconds: "560"}})}, "", "Failed: the test doesn't meet the criteria.",
			"VPP 64b works 0.50 ± 0.06 µs longer on a frame, which no-slower forbids; its limit is undecided. " +
				"Find what changed."},
		"below a demand": {[]report.GateRow{row(report.DidFail, measuredSide("", 0), report.CriterionResult{Name: "fast",
			Outcome: report.DidFail})}, "", "Failed: the test doesn't meet the criteria.",
			"VPP 64b does not meet fast. Find what limits the device there, or correct the criterion."},
		"not measured": {[]report.GateRow{row(report.Undecided, report.Compared{Missing: []report.Missing{{
			Reason: "GeneratorLost"}}})}, "",
			"Undecided: the test could not be decided: the runs show neither that the criteria are met nor that they aren't.",
			"VPP 64b has no figure (GeneratorLost). See why in its Report, then measure it again."},
		"too few runs": {[]report.GateRow{row(report.Undecided, measuredSide(report.TooFew, -100),
			report.CriterionResult{Name: "no-slower", Outcome: report.Undecided})}, "",
			"Undecided: the test could not be decided: the runs show neither that the criteria are met nor that they aren't.",
			"The runs of VPP 64b do not decide no-slower. Repeat the test more often, where nothing else disturbs it."},
		"passed": {[]report.GateRow{passes}, "", "Passed: all criteria are met, in 1 test.",
			"Each test meets each of its criteria."},
		"not followed": {[]report.GateRow{passes}, "the connection broke",
			"Undecided: not all tests were followed to their end: the connection broke.",
			"The gate did not see all tests end. See the notes below, then start it again."},
		"nothing": {nil, "", "Undecided: nothing was measured.",
			"No test has a run to judge. See why its conditions say it did not run, then start the gate again."},
	} {
		g := &report.Gate{Rows: c.rows}
		g.Conclude()
		if c.doubt != "" {
			g.Doubt(c.doubt)
		}
		if got := OfGate(g); got.Summary != c.figure || got.Message != c.want {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", name, got.Summary, got.Message, c.figure, c.want)
		}
	}
}

func TestAComparisonsAnswer(t *testing.T) {
	first, missing := report.Compared{Figures: &report.Figures{Runs: 5}}, report.Compared{
		Judgement: report.NotComparable, Missing: []report.Missing{{Reason: "PathNotProven"}}}
	failed, allowed := measuredSide(report.Less, -506), measuredSide(report.Less, -506)
	allowed.Verdict = report.Passed
	failed.Verdict = report.DidFail
	for name, c := range map[string]struct {
		sides   []report.Compared
		demands *units.Percent
		figure  string
		want    string
	}{
		"less, though another side is not measured": {[]report.Compared{first, missing, measuredSide(report.Less, -506)}, nil,
			"Others against v1: of 2 tests 1 is slower, 0 faster, 0 equal, 1 not comparable.",
			"VPP 64b carries 5.06 % less in v3 than in v1. Find what changed in the device."},
		"more":         {[]report.Compared{first, measuredSide(report.More, 200)}, nil, "Others against v1: of 1 test 0 are slower, 1 faster, 0 equal, 0 not comparable.", "VPP 64b carries 2.00 % more in v2 than in v1."},
		"too few":      {[]report.Compared{first, measuredSide(report.TooFew, 200)}, nil, "Others against v1: of 1 test 0 are slower, 0 faster, 0 equal, 1 not comparable.", "VPP 64b has too few runs to tell v2 from v1. Repeat both more often."},
		"not measured": {[]report.Compared{first, missing}, nil, "Others against v1: of 1 test 0 are slower, 0 faster, 0 equal, 1 not comparable.", "VPP 64b has no figure in v2 (PathNotProven). See why below, then measure it again."},
		"bounds":       {[]report.Compared{first, {Figures: &report.Figures{Runs: 5, LowerBound: true}, Judgement: report.NotShown}}, nil, "Others against v1: of 1 test 0 are slower, 0 faster, 0 equal, 1 not comparable.", "VPP 64b has a lower bound (≥) in v2 or v1, which hides any difference. See its Report."},
		"alike":        {[]report.Compared{first, measuredSide(report.NotShown, 2)}, nil, "Others against v1: of 1 test 0 are slower, 0 faster, 1 equal, 0 not comparable.", "The runs show no difference from v1. Smaller differences take more runs."},
		"less, which is allowed": {[]report.Compared{first, allowed}, percent(1000), "Passed: 1 passed, 0 failed, 0 undecided.",
			"VPP 64b carries 5.06 % less in v2 than in v1, which is allowed."},
		"broken": {[]report.Compared{first, {Judgement: report.Less}}, nil, "Others against v1: of 1 test 1 is slower, 0 faster, 0 equal, 0 not comparable.",
			"VPP 64b loses frames at any load in v2. See in its Report whether the device is broken."},
		"less than demanded": {[]report.Compared{first, failed}, percent(200), "Failed: 0 passed, 1 failed, 0 undecided.",
			"VPP 64b carries 5.06 % less in v2 than in v1; 2.00 % is allowed. Find what changed."},
	} {
		got := OfComparison(&report.Comparison{Sides: []string{"v1", "v2", "v3"}, MaxRegressionPercent: c.demands,
			Rows: []report.ComparisonRow{{Product: "VPP", Loadtest: "64b", Sides: c.sides}}})
		if got.Summary != c.figure || got.Message != c.want {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", name, got.Summary, got.Message, c.figure, c.want)
		}
	}
}

func TestATablesAnswer(t *testing.T) {
	figures := &report.Figures{Runs: 2, PacketsPerSecond: 1_780_000}
	missing := report.Cell{Product: "Linux", Loadtest: "64b", Missing: []report.Missing{{Reason: "GeneratorLost"}}}
	for name, c := range map[string]struct {
		cells  []report.Cell
		figure string
		want   string
	}{
		"failed, and another is not measured": {[]report.Cell{missing, {Product: "VPP", Loadtest: "64b", Figures: figures,
			Verdict: report.DidFail, Message: "fast: 1.78 Mpps, at least 2,000,000 pps demanded"}},
			"1 of 2 tests have a figure: 0 passed, 1 failed, 0 undecided.",
			"VPP 64b does not meet fast. Find what limits the device there, or correct the criterion."},
		"one is not measured": {[]report.Cell{missing, {Figures: figures}}, "1 of 2 tests have a figure.",
			"Linux 64b has no figure (GeneratorLost). See why in its Report, then measure it again."},
		"none is measured": {[]report.Cell{missing, missing}, "0 of 2 tests have a figure.",
			"Linux 64b has no figure (GeneratorLost). See why in its Report, then measure it again."},
		"none has ended": {make([]report.Cell, 2), "0 of 2 tests have a figure.",
			"No test has a figure. Wait for the first test to end, or see why none ran."},
		"the only one is not measured": {[]report.Cell{missing}, "Linux 64b: not measured.",
			"Linux 64b has no figure (GeneratorLost). See why in its Report, then measure it again."},
		"a bound": {[]report.Cell{{Product: "VPP", Loadtest: "imix", Figures: &report.Figures{Runs: 1, LowerBound: true,
			PacketsPerSecond: 1_789_999}}}, "VPP imix: ≥ 1.78 Mpps.",
			"VPP imix is a lower bound (≥), as the device's limit was not found. See why in that test's Report."},
		"passed": {[]report.Cell{{Figures: figures, Verdict: report.Passed}, {Figures: figures}},
			"2 of 2 tests have a figure: 1 passed, 0 failed, 0 undecided.", "Each figure meets its criteria."},
		"the only one failed": {[]report.Cell{{Product: "VPP", Loadtest: "64b", Figures: figures, Verdict: report.DidFail,
			Message: "fast: 1.78 Mpps, at least 2,000,000 pps demanded"}}, "VPP 64b: 1.78 Mpps, the median of 2 runs. Failed.",
			"VPP 64b does not meet fast. Find what limits the device there, or correct the criterion."},
		"no criteria": {[]report.Cell{{Figures: figures}, {Figures: figures}}, "2 of 2 tests have a figure.",
			"Each test has a figure."},
	} {
		if got := OfTable(&report.Table{Cells: c.cells}); got.Summary != c.figure || got.Message != c.want {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", name, got.Summary, got.Message, c.figure, c.want)
		}
	}
}

func TestATrendsAnswer(t *testing.T) {
	usual := report.Point{Figures: &report.Figures{}}
	outlier := report.Point{Figures: &report.Figures{}, Outlier: true, FromMedian: &report.Change{Percent: *percent(-927)}}
	lost := report.Point{Missing: &report.Missing{Reason: "GeneratorLost"}}
	changed := report.Point{Figures: &report.Figures{}, DeviceChange: []string{"image"}}
	for name, c := range map[string]struct {
		final        []report.Point
		figure, want string
	}{
		"as usual": {[]report.Point{usual}, "1 series, 1 as usual.", "No latest run lies far from the runs before it."},
		"an outlier beside a lost run": {[]report.Point{lost, outlier}, "2 series, 0 as usual.",
			"The latest run of VPP 64b lies far from those before, -9.27 % from the median. Measure again; if it stays, find what changed."},
		"a lost run": {[]report.Point{usual, lost}, "2 series, 1 as usual.",
			"The latest run of VPP 64b has no figure (GeneratorLost). See why in its Report, then measure again."},
		"another device": {[]report.Point{changed}, "1 series, 0 as usual.",
			"The device of VPP 64b changed at the latest run, so earlier ones don't compare. Repeat it for a new median."},
	} {
		trend := &report.Trend{}
		for _, p := range c.final {
			trend.Series = append(trend.Series, report.Series{Product: "VPP", Loadtest: "64b", Points: []report.Point{usual, p}})
		}
		if got := OfTrend(trend); got.Summary != c.figure || got.Message != c.want {
			t.Errorf("%s: %s\n%s\nwant %s\n%s", name, got.Summary, got.Message, c.figure, c.want)
		}
	}
}
