package figures

import (
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/measure/trains"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/units/statistics"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// ofOwn is a figure that the procedure itself finds, of each direction. Near the generators' own limit it has no upper
// end, since the generators may have lost the frames that bound it.
func ofOwn(metric Metric, result report.Answer, m measured, found report.OwnFigure) report.Figure {
	f := report.Figure{Metric: metric.Name, Direction: m.direction, Unit: metric.Unit, Confirmed: result.Confirmed,
		Reason: result.Reason}
	if metric.Name == procedure.TimePerFrame { // no load has a part in it
		f.Low, f.High, f.Missing = found.Low, found.High, found.Missing
		f.Confirmed, f.Reason = true, report.TrainsMeasured
		return f
	}
	near := len(result.NearGenerators) > 0 && (found.Low != "" || found.OfLoss)
	if near && !m.several {
		f.Reason = report.NearGenerators
	}
	switch {
	case m.several && metric.Together != "":
		f.Missing = metric.Together
	case near && found.OfLoss:
		f.Missing = "frames may have been lost by the generators, whose own limit is near"
	case found.Low == "":
		f.Missing = found.Missing
	case near: // what is above it may be lost by them
		f.Low = found.Low
	default:
		f.Low, f.High = found.Low, found.High
	}
	return f
}

// ownTogether are for each metric the own figure of the direction that has most of it. One that is missing in a
// direction is missing.
func ownTogether(directions []report.Direction) (own []report.OwnFigure) {
	for _, d := range directions {
		for _, f := range d.Own {
			i := slices.IndexFunc(own, func(o report.OwnFigure) bool { return o.Metric == f.Metric })
			switch {
			case i < 0:
				own = append(own, f)
			case own[i].Low != "" && (f.Low == "" || f.High.Float() > own[i].High.Float()):
				own[i] = f
			}
		}
	}
	return own
}

// ofTrains says that a Report is of trains, or its Plan asks for them.
func ofTrains(r *report.Report) bool {
	return measure.OfTrains(r.Answer.Directions) ||
		!r.Answer.Measured && procedures.TraitsOf(report.PlanOf(r).Procedure).SendsTrains
}

// timePerFrame is the time per frame of a direction, or of all together, or false where none was measured.
func timePerFrame(r *report.Report, direction string) (report.Figure, bool) {
	list := OfAnswer(r, procedure.TimePerFrame)
	i := slices.IndexFunc(list, func(f report.Figure) bool { return f.Direction == direction && f.Missing == "" })
	if i < 0 {
		return report.Figure{}, false
	}
	return list[i], true
}

// timeText is a time per frame with how far it may be off, as in "940.6 ns ± 1 %". An upper bound is "≤ 940.6 ns".
func timeText(f report.Figure) string {
	low, high := f.Low.Float(), f.High.Float()
	if low <= 0 {
		return "≤ " + trains.Text(high)
	}
	middle := (low + high) / 2
	return trains.Text(middle) + " ± " + trains.Share((high-low)/2/middle)
}

// TimeSentences are the time per frame that trains showed beside an answer, the longest sentence first, as in "A frame
// takes 940.6 ns ± 1 %, as in the baseline." and the same without the baseline. There are none where no trains
// followed, and for the procedure Trains, whose figure it is.
func TimeSentences(r *report.Report) []string {
	if ofTrains(r) || len(r.Answer.Directions) > mostDirectionsShown {
		return nil
	}
	var times []string
	alike := true
	for _, d := range r.Answer.Directions {
		f, found := timePerFrame(r, d.Name())
		if !found {
			continue
		}
		text := timeText(f)
		if len(r.Answer.Directions) > 1 {
			text += " " + d.Name()
		}
		times, alike = append(times, text), alike && asInBaseline(r, f)
	}
	if len(times) == 0 {
		return nil
	}
	sentence := "A frame takes " + strings.Join(times, ", ")
	if alike {
		return []string{sentence + ", as in the baseline.", sentence + "."}
	}
	return []string{sentence + "."}
}

const (
	// alikeRuns is how many runs a baseline has at least, so that their median is known.
	alikeRuns = 5
	// alikeShare is how far a time may lie from another that it is said to be like: as far as one run from the next.
	alikeShare = 0.05
)

// asInBaseline says that a time per frame is like the baseline's: wherever it lies in its interval, and the baseline's
// median in its own, the two are at most 5 % apart.
func asInBaseline(r *report.Report, f report.Figure) bool {
	if r.Baseline == nil || f.Low.Float() <= 0 {
		return false
	}
	var middles []float64
	for _, run := range r.Baseline.Runs {
		view := &report.Report{Plan: r.Plan, LineRates: run.LineRates, Answer: run.Answer}
		old, found := timePerFrame(view, f.Direction)
		switch {
		case run.Message != "":
		case !found || old.Low.Float() <= 0:
			return false
		default:
			middles = append(middles, (old.Low.Float()+old.High.Float())/2)
		}
	}
	s := statistics.Summarize(middles)
	return s.N >= alikeRuns && f.High.Float() <= (1+alikeShare)*s.Low && s.High <= (1+alikeShare)*f.Low.Float()
}

// summaryOfTrains is each direction's time, as in "west→east: a frame takes 940.6 ns ± 1 %".
func summaryOfTrains(r *report.Report) string {
	directions := r.Answer.Directions
	if len(directions) > mostDirectionsShown {
		f, _ := timePerFrame(r, report.AllDirections)
		return "a frame takes " + timeText(f) + " in the slowest of " + wording.Counted(len(directions), "direction")
	}
	var sentences []string
	for i, d := range directions {
		f, found := timePerFrame(r, d.Name())
		text := wording.NotMeasured
		if found {
			if text = timeText(f); i == 0 {
				text = "a frame takes " + text
			}
		}
		sentences = append(sentences, d.Name()+": "+text)
	}
	return strings.Join(sentences, ", ") + frameSizeText(r)
}
