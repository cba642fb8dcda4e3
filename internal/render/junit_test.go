package render

import (
	"encoding/xml"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func suites(t *testing.T, reports ...*report.Report) junitSuites {
	t.Helper()
	var doc junitSuites
	if err := xml.Unmarshal(rendered(t, "junit", reports...), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestJUnitCountsWhatItHolds(t *testing.T) {
	doc := suites(t, reporttest.Reports()...)
	if len(doc.Suites) != len(reporttest.Scenarios()) {
		t.Fatalf("%d suites of %d reports", len(doc.Suites), len(reporttest.Scenarios()))
	}
	var tests, failures, errs int
	for _, s := range doc.Suites {
		var f, e int
		for _, c := range s.Cases {
			if c.Failure != nil {
				f++
			}
			if c.Error != nil {
				e++
			}
		}
		if s.Tests != len(s.Cases) || s.Failures != f || s.Errors != e || s.Skipped != 0 {
			t.Errorf("%s says %d tests, %d failures, %d errors, %d skipped, and has %d, %d, %d", s.Name, s.Tests, s.Failures, s.Errors, s.Skipped, len(s.Cases), f, e)
		}
		tests, failures, errs = tests+s.Tests, failures+s.Failures, errs+s.Errors
	}
	if doc.Tests != tests || doc.Failures != failures || doc.Errors != errs {
		t.Errorf("the document says %d, %d, %d, its suites %d, %d, %d", doc.Tests, doc.Failures, doc.Errors, tests, failures, errs)
	}
}

// TestJUnitTellsRunsOfOneTestApart: CI systems drop all but one case of a classname and name.
func TestJUnitTellsRunsOfOneTestApart(t *testing.T) {
	ours := reporttest.Measured()
	ours.Plan.Criteria = append(ours.Plan.Criteria, plan.Criterion{Name: "measured"})
	doc := suites(t, reporttest.Measured(), reporttest.Measured(), ours, reporttest.PathNotProven(), reporttest.PathNotProven())
	seen := map[[2]string]bool{}
	for i, s := range doc.Suites {
		for _, c := range s.Cases {
			if pair := [2]string{c.ClassName, c.Name}; seen[pair] {
				t.Errorf("%q is there twice", pair)
			} else {
				seen[pair] = true
			}
			if i < 3 && c.ClassName != s.Cases[0].ClassName {
				t.Errorf("suite %d has classes %s and %s", i, s.Cases[0].ClassName, c.ClassName)
			}
		}
	}
	if doc.Suites[0].Cases[0].ClassName == doc.Suites[1].Cases[0].ClassName || len(seen) != doc.Tests {
		t.Errorf("%d pairs of %d tests", len(seen), doc.Tests)
	}
}

func TestJUnitIsGreenOnlyWhereAllIsWell(t *testing.T) {
	unjudged := reporttest.Measured()
	unjudged.Verdict = report.Verdict{Outcome: report.Undecided}
	noCriteria := reporttest.Measured()
	noCriteria.Plan.Criteria = nil
	for name, c := range map[string]struct {
		r                *report.Report
		failures, errors int
	}{
		"measured and passed":            {reporttest.JudgedAs(report.Passed, reporttest.Measured(reporttest.Limited(150_000))), 0, 0},
		"measured, without criteria":     {noCriteria, 0, 0},
		"a criterion failed":             {reporttest.JudgedAs(report.DidFail, reporttest.Measured(reporttest.Limited(150_000))), 1, 0},
		"a criterion is undecided":       {reporttest.JudgedAs(report.Undecided, reporttest.Measured(reporttest.Weak(90_000))), 0, 1},
		"a criterion that nobody judged": {unjudged, 0, 1},
		"not measured, not judged":       {reporttest.PathNotProven(), 0, 2},
		"interrupted, though passed":     {reporttest.JudgedAs(report.Passed, reporttest.Measured(reporttest.Limited(150_000), reporttest.CutAfter(3))), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			doc := suites(t, c.r)
			if doc.Failures != c.failures || doc.Errors != c.errors {
				t.Errorf("%d failures and %d errors, want %d and %d", doc.Failures, doc.Errors, c.failures, c.errors)
			}
		})
	}
}

// What isn't known to have passed is no green case, of a later version's outcome neither.
func TestACaseIsGreenOnlyWhereItsCriterionPassed(t *testing.T) {
	for outcome, want := range map[report.Outcome]string{report.Passed: "", report.DidFail: "failure", report.Undecided: "error", "Parked": "error", "": "error"} {
		c, got := criterionCase("router", report.CriterionResult{Name: "fast", Outcome: outcome}), ""
		switch {
		case c.Failure != nil:
			got = "failure"
		case c.Error != nil:
			got = "error"
		case c.Skipped != nil:
			got = "skipped"
		}
		if got != want {
			t.Errorf("%q: %q, want %q", outcome, got, want)
		}
	}
}
