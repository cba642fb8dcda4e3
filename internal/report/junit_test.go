package report

import (
	"encoding/xml"
	"testing"
)

func suites(t *testing.T, reports ...*Report) junitSuites {
	t.Helper()
	var doc junitSuites
	if err := xml.Unmarshal(rendered(t, "junit", reports...), &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestJUnitCountsWhatItHolds(t *testing.T) {
	doc := suites(t, all()...)
	if len(doc.Suites) != len(scenarios()) {
		t.Fatalf("%d suites of %d reports", len(doc.Suites), len(scenarios()))
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

func TestJUnitIsGreenOnlyWhereAllIsWell(t *testing.T) {
	unjudged := measured()
	unjudged.Verdict = Verdict{Outcome: Undecided}
	noCriteria := measured()
	noCriteria.Plan.Criteria = nil
	for name, c := range map[string]struct {
		r                *Report
		failures, errors int
	}{
		"measured and passed":            {judgedAs(Passed, measured(limited(150_000))), 0, 0},
		"measured, without criteria":     {noCriteria, 0, 0},
		"a criterion failed":             {judgedAs(DidFail, measured(limited(150_000))), 1, 0},
		"a criterion is undecided":       {judgedAs(Undecided, measured(weak(90_000))), 0, 1},
		"a criterion that nobody judged": {unjudged, 0, 1},
		"not measured, not judged":       {pathNotProven(), 0, 2},
		"interrupted, though passed":     {judgedAs(Passed, measured(limited(150_000), cutAfter(3))), 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			doc := suites(t, c.r)
			if doc.Failures != c.failures || doc.Errors != c.errors {
				t.Errorf("%d failures and %d errors, want %d and %d", doc.Failures, doc.Errors, c.failures, c.errors)
			}
		})
	}
}
