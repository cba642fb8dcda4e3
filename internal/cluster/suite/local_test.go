package suite

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units"
)

// figureOf is the Report of a test whose device carries so many packets per second.
func figureOf(name string, packetsPerSecond int64) *report.Report {
	flow := report.Flow{PacketsPerSecond: packetsPerSecond, Layer1BitsPerSecond: packetsPerSecond * 672}
	return &report.Report{
		Version: report.Version, Plan: &plan.Plan{Version: plan.Version, Test: plan.Test{Name: name}},
		Ending: report.Completed,
		Answer: report.Answer{Measured: true, Reason: report.LossAboveLimit, Directions: []report.Direction{{From: "west", To: "east", Received: flow}}, Total: &report.Sum{Received: flow}, Claim: report.Claim{Saturated: true, Confirmed: true, Resolution: units.One / 1000}},
	}
}

// measuredAlone is a suite that was measured on one machine. Each run has its cell's rate, and a little more
// with each repetition.
func measuredAlone(t *testing.T, spec string, rate map[string]int64, reference *Reference) *report.Suite {
	t.Helper()
	now := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	a := NewLocal(Expand(written(t, spec)), "test", now)
	a.SetReference(reference)
	for range 1000 {
		w, ok := a.Next(now)
		if !ok {
			return a.Document(now)
		}
		a.Record(LocalRun(w, figureOf(w.Name, rate[a.Cell(w.Cell).Name]*int64(1000+w.Repetition)/1000), "sha256:"+
			w.Name))
		now = now.Add(time.Minute)
	}
	t.Fatal("it doesn't come to its end")
	return nil
}

const nightly = `
template: {spec: {links: [{name: west}, {name: east}], dut: {type: Reference}}}
axes:
- {name: image, values: [{name: main}, {name: other}]}
- {name: frames, values: [{name: imix}, {name: 64b}]}
repetitions: 5
criteria: [{name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}]
`

func rates(mainImix, mainSmall, otherImix, otherSmall int64) map[string]int64 {
	return map[string]int64{"main-imix": mainImix, "main-64b": mainSmall, "other-imix": otherImix,
		"other-64b": otherSmall}
}

func verdictsOf(s *report.Suite) map[string]string {
	verdicts := map[string]string{}
	for _, c := range s.Cells {
		verdicts[c.Name] = string(c.Verdict.Outcome)
		for _, said := range c.Verdict.Criteria {
			verdicts[c.Name] += " " + said.Message
		}
	}
	return verdicts
}

func TestASuiteIsComparedWithAnEarlierOne(t *testing.T) {
	earlier := measuredAlone(t, nightly, rates(10_000, 20_000, 30_000, 40_000), nil)
	var document bytes.Buffer
	if err := earlier.JSON(&document); err != nil {
		t.Fatal(err)
	}
	read, err := report.ReadSuite(document.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	fromFile := &Reference{Kind: KindFile, Name: "main.suite.json"}
	if err := fromFile.Add(read); err != nil {
		t.Fatal(err)
	}
	m, runs := Expand(written(t, nightly)), Runs{}
	for _, c := range earlier.Cells {
		for _, r := range c.Runs {
			runs[r.Test] = Run{SuiteRun: r, Ended: v1alpha1.ReasonMeasured}
		}
	}
	var loose []analysis.KeptReport
	for name, rate := range rates(10_000, 20_000, 30_000, 40_000) {
		for range 5 {
			r := figureOf("loose-"+name, rate)
			r.Plan.Test.Product, r.Plan.Test.Loadtest, _ = strings.Cut(name, "-")
			loose = append(loose, analysis.KeptReport{Report: r})
		}
	}
	turned := strings.Replace(nightly, "- {name: image, values: [{name: main}, {name: other}]}\n- {name: frames, "+
		"values: [{name: imix}, {name: 64b}]}",
		"- {name: frames, values: [{name: imix}, {name: 64b}]}\n- {name: image, values: [{name: main}, {name: third}]}",
		1)
	slower := rates(10_000, 19_000, 30_000, 40_000)
	for name, c := range map[string]struct {
		spec      string
		rates     map[string]int64
		reference *Reference
		want      map[string]string
	}{
		"its file": {nightly, slower, fromFile, map[string]string{
			"main-imix": "Passed", "main-64b": "Failed west→east: 19.06 kpps in 5 runs, 20.06 kpps",
			"other-64b": "Passed"}},
		"as the cluster stored it": {nightly, slower, ReferenceOf(m, runs), map[string]string{
			"main-imix": "Passed", "main-64b": "Failed west→east: 19.06 kpps in 5 runs, 20.06 kpps"}},
		"its axes in another order, and a value more": {turned, map[string]int64{"imix-main": 9_000, "64b-main": 20_000,
			"imix-third": 1, "64b-third": 1}, fromFile, map[string]string{
			"imix-main": "Failed", "64b-main": "Passed",
			"imix-third": "Undecided there is nothing to compare with: main.suite.json: it has no cell frames imix, " +
				"image third"}},
		"one that is at fault": {nightly, slower, &Reference{Kind: KindSuite, Name: "nightly-1",
			Fault: "there is no such LoadTestSuite"}, map[string]string{
			"main-imix": "Undecided there is nothing to compare with: LoadTestSuite nightly-1: there is no such " +
				"LoadTestSuite"}},
		"Reports that no suite is known of": {nightly, slower, &Reference{Kind: KindFile, Name: "old", Reports: loose},
			map[string]string{
				"main-imix": `Undecided there is nothing to compare with: old: it has no Report of the load test ""`}},
	} {
		t.Run(name, func(t *testing.T) {
			got := verdictsOf(measuredAlone(t, c.spec, c.rates, c.reference))
			for cell, want := range c.want {
				if !strings.HasPrefix(got[cell], want) {
					t.Errorf("%s: %s\nwant %s", cell, got[cell], want)
				}
			}
		})
	}
	t.Run("a document without evidence says so", func(t *testing.T) {
		read.Cells[0].Runs[0].Evidence = nil
		if err := new(Reference).Add(read); err == nil ||
			!strings.Contains(err.Error(), "give the Reports of its runs") {
			t.Error(err)
		}
	})
}

func TestOneTryStandsForARepetition(t *testing.T) {
	s := &report.Suite{Name: "s", Cells: []report.SuiteCell{{Name: "a", Runs: []report.SuiteRun{
		{Test: "s-a-r1", Repetition: 1, Evidence: figureOf("s-a-r1", 1)}, {Test: "s-a-r1t2", Repetition: 1, Retry: 1,
			Evidence: figureOf("s-a-r1t2", 2)},
		{Test: "s-a-r2", Repetition: 2, Evidence: figureOf("s-a-r2", 3)},
		{Test: "s-a-r3", Repetition: 3, Evidence: figureOf("s-a-r3", 4), Figures: &report.Figures{}},
		{Test: "s-a-r3t2", Repetition: 3, Retry: 1, Evidence: figureOf("s-a-r3t2", 5)},
	}}}}
	r := &Reference{}
	if err := r.Add(s); err != nil {
		t.Fatal(err)
	}
	if runs := r.Cells[0].Runs; len(runs) != 3 || runs[0].Report.Plan.Test.Name != "s-a-r1t2" ||
		runs[2].Report.Plan.Test.Name != "s-a-r3" {
		t.Errorf("%+v", runs)
	}
}

func TestWhatIsTakenUp(t *testing.T) {
	figures := &report.Figures{Runs: 1}
	run := func(test string, repetition, retry int, f *report.Figures) report.SuiteRun {
		return report.SuiteRun{Test: test, Repetition: repetition, Retry: retry, Figures: f}
	}
	earlier := &report.Suite{Name: "night", Cells: []report.SuiteCell{{Name: "test", Runs: []report.SuiteRun{
		run("night-test-r1", 1, 0, nil), run("night-test-r1t2", 1, 1, figures), // measured in the end
		run("night-test-r2", 2, 0, nil),     // came to nothing
		run("night-test-r3", 3, 0, figures), // isn't the same any more
		run("night-test-r9", 9, 0, figures), // isn't asked for
	}}}}
	a := NewLocal(Expand(written(t, "template: {spec: {}}\nrepetitions: 4\n")), "test", time.Now())
	resumed, skipped := a.Resume(earlier, func(w Wanted, _ report.SuiteRun) string {
		if w.Repetition == 3 {
			return "another device"
		}
		return ""
	})
	if resumed != 1 || len(skipped) != 1 || skipped[0] != "night-test-r3: another device" {
		t.Errorf("%d taken, left are %q", resumed, skipped)
	}
	if w, ok := a.Next(time.Now()); !ok || w.Name != "night-test-r2" {
		t.Errorf("next is %+v", w)
	}
	if c := a.Counts(); c.Measured != 1 || c.Tests != 4 || c.Waiting != 3 {
		t.Errorf("counts are %+v", c)
	}
}
