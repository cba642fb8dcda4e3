package figures_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

func TestSummary(t *testing.T) {
	published := reporttest.Measured()
	published.Answer.Saturated = true
	published.Answer.Total.Received = report.Flow{PacketsPerSecond: 654_400, Layer1BitsPerSecond: 1_999_000_000}
	published.Answer.Total.LineRatePercent = units.Hundred * 9995 / 10000
	for want, r := range map[string]*report.Report{
		"654 kpps both ways together (99.9 % of 2 × 1 Gb/s)":   published,
		"≥ 180 kpps both ways together (27.4 % of 2 × 1 Gb/s)": reporttest.Measured(reporttest.Weak(90_000)),
		"west→east ≥ 149 kpps, east→west 150 kpps":             reporttest.OtherDirection(),
		"not measured": reporttest.PathNotProven(),
	} {
		if got := figures.Summary(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	t.Run("a figure is shown as it is, also where a line can't carry that", func(t *testing.T) {
		published.Answer.Total.LineRatePercent = units.Hundred * 1042 / 1000
		if got := figures.Summary(published); !strings.HasSuffix(got, "(104.2 % of 2 × 1 Gb/s)") {
			t.Error(got)
		}
	})
}

// What came back of a load that was given is no limit, and does not read as one.
func TestALoadThatLostFramesReadsAsWhatWasOfferedAndCameBack(t *testing.T) {
	for reason, want := range map[report.Reason]string{
		report.LoadHeld:       "offered 345 kpps both ways together, 300 kpps came back (13 % lost)",
		report.MaximumOffered: "offered 345 kpps both ways together, 300 kpps came back (13 % lost)",
		report.CurveMeasured:  "highest load: offered 345 kpps both ways together, 300 kpps came back (13 % lost)",
		report.LossAboveLimit: "300 kpps both ways together (100.0 % of 2 × 1 Gb/s)",
	} {
		r := reporttest.Measured()
		r.Answer.Reason, r.Answer.Saturated = reason, reason == report.LossAboveLimit
		r.Answer.Total.Offered.PacketsPerSecond, r.Answer.Total.Received.PacketsPerSecond = 345_000, 300_000
		r.Answer.Total.LossRatio = units.One * 13 / 100
		if got := figures.Summary(r); got != want {
			t.Errorf("%s: %q, want %q", reason, got, want)
		}
	}
}

// A direction's line says what was found of that direction, whatever the whole is.
func TestALineOfOneDirection(t *testing.T) {
	r := reporttest.LimitsApart()
	found := r.Answer.Directions[0].Limit
	for sign, limit := range map[string]report.DirectionLimit{
		"":  {Reason: report.LossAboveLimit, Saturated: true, Confirmed: true},
		"~": {Reason: report.LossAboveLimit, Saturated: true},
		"≥": {Reason: report.GeneratorLimited, Confirmed: true},
	} {
		*found = limit
		for _, whole := range []report.Reason{report.LoadHeld, report.GeneratorLimited} {
			r.Answer.Reason, r.Answer.Saturated, r.Answer.Confirmed = whole, false, sign == "~"
			if got := figures.HeadlineIn(figures.HeadlineOf(r), r, r.Answer.Directions[0]).Sign(); got != sign {
				t.Errorf("%+v beside %s is signed %q, want %q", limit, whole, got, sign)
			}
		}
	}
}

// The shares of all directions are of one moment: limits that were found one after another were not carried at once.
func TestSharesAreAddedUpOfOneMoment(t *testing.T) {
	r := reporttest.LimitsApart()
	want := units.Percent(0)
	for _, d := range r.Answer.Total.Directions {
		want += d.LineRatePercent
	}
	if h := figures.HeadlineOf(r); h.PercentSum != want || want <= r.Answer.Total.Directions[0].LineRatePercent {
		t.Errorf("%s of %s", h.PercentSum, want)
	}
}

// A time per frame beside an answer is no part of the answer's line: a bound of a rate stays one.
func TestATimePerFrameBesideABoundLeavesItsLineAsItIs(t *testing.T) {
	r := &report.Report{Plan: &plan.Plan{}, Ending: report.Completed, Answer: report.Answer{Measured: true,
		Reason: report.GeneratorLimited, Directions: []report.Direction{{From: "west", To: "east",
			Own: []report.OwnFigure{{Metric: procedure.TimePerFrame, Low: "930", High: "950"}}}}, Total: &report.Sum{}}}
	if h := figures.HeadlineOf(r); h.OfTrains || !h.Bound || h.PicosecondsPerFrame != 0 {
		t.Errorf("%+v", h)
	}
}
