package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/statistics"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// readSuite is the document of a suite in a file; nil: there is no such file.
func readSuite(file string) (*report.Suite, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	documents, err := report.ReadDocuments(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if len(documents.Suites) != 1 {
		return nil, fmt.Errorf("%s holds %d suites", file, len(documents.Suites))
	}
	return documents.Suites[0], nil
}

// measuredOf is how many cells of a suite have figures, calibrations left aside.
func measuredOf(s *report.Suite) (measured, total int) {
	if s == nil {
		return 0, 0
	}
	for _, c := range s.Cells {
		if !c.Calibration {
			total++
			if c.Figures != nil {
				measured++
			}
		}
	}
	return measured, total
}

// amount is a figure of a cell as it is shown.
type amount func(c *report.SuiteCell) string

// amounts are all figures that pages show, by the names that published.yaml and measured.json have for them.
func amounts() map[string]amount {
	return map[string]amount{"packets": packets, "layer1": layer1, "percent": percent, "clean": clean,
		"goodput": goodput, "kernel": kernel, "busy": busy, "busyAround": busyAround, "heatAround": heatAround}
}

// shown is a cell's figure, or the reason why there is none; empty: no test of the cell has ended.
func shown(c *report.SuiteCell, unit amount) string {
	switch {
	case c.Figures == nil && len(c.Runs) == 0:
		return ""
	case c.Figures == nil:
		return "no figure: " + c.Runs[len(c.Runs)-1].Reason
	}
	return unit(c)
}

// spread is what stands behind a figure of several runs.
func spread(c *report.SuiteCell) string {
	if c.Figures.Spread == nil {
		return ""
	}
	return " ±" + wording.Percent(c.Figures.Spread.Percent)
}

func packets(c *report.SuiteCell) string {
	return c.Figures.Headline().Sign() + wording.PacketRate(c.Figures.PacketsPerSecond) + spread(c)
}

func layer1(c *report.SuiteCell) string {
	return c.Figures.Headline().Sign() + wording.BitRate(c.Figures.Layer1BitsPerSecond)
}

func percent(c *report.SuiteCell) string {
	return c.Figures.Headline().Sign() + c.Figures.LineRatePercentSum.FormatFixed()
}

// goodput is payload, and of several directions also each one's, in the Plan's order.
func goodput(c *report.SuiteCell) string {
	if !c.Figures.OfSessions() {
		return packets(c)
	}
	text := c.Figures.Headline().Sign() + wording.BitRate(*c.Figures.GoodputBitsPerSecond) + spread(c)
	if rates := goodputs(c); len(rates) > 1 {
		text += " (" + strings.Join(rates, " + ") + ")"
	}
	return text
}

// goodputs are the medians of each direction.
func goodputs(c *report.SuiteCell) (rates []string) {
	for d := 0; ; d++ {
		var runs []int64
		for _, r := range evidence(c) {
			if d < len(r.Answer.Directions) && r.Answer.Directions[d].Sessions != nil {
				runs = append(runs, r.Answer.Directions[d].Sessions.GoodputBitsPerSecond)
			}
		}
		if len(runs) == 0 {
			return rates
		}
		slices.Sort(runs)
		rates = append(rates, wording.BitRate((runs[(len(runs)-1)/2]+runs[len(runs)/2])/2))
	}
}

// evidence are the Reports of the runs that count, as far as they are kept.
func evidence(c *report.SuiteCell) (reports []*report.Report) {
	for i := range c.Runs {
		if r := &c.Runs[i]; r.Counts() && r.Evidence != nil {
			reports = append(reports, r.Evidence)
		}
	}
	return reports
}

// kernel is what the receiver's kernel counted, averaged over the runs as it was published.
func kernel(c *report.SuiteCell) string {
	values := observed(c, func(o report.Observed, r *report.Report) bool {
		return o.Series == "received" && o.Unit == "packets/s" && o.Subject == r.Plan.Directions[0].To
	})
	return averaged(values, func(pps float64) string { return wording.PacketRate(int64(pps + 0.5)) })
}

// notObserved stands where no run that counts has a value.
const notObserved = "not observed"

// averaged is the average of what runs have, and where they differ the least and the most.
func averaged(values []float64, text func(float64) string) string {
	if len(values) == 0 {
		return notObserved
	}
	average, lowest, highest := text(statistics.Mean(values)), text(slices.Min(values)), text(slices.Max(values))
	if lowest == highest {
		return average
	}
	return fmt.Sprintf("%s (%s to %s)", average, lowest, highest)
}

// busy is how many processors were in use.
func busy(c *report.SuiteCell) string {
	values := observed(c, func(o report.Observed, _ *report.Report) bool { return o.Series == "busy" && o.OfAll() })
	return averaged(values, processors)
}

func processors(busy float64) string { return fmt.Sprintf("%.2f", busy) }

// observed are the means of a series in the runs that count.
func observed(c *report.SuiteCell, match func(report.Observed, *report.Report) bool) (values []float64) {
	for _, r := range evidence(c) {
		for _, o := range r.Answer.Observed {
			if o.Mean != nil && match(o, r) {
				values = append(values, *o.Mean)
			}
		}
	}
	return values
}

// source says when a suite was measured, by which version, how long its tests took, and on what: also what its
// generators send by themselves, which shows how fast the machine was.
func source(s *report.Suite, version string) string {
	date, prefix := s.Finished, "measured on "
	if date.IsZero() {
		date, prefix = s.Started, "cut short, begun on "
	}
	tests, took := 0, time.Duration(0)
	for _, c := range s.Cells {
		for _, r := range c.Runs {
			tests, took = tests+1, took+r.Finished.Sub(r.Started)
		}
	}
	text := fmt.Sprintf("%s%s with %s, %s in %s minutes", prefix, date.UTC().Format("2 January 2006"), version,
		wording.Counted(tests, "test"), minutes(took))
	for i := range s.Cells {
		for _, r := range evidence(&s.Cells[i]) {
			if e := r.Environment; e != nil && len(e.Generators) > 0 {
				m := e.Generators[0].Machine
				text += fmt.Sprintf(", on %s (%s), Linux %s", wording.Counted(m.Processors, "processor"),
					cmp.Or(m.CPUModel, "of an unknown model"), cmp.Or(m.Kernel, "of an unknown version"))
				return text + byThemselves(s)
			}
		}
	}
	return text
}

// byThemselves is the suite's first calibration; empty: it has none.
func byThemselves(s *report.Suite) string {
	i := slices.IndexFunc(s.Cells, func(c report.SuiteCell) bool { return c.Calibration && c.Figures != nil })
	if i < 0 {
		return ""
	}
	suffix := ""
	if s.Cells[i].Loadtest != "" {
		suffix = " (" + s.Cells[i].Loadtest + ")"
	}
	return "; the generators by themselves" + suffix + ": " + packets(&s.Cells[i])
}
