package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

// How little is left of each thing before the next is thinned: enough for a graph, for the neighbourhood of the result, for the beginning
// and the end of the story.
const (
	fewSamples = 64
	fewWindows = 16
	fewNotes   = 40
)

// fit packs a Report into so many bytes, and gives up only as much of its detail as it must.
func fit(r *report.Report, most int) (document, packed []byte, err error) {
	thinned := *r
	for {
		told := thinned
		if told.Notes = thinned.Notes; len(givenUp(r, &thinned)) > 0 {
			told.Notes = append(slices.Clip(thinned.Notes), thinningNote(r, &thinned, most))
			told.Thinned = countsOf(r)
		}
		document, packed, err = seal(&told)
		large, unreadable := errors.AsType[exceeded](err)
		switch {
		case !unreadable && (err != nil || len(packed) <= most):
			return document, packed, err
		case thin(&thinned): // and it is tried again, with less
		case unreadable:
			return nil, nil, fmt.Errorf("even without its detail %w: use fewer or smaller streams", large)
		default:
			return nil, nil, fmt.Errorf("even without its detail it takes %d bytes packed, and a ConfigMap carries %d: use fewer or smaller streams", len(packed), most)
		}
	}
}

// thin gives up the next piece of detail; false where there is none left. It changes r alone, never what r shares with others.
func thin(r *report.Report) bool {
	switch {
	case len(r.Samples) > fewSamples:
		r.Samples, r.Observations = everySecond(r.Samples, nil), withSamples(r.Observations, func(all []report.VitalSample) []report.VitalSample { return everySecond(all, nil) })
	case evident(r):
		r.Windows = withoutEvidence(r)
	case wordy(r):
		r.Windows = silenced(r)
	case len(r.Windows) > fewWindows:
		r.Windows = everySecond(r.Windows, func(w report.Window) bool { return cited(r, w) })
	case len(r.Notes) > fewNotes:
		r.Notes = slices.Concat(r.Notes[:fewNotes/2], r.Notes[len(r.Notes)-fewNotes/2:])
	case len(r.Samples) > 0:
		r.Samples, r.Observations = nil, withSamples(r.Observations, func([]report.VitalSample) []report.VitalSample { return nil })
	default:
		return false
	}
	return true
}

// withSamples is what observers read, with other samples; what they were in windows, and idle, stays.
func withSamples(all []report.Observation, thinned func([]report.VitalSample) []report.VitalSample) []report.Observation {
	all = slices.Clone(all)
	for i := range all {
		all[i].Series = slices.Clone(all[i].Series)
		for s := range all[i].Series {
			all[i].Series[s].Samples = thinned(all[i].Series[s].Samples)
		}
	}
	return all
}

// everySecond keeps every second element, the last one, and those that must stay.
func everySecond[E any](all []E, stays func(E) bool) []E {
	var kept []E
	for i, e := range all {
		if i%2 == 0 || i == len(all)-1 || stays != nil && stays(e) {
			kept = append(kept, e)
		}
	}
	return kept
}

// cited says that the result speaks of this window.
func cited(r *report.Report, w report.Window) bool {
	outvoted := slices.ContainsFunc(r.Result.Outvoted, func(o report.Outvoted) bool { return slices.Contains(o.Lossy, w.Number) })
	own := slices.ContainsFunc(r.Result.Directions, func(d report.Direction) bool { return d.Limit != nil && d.Limit.Window == w.Number })
	return outvoted || own || w.Phase == report.AtLoad || w.Number == r.Result.Window || r.Result.MaxReceived != nil && w.Number == r.Result.MaxReceived.Window
}

// evident says that windows which the result doesn't speak of still carry what judging them by another goal needs.
func evident(r *report.Report) bool {
	return slices.ContainsFunc(r.Windows, func(w report.Window) bool { return w.Evidence != nil && !cited(r, w) })
}

func withoutEvidence(r *report.Report) []report.Window {
	windows := slices.Clone(r.Windows)
	for i, w := range windows {
		if !cited(r, w) {
			windows[i].Evidence, windows[i].Observed = nil, nil
		}
	}
	return windows
}

// wordy says that windows still carry a sentence for each of their directions.
func wordy(r *report.Report) bool {
	return slices.ContainsFunc(r.Windows, func(w report.Window) bool {
		return !cited(r, w) && slices.ContainsFunc(w.Directions, func(d report.Direction) bool { return d.Reason != "" })
	})
}

// silenced is the windows without their directions' sentences and generators' shares; each window's own sentence stays.
func silenced(r *report.Report) []report.Window {
	windows := slices.Clone(r.Windows)
	for i, w := range windows {
		if cited(r, w) {
			continue
		}
		windows[i].Generators = nil
		windows[i].Directions = slices.Clone(w.Directions)
		for d := range windows[i].Directions {
			windows[i].Directions[d].Reason = ""
		}
	}
	return windows
}

// givenUp is what of the Report the thinned one lacks, in words.
func givenUp(r, thinned *report.Report) []string {
	var lacks []string
	for _, part := range []struct {
		what      string
		had, have int
	}{{"samples", len(r.Samples), len(thinned.Samples)}, {"windows", len(r.Windows), len(thinned.Windows)}, {"notes", len(r.Notes), len(thinned.Notes)}} {
		if part.have < part.had {
			lacks = append(lacks, fmt.Sprintf("%d of %d %s", part.have, part.had, part.what))
		}
	}
	if evident(r) && !evident(thinned) {
		lacks = append(lacks, "no evidence to judge windows by other goals")
	}
	if wordy(r) && !wordy(thinned) {
		lacks = append(lacks, "no reasons of single directions")
	}
	return lacks
}

// countsOf is what the Report had before anything was given up.
func countsOf(r *report.Report) *report.Thinned {
	if r.Thinned != nil {
		return r.Thinned // it was thinned before
	}
	had := &report.Thinned{Windows: len(r.Windows), Samples: len(r.Samples), Notes: len(r.Notes)}
	for _, w := range r.Windows {
		if w.SaysNothing() {
			had.InvalidWindows++
		}
	}
	return had
}

func thinningNote(r, thinned *report.Report, most int) report.Note {
	return report.Note{At: plan.Duration(r.Finished.Sub(r.Started)),
		Message: fmt.Sprintf("this report was too large for a ConfigMap (%d KiB packed) and keeps %s; result, verdict and totals are whole",
			most>>10, strings.Join(givenUp(r, thinned), ", "))}
}
