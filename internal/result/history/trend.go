package history

import (
	"cmp"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// Trend puts records in the order of time, a series for each product and loadtest. Medians combine runs of the same
// environment, except for what is allowed to differ.
func Trend(title string, records []Record, allowDifferent []report.EnvironmentPart) *report.Trend {
	t := &report.Trend{Version: report.TrendVersion, Title: title}
	for _, p := range places(records) {
		t.Series = append(t.Series, seriesOf(p, recordsAt(p, records), allowDifferent))
	}
	slices.SortStableFunc(t.Series, func(a, b report.Series) int {
		return cmp.Or(cmp.Compare(a.Loadtest, b.Loadtest), cmp.Compare(a.Product, b.Product))
	})
	return t
}

func seriesOf(p place, records []Record, allowDifferent []report.EnvironmentPart) report.Series {
	records = distinctRuns(records)
	slices.SortStableFunc(records, func(a, b Record) int {
		return cmp.Or(a.Report.Started.Compare(b.Report.Started), cmp.Compare(a.Name, b.Name))
	})
	s := report.Series{Product: p.product, Loadtest: p.loadtest}
	rated := Record{Report: &report.Report{}} // the last one whose ports' speeds are known
	for i, r := range records {
		point := report.Point{Name: r.Name, Test: r.test(), StartTime: r.Report.Started, Figures: r.figures(),
			Producer: r.Report.Producer, SharedPort: len(r.Report.Answer.SharedPorts) > 0}
		if point.Figures == nil {
			m := r.missing()
			point.Missing = &m
		} else {
			point.Latency = knownLatencies(r)
		}
		if i > 0 {
			previous := records[i-1].plan()
			point.PlanChange = plan.MethodDifferences(previous, r.plan(), mostDifferences)
			if difference := lineRateDifference(rated, r); difference != "" {
				point.PlanChange = append(point.PlanChange, difference)
			}
			point.DeviceChange = plan.DeviceDifferences(previous, r.plan(), mostDifferences)
			point.ImageChange = imageDifferences(records[i-1], r)
		}
		if len(r.Report.LineRates) > 0 {
			rated = r
		}
		s.Points = append(s.Points, point)
	}
	for first := 0; first < len(records); {
		newest := first
		for newest+1 < len(records) && !beginsStretch(&s.Points[newest+1], records[first:newest+1], records[newest+1],
			allowDifferent) {
			newest++
		}
		sample := sampleOf(records[first : newest+1])
		figures, _ := sample.measured.figures()
		s.Stretches = append(s.Stretches, report.Stretch{First: first, Last: newest,
			Method: records[first].plan().Method(), Figures: figures, Latency: latencyMedians(sample.measured.records)})
		for i := first; i <= newest; i++ {
			s.Points[i].FromMedian = comparison.ChangeFromMedian(s.Points[i].Figures, figures)
		}
		markOutliers(s.Points[first : newest+1])
		first = newest + 1
	}
	return s
}

// beginsStretch says whether a run begins a new stretch after those of the present one, and notes at its point what
// changed in the environment, compared with all runs of the stretch, or, in parts that may differ, with the run
// before.
func beginsStretch(point *report.Point, stretch []Record, r Record, allowDifferent []report.EnvironmentPart) bool {
	current := environmentsOf([]Record{r})
	differences := comparison.NotAllowed(comparison.EnvironmentDifferences(environmentsOf(stretch), current),
		allowDifferent)
	for _, d := range comparison.EnvironmentDifferences(environmentsOf(stretch[len(stretch)-1:]), current) {
		if d.Known() && !slices.ContainsFunc(differences,
			func(o report.EnvironmentDifference) bool { return o.What == d.What }) {
			differences = append(differences, d)
		}
	}
	point.EnvironmentChange = differences
	return len(point.PlanChange)+len(point.DeviceChange)+len(comparison.NotAllowed(differences, allowDifferent)) > 0
}

// Rules for outliers among neighbours (Hampel's filter). A step to another level makes no outlier, as it moves the
// neighbours' median, too.
const (
	// neighbours is how many points are looked at on either side.
	neighbours = 3
	// outlierDeviations is how many robust standard deviations from the median an outlier is.
	outlierDeviations = 3.5
	// normalPerMAD makes a median absolute deviation comparable with a standard deviation.
	normalPerMAD = 1.4826
	// leastOutlier is how far an outlier is from the neighbours' median at least, as a share of it, as a
	// measurement promises no more than ±1 %.
	leastOutlier = 0.01
)

// markOutliers marks exact figures that lie far from their neighbours'.
func markOutliers(points []report.Point) {
	var exact []int
	for i, p := range points {
		if p.Figures != nil && !p.Figures.LowerBound {
			exact = append(exact, i)
		}
	}
	for n, i := range exact {
		var around []float64
		for _, k := range exact[max(0, n-neighbours):min(len(exact), n+neighbours+1)] {
			around = append(around, float64(points[k].Figures.Throughput()))
		}
		if len(around) < neighbours+1 { // too few to find the outlier
			continue
		}
		middle := statistics.Summarize(around).Median
		away := make([]float64, len(around))
		for k, v := range around {
			away[k] = math.Abs(v - middle)
		}
		spread := outlierDeviations * normalPerMAD * statistics.Summarize(away).Median
		distance := math.Abs(float64(points[i].Figures.Throughput()) - middle)
		points[i].Outlier = distance > max(spread, leastOutlier*middle)
	}
}
