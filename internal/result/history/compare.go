package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/result/profile"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Side is one side of a comparison, which is the Reports of a file, a directory or some tests, with a name.
type Side struct {
	Name    string
	Records []Record
}

// mostDifferences is how many differences between two Plans are named.
const mostDifferences = 3

// Compare compares all sides with the first. Reports are matched by product and loadtest. Sides of one place each
// are matched whatever that place. Reports whose Plans measure in different ways are not judged, nor are those of
// different environments, except for what is allowed to differ. The row says what differs. A nil allowance demands
// nothing.
func Compare(sides []Side, allowance *comparison.Allowance,
	allowDifferent []report.EnvironmentPart) *report.Comparison {
	c := &report.Comparison{Version: report.ComparisonVersion}
	for _, s := range sides {
		c.Sides = append(c.Sides, s.Name)
	}
	if allowance != nil {
		allowed := allowance.MaxRegression.Percent()
		c.MaxRegressionPercent = &allowed
	}
	for _, row := range rowsOf(sides) {
		c.Rows = append(c.Rows, compareRow(row, allowance, allowDifferent))
	}
	return c
}

// row is a place with the records of each side.
type row struct {
	place
	sides [][]Record
}

func rowsOf(sides []Side) []row {
	if single := singleRow(sides); single != nil {
		return []row{*single}
	}
	var records []Record
	for _, s := range sides {
		records = append(records, s.Records...)
	}
	var rows []row
	for _, p := range places(records) {
		r := row{place: p}
		for _, s := range sides {
			r.sides = append(r.sides, recordsAt(p, s.Records))
		}
		rows = append(rows, r)
	}
	return rows
}

// singleRow matches sides that are of one place each, even if the places differ. It is nil where some side has
// several places.
func singleRow(sides []Side) *row {
	r := &row{}
	var products, loadtests []string
	for _, s := range sides {
		places := places(s.Records)
		if len(places) != 1 {
			return nil
		}
		r.sides = append(r.sides, s.Records)
		products, loadtests = append(products, places[0].product), append(loadtests, places[0].loadtest)
	}
	r.product, r.loadtest = strings.Join(slices.Compact(products), " / "), strings.Join(slices.Compact(loadtests),
		" / ")
	return r
}

// compareRow compares the sides of one row with the first.
func compareRow(r row, allowance *comparison.Allowance, allowDifferent []report.EnvironmentPart) report.ComparisonRow {
	row := report.ComparisonRow{Product: r.product, Loadtest: r.loadtest}
	var baseline sample
	for i, records := range r.sides {
		s := sampleOf(records)
		side := report.Compared{Figures: s.figures, Missing: s.missing, SetAside: s.setAside, Outliers: s.outliers}
		common, images := imagesOf(s.answers)
		mixed := mixtureText(s.answers)
		side.Images, side.Doubts = common, withoutEmpty(images, sharedPortsText(s.answers))
		switch {
		case s.total == 0:
			side.Absent = "no Report"
		case mixed != "":
			side.Absent = "no common figure"
		default:
			side.Latency = latencyMedians(s.answers)
		}
		if i == 0 {
			baseline = s
			if mixed != "" {
				side.Figures, side.Message = nil, mixed
				baseline.figures = nil
			}
		} else {
			judge(&side, s, baseline, mixed, allowance, allowDifferent)
		}
		side.Message = wording.JoinNonEmpty("; ", side.Message, copiesText(len(records), s.total))
		row.Sides = append(row.Sides, side)
	}
	return row
}

// judge says how a side compares with the baseline.
func judge(side *report.Compared, s, baseline sample, mixed string, allowance *comparison.Allowance,
	allowDifferent []report.EnvironmentPart) {
	if allowance != nil {
		side.Verdict = report.Undecided
	}
	side.Judgement = report.NotComparable
	switch {
	case mixed != "":
		side.Figures, side.Message = nil, mixed
		return
	case len(s.answers) == 0 || baseline.figures == nil || len(baseline.runs) == 0:
		side.Message = "nothing can be compared: " + whichSideLacks(s, baseline)
		return
	case comparison.TooFew(len(s.answers), s.total):
		side.Message = fmt.Sprintf("only %d of %d runs have a figure that counts", len(s.answers), s.total)
		return
	}
	if n := sharedRuns(s, baseline); n > 0 {
		side.Message = fmt.Sprintf("%d of its %d runs are also runs of the first side, and a run can't be compared with itself: give each side its own runs", n, len(s.answers))
		return
	}
	if difference := trafficDifference(baseline.answers[0], s.answers[0]); difference != "" {
		side.Message = "measured in another way, so the figures can't be compared: " + difference
		return
	}
	old, current := baseline.answers[0].plan(), s.answers[0].plan()
	if differences := plan.MethodDifferences(old, current, mostDifferences); len(differences) > 0 {
		side.Message = "measured in another way, so the figures can't be compared: " + strings.Join(differences, "; ")
		return
	}
	if difference := lineRateDifference(baseline.answers[0], s.answers[0]); difference != "" {
		side.Message = "measured at another line rate, so the figures can't be compared: " + difference
		return
	}
	side.Environment = comparison.EnvironmentDifferences(environmentsOf(baseline.answers), environmentsOf(s.answers))
	if refusal := comparison.Refusal(side.Environment, allowDifferent); refusal != "" {
		side.Message = refusal
		return
	}
	question := comparison.Question{Figure: comparison.Throughput(s.answers[0].Report), Candidate: slices.Concat(s.runs,
		s.lossy), Baseline: baseline.runs, Allowance: allowance}
	answer := comparison.WithholdForLowRuns(question, comparison.Compare(question))
	side.Judgement, side.Change, side.Verdict, side.Message = answer.Judgement, answer.Change, answer.Outcome,
		answer.Sentence
	compareWork(side, s, baseline, question, answer)
	side.Latency = compareLatency(s.answers, baseline.answers)
	side.Message = wording.JoinNonEmpty("; ", side.Message, comparison.NodeChanged(resultsOf(s.answers),
		resultsOf(baseline.answers)))
	differences := plan.DeviceDifferences(old, current, mostDifferences)
	differences = append(differences, imageDifferences(baseline.answers[0], s.answers[0])...)
	if len(differences) > 0 {
		side.Message += "; of the device, " + strings.Join(differences, "; ")
	}
	side.Message = wording.JoinNonEmpty("; ", side.Message, comparison.EnvironmentText(side.Environment),
		profile.ComparedText(reportsOf(baseline.answers), reportsOf(s.answers)))
}

// ComparedRuns are the figures that are compared, of each run that counts.
func ComparedRuns(records []Record) (runs []report.ComparedRun) {
	for _, r := range sampleOf(records).answers {
		for _, f := range comparison.Throughput(r.Report).FiguresOf(r.Report) {
			if f.Missing == "" {
				runs = append(runs, report.ComparedRun{Test: r.test(), Low: f.Low, High: f.High})
			}
		}
	}
	return runs
}

// imageDifferences says how the images of two runs' devices differ. The image of the built-in forwarder doesn't
// matter, as the node's kernel forwards.
func imageDifferences(a, b Record) []string {
	const pod = "Pod"
	if a.plan().DUT.Type != pod || b.plan().DUT.Type != pod {
		return nil
	}
	return plan.ImageDifferences(a.Report.Device, b.Report.Device, mostDifferences)
}

func reportsOf(records []Record) (reports []*report.Report) {
	for _, r := range records {
		reports = append(reports, r.Report)
	}
	return reports
}

func resultsOf(records []Record) (results []report.Answer) {
	for _, r := range records {
		results = append(results, r.Report.Answer)
	}
	return results
}

// environmentsOf is what each run was measured in.
func environmentsOf(records []Record) []*report.Environment {
	environments := make([]*report.Environment, len(records))
	for i, r := range records {
		environments[i] = r.Report.Environment
	}
	return environments
}

// imagesOf is the images that all of several runs measured. difference says that they differ, though all runs
// count.
func imagesOf(records []Record) (common []plan.Container, difference string) {
	var names []string
	var images [][]plan.Container
	for _, r := range records {
		names, images = append(names, r.Name), append(images, report.ImagesOf(r.Report))
	}
	return report.CommonImages(names, images)
}

// withoutEmpty is the sentences without empty ones.
func withoutEmpty(sentences ...string) []string {
	return slices.DeleteFunc(sentences, func(s string) bool { return s == "" })
}

// sharedPortsText says how many runs had several ends on one physical port, whose bandwidth they shared. It is
// empty for none.
func sharedPortsText(records []Record) string {
	n := 0
	for _, r := range records {
		if len(r.Report.Answer.SharedPorts) > 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d runs had several ends on one physical port, whose bandwidth they shared", n,
		len(records))
}

// copiesText says how many Reports were left out as copies of others. It is empty for none.
func copiesText(records, runs int) string {
	if records == runs {
		return ""
	}
	return fmt.Sprintf("%d of its %d Reports are copies of others: each run counts once", records-runs, records)
}

// whichSideLacks says which side has nothing to compare, and why.
func whichSideLacks(s, baseline sample) string {
	const unconfirmed = " has a figure that was confirmed"
	switch {
	case s.total == 0:
		return "this side has no Report of it"
	case baseline.total == 0:
		return "the first side has no Report of it"
	case len(s.answers) == 0 && len(s.setAside) > 0:
		return "no run of this side" + unconfirmed
	case len(s.answers) == 0 && baseline.figures == nil && len(baseline.setAside) == 0:
		return "neither side was measured"
	case len(s.answers) == 0:
		return "this side was not measured"
	case len(baseline.setAside) > 0 && len(baseline.runs) == 0:
		return "no run of the first side" + unconfirmed
	}
	return "the first side was not measured"
}

// sharedRuns is how many of a side's runs are also runs of the baseline.
func sharedRuns(s, baseline sample) (n int) {
	theirs := map[string]bool{}
	for _, r := range baseline.answers {
		theirs[r.Report.Run()] = true
	}
	for _, r := range s.answers {
		if run := r.Report.Run(); run != "" && theirs[run] {
			n++
		}
	}
	return n
}

// lineRateDifference says which link had another line rate in one run than in the other. It is empty for none. Only
// a run shows it, not a Plan.
func lineRateDifference(old, current Record) string {
	if a, b := comparison.LineRateChange(old.Report.LineRates, current.Report.LineRates); a != nil {
		return fmt.Sprintf("link %s is %s in %s and %s in %s", a.Link, a.BitsPerSecond, old.Name, b.BitsPerSecond,
			current.Name)
	}
	return ""
}

// trafficDifference says that one of two runs sent frames and the other sessions, whose figures can't be compared.
// It is empty where both sent the same.
func trafficDifference(a, b Record) string {
	rates := func(r Record) string {
		if comparison.Throughput(r.Report).Metric == figures.GoodputBitsPerSecond {
			return "sessions, whose goodput was measured"
		}
		return "frames, which were counted"
	}
	if rates(a) == rates(b) {
		return ""
	}
	return fmt.Sprintf("traffic is %s, in %s, and %s, in %s", rates(a), a.Name, rates(b), b.Name)
}

// mixtureText says that runs of one side measured in different ways. It is empty where they didn't.
func mixtureText(records []Record) string {
	for _, r := range records {
		if difference := trafficDifference(records[0], r); difference != "" {
			return "runs of different plans have no common figure: " + difference
		}
		if difference := lineRateDifference(records[0], r); difference != "" {
			return "runs at different line rates have no common figure: " + difference
		}
		if r.plan().Method() == records[0].plan().Method() {
			continue
		}
		return fmt.Sprintf("runs of different plans have no common figure: %s and %s differ, as %s", records[0].Name,
			r.Name,
			strings.Join(plan.MethodDifferences(records[0].plan(), r.plan(), mostDifferences), "; "))
	}
	return ""
}

// outliersText names outliers, or is empty for none.
func outliersText(tests []string) string {
	if len(tests) == 0 {
		return ""
	}
	return "far from the others, but counted: " + strings.Join(tests, ", ")
}
