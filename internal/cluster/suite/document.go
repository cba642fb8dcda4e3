package suite

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// document is the suite's report so far.
func (v *view) document(s *step) *report.Suite {
	return v.documentOf(s.complete, func(cell int) report.SuiteCell { return v.cell(cell) })
}

func (v *view) documentOf(complete bool, cellOf func(int) report.SuiteCell) *report.Suite {
	out := &report.Suite{
		Version: report.SuiteVersion, Producer: "linerate " + v.Version, Name: v.Suite.Name, Namespace: v.Suite.Namespace, UID: string(v.Suite.UID),
		Generation: v.Suite.Generation, Started: v.Suite.CreationTimestamp.UTC(), Seed: seedOf(v.Suite),
	}
	if v.was.StartedAt != nil {
		out.Started = v.was.StartedAt.UTC()
	}
	if complete {
		out.Finished = v.Now.UTC()
	}
	for _, axis := range v.spec.Axes {
		a := report.Axis{Name: string(axis.Name)}
		for _, value := range axis.Values {
			a.Values = append(a.Values, string(value.Name))
		}
		out.Axes = append(out.Axes, a)
	}
	points := 0
	for i := range v.Matrix.Cells {
		cell := cellOf(i)
		if points += len(cell.Curve); points > mostCurvePoints {
			cell.Curve = nil
		}
		out.Cells = append(out.Cells, cell)
	}
	if points > mostCurvePoints {
		out.Notes = append(out.Notes, fmt.Sprintf("the cells' curves have %d loads, of which this document holds %d at most: the others are in the runs' Reports", points, mostCurvePoints))
	}
	if ref := v.reference(); ref != nil {
		out.Baseline = &report.Baseline{Kind: ref.Kind, Name: ref.Name, Message: ref.Fault}
	}
	out.Verdict = overall(len(v.spec.Criteria) > 0, out.Cells)
	if complete && out.Verdict.Outcome == report.Undecided && slices.ContainsFunc(out.Cells, func(c report.SuiteCell) bool { return c.Verdict != nil && c.Verdict.Outcome == report.DidFail }) {
		out.Notes = append(out.Notes, amongSoMany)
	}
	if n := v.retried - v.disturbed; n > 0 {
		out.Notes = append(out.Notes, testsWere(n)+" repeated after ending without a measurement")
	}
	if n := v.disturbed; n > 0 {
		out.Notes = append(out.Notes, testsWere(n)+" repeated after being disturbed")
	}
	return out
}

// mostCurvePoints bounds the loads of all cells' curves in a suite's document.
const mostCurvePoints = 4096

func testsWere(n int32) string {
	if n == 1 {
		return "1 test was"
	}
	return fmt.Sprintf("%d tests were", n)
}

// amongSoMany says why a suite with a failed cell is undecided.
const amongSoMany = "among so many cells chance alone shows as much too often: more repetitions would tell"

// overall is the verdict on all cells: the worst, if it is still significant among so many cells.
func overall(judged bool, cells []report.SuiteCell) report.Verdict {
	out := report.Verdict{}
	if !judged {
		return out
	}
	out.Outcome = report.Passed
	var verdicts []*report.Verdict
	for _, c := range cells {
		if c.Calibration {
			continue
		}
		verdicts = append(verdicts, c.Verdict)
		switch {
		case c.Verdict == nil || c.Verdict.Outcome == report.Undecided:
			if out.Outcome == report.Passed {
				out.Outcome = report.Undecided
			}
		case c.Verdict.Outcome == report.DidFail:
			out.Outcome = report.DidFail
		}
	}
	if out.Outcome == report.DidFail && !report.FailedTogether(verdicts) {
		out.Outcome = report.Undecided
	}
	return out
}

// cell is what was measured in a cell, and the verdict on it. It is computed once for table, report and verdict.
func (v *view) cell(number int) report.SuiteCell {
	out, known := v.cells[number]
	if !known {
		out = v.computeCell(number)
		v.cells[number] = out
	}
	return out
}

func (v *view) computeCell(number int) report.SuiteCell {
	c := &v.Matrix.Cells[number]
	out := report.SuiteCell{Name: c.Name, Product: c.Product, Loadtest: c.Loadtest}
	if len(c.Values) == 0 {
		out.Product = v.Suite.Name
	}
	for _, value := range c.Values {
		out.Values = append(out.Values, report.AxisValue{Axis: string(value.Axis), Value: string(value.Value)})
	}
	var figures []Run
	vain := ""
	for _, name := range v.made[number] {
		run, known := v.Runs[name]
		if !known {
			continue
		}
		run.Repeated = ""
		switch {
		case run.measured() && v.representsRepetition(number, name, &run):
			figures = append(figures, run)
		case run.measured():
			run.Repeated = v.whyRepeated(number, &run)
		default:
			vain = wording.JoinNonEmpty("; ", vain, v.whyInVain(number, &run))
		}
		if run.Evidence = v.capacityOf(number).mark(run.Evidence); !v.Evidence && !c.calibrates { // a document that is compared with this one gets the marks, too
			run.Evidence = nil // but a calibration's evidence stays: a later suite may use it
		}
		out.Runs = append(out.Runs, run.SuiteRun)
	}
	out.Figures, out.Outliers = medians(figures)
	out.Goals, out.Curve = mediansOfGoals(figures), medianCurve(figures)
	out.Images, out.Message = imagesOf(figures)
	out.Message = wording.JoinNonEmpty("; ", out.Message, severalEnvironments(v.evidence(number)))
	out.Message = wording.JoinNonEmpty("; ", out.Message, vain)
	out.Message = wording.JoinNonEmpty("; ", out.Message, out.Void().String())
	if out.Calibration = c.calibrates; out.Calibration { // it isn't judged
		out.Identity, out.Message = v.Matrix.identities[number], wording.JoinNonEmpty("; ", takenFrom(figures), out.Message)
		return out
	}
	v.boundByCalibration(number, &out)
	if len(v.spec.Criteria) == 0 {
		return out
	}
	awaited := v.awaited(number)
	if awaited == "" {
		out.Verdict = v.verdict(number)
		v.doubtChosenRuns(number, &out)
		return out
	}
	out.Verdict = &report.Verdict{Outcome: report.Undecided}
	if len(out.Runs) > 0 {
		out.Message = wording.JoinNonEmpty("; ", out.Message, awaited)
	}
	return out
}

// doubtChosenRuns makes a passed cell undecided of which more runs are void than count, or whose baseline is such a cell: whoever voids runs chooses those that count.
func (v *view) doubtChosenRuns(number int, c *report.SuiteCell) {
	if c.Verdict.Outcome != report.Passed {
		return
	}
	why := ""
	if c.IsMostlyVoid() {
		why = report.MostlyVoid
	} else if base, name := v.baselineOf(number); v.lookup() == nil && name != "" && base >= 0 && base != number && slices.ContainsFunc(v.spec.Criteria, v1alpha1.Criterion.Relative) {
		if baseline := v.cell(base); baseline.IsMostlyVoid() {
			why = "of the baseline " + report.MostlyVoid
		}
	}
	if why != "" {
		c.Verdict.Outcome, c.Message = report.Undecided, wording.JoinNonEmpty("; ", c.Message, why)
	}
}

// representsRepetition says whether a run stands for its repetition: of its tries that is the last one with figures or, if none has any, the last one.
func (v *view) representsRepetition(cell int, name string, run *Run) bool {
	if run.measured() {
		return !v.replaced[name]
	}
	return !v.exists(v.Matrix.TestName(cell, int32(run.Repetition), int32(run.Retry)+2)) && v.measuredBefore(cell, run) == ""
}

// measuredBefore is the last earlier try of the same repetition that gave figures; empty: none did.
func (v *view) measuredBefore(cell int, run *Run) string {
	for try := run.Retry; try > 0; try-- {
		if name := v.Matrix.TestName(cell, int32(run.Repetition), int32(try)); v.ranWithFigures(name) {
			return name
		}
	}
	return ""
}

// imagesOf are the images that all runs measured; apart says that they measured different devices, so that their median means nothing.
func imagesOf(runs []Run) (common []plan.Container, apart string) {
	var names []string
	var images [][]plan.Container
	for _, r := range runs {
		names, images = append(names, r.Test), append(images, r.Images)
	}
	return report.CommonImages(names, images)
}

// severalEnvironments says how the environments of one cell's runs differ, such as their nodes; empty: in nothing that is known.
func severalEnvironments(runs []analysis.KeptReport) string {
	all := make([]*report.Environment, len(runs))
	for i, k := range runs {
		all[i] = report.EnvironmentOf(k.Report)
	}
	return comparison.SeveralEnvironments(all)
}

// medians are the figures of several runs together, and which of them lie far from the others.
func medians(runs []Run) (*report.Figures, []string) {
	each := make([]*report.Figures, len(runs))
	for i := range runs {
		f := *runs[i].Figures
		if runs[i].unconfirmed() {
			f.Unconfirmed = 1
		}
		each[i] = &f
	}
	all, far := history.Medians(each)
	var outliers []string
	for _, i := range far {
		outliers = append(outliers, runs[i].Test)
	}
	return all, outliers
}

// medianCurve is the median loss at each load, over the runs whose evidence is still kept.
func medianCurve(runs []Run) []report.CurvePoint {
	var curves [][]report.CurvePoint
	for _, r := range runs {
		if r.Evidence != nil {
			curves = append(curves, figures.CurveOf(r.Evidence))
		}
	}
	return figures.MedianCurve(curves)
}

// mediansOfGoals are the figures of several runs together of each goal that any of them has, over the runs that have some.
func mediansOfGoals(runs []Run) (all []report.GoalFigures) {
	each := map[string][]*report.Figures{}
	for _, r := range runs {
		for _, g := range r.Goals {
			if _, known := each[g.Goal]; !known {
				each[g.Goal], all = nil, append(all, report.GoalFigures{Goal: g.Goal})
			}
			if g.Figures != nil {
				each[g.Goal] = append(each[g.Goal], g.Figures)
			}
		}
	}
	for i := range all {
		all[i].Figures, _ = history.Medians(each[all[i].Goal])
	}
	return all
}
