package history

import (
	"cmp"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/statistics"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Record is a Report, and the name of the file or the ConfigMap where it is kept.
type Record struct {
	Name   string
	Report *report.Report
}

// figures are the Report's if the run was completed. They are nil where it was cut short, and then they are not
// compared.
func (r Record) figures() *report.Figures {
	if r.Report.Ending != report.Completed {
		return nil
	}
	return figures.TableFigures(r.Report)
}

// missing is why the Report has no figure.
func (r Record) missing() report.Missing {
	m := report.Missing{Test: r.test(), Reason: string(r.Report.Ending), Message: cmp.Or(r.Report.Message,
		r.Report.Answer.Message)}
	if r.Report.Ending == report.Completed {
		m.Reason = string(cmp.Or(r.Report.Answer.Reason, report.NotMeasured))
	}
	return m
}

// test is the test's name, or the record's where it has none.
func (r Record) test() string {
	if r.Report.Plan != nil && r.Report.Plan.Test.Name != "" {
		return r.Report.Plan.Test.Name
	}
	return r.Name
}

// plan is the Report's, an empty one where there is none.
func (r Record) plan() *plan.Plan {
	if r.Report.Plan == nil {
		return &plan.Plan{}
	}
	return r.Report.Plan
}

// place is where a Report belongs in a table.
type place struct{ product, loadtest string }

func placeOf(r Record) place {
	product, loadtest := report.ProductAndLoadtest(r.Report)
	return place{product, loadtest}
}

// places are those of the records, in the order in which they first appear.
func places(records []Record) []place {
	var places []place
	for _, r := range records {
		if p := placeOf(r); !slices.Contains(places, p) {
			places = append(places, p)
		}
	}
	return places
}

// recordsAt are the records of a place.
func recordsAt(p place, records []Record) []Record {
	var found []Record
	for _, r := range records {
		if placeOf(r) == p {
			found = append(found, r)
		}
	}
	return found
}

// sample is several runs of one test.
type sample struct {
	total    int
	measured runsWithFigures  // all runs with figures
	counted  runsWithFigures  // those of them that count in a comparison
	runs     []comparison.Run // the figures of those that count
	lossy    []comparison.Run // runs that lost frames at any load, whose figure is 0
	answers  []Record         // the records of runs and lossy
	setAside []report.Missing // runs with figures that don't count
	figures  *report.Figures  // medians of those that count, or nil for none
	outliers []string         // those that count and lie far from the others
	missing  []report.Missing
}

func sampleOf(records []Record) sample {
	records = distinctRuns(records)
	s := sample{total: len(records)}
	for _, r := range records {
		f := r.figures()
		if f == nil {
			s.missing = append(s.missing, r.missing())
			if comparison.Throughput(r.Report).Unfit(r.Report) == "" && !r.Report.Answer.Measured {
				s.lossy, s.answers = append(s.lossy, comparison.Throughput(r.Report).Runs(r.Report)...),
					append(s.answers, r)
			}
			continue
		}
		s.measured.add(r, f)
		if comparison.Throughput(r.Report).Unfit(r.Report) != "" {
			s.setAside = append(s.setAside, report.Missing{Test: r.test(), Reason: report.ReasonNotConfirmed,
				Message: "a longer window was to confirm its figure, but didn't"})
			continue
		}
		s.counted.add(r, f)
		s.runs, s.answers = append(s.runs, comparison.Throughput(r.Report).Runs(r.Report)...), append(s.answers, r)
	}
	s.figures, s.outliers = s.counted.figures()
	return s
}

// distinctRuns is the records without copies of the same run.
func distinctRuns(records []Record) []Record {
	return report.DistinctRuns(records, func(r Record) *report.Report { return r.Report })
}

// runsWithFigures is several runs and their figures.
type runsWithFigures struct {
	records []Record
	perRun  []*report.Figures
}

func (m *runsWithFigures) add(r Record, f *report.Figures) {
	m.records, m.perRun = append(m.records, r), append(m.perRun, f)
}

// figures are the medians, and the tests that lie far from the others. They are nil where there are no runs.
func (m *runsWithFigures) figures() (f *report.Figures, outliers []string) {
	f, far := Medians(m.perRun)
	for _, i := range far {
		outliers = append(outliers, m.records[i].test())
	}
	return f, outliers
}

// Medians are the medians of several runs' figures, and which runs lie far from the others. They are nil where
// there are no runs. They are a lower bound if any run's figures are, because with exact figures instead, the
// median might be more.
func Medians(runs []*report.Figures) (medians *report.Figures, far []int) {
	if len(runs) == 0 {
		return nil, nil
	}
	summarize := func(figure func(*report.Figures) int64) statistics.Summary {
		values := make([]float64, len(runs))
		for i, f := range runs {
			values[i] = float64(figure(f))
		}
		return statistics.Summarize(values)
	}
	middle := func(figure func(*report.Figures) int64) int64 { return int64(math.Round(summarize(figure).Median)) }
	rates := summarize((*report.Figures).Throughput)
	medians = &report.Figures{Runs: len(runs),
		PacketsPerSecond:    middle(func(f *report.Figures) int64 { return f.PacketsPerSecond }),
		Layer1BitsPerSecond: middle(func(f *report.Figures) int64 { return f.Layer1BitsPerSecond }),
		LineRatePercent:     units.Percent(middle(func(f *report.Figures) int64 { return int64(f.LineRatePercent) })),
		LineRatePercentSum: units.Percent(middle(func(f *report.Figures) int64 {
			return int64(f.LineRatePercentSum)
		})),
		LowerBound: slices.ContainsFunc(runs, func(f *report.Figures) bool { return f.LowerBound })}
	for _, f := range runs {
		medians.Unconfirmed += f.Unconfirmed
	}
	if runs[0].OfSessions() { // a place has runs of frames or of sessions, never both
		medians.GoodputBitsPerSecond = new(int64(math.Round(rates.Median)))
	}
	if runs[0].OfTrains() {
		medians.PicosecondsPerFrame = new(int64(math.Round(rates.Median)))
	}
	if rates.N > 1 {
		low, high := int64(math.Round(rates.Low)), int64(math.Round(rates.High))
		medians.Spread = &report.Spread{Percent: units.PercentOfShare(rates.SpreadPercent / 100),
			Confidence: units.PercentOfShare(rates.Confidence)}
		if medians.OfTrains() {
			medians.Spread.LowPicosecondsPerFrame, medians.Spread.HighPicosecondsPerFrame = &low, &high
		} else if medians.OfSessions() {
			medians.Spread.LowGoodputBitsPerSecond, medians.Spread.HighGoodputBitsPerSecond = &low, &high
		} else {
			medians.Spread.LowPacketsPerSecond, medians.Spread.HighPacketsPerSecond = low, high
		}
	}
	for _, o := range rates.Outliers {
		far = append(far, o.Run)
	}
	return medians, far
}

// priceOf is the price of the device that all records measured. It is empty where they differ.
func priceOf(records []Record) string {
	price := records[0].plan().DUT.Price
	if slices.ContainsFunc(records, func(r Record) bool { return r.plan().DUT.Price != price }) {
		return ""
	}
	return price
}

// Table is all records in one table, with medians where a place has several.
func Table(title string, records []Record) *report.Table {
	t := &report.Table{Version: report.TableVersion, Title: title}
	for _, p := range places(records) {
		found := distinctRuns(recordsAt(p, records))
		s := sampleOf(found)
		figures, outliers := s.measured.figures()
		cell := report.Cell{Product: p.product, Loadtest: p.loadtest, Figures: figures, Missing: s.missing,
			Message: outliersText(outliers)}
		if len(found) == 1 && len(found[0].Report.Verdict.Criteria) > 0 {
			cell.Verdict = found[0].Report.Verdict.Outcome
		}
		if mixed := mixtureText(s.measured.records); mixed != "" {
			cell.Figures, cell.Message = nil, mixed
		}
		common, difference := imagesOf(s.measured.records)
		cell.Images, cell.Message = common, wording.JoinNonEmpty("; ", wording.JoinNonEmpty("; ", cell.Message,
			difference), sharedPortsText(s.measured.records))
		cell.Message = wording.JoinNonEmpty("; ", cell.Message,
			comparison.SeveralEnvironments(environmentsOf(s.measured.records)))
		cell.Price = priceOf(found)
		t.Cells = append(t.Cells, cell)
	}
	return t
}
