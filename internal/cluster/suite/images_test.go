package suite

import (
	"bytes"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/render"
)

func build(digest string) []plan.Container {
	return []plan.Container{{Name: "vpp", Image: "lab/vpp:main", ImageID: "lab/vpp@sha256:" + digest}}
}

// A tag that moves while a suite runs makes a median of two builds. Each output of the cell says so.
func TestRunsOfSeveralBuildsAreToldOf(t *testing.T) {
	w := newWorld(t, twoByTwo+"repetitions: 2\n")
	w.live(newRandom(1))
	for i, cell := range w.matrix.Cells {
		for repetition := range int32(2) {
			name := w.matrix.TestName(i, repetition+1, 1)
			run := w.runs[name]
			run.Images = build("11")
			if cell.Name == w.matrix.Cells[1].Name && repetition == 1 {
				run.Images = build("22")
			}
			w.runs[name] = run
		}
	}
	v := newSituation(Observed{Suite: w.suite, Matrix: w.matrix, Now: w.now, Tests: w.tests, Runs: w.runs})
	document := v.suiteReport(true)
	const difference = "container vpp ran lab/vpp:main (sha256:11) in the one and lab/vpp:main (sha256:22) in the other"
	for i, c := range document.Cells {
		if mixed := i == 1; mixed != strings.Contains(c.Message, difference) || mixed != (len(c.Images) == 0) {
			t.Errorf("cell %s measured %v, and says %q", c.Name, c.Images, c.Message)
		}
		if row := v.row(i); (i == 1) != strings.Contains(row.Message, difference) {
			t.Errorf("the row of %s says %q", c.Name, row.Message)
		}
	}
	var rendered bytes.Buffer
	if err := render.Write(&rendered, "text", render.OfTable(document.Table()),
		render.TextOptions{Width: 300}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{difference, "Device under test of ", ": vpp ran lab/vpp:main (sha256:11)."} {
		if !strings.Contains(rendered.String(), want) {
			t.Errorf("no %q in\n%s", want, rendered.String())
		}
	}
	for _, format := range []string{"markdown", "junit", "html", "json"} {
		rendered.Reset()
		if err := render.Write(&rendered, format, render.OfTests(report.Documents{Suites: []*report.Suite{document}}),
			render.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		if text := strings.ReplaceAll(rendered.String(), "`", ""); !strings.Contains(text, difference) {
			t.Errorf("%s doesn't tell of two builds:\n%s", format, text)
		}
	}
}

func TestARunHasTheImagesOfItsReport(t *testing.T) {
	test := &v1alpha1.LoadTest{}
	w := &world{t: t, tests: map[string]*v1alpha1.LoadTest{"a": test}}
	w.end("a")
	r := reportOf(test)
	r.Device = &plan.Device{Pod: "a-1-dut", Containers: build("11")}
	if run := RunOf(test, 1, 1, r, ""); len(run.Images) != 0 {
		t.Errorf("of a device that is no pod's: %+v", run.Images)
	}
	r.Plan.DUT.Type = "Pod"
	if run := RunOf(test, 1, 1, r, ""); len(run.Images) != 1 || run.Images[0] != build("11")[0] {
		t.Errorf("%+v", run.Images)
	}
}
