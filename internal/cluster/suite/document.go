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
	return v.suiteReport(s.complete, func(cell int) report.SuiteCell { return v.cell(cell) })
}

func (v *view) suiteReport(complete bool, cellOf func(int) report.SuiteCell) *report.Suite {
	document := &report.Suite{
		Version: report.SuiteVersion, Producer: "linerate " + v.Version, Name: v.Suite.Name,
		Namespace: v.Suite.Namespace, UID: string(v.Suite.UID),
		Generation: v.Suite.Generation, Started: v.Suite.CreationTimestamp.UTC(), Seed: seedOf(v.Suite),
	}
	if v.lastStatus.StartedAt != nil {
		document.Started = v.lastStatus.StartedAt.UTC()
	}
	if complete {
		document.Finished = v.Now.UTC()
	}
	for _, axis := range v.spec.Axes {
		a := report.Axis{Name: string(axis.Name)}
		for _, value := range axis.Values {
			a.Values = append(a.Values, string(value.Name))
		}
		document.Axes = append(document.Axes, a)
	}
	points := 0
	for i := range v.Matrix.Cells {
		cell := cellOf(i)
		if points += len(cell.Curve); points > maxCurvePoints {
			cell.Curve = nil
		}
		document.Cells = append(document.Cells, cell)
	}
	if points > maxCurvePoints {
		document.Notes = append(document.Notes,
			fmt.Sprintf("the cells' curves have %d loads, of which this document holds %d at most: the others are in the runs' Reports", points, maxCurvePoints))
	}
	if ref := v.reference(); ref != nil {
		document.Baseline = &report.Baseline{Kind: ref.Kind, Name: ref.Name, Message: ref.Fault}
	}
	document.Verdict = suiteVerdict(len(v.spec.Criteria) > 0, document.Cells)
	if complete && document.Verdict.Outcome == report.Undecided && slices.ContainsFunc(document.Cells,
		func(c report.SuiteCell) bool { return c.Verdict != nil && c.Verdict.Outcome == report.DidFail }) {
		document.Notes = append(document.Notes, amongSoMany)
	}
	if n := v.retried - v.disturbed; n > 0 {
		document.Notes = append(document.Notes, testsWere(n)+" repeated after ending without a measurement")
	}
	if n := v.disturbed; n > 0 {
		document.Notes = append(document.Notes, testsWere(n)+" repeated after being disturbed")
	}
	return document
}

// maxCurvePoints bounds the loads of all cells' curves in a suite's document.
const maxCurvePoints = 4096

func testsWere(n int32) string {
	if n == 1 {
		return "1 test was"
	}
	return fmt.Sprintf("%d tests were", n)
}

// amongSoMany says why a suite with a failed cell is undecided.
const amongSoMany = "among so many cells chance alone shows as much too often: more repetitions would tell"

// suiteVerdict is the verdict on all cells. It is the worst verdict of any cell, unless chance alone would show
// that among so many cells.
func suiteVerdict(judged bool, cells []report.SuiteCell) report.Verdict {
	verdict := report.Verdict{}
	if !judged {
		return verdict
	}
	verdict.Outcome = report.Passed
	var verdicts []*report.Verdict
	for _, c := range cells {
		if c.Calibration {
			continue
		}
		verdicts = append(verdicts, c.Verdict)
		switch {
		case c.Verdict == nil || c.Verdict.Outcome == report.Undecided:
			if verdict.Outcome == report.Passed {
				verdict.Outcome = report.Undecided
			}
		case c.Verdict.Outcome == report.DidFail:
			verdict.Outcome = report.DidFail
		}
	}
	if verdict.Outcome == report.DidFail && !report.FailedTogether(verdicts) {
		verdict.Outcome = report.Undecided
	}
	return verdict
}

// cell is what was measured in a cell, and the verdict on it. It is computed once for table, report and
// verdict.
func (v *view) cell(number int) report.SuiteCell {
	result, ok := v.cells[number]
	if !ok {
		result = v.computeCell(number)
		v.cells[number] = result
	}
	return result
}

func (v *view) computeCell(number int) report.SuiteCell {
	c := &v.Matrix.Cells[number]
	result := report.SuiteCell{Name: c.Name, Product: c.Product, Loadtest: c.Loadtest}
	if len(c.Values) == 0 {
		result.Product = v.Suite.Name
	}
	for _, value := range c.Values {
		result.Values = append(result.Values, report.AxisValue{Axis: string(value.Axis), Value: string(value.Value)})
	}
	var figures []Run
	vain := ""
	for _, name := range v.testsOf[number] {
		run, ok := v.Runs[name]
		if !ok {
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
		// the marks stay in the document's evidence
		if run.Evidence = v.capacityOf(number).mark(run.Evidence); !v.Evidence && !c.calibrates {
			run.Evidence = nil // only a calibration's evidence stays, since a later suite may reuse it
		}
		result.Runs = append(result.Runs, run.SuiteRun)
	}
	result.Figures, result.Outliers = medians(figures)
	result.Goals, result.Curve = mediansOfGoals(figures), medianCurve(figures)
	result.Images, result.Message = imagesOf(figures)
	result.Message = wording.JoinNonEmpty("; ", result.Message, severalEnvironments(v.evidence(number)))
	result.Message = wording.JoinNonEmpty("; ", result.Message, vain)
	result.Message = wording.JoinNonEmpty("; ", result.Message, result.Void().String())
	if result.Calibration = c.calibrates; result.Calibration { // a calibration isn't judged
		result.Identity, result.Message = v.Matrix.identities[number], wording.JoinNonEmpty("; ",
			reuseSentences(figures), result.Message)
		return result
	}
	v.boundByCalibration(number, &result)
	if len(v.spec.Criteria) == 0 {
		return result
	}
	awaited := v.awaited(number)
	if awaited == "" {
		result.Verdict = v.verdict(number)
		v.doubtChosenRuns(number, &result)
		return result
	}
	result.Verdict = &report.Verdict{Outcome: report.Undecided}
	if len(result.Runs) > 0 {
		result.Message = wording.JoinNonEmpty("; ", result.Message, awaited)
	}
	return result
}

// doubtChosenRuns makes a passed cell undecided if more of its runs, or of its baseline's, are void than count.
// A user who voids runs chooses those that count.
func (v *view) doubtChosenRuns(number int, c *report.SuiteCell) {
	if c.Verdict.Outcome != report.Passed {
		return
	}
	reason := ""
	if c.IsMostlyVoid() {
		reason = report.MostlyVoid
	} else if base, name := v.baselineOf(number); v.lookup() == nil && name != "" && base >= 0 && base != number &&
		slices.ContainsFunc(v.spec.Criteria, v1alpha1.Criterion.Relative) {
		if baseline := v.cell(base); baseline.IsMostlyVoid() {
			reason = "of the baseline " + report.MostlyVoid
		}
	}
	if reason != "" {
		c.Verdict.Outcome, c.Message = report.Undecided, wording.JoinNonEmpty("; ", c.Message, reason)
	}
}

// representsRepetition says that a run stands for its repetition. That is the last try with figures or, if no
// try has figures, the last try.
func (v *view) representsRepetition(cell int, name string, run *Run) bool {
	if run.measured() {
		return !v.replaced[name]
	}
	return !v.exists(v.Matrix.TestName(cell, int32(run.Repetition), int32(run.Retry)+2)) &&
		v.measuredBefore(cell, run) == ""
}

// measuredBefore is the last earlier try of the same repetition that gave figures, or empty.
func (v *view) measuredBefore(cell int, run *Run) string {
	for try := run.Retry; try > 0; try-- {
		if name := v.Matrix.TestName(cell, int32(run.Repetition), int32(try)); v.ranWithFigures(name) {
			return name
		}
	}
	return ""
}

// imagesOf are the images that all runs measured. difference says that the runs measured different devices, so
// that their median means nothing.
func imagesOf(runs []Run) (common []plan.Container, difference string) {
	var names []string
	var images [][]plan.Container
	for _, r := range runs {
		names, images = append(names, r.Test), append(images, r.Images)
	}
	return report.CommonImages(names, images)
}

// severalEnvironments says how the environments of one cell's runs differ, such as their nodes. It is empty if
// no difference is known.
func severalEnvironments(runs []analysis.KeptReport) string {
	environments := make([]*report.Environment, len(runs))
	for i, k := range runs {
		environments[i] = report.EnvironmentOf(k.Report)
	}
	return comparison.SeveralEnvironments(environments)
}

// medians are the figures of several runs together, and which of the runs lie far from the others.
func medians(runs []Run) (*report.Figures, []string) {
	perRun := make([]*report.Figures, len(runs))
	for i := range runs {
		f := *runs[i].Figures
		if runs[i].unconfirmed() {
			f.Unconfirmed = 1
		}
		perRun[i] = &f
	}
	median, far := history.Medians(perRun)
	var outliers []string
	for _, i := range far {
		outliers = append(outliers, runs[i].Test)
	}
	return median, outliers
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

// mediansOfGoals are the figures of each goal that any of the runs has, over the runs that have some.
func mediansOfGoals(runs []Run) (goals []report.GoalFigures) {
	byGoal := map[string][]*report.Figures{}
	for _, r := range runs {
		for _, g := range r.Goals {
			if _, ok := byGoal[g.Goal]; !ok {
				byGoal[g.Goal], goals = nil, append(goals, report.GoalFigures{Goal: g.Goal})
			}
			if g.Figures != nil {
				byGoal[g.Goal] = append(byGoal[g.Goal], g.Figures)
			}
		}
	}
	for i := range goals {
		goals[i].Figures, _ = history.Medians(byGoal[goals[i].Goal])
	}
	return goals
}
