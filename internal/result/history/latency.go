package history

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// latencyRuns is a figure of latency, with what each run of a side found.
type latencyRuns struct {
	median report.LatencyMedian
	times  []float64 // in nanoseconds, of the runs that have it
	runs   []comparison.Run
}

func (t latencyRuns) figure() comparison.Figure {
	return comparison.Figure{Metric: t.median.Metric, Direction: t.median.Direction, At: &t.median.LatencyLoad,
		FrameSize: t.median.FrameSize}
}

// latencyOf are all figures of latency that records have, in the order of the first that has them.
func latencyOf(records []Record) (runs []latencyRuns) {
	for _, r := range records {
		for _, f := range figures.Latencies(r.Report, figures.LatencyMetrics...) {
			median := report.LatencyMedian{Metric: f.Metric, Direction: f.Direction, LatencyLoad: *f.LatencyLoad,
				FrameSize: f.FrameSize}
			i := slices.IndexFunc(runs, func(t latencyRuns) bool { return t.median.Same(median) })
			if i < 0 {
				runs, i = append(runs, latencyRuns{median: median}), len(runs)
			}
			runs[i].add(r, f)
		}
	}
	for i := range runs {
		runs[i].summarize(len(records))
	}
	return runs
}

func (t *latencyRuns) add(r Record, f report.Figure) {
	if f.Missing != "" {
		return
	}
	number := f.High // the longest that it may be, as tables show it
	if number == "" {
		number, t.median.Open = f.Low, true
	}
	t.times, t.runs = append(t.times, number.Float()), append(t.runs, t.figure().RunOf(r.Report, f))
}

func (t *latencyRuns) summarize(total int) {
	s := statistics.Summarize(t.times)
	t.median.Runs, t.median.Missing = s.N, total-s.N
	t.median.Nanoseconds = int64(math.Round(s.Median))
	if s.N > 1 {
		t.median.LowNanoseconds, t.median.HighNanoseconds = int64(math.Round(s.Low)), int64(math.Round(s.High))
		t.median.Confidence, t.median.SpreadPercent = units.PercentOfShare(s.Confidence),
			units.PercentOfShare(s.SpreadPercent/100)
	}
}

// latencyMedians are the medians alone.
func latencyMedians(records []Record) (medians []report.LatencyMedian) {
	for _, t := range latencyOf(records) {
		medians = append(medians, t.median)
	}
	return medians
}

// compareLatency compares each figure of latency of a side with the first side's.
func compareLatency(side, first []Record) (medians []report.LatencyMedian) {
	reference := latencyOf(first)
	for _, current := range latencyOf(side) {
		median := current.median
		median.Judgement = report.NotComparable
		i := slices.IndexFunc(reference, func(t latencyRuns) bool { return t.median.Same(current.median) })
		switch {
		case i < 0:
			median.Message = "the first side has no such figure"
		case comparison.TooFew(len(reference[i].runs), len(first)):
			median.Message = fmt.Sprintf("only %d of the first side's %d runs have it", len(reference[i].runs),
				len(first))
		case comparison.TooFew(len(current.runs), len(side)):
			median.Message = fmt.Sprintf("only %d of %d runs have it", len(current.runs), len(side))
		default:
			question := comparison.Question{Figure: current.figure(), Candidate: current.runs,
				Baseline: reference[i].runs}
			answer := comparison.WithholdForLowRuns(question, comparison.Compare(question))
			median.Judgement, median.Change, median.Message = answer.Judgement, answer.Change, answer.Sentence
		}
		medians = append(medians, median)
	}
	return medians
}

// knownLatencies are the figures of latency that a run has.
func knownLatencies(r Record) []report.Figure {
	return slices.DeleteFunc(figures.Latencies(r.Report, figures.LatencyMetrics...),
		func(f report.Figure) bool { return f.Missing != "" })
}
