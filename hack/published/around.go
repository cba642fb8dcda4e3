package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// around is what a vital sign was before the traffic, during it and after it, in each run.
//
//	idle ── before ──▶ traffic ── during ──▶ idle ── after ──▶
type around struct{ start, during, end []float64 }

// aroundOf are the values of an observer's series in a cell's runs that count, of those that have all three.
func aroundOf(c *report.SuiteCell, observer v1alpha1.ObserverType, match func(report.VitalSign) bool) (a around) {
	for _, r := range evidence(c) {
		for _, o := range r.Observations {
			if o.Type != string(observer) {
				continue
			}
			for _, s := range o.Series {
				if match(s) {
					a.add(s, r.Answer.Observed, o.Observer)
				}
			}
		}
	}
	return a
}

// add takes over a series that was read before the traffic, during it and after it.
func (a *around) add(s report.VitalSign, during []report.Observed, observer string) {
	i := slices.IndexFunc(during, func(o report.Observed) bool {
		return o.Observer == observer && o.Series == s.Name &&
			o.Subject == s.Subject
	})
	if i < 0 || during[i].Mean == nil || s.IdleBefore == nil || s.IdleAfter == nil {
		return
	}
	a.start, a.during, a.end = append(a.start, *s.IdleBefore), append(a.during, *during[i].Mean),
		append(a.end, *s.IdleAfter)
}

func (a around) text(text func(float64) string) string {
	if len(a.during) == 0 {
		return notObserved
	}
	return fmt.Sprintf("idle %s, full %s, idle %s", averaged(a.start, text), averaged(a.during, text),
		averaged(a.end, text))
}

// busyAround is how many processors were in use.
func busyAround(c *report.SuiteCell) string {
	return aroundOf(c, v1alpha1.ObserverProcessors,
		func(s report.VitalSign) bool { return s.Name == "busy" && s.OfAll() }).text(processors)
}

// heatAround is what the hottest sensor had.
func heatAround(c *report.SuiteCell) string {
	return aroundOf(c, v1alpha1.ObserverTemperatures,
		func(s report.VitalSign) bool { return s.Name == "highest" }).text(func(celsius float64) string { return fmt.Sprintf("%.0f °C", celsius) })
}

// idle are a Report's observations without what was seen during traffic, which its result has.
func idle(r *report.Report) []report.Observation {
	observations := slices.Clone(r.Observations)
	for i := range observations {
		observations[i].Series = slices.Clone(observations[i].Series)
		for s := range observations[i].Series {
			observations[i].Series[s].Samples = nil
		}
	}
	return observations
}

// takeIdle gives the runs of a suite what was observed without traffic, if figures are of it: on one machine
// the Reports beside the document have it, and not the document.
func takeIdle(s *report.Suite, dir string, shown []ref) error {
	for i := range s.Cells {
		c := &s.Cells[i]
		if !slices.ContainsFunc(shown, func(r ref) bool {
			return r.suite == s.Name && r.cell == cellName(c.Product, c.Loadtest) && strings.HasSuffix(r.unit, "Around")
		}) {
			continue
		}
		for _, run := range c.Runs {
			if run.Evidence == nil || run.Evidence.Observations != nil {
				continue
			}
			r, err := readReport(filepath.Join(dir, run.Test+".json"))
			if err != nil {
				return err
			}
			if r != nil {
				run.Evidence.Observations = idle(r)
			}
		}
	}
	return nil
}

// readReport is the Report of a file; nil: there is no such file.
func readReport(file string) (*report.Report, error) {
	input, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = input.Close() }()
	reports, err := report.Read(input)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(reports) != 1 {
		return nil, fmt.Errorf("%s holds %d Reports", file, len(reports))
	}
	return reports[0], nil
}
