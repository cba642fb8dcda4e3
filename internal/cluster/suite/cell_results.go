package suite

import (
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/history"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// cellResults are what was measured in a suite's cells, and the verdicts on the cells.
type cellResults struct {
	*repetitions
	environments environments
	baselines    *baselines
	// placements are where the runs of each comparison were first. ahead is the baseline as it was read before the
	// first test.
	placements map[int]*placement
	ahead      *Reference
	nodesAhead map[int]Nodes
	// judge replaces the comparison with baselines, if it isn't nil.
	judge Verdicts
	// keepEvidence says that results must have what a judgement needs of each run.
	keepEvidence bool

	// cells are the cells that were computed already, and capacities those of calibrations.
	cells      map[int]report.SuiteCell
	capacities map[int]*capacity
	// environmentDifferences says, for cells that were computed already, how their calibration's environment differs.
	environmentDifferences map[int]string
}

func newCellResults(o *Observed, r *repetitions) *cellResults {
	rs := &cellResults{
		repetitions: r, placements: placementsOf(o.Matrix, r.runs), ahead: o.Ahead,
		environments: environments{o.Matrix, r.runs},
		baselines:    &baselines{matrix: o.Matrix, spec: r.spec, external: o.Reference},
		judge:        o.Judge, keepEvidence: o.Evidence,
		cells: map[int]report.SuiteCell{}, capacities: map[int]*capacity{}, environmentDifferences: map[int]string{},
	}
	rs.place(r.missing)
	rs.place(r.unread)
	return rs
}

// cell is what was measured in a cell, and the verdict on it. It is computed once for table, report and
// verdict.
func (rs *cellResults) cell(number int) report.SuiteCell {
	result, ok := rs.cells[number]
	if !ok {
		result = rs.computeCell(number)
		rs.cells[number] = result
	}
	return result
}

func (rs *cellResults) computeCell(number int) report.SuiteCell {
	c := &rs.matrix.Cells[number]
	result := report.SuiteCell{Name: c.Name, Product: c.Product, Loadtest: c.Loadtest}
	result.Price = rs.matrix.price(number)
	if len(c.Values) == 0 {
		result.Product = rs.matrix.suite.Name
	}
	for _, value := range c.Values {
		result.Values = append(result.Values, report.AxisValue{Axis: string(value.Axis), Value: string(value.Value)})
	}
	var figures []Run
	vain := ""
	for _, name := range rs.testsOf[number] {
		run, ok := rs.runs[name]
		if !ok {
			continue
		}
		run.Repeated = ""
		switch {
		case run.measured() && rs.representsRepetition(number, name, &run):
			figures = append(figures, run)
		case run.measured():
			run.Repeated = rs.whyRepeated(number, &run)
		default:
			vain = wording.JoinNonEmpty("; ", vain, rs.whyInVain(number, &run))
		}
		// the marks stay in the document's evidence
		if run.Evidence = rs.capacityOf(number).mark(run.Evidence); !rs.keepEvidence && !c.calibrates {
			run.Evidence = nil // only a calibration's evidence stays, since a later suite may reuse it
		}
		result.Runs = append(result.Runs, run.SuiteRun)
	}
	result.Figures, result.Outliers = medians(figures)
	result.Goals, result.Curve = mediansOfGoals(figures), medianCurve(figures)
	result.Images, result.Message = imagesOf(figures)
	result.Message = wording.JoinNonEmpty("; ", result.Message, severalEnvironments(rs.evidence(number)))
	result.Message = wording.JoinNonEmpty("; ", result.Message, vain)
	result.Message = wording.JoinNonEmpty("; ", result.Message, result.Void().String())
	if result.Calibration = c.calibrates; result.Calibration { // a calibration isn't judged
		result.Identity, result.Message = rs.matrix.identities[number], wording.JoinNonEmpty("; ",
			reuseSentences(figures), result.Message)
		return result
	}
	rs.boundByCalibration(number, &result)
	if len(rs.spec.Criteria) == 0 {
		return result
	}
	awaited := rs.awaited(number)
	if awaited == "" {
		result.Verdict = rs.verdict(number)
		rs.doubtChosenRuns(number, &result)
		return result
	}
	result.Verdict = &report.Verdict{Outcome: report.Undecided}
	if len(result.Runs) > 0 {
		result.Message = wording.JoinNonEmpty("; ", result.Message, awaited)
	}
	return result
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
		environments[i] = k.Report.Environment
	}
	return comparison.SeveralEnvironments(environments)
}

// medians are the figures of several runs together, and which of the runs lie far from the others.
func medians(runs []Run) (*report.Figures, []string) {
	perRun := make([]*report.Figures, len(runs))
	for i := range runs {
		perRun[i] = runs[i].Figures
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
