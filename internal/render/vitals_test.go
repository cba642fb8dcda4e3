package render

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// observed is a Report with a processor that was busy for a quarter of the time, for half of it in the result's
// window, and a limit that nobody could ask.
func observed() *report.Report {
	r := reporttest.Measured(reporttest.Limited(100_000))
	busy := report.VitalSign{Name: "busy", Subject: "all processors", Unit: "s", Kind: report.Counter, IdleBefore: new(0.02)}
	for second := range 20 {
		busy.Samples = append(busy.Samples, report.VitalSample{Time: plan.Duration(time.Duration(second) * time.Second), Value: float64(second) / 4})
	}
	r.Observations = []report.Observation{{Observer: "cpu", Observed: "DUT", Type: "Processors", Series: []report.VitalSign{busy}},
		{Observer: "limit", Observed: "DUT", Type: "Limiter", Missing: "the Reference's limit did not answer"}}
	for i := range r.Windows {
		if r.Windows[i].Number == r.Answer.Window {
			r.Windows[i].Observed = []report.Observed{{Observer: "cpu", Series: "busy", Subject: "all processors", Unit: "s/s", Mean: new(0.5)}}
			r.Answer.Observed = r.Windows[i].Observed
		}
	}
	return r
}

func TestVitalSignsStandInATable(t *testing.T) {
	for _, format := range []string{"text", "markdown", "html"} {
		text := strings.Join(strings.Fields(string(rendered(t, format, observed()))), " ")
		for _, want := range []string{"idle before", "all processors", "2.0 %", "50.0 %", "the Reference's limit did not answer"} {
			if !strings.Contains(strings.ReplaceAll(text, "&#39;", "'"), want) {
				t.Errorf("%s: nothing says %q\n%s", format, want, text[:min(300, len(text))])
			}
		}
	}
}

func TestVitalSignsAreDrawnUnderTheCurve(t *testing.T) {
	with, without := string(rendered(t, "html", observed())), string(rendered(t, "html", reporttest.Measured(reporttest.Limited(100_000))))
	if want := "cpu: busy, all processors, % of a processor"; !strings.Contains(with, want) || strings.Contains(without, want) {
		t.Errorf("a panel %q: %t with observers, %t without", want, strings.Contains(with, want), strings.Contains(without, want))
	}
	if strings.Contains(without, "idle before") {
		t.Error("a Report without observers has their table")
	}
}

// Of several generators' machines the name of each stands before what a series is of.
func TestVitalSignsOfSeveralMachinesAreDrawn(t *testing.T) {
	r := observed()
	one := &r.Observations[0]
	other := one.Series[0]
	one.Series[0].Subject, other.Subject = "generator-0 all processors", "generator-1 all processors"
	one.Series = append(one.Series, other)
	page := string(rendered(t, "html", r))
	for _, want := range []string{"cpu: busy, generator-0 all processors, % of a processor", "cpu: busy, generator-1 all processors, % of a processor"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no panel %q", want)
		}
	}
}

// Where a load was held, criteria are judged by all windows that count together, and the table shows that.
func TestVitalSignsAreThoseOfTheWindowsThatWereJudged(t *testing.T) {
	window := func(number int, phase report.Phase, quality report.Quality, busy float64) report.Window {
		return report.Window{Number: number, Phase: phase, Quality: quality, Directions: []report.Direction{{Quality: quality}},
			Observed: []report.Observed{{Observer: "cpu", Series: "busy", Subject: "all processors", Unit: "s/s", Mean: new(busy)}}}
	}
	held := func(r *report.Report) {
		r.Plan.Procedure.Type = plan.TypeConstantLoad
		r.Windows = []report.Window{window(1, report.WarmUp, report.Good, 0.1), window(2, report.Hold, report.Good, 0.3), window(3, report.Hold, report.Good, 0.7), window(4, report.Hold, report.Good, 0.3),
			window(5, report.Hold, report.Invalid, 0.9), window(6, report.Hold, report.Good, 0.3)}
		r.Answer.Window, r.Answer.Windows = 3, []int{2, 3, 4, 6}
		r.Answer.Observed = []report.Observed{{Observer: "cpu", Series: "busy", Subject: "all processors", Unit: "s/s", Mean: new(0.4), Min: new(0.3), Max: new(0.7)}}
	}
	for name, c := range map[string]struct {
		change     func(*report.Report)
		head, cell string
	}{
		"a chosen window":                         {func(*report.Report) {}, "result, window ", "50.0 %"},
		"all of a load that was held":             {held, "result, windows 2 to 4, 6", "40.0 %, at most 70.0 %"},
		"one window is all":                       {func(r *report.Report) { held(r); r.Windows = r.Windows[:2] }, "result, window 2", "40.0 %, at most 70.0 %"},
		"a thinned Report, which has lost others": {func(r *report.Report) { held(r); r.Thinned = &report.Thinned{Windows: 6} }, "result, several windows", "40.0 %, at most 70.0 %"},
		"what is missing": {func(r *report.Report) {
			held(r)
			r.Answer.Observed = []report.Observed{{Observer: "cpu", Series: "busy", Subject: "all processors", Missing: "in window 4 it was not read"}}
		}, "result, windows 2 to 4, 6", "not measured: in window 4 it was not read"},
	} {
		t.Run(name, func(t *testing.T) {
			r := observed()
			c.change(r)
			table := vitalsTable(r)
			if head := table.columns[4].head; !strings.HasPrefix(head, c.head) {
				t.Errorf("the column is %q, want %q", head, c.head)
			}
			if cell := table.rows[0][4]; cell != c.cell {
				t.Errorf("the cell is %q, want %q", cell, c.cell)
			}
		})
	}
}

// Each observer has a panel at least, whatever the others have; of processors' series those of all together.
func TestEachObserverHasAPanel(t *testing.T) {
	r := observed()
	sign := func(name, of, unit string, kind report.VitalKind, value float64) report.VitalSign {
		s := report.VitalSign{Name: name, Subject: of, Unit: unit, Kind: kind}
		for second := range 10 {
			s.Samples = append(s.Samples, report.VitalSample{Time: plan.Duration(time.Duration(second) * time.Second), Value: value})
		}
		return s
	}
	r.Observations = []report.Observation{{Observer: "softirqs", Type: "SoftIRQs", Series: []report.VitalSign{sign("time", "all processors", "s", report.Counter, 1), sign("dropped", "all processors", "packets", report.Counter, 1)}}}
	for n := range 8 {
		r.Observations[0].Series = append(r.Observations[0].Series, sign("time", "processor "+string(rune('0'+n)), "s", report.Counter, 1), sign("sent", "all processors", "packets", report.Counter, 1))
	}
	for _, name := range []string{"memory", "disk", "cache", "buffers", "swap", "heap"} {
		r.Observations = append(r.Observations, report.Observation{Observer: name, Type: "Memory", Series: []report.VitalSign{sign("used", "machine", "bytes", report.Gauge, 22e9), sign("available", "machine", "bytes", report.Gauge, 2e6)}})
	}
	page := string(rendered(t, "html", r))
	for _, want := range []string{"softirqs: time, all processors, % of a processor", "memory: used, machine, GB", "heap: used, machine, GB"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no panel %q", want)
		}
	}
	for _, unwanted := range []string{"softirqs: time, processor", "heap: available, machine, MB"} {
		if strings.Contains(page, unwanted) {
			t.Errorf("there is a panel %q", unwanted)
		}
	}
}

func TestLevelsAreTold(t *testing.T) {
	for want, c := range map[string]struct {
		value float64
		unit  string
	}{"22.64 GB": {22_642_880_512, "bytes"}, "1.85 GHz": {1.85e9, "Hz"}, "800 MHz": {8e8, "Hz"}, "52.5 °C": {52.5, "Celsius"}, "0.31 threads": {0.31, "threads"}, "12 B": {12, "bytes"}, "1.2e+09 W": {1.2e9, "W"}} {
		if got := vital(&c.value, report.VitalSign{Unit: c.unit, Kind: report.Gauge}); got != want {
			t.Errorf("%g %s is told as %q, want %q", c.value, c.unit, got, want)
		}
	}
}
