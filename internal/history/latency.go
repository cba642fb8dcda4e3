package history

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/figures"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/statistics"
	"github.com/linerate-dev/linerate/internal/units"
)

// took is a figure of latency, and what each run of a side found of it.
type took struct {
	median report.LatencyMedian
	times  []float64 // in nanoseconds, of the runs that tell it
	runs   []comparison.Run
}

func (t took) figure() comparison.Figure {
	return comparison.Figure{Metric: t.median.Metric, Direction: t.median.Direction, At: &t.median.At, FrameSize: t.median.FrameSize}
}

// latencyOf are all figures of latency that records have, in the order of the first that has them.
func latencyOf(records []Record) (all []took) {
	for _, r := range records {
		for _, f := range figures.Latencies(r.Report, figures.LatencyMetrics...) {
			of := report.LatencyMedian{Metric: f.Metric, Direction: f.Direction, At: *f.At, FrameSize: f.FrameSize}
			i := slices.IndexFunc(all, func(t took) bool { return t.median.Same(of) })
			if i < 0 {
				all, i = append(all, took{median: of}), len(all)
			}
			all[i].add(r, f)
		}
	}
	for i := range all {
		all[i].summarize(len(records))
	}
	return all
}

func (t *took) add(r Record, f report.Figure) {
	if f.Missing != "" {
		return
	}
	number := f.High // as people read it: the longest that it may be
	if number == "" {
		number, t.median.Open = f.Low, true
	}
	t.times, t.runs = append(t.times, number.Float()), append(t.runs, t.figure().RunOf(r.Report, f))
}

func (t *took) summarize(of int) {
	s := statistics.Summarize(t.times)
	t.median.Runs, t.median.Without = s.N, of-s.N
	t.median.Nanoseconds = int64(math.Round(s.Median))
	if s.N > 1 {
		t.median.LowNanoseconds, t.median.HighNanoseconds = int64(math.Round(s.Low)), int64(math.Round(s.High))
		t.median.Confidence, t.median.SpreadPercent = units.PercentOfShare(s.Confidence), units.PercentOfShare(s.SpreadPercent/100)
	}
}

// latencyMedians are the medians alone.
func latencyMedians(records []Record) (all []report.LatencyMedian) {
	for _, t := range latencyOf(records) {
		all = append(all, t.median)
	}
	return all
}

// compareLatency holds each figure of latency of a side against the first side's.
func compareLatency(side, first []Record) (all []report.LatencyMedian) {
	before := latencyOf(first)
	for _, is := range latencyOf(side) {
		out := is.median
		out.Judgement = report.NotComparable
		i := slices.IndexFunc(before, func(t took) bool { return t.median.Same(is.median) })
		switch {
		case i < 0:
			out.Message = "the first side has no such figure"
		case comparison.TooFew(len(before[i].runs), len(first)):
			out.Message = fmt.Sprintf("of the first side's %d runs %d tell it", len(first), len(before[i].runs))
		case comparison.TooFew(len(is.runs), len(side)):
			out.Message = fmt.Sprintf("of %d runs %d tell it", len(side), len(is.runs))
		default:
			question := comparison.Question{Figure: is.figure(), Candidate: is.runs, Baseline: before[i].runs}
			answer := comparison.WithholdForLowRuns(question, comparison.Compare(question))
			out.Judgement, out.Change, out.Message = answer.Judgement, answer.Change, answer.Sentence
		}
		all = append(all, out)
	}
	return all
}

// latencyTold are the figures of latency that a run tells.
func latencyTold(r Record) []report.Figure {
	return slices.DeleteFunc(figures.Latencies(r.Report, figures.LatencyMetrics...), func(f report.Figure) bool { return f.Missing != "" })
}
