package delivery

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/intake"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// So few samples, windows and notes are left before the next kind is thinned. They are enough for a graph, for the
// neighbourhood of the result, and for the first and last notes.
const (
	fewSamples = 64
	fewWindows = 16
	fewNotes   = 40
)

// fit packs a Report into at most so many bytes, and drops no more detail than it must.
func fit(r *report.Report, limit int) (document, packed []byte, err error) {
	thinned := *r
	for {
		candidate := thinned
		if candidate.Notes = thinned.Notes; len(givenUp(r, &thinned)) > 0 {
			candidate.Notes = append(slices.Clip(thinned.Notes), thinningNote(r, &thinned, limit))
			candidate.Thinned = countsOf(r)
		}
		document, packed, err = seal(&candidate)
		large, unreadable := errors.AsType[intake.Exceeded](err)
		switch {
		case !unreadable && (err != nil || len(packed) <= limit):
			return document, packed, err
		case thin(&thinned): // and it is tried again, with less
		case unreadable:
			return nil, nil, fmt.Errorf("even without its detail %w: use fewer or smaller streams", large)
		default:
			return nil, nil, fmt.Errorf("even without its detail it takes %d bytes packed, and a ConfigMap carries %d: use fewer or smaller streams", len(packed), limit)
		}
	}
}

// thin drops the next piece of detail. It returns false where none is left. It changes only r itself, and no data
// that r shares.
func thin(r *report.Report) bool {
	switch {
	case len(r.Samples) > fewSamples:
		r.Samples, r.Observations = everySecond(r.Samples, nil), withSamples(r.Observations,
			func(samples []report.VitalSample) []report.VitalSample { return everySecond(samples, nil) })
	case hasEvidence(r):
		r.Windows = withoutEvidence(r)
	case hasPlots(r):
		r.Answer.Sections = slices.DeleteFunc(slices.Clone(r.Answer.Sections), isPlot)
	case hasDirectionWords(r):
		r.Windows = withoutDirectionWords(r)
	case len(r.Windows) > fewWindows:
		r.Windows = everySecond(r.Windows, func(w report.Window) bool { return needsWindow(r, w) })
	case len(r.Notes) > fewNotes:
		r.Notes = slices.Concat(r.Notes[:fewNotes/2], r.Notes[len(r.Notes)-fewNotes/2:])
	case len(r.Samples) > 0:
		r.Samples, r.Observations = nil, withSamples(r.Observations,
			func([]report.VitalSample) []report.VitalSample { return nil })
	default:
		return false
	}
	return true
}

// withSamples are observations with their samples replaced. The values in windows and while idle stay.
func withSamples(observations []report.Observation,
	thinned func([]report.VitalSample) []report.VitalSample) []report.Observation {
	observations = slices.Clone(observations)
	for i := range observations {
		observations[i].Series = slices.Clone(observations[i].Series)
		for s := range observations[i].Series {
			observations[i].Series[s].Samples = thinned(observations[i].Series[s].Samples)
		}
	}
	return observations
}

// everySecond keeps every second element, the last one, and those that must stay.
func everySecond[E any](list []E, stays func(E) bool) []E {
	var thinned []E
	for i, e := range list {
		if i%2 == 0 || i == len(list)-1 || stays != nil && stays(e) {
			thinned = append(thinned, e)
		}
	}
	return thinned
}

// needsWindow says that the result refers to this window.
func needsWindow(r *report.Report, w report.Window) bool {
	outvoted := slices.ContainsFunc(r.Answer.Outvoted,
		func(o report.Outvoted) bool { return slices.Contains(o.Lossy, w.Number) })
	decisive := slices.ContainsFunc(r.Answer.Directions,
		func(d report.Direction) bool { return d.Limit != nil && d.Limit.Window == w.Number })
	return outvoted || decisive || w.Phase.AfterAnswer() || w.Number == r.Answer.Window ||
		r.Answer.MaxReceived != nil && w.Number == r.Answer.MaxReceived.Window
}

// hasEvidence says that windows which the result doesn't refer to still have the data to judge them by another goal.
func hasEvidence(r *report.Report) bool {
	return slices.ContainsFunc(r.Windows, func(w report.Window) bool { return w.Evidence != nil && !needsWindow(r, w) })
}

func withoutEvidence(r *report.Report) []report.Window {
	windows := slices.Clone(r.Windows)
	for i, w := range windows {
		if !needsWindow(r, w) {
			windows[i].Evidence, windows[i].Observed = nil, nil
		}
	}
	return windows
}

// hasPlots says that some section of the result is a plot, of what windows and tables show, too.
func hasPlots(r *report.Report) bool { return slices.ContainsFunc(r.Answer.Sections, isPlot) }

func isPlot(s report.Section) bool { return s.Plot != nil }

// hasDirectionWords says that windows still have a sentence for each direction.
func hasDirectionWords(r *report.Report) bool {
	return slices.ContainsFunc(r.Windows, func(w report.Window) bool {
		return !needsWindow(r, w) && slices.ContainsFunc(w.Directions,
			func(d report.Direction) bool { return d.Reason != "" })
	})
}

// withoutDirectionWords are the windows without their directions' sentences and generators' shares. Each window's
// own sentence stays.
func withoutDirectionWords(r *report.Report) []report.Window {
	windows := slices.Clone(r.Windows)
	for i, w := range windows {
		if needsWindow(r, w) {
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

// givenUp says what the thinned Report lacks.
func givenUp(r, thinned *report.Report) []string {
	var lacks []string
	for _, part := range []struct {
		noun                string
		original, remaining int
	}{{"samples", len(r.Samples), len(thinned.Samples)}, {"windows", len(r.Windows), len(thinned.Windows)},
		{"notes", len(r.Notes), len(thinned.Notes)}} {
		if part.remaining < part.original {
			lacks = append(lacks, fmt.Sprintf("%d of %d %s", part.remaining, part.original, part.noun))
		}
	}
	if hasEvidence(r) && !hasEvidence(thinned) {
		lacks = append(lacks, "no evidence to judge windows by other goals")
	}
	if hasPlots(r) && !hasPlots(thinned) {
		lacks = append(lacks, "no plots of sections")
	}
	if hasDirectionWords(r) && !hasDirectionWords(thinned) {
		lacks = append(lacks, "no reasons of single directions")
	}
	return lacks
}

// countsOf is what the Report had before anything was dropped.
func countsOf(r *report.Report) *report.Thinned {
	if r.Thinned != nil {
		return r.Thinned // it was thinned before
	}
	original := &report.Thinned{Windows: len(r.Windows), Samples: len(r.Samples), Notes: len(r.Notes)}
	for _, w := range r.Windows {
		if w.SaysNothing() {
			original.InvalidWindows++
		}
	}
	return original
}

func thinningNote(r, thinned *report.Report, limit int) report.Note {
	return report.Note{Time: plan.Duration(r.Finished.Sub(r.Started)),
		Message: fmt.Sprintf("this report was too large for a ConfigMap (%d KiB packed) and keeps %s; result, verdict and totals are whole",
			limit>>10, strings.Join(givenUp(r, thinned), ", "))}
}
