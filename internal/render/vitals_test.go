package render

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/report/reporttest"
)

// observed is a Report with a processor that was busy for a quarter of the time, for half of it in the result's window, and a limit that nobody could ask.
func observed() *report.Report {
	r := reporttest.Measured(reporttest.Limited(100_000))
	busy := report.VitalSign{Name: "busy", Of: "all processors", Unit: "s", Kind: report.Counter, IdleBefore: new(0.02)}
	for second := range 20 {
		busy.Samples = append(busy.Samples, report.VitalSample{At: plan.Duration(time.Duration(second) * time.Second), Value: float64(second) / 4})
	}
	r.Observations = []report.Observation{{Observer: "cpu", Of: "DUT", Type: "Processors", Series: []report.VitalSign{busy}},
		{Observer: "limit", Of: "DUT", Type: "Limiter", Missing: "the Reference's limit did not answer"}}
	for i := range r.Windows {
		if r.Windows[i].Number == r.Result.Window {
			r.Windows[i].Observed = []report.Observed{{Observer: "cpu", Series: "busy", Of: "all processors", Unit: "s/s", Mean: new(0.5)}}
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
	one.Series[0].Of, other.Of = "generator-0 all processors", "generator-1 all processors"
	one.Series = append(one.Series, other)
	page := string(rendered(t, "html", r))
	for _, want := range []string{"cpu: busy, generator-0 all processors, % of a processor", "cpu: busy, generator-1 all processors, % of a processor"} {
		if !strings.Contains(page, want) {
			t.Errorf("there is no panel %q", want)
		}
	}
}
