package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/units"
)

// measuredAs is a Report of a test with this row and column.
func measuredAs(product, loadtest string) *report.Report {
	return &report.Report{Version: report.Version, Ending: report.Completed, Plan: &plan.Plan{Version: plan.Version,
		Test: plan.Test{Name: product + "-" + loadtest, Product: product, Loadtest: loadtest}},
		Answer: report.Answer{Measured: true, Total: &report.Sum{}, Directions: []report.Direction{{}}, Claim: report.Claim{Saturated: true, Confirmed: true}}}
}

func TestATestIsComparedWithReportsOfTheSameTest(t *testing.T) {
	vpp, linux, imix := measuredAs("VPP 25.10", "imix"), measuredAs("Linux", "imix"), measuredAs("Linux", "64b")
	tests := map[string]struct {
		reports   []*report.Report
		candidate plan.Test
		runs      []string
		reason    string
	}{
		"of the same row and column": {[]*report.Report{vpp, linux, imix}, plan.Test{Product: "Linux",
			Loadtest: "imix"}, []string{"Linux-imix"}, ""},
		"of one row, by another name": {[]*report.Report{vpp}, plan.Test{Product: "VPP 26.02",
			Loadtest: "imix"}, []string{"VPP 25.10-imix"}, ""},
		"of several rows, and none is its own": {[]*report.Report{vpp, linux}, plan.Test{Product: "VPP 26.02",
			Loadtest: "imix"}, nil, `and none of "VPP 26.02"`},
		"of another column": {[]*report.Report{imix}, plan.Test{Product: "Linux", Loadtest: "imix"},
			nil, `no Report of the load test "imix"`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reference := &suite.Reference{Kind: suite.KindFile, Name: "main.json"}
			for _, r := range test.reports {
				reference.Reports = append(reference.Reports, analysis.KeptReport{Report: r})
			}
			b := baselineFor(&plan.Plan{Version: plan.Version, Test: test.candidate}, reference)
			var runs []string
			for _, r := range b.Runs {
				runs = append(runs, r.Test)
			}
			if strings.Join(runs, " ") != strings.Join(test.runs, " ") || !strings.Contains(b.Message, test.reason) ||
				(b.Message == "") != (test.reason == "") || b.Name != "main.json" {
				t.Errorf("%+v, want runs %v: %s", b, test.runs, test.reason)
			}
		})
	}
	if b := baselineFor(&plan.Plan{}, nil); b != nil {
		t.Errorf("without a file: %+v", b)
	}
}

func TestABaselineFileIsReadBeforeAnythingIsSent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.json")
	var document bytes.Buffer
	if err := report.JSON(&document, measuredAs("Linux", "imix"), measuredAs("Linux", "64b")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, document.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	relative := []*plan.Plan{{Criteria: []plan.Criterion{{Name: "it", MaxRegression: new(units.Ratio)}}}}
	for _, path := range []string{file, filepath.Dir(file)} {
		if b, err := readBaseline(nil, inputs{plans: relative}, []string{path, path}, nil); err != nil ||
			len(b.Reports) != 4 {
			t.Errorf("%s: %+v, %v", path, b, err)
		}
	}
	for name, test := range map[string]struct {
		plans   []*plan.Plan
		file    string
		message string
	}{
		"no such file":           {relative, file + "x", "no such file"},
		"nothing compares":       {[]*plan.Plan{{}}, file, "no criterion compares with it: give one maxRegression"},
		"an empty directory":     {relative, t.TempDir(), "it holds no Report"},
		"a file of other things": {relative, "baseline_test.go", "is not JSON"},
	} {
		if _, err := readBaseline(nil, inputs{plans: test.plans}, []string{test.file}, nil); err == nil ||
			!strings.Contains(err.Error(), test.message) {
			t.Errorf("%s: %v, want …%s…", name, err, test.message)
		}
	}
}
