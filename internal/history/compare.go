package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// Side is what is compared: a file or directory, or some tests, with a name.
type Side struct {
	Name    string
	Records []Record
}

// mostDifferences is how many differences between two Plans are told.
const mostDifferences = 3

// Compare holds all sides against the first. Reports are matched by product and loadtest; where each side is of one place only, by that. Those whose
// Plans measure in different ways aren't judged: it is said what differs; and neither are those of other environments, but for what is allowed to differ. A nil
// allowance demands nothing.
func Compare(sides []Side, allowance *comparison.Allowance, allowDifferent []report.EnvironmentPart) *report.Comparison {
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
	var all []Record
	for _, s := range sides {
		all = append(all, s.Records...)
	}
	var rows []row
	for _, p := range places(all) {
		r := row{place: p}
		for _, s := range sides {
			r.sides = append(r.sides, at(p, s.Records))
		}
		rows = append(rows, r)
	}
	return rows
}

// singleRow matches sides that are of one place each, whatever they are called; nil: they aren't.
func singleRow(sides []Side) *row {
	r := &row{}
	var products, loadtests []string
	for _, s := range sides {
		all := places(s.Records)
		if len(all) != 1 {
			return nil
		}
		r.sides = append(r.sides, s.Records)
		products, loadtests = append(products, all[0].product), append(loadtests, all[0].loadtest)
	}
	r.product, r.loadtest = strings.Join(slices.Compact(products), " / "), strings.Join(slices.Compact(loadtests), " / ")
	return r
}

func compareRow(r row, allowance *comparison.Allowance, allowDifferent []report.EnvironmentPart) report.ComparisonRow {
	out := report.ComparisonRow{Product: r.product, Loadtest: r.loadtest}
	var baseline sample
	for i, records := range r.sides {
		s := sampleOf(records)
		side := report.Compared{Figures: s.figures, Missing: s.missing, SetAside: s.setAside, Outliers: s.outliers}
		common, images := imagesOf(s.answers)
		mixed := mixture(s.answers)
		side.Images, side.Doubts = common, doubts(images, sharing(s.answers))
		switch {
		case s.all == 0:
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
		side.Message = joinNonEmpty(side.Message, copies(len(records), s.all))
		out.Sides = append(out.Sides, side)
	}
	return out
}

// judge says how a side compares with the baseline.
func judge(side *report.Compared, s, baseline sample, mixed string, allowance *comparison.Allowance, allowDifferent []report.EnvironmentPart) {
	if allowance != nil {
		side.Verdict = report.Undecided
	}
	side.Judgement = report.NotComparable
	switch {
	case mixed != "":
		side.Figures, side.Message = nil, mixed
		return
	case len(s.answers) == 0 || baseline.figures == nil || len(baseline.runs) == 0:
		side.Message = "there is nothing to compare: " + whichLacks(s, baseline)
		return
	case comparison.TooFew(len(s.answers), s.all):
		side.Message = fmt.Sprintf("too few runs have a figure that counts: %d of %d", len(s.answers), s.all)
		return
	}
	if n := sharedRuns(s, baseline); n > 0 {
		side.Message = fmt.Sprintf("%d of its %d runs are the first side's own, and a run says nothing of how it compares with itself: give each side runs of its own", n, len(s.answers))
		return
	}
	if apart := trafficDifference(baseline.answers[0], s.answers[0]); apart != "" {
		side.Message = "measured in another way, so that the figures can't be compared: " + apart
		return
	}
	was, is := baseline.answers[0].plan(), s.answers[0].plan()
	if apart := plan.MethodDifferences(was, is, mostDifferences); len(apart) > 0 {
		side.Message = "measured in another way, so that the figures can't be compared: " + strings.Join(apart, "; ")
		return
	}
	if apart := lineRateDifference(baseline.answers[0], s.answers[0]); apart != "" {
		side.Message = "measured at another line rate, so that the figures can't be compared: " + apart
		return
	}
	side.Environment = comparison.EnvironmentDifferences(environmentsOf(baseline.answers), environmentsOf(s.answers))
	if refusal := comparison.Refusal(side.Environment, allowDifferent); refusal != "" {
		side.Message = refusal
		return
	}
	question := comparison.Question{Figure: comparison.Throughput(s.answers[0].Report), Candidate: slices.Concat(s.runs, s.lossy), Baseline: baseline.runs, Allowance: allowance}
	answer := comparison.WithholdForLowRuns(question, comparison.Compare(question))
	side.Judgement, side.Change, side.Verdict, side.Message = answer.Judgement, answer.Change, answer.Outcome, answer.Sentence
	side.Latency = compareLatency(s.answers, baseline.answers)
	side.Message = joinNonEmpty(side.Message, comparison.NodeChanged(resultsOf(s.answers), resultsOf(baseline.answers)))
	apart := plan.DeviceDifferences(was, is, mostDifferences)
	apart = append(apart, imageDifferences(baseline.answers[0], s.answers[0])...)
	if len(apart) > 0 {
		side.Message += "; of the device, " + strings.Join(apart, "; ")
	}
	side.Message = joinNonEmpty(side.Message, comparison.EnvironmentText(side.Environment))
}

// ComparedRuns are the runs of records that count in a comparison, one by one, as what is compared of them.
func ComparedRuns(records []Record) (all []report.ComparedRun) {
	for _, r := range sampleOf(records).answers {
		for _, f := range comparison.Throughput(r.Report).Of(r.Report) {
			if f.Missing == "" {
				all = append(all, report.ComparedRun{Test: r.test(), Low: f.Low, High: f.High})
			}
		}
	}
	return all
}

// imageDifferences says where two runs' devices ran other images. Of the built-in forwarder the image doesn't matter: the node's kernel forwards.
func imageDifferences(a, b Record) []string {
	const pod = "Pod"
	if a.plan().DUT.Type != pod || b.plan().DUT.Type != pod {
		return nil
	}
	return plan.ImageDifferences(a.Report.Device, b.Report.Device, mostDifferences)
}

func resultsOf(records []Record) (all []report.Result) {
	for _, r := range records {
		all = append(all, r.Report.Result)
	}
	return all
}

// environmentsOf are what the runs were measured in.
func environmentsOf(records []Record) []*report.Environment {
	all := make([]*report.Environment, len(records))
	for i, r := range records {
		all[i] = report.EnvironmentOf(r.Report)
	}
	return all
}

// imagesOf are the images that all of several runs measured; apart says that they aren't of one device, though all are counted.
func imagesOf(records []Record) (common []plan.Container, apart string) {
	var names []string
	var images [][]plan.Container
	for _, r := range records {
		names, images = append(names, r.Name), append(images, report.ImagesOf(r.Report))
	}
	return report.CommonImages(names, images)
}

// doubts are the sentences that there are.
func doubts(sentences ...string) []string {
	return slices.DeleteFunc(sentences, func(s string) bool { return s == "" })
}

// sharing says that runs are of ends that shared a physical port: their figures are not of wires of their own. Empty: none is.
func sharing(records []Record) string {
	n := 0
	for _, r := range records {
		if len(r.Report.Result.SharedPorts) > 0 {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d runs had several ends on one physical port, whose bandwidth they shared", n, len(records))
}

// copies says that Reports were left out, as others are of the same runs; empty: none were.
func copies(records, runs int) string {
	if records == runs {
		return ""
	}
	return fmt.Sprintf("%d of its %d Reports are of a run that another one is of, too: each run counts once", records-runs, records)
}

// joinNonEmpty joins two sentences, of which either may be empty.
func joinNonEmpty(sentence, another string) string {
	if sentence == "" || another == "" {
		return sentence + another
	}
	return sentence + "; " + another
}

func whichLacks(s, baseline sample) string {
	const unconfirmed = " has a figure that was confirmed"
	switch {
	case s.all == 0:
		return "this side has no Report of it"
	case baseline.all == 0:
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

// sharedRuns is how many of a side's runs are the baseline's, too.
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

// lineRateDifference says which link had another line rate in one than in the other: that is known only when something has run. Empty: none.
func lineRateDifference(was, is Record) string {
	if a, b := comparison.LineRateChange(was.Report.LineRates, is.Report.LineRates); a != nil {
		return fmt.Sprintf("link %s is %s in %s and %s in %s", a.Link, a.BitsPerSecond, was.Name, b.BitsPerSecond, is.Name)
	}
	return ""
}

// trafficDifference says that one of two runs sent frames and the other sessions, whose figures aren't of the same kind; empty: both sent the same.
func trafficDifference(a, b Record) string {
	of := func(r Record) string {
		if comparison.Throughput(r.Report).Metric == figures.GoodputBitsPerSecond {
			return "sessions, whose goodput was measured"
		}
		return "frames, which were counted"
	}
	if of(a) == of(b) {
		return ""
	}
	return fmt.Sprintf("traffic is %s, in %s, and %s, in %s", of(a), a.Name, of(b), b.Name)
}

// mixture says that runs which should be of one test measured in different ways; empty: they didn't.
func mixture(records []Record) string {
	for _, r := range records {
		if apart := trafficDifference(records[0], r); apart != "" {
			return "runs of different plans have no common figure: " + apart
		}
		if apart := lineRateDifference(records[0], r); apart != "" {
			return "runs at different line rates have no common figure: " + apart
		}
		if r.plan().Method() == records[0].plan().Method() {
			continue
		}
		return fmt.Sprintf("runs of different plans have no common figure: %s and %s differ, as %s", records[0].Name, r.Name,
			strings.Join(plan.MethodDifferences(records[0].plan(), r.plan(), mostDifferences), "; "))
	}
	return ""
}

// apart names outliers; empty: there are none.
func apart(tests []string) string {
	if len(tests) == 0 {
		return ""
	}
	return "far from the others, and counted all the same: " + strings.Join(tests, ", ")
}
