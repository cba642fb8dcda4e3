package figures_test

import (
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

// measured is a run both ways, of which a thousand frames a second came back of 1 250 that were sent.
func measured(change func(*report.Report)) *report.Report {
	lanes := [][2]string{{"west", "east"}, {"east", "west"}}
	r := &report.Report{Ending: report.Completed, Plan: &plan.Plan{}, Answer: report.Answer{Measured: true, Claim: report.Claim{Confirmed: true}}}
	total := report.Sum{Offered: report.Flow{PacketsPerSecond: 2500}, Received: report.Flow{PacketsPerSecond: 2000}, LossRatio: units.One / 5, LossRatioMin: units.One / 10}
	for _, l := range lanes {
		r.Plan.Directions = append(r.Plan.Directions, plan.Direction{From: l[0], To: l[1]})
		r.Answer.Directions = append(r.Answer.Directions, report.Direction{From: l[0], To: l[1], Offered: report.Flow{PacketsPerSecond: 1250}, Received: report.Flow{PacketsPerSecond: 1000},
			Sent: units.Traffic{Packets: 1250}, Returned: units.Traffic{Packets: 1000}, LossRatio: units.One / 5, LossRatioMin: units.One / 10})
	}
	r.Answer.Total = &total
	change(r)
	return r
}

func one(t *testing.T, r *report.Report, metric report.Metric, direction string) report.Figure {
	t.Helper()
	for _, f := range figures.Of(r) {
		if f.Metric == metric && f.Direction == direction && f.Load == 0 {
			return f
		}
	}
	t.Fatalf("no figure %s of %s in %+v", metric, direction, figures.Of(r))
	return report.Figure{}
}

// What bounds a figure from above was seen: frames were lost. Without that it is open.
func TestAFigureIsAsWideAsWhatWasSeen(t *testing.T) {
	for name, c := range map[string]struct {
		result    report.Answer
		low, high report.Number
	}{
		"a limit":                                    {report.Answer{Reason: report.LossAboveLimit, Claim: report.Claim{Saturated: true}}, "1000", "1000"},
		"a limit that was resolved to a fifth":       {report.Answer{Reason: report.LossAboveLimit, Claim: report.Claim{Saturated: true, Resolution: units.One / 5}}, "1000", "1250"},
		"a limit that was not resolved":              {report.Answer{Reason: report.LossAboveLimit, Claim: report.Claim{Saturated: true, Resolution: units.One}}, "1000", ""},
		"all that was asked for":                     {report.Answer{Reason: report.TargetReached}, "1000", ""},
		"all that the generator could send":          {report.Answer{Reason: report.GeneratorLimited}, "1000", ""},
		"what could not be judged above":             {report.Answer{Reason: report.Inconclusive}, "1000", ""},
		"what came back of a load that was too much": {report.Answer{Reason: report.LoadHeld}, "1000", "1000"},
		"what came back of all that can be sent":     {report.Answer{Reason: report.MaximumOffered}, "1000", "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(func(r *report.Report) {
				r.Answer.Saturated, r.Answer.Reason, r.Answer.Resolution = c.result.Saturated, c.result.Reason, c.result.Resolution
			})
			if f := one(t, r, figures.PacketsPerSecond, "west→east"); f.Low != c.low || f.High != c.high {
				t.Errorf("%s to %q, want %s to %q", f.Low, f.High, c.low, c.high)
			}
		})
	}
}

// A direction is bounded by frames that it lost itself, and all directions together only if each of them is.
func TestADirectionsFigureIsBoundedByItsOwnLoss(t *testing.T) {
	limit := report.DirectionLimit{Reason: report.LossAboveLimit, Saturated: true, Confirmed: true, Window: 7, Lossy: 9, Resolution: units.One / 5}
	coarse := limit
	coarse.Saturated, coarse.Reason, coarse.Resolution = false, report.OtherDirection, units.One/2
	open := report.DirectionLimit{Reason: report.OtherDirection, Confirmed: true, Window: 7}
	for name, c := range map[string]struct {
		west, east  *report.DirectionLimit
		first, last report.Number // the upper ends of west→east and of east→west
		total       report.Number
	}{
		"both are limits":                 {&limit, &limit, "1250", "1250", "2500"},
		"one is a limit":                  {&limit, &open, "1250", "", ""},
		"one lost frames much further up": {&limit, &coarse, "1250", "2000", "3250"},
		"none lost any":                   {&open, &open, "", "", ""},
		"no search for limits of each":    {nil, nil, "1000", "1000", "2000"},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(func(r *report.Report) {
				r.Answer.Saturated, r.Answer.Reason = true, report.LossAboveLimit
				r.Answer.Directions[0].Limit, r.Answer.Directions[1].Limit = c.west, c.east
			})
			west, east, total := one(t, r, figures.PacketsPerSecond, "west→east"), one(t, r, figures.PacketsPerSecond, "east→west"), one(t, r, figures.PacketsPerSecond, report.AllDirections)
			if west.High != c.first || east.High != c.last || total.High != c.total {
				t.Errorf("up to %q and %q, together %q; want %q and %q, together %q", west.High, east.High, total.High, c.first, c.last, c.total)
			}
			if c.east != nil && east.Reason != c.east.Reason {
				t.Errorf("east→west for %s, want %s", east.Reason, c.east.Reason)
			}
		})
	}
}

// A direction's share of the upper end is as large in each unit as the direction itself, where frames have other
// sizes one way than the other.
func TestAnUpperEndIsInTheUnitOfItsFigure(t *testing.T) {
	r := measured(func(r *report.Report) {
		r.Answer.Saturated, r.Answer.Reason = true, report.LossAboveLimit
		for i, flow := range []report.Flow{{PacketsPerSecond: 10, Layer1BitsPerSecond: 1200, Layer2BitsPerSecond: 1000}, {PacketsPerSecond: 10, Layer1BitsPerSecond: 400, Layer2BitsPerSecond: 200}} {
			d := &r.Answer.Directions[i]
			d.Received, d.Limit = flow, &report.DirectionLimit{Reason: report.LossAboveLimit, Saturated: true, Confirmed: true, Lossy: 9, Resolution: units.One / units.Ratio(5-3*i)}
		}
		r.Answer.Total.Received = report.Flow{PacketsPerSecond: 20, Layer1BitsPerSecond: 1600, Layer2BitsPerSecond: 1200}
	})
	// the first limit is resolved to a fifth, the second to a half
	for metric, want := range map[report.Metric]report.Number{
		figures.PacketsPerSecond: "32.5", figures.Layer1BitsPerSecond: "2300", figures.Layer2BitsPerSecond: "1650",
	} {
		if f := one(t, r, metric, report.AllDirections); f.High != want {
			t.Errorf("%s is %s to %q, want up to %q", metric, f.Low, f.High, want)
		}
	}
}

// What was held at once may be a little less than what each direction brought by itself, and is bounded by what
// those lost, not by a share of its own.
func TestAllThatWasFoundOneAfterAnotherIsBoundedByTheDirectionsOwnLoss(t *testing.T) {
	limit := report.DirectionLimit{Reason: report.LossAboveLimit, Saturated: true, Confirmed: true, Window: 7, Lossy: 9, Resolution: units.One / 5}
	for name, c := range map[string]struct {
		came    int64
		quality report.Quality
		lost    int64 // of 100 frames of each direction
		high    report.Number
	}{
		"as much came back at once":                              {2000, report.Good, 0, "2500"},
		"a little less did":                                      {1990, report.Good, 0, "2500"},
		"the generator sent less":                                {1900, report.Short, 0, "2500"},
		"more did than the directions' own loss leaves room for": {2600, report.Good, 0, "2600"},
		"frames were lost: what came back is what is told":       {1500, report.Lossy, 25, "1500"},
		"fewer were lost than the limits are resolved to":        {1990, report.Lossy, 1, "2500"},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(func(r *report.Report) {
				r.Answer.Saturated, r.Answer.Reason, r.Answer.Resolution = c.quality == report.Good, report.LossAboveLimit, limit.Resolution
				if c.quality == report.Lossy {
					r.Answer.Reason, r.Answer.Resolution = report.LoadHeld, 0
				}
				r.Answer.Directions[0].Limit, r.Answer.Directions[1].Limit = &limit, &limit
				r.Answer.Total.Received.PacketsPerSecond = c.came
				atOnce := slices.Clone(r.Answer.Directions)
				for i := range atOnce {
					atOnce[i].Quality, atOnce[i].Sent.Packets, atOnce[i].Returned.Packets = c.quality, 100, 100-c.lost
				}
				r.Answer.Total.Directions = atOnce
			})
			if f := one(t, r, figures.PacketsPerSecond, report.AllDirections); f.High != c.high {
				t.Errorf("%s to %q, want up to %q", f.Low, f.High, c.high)
			}
		})
	}
}

// Limits that were found while another direction was held above what it carries bound nothing but themselves.
func TestLimitsThatOthersCrowdedOutBoundNoSum(t *testing.T) {
	limit := report.DirectionLimit{Reason: report.LossAboveLimit, Saturated: true, Confirmed: true, Window: 7, Lossy: 9, Resolution: units.One / 5}
	r := measured(func(r *report.Report) {
		r.Answer.Reason = report.Inconclusive
		r.Answer.Directions[0].Limit, r.Answer.Directions[1].Limit = &limit, &limit
		r.Answer.Total.Directions = r.Answer.Directions
	})
	if f := one(t, r, figures.PacketsPerSecond, report.AllDirections); f.High != "" {
		t.Errorf("%s to %q, want no upper end", f.Low, f.High)
	}
}

// What came back of a load may be less than the device forwards of it where others had the machine's processors
// meanwhile; what was lost may be theirs.
func TestADisturbanceMakesAFigureWider(t *testing.T) {
	r := measured(func(r *report.Report) {
		r.Answer.Reason = report.LoadHeld
		d := &r.Answer.Directions[0]
		d.Returned.Packets, d.DisturbedFrames = 4000, 1000
	})
	if f := one(t, r, figures.PacketsPerSecond, "west→east"); f.Low != "1000" || f.High != "1250" {
		t.Errorf("%s to %q came back, want 1000 to 1250", f.Low, f.High)
	}
	if f := one(t, r, figures.PacketsPerSecond, "east→west"); f.Low != f.High {
		t.Errorf("%s to %q came back the other way, where nothing was disturbed", f.Low, f.High)
	}
	r.Answer.Directions[1].Returned.Packets = 4000
	if f := one(t, r, figures.PacketsPerSecond, report.AllDirections); f.Low != "2000" || f.High != "2250" {
		t.Errorf("%s to %q came back both ways, want 2000 to 2250: an eighth more", f.Low, f.High)
	}
}

// Of loss the generator's own part is known to be no more than so much; what was sent is what was sent.
func TestLossIsAnIntervalAndWhatWasSentIsExact(t *testing.T) {
	r := measured(func(r *report.Report) { r.Answer.Reason = report.TargetReached })
	if f := one(t, r, figures.LossRatio, report.AllDirections); f.Low != "0.1" || f.High != "0.2" {
		t.Errorf("loss from %s to %s", f.Low, f.High)
	}
	hides := measured(func(r *report.Report) {
		r.Answer.Total.LossRatio, r.Answer.Total.LossRatioMin, r.Answer.Total.LossRatioMax = 0, 0, units.One/1000
	})
	if f := one(t, hides, figures.LossRatio, report.AllDirections); f.Low != "0" || f.High != "0.001" || figures.Text(f) != "0 % to 0.1 % lost" {
		t.Errorf("loss from %s to %s: %s", f.Low, f.High, figures.Text(f))
	}
	if f := one(t, r, figures.OfferedPacketsPerSecond, "east→west"); f.Low != "1250" || f.High != "1250" {
		t.Errorf("offered from %s to %s", f.Low, f.High)
	}
	r.Answer.NearGenerators = []string{"west→east"}
	for direction, low := range map[string]report.Number{"west→east": "0", report.AllDirections: "0", "east→west": "0.1"} {
		if f := one(t, r, figures.LossRatio, direction); f.Low != low || f.High != "0.2" {
			t.Errorf("near the generators' limit from west to east, loss of %s is from %s to %s", direction, f.Low, f.High)
		}
	}
}

func TestAFigureThatIsNotKnownSaysWhy(t *testing.T) {
	r := measured(func(*report.Report) {})
	if f := one(t, r, figures.LineRatePercent, "west→east"); f.Low != "" || f.High != "" || f.Missing == "" || figures.Text(f) != f.Missing {
		t.Errorf("%+v", f)
	}
	r.LineRates = []report.LineRate{{Link: "east", BitsPerSecond: units.Gbps}}
	r.Answer.Directions[0].LineRatePercent = units.PercentOf(1, 3)
	if f := one(t, r, figures.LineRatePercent, "west→east"); figures.Text(f) != "33.33 % of line rate" {
		t.Errorf("%+v reads %s", f, figures.Text(f))
	}
	if f := one(t, r, figures.LineRatePercent, report.AllDirections); f.Missing == "" {
		t.Errorf("%+v, and the line rate of west isn't known", f)
	}
}

// Where even the lowest load lost frames, the direction that lost them carries less than was offered; of the other
// nothing is known.
func TestWhereEveryLoadLostFramesTheFigureIsLessThanTheLowest(t *testing.T) {
	r := measured(func(r *report.Report) {
		directions := r.Answer.Directions
		directions[0].Quality, directions[1].Quality = report.Lossy, report.Good
		r.Answer = report.Answer{Reason: report.NoCleanLoad}
		r.Windows = []report.Window{{Phase: report.Ramping, Quality: report.Lossy, Directions: directions}}
	})
	if f := one(t, r, figures.PacketsPerSecond, "west→east"); f.Low != "0" || f.High != "1250" {
		t.Errorf("%s to %q", f.Low, f.High)
	}
	if f := one(t, r, figures.PacketsPerSecond, "east→west"); f.Low != "0" || f.High != "" {
		t.Errorf("%s to %q", f.Low, f.High)
	}
	if f := one(t, r, figures.LossRatio, "west→east"); f.Low != "0.1" || f.High != "0.2" {
		t.Errorf("it lost %s to %s of the lowest load, of which 0.1 is surely its own", f.Low, f.High)
	}
	if f := one(t, r, figures.PacketsPerSecond, report.AllDirections); f.Low != "0" || f.High != "2500" {
		t.Errorf("all together %s to %q", f.Low, f.High)
	}
	r.Windows[0].Varied = "west→east"
	if f := one(t, r, figures.PacketsPerSecond, report.AllDirections); f.Low != "0" || f.High != "" {
		t.Errorf("where one direction alone varied, all together are %s to %q", f.Low, f.High)
	}
}

func TestACurveHasTheFiguresOfEachLoad(t *testing.T) {
	r := measured(func(*report.Report) {})
	r.Answer.Figures = figures.OfWindow(r, report.Window{Load: units.One / 2, Directions: r.Answer.Directions}, report.Answer{Claim: report.Claim{Confirmed: true}})
	n := 0
	for _, f := range figures.Of(r) {
		if f.Load == units.One/2 {
			n++
			if f.Metric == figures.LossRatio && f.High != "0.2" {
				t.Errorf("%+v", f)
			}
		}
	}
	if n != 3*3 {
		t.Errorf("%d figures at half the load, want three metrics of two directions and of both", n)
	}
}

func TestEveryMetricHasAUnitAndReadsAsText(t *testing.T) {
	for _, m := range figures.Metrics {
		if known, is := figures.MetricOf(m.Name); !is || known.Unit == "" || known.Means == "" {
			t.Errorf("%s: %+v", m.Name, known)
		}
		if text := figures.Format(m.Name, 1); text == "1" {
			t.Errorf("%s is written without its unit", m.Name)
		}
	}
}

func TestNumbersAreExactDecimals(t *testing.T) {
	for want, v := range map[report.Number]*big.Rat{"": nil, "7": big.NewRat(7, 1), "0.0003": big.NewRat(3, 10_000), "-2.5": big.NewRat(-5, 2), "0.333333333333": big.NewRat(1, 3)} {
		if got := report.NumberOf(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	if report.Number("2.5").Float() != 2.5 || report.Number("").Rat() != nil || report.Number("").Float() != 0 {
		t.Error("a number doesn't read as what it is")
	}
}

// Two loads that read alike, to a hundredth of a percent, are two points.
func TestPointsAreToldApartByTheirLoads(t *testing.T) {
	r := measured(func(*report.Report) {})
	var curve []report.Figure
	for _, load := range []units.Ratio{units.One, units.One - 25_000, units.One / 2} {
		curve = append(curve, figures.OfWindow(r, report.Window{Load: load, Directions: r.Answer.Directions}, report.Answer{Claim: report.Claim{Confirmed: true}})...)
	}
	points := figures.PointsByLoad(curve)
	if len(points) != 3 {
		t.Fatalf("%d points of three loads", len(points))
	}
	for _, p := range points {
		if len(p) != 3 || p[0].Load != p[2].Load || p[0].Direction != report.AllDirections {
			t.Errorf("%+v", p)
		}
	}
}

// TestBurstsNearTheGeneratorsLimit: what a longer burst lost they may have lost, and how fast the device forwards
// is theirs, too.
func TestBurstsNearTheGeneratorsLimit(t *testing.T) {
	for name, c := range map[string]struct {
		near, untold bool
		metric       report.Metric
		want         report.Figure
	}{
		"bursts":                        {false, false, procedure.BackToBackFrames, report.Figure{Low: "700", High: "710", Reason: report.BurstsMeasured}},
		"bursts near the generators'":   {true, false, procedure.BackToBackFrames, report.Figure{Low: "700", Reason: report.NearGenerators}},
		"a buffer":                      {false, false, procedure.BufferFrames, report.Figure{Low: "700", High: "710", Reason: report.BurstsMeasured}},
		"a buffer near the generators'": {true, false, procedure.BufferMicroseconds, report.Figure{Missing: "frames may have been lost by the generators, whose own limit is near", Reason: report.NearGenerators}},
		"a buffer of unknown size":      {false, true, procedure.BufferFrames, report.Figure{Missing: "how many frames the device held is unknown", Reason: report.BurstsMeasured}},
	} {
		t.Run(name, func(t *testing.T) {
			r := measured(func(r *report.Report) {
				r.Plan.Procedure.Type, r.Answer.Reason = plan.TypeBackToBack, report.BurstsMeasured
				own := report.OwnFigure{Metric: c.metric, Low: "700", High: "710", OfLoss: c.metric != procedure.BackToBackFrames}
				if c.untold {
					own = report.OwnFigure{Metric: c.metric, Missing: "how many frames the device held is unknown"}
				}
				if r.Answer.Directions[0].Own = []report.OwnFigure{own}; c.near {
					r.Answer.NearGenerators = []string{"west→east"}
				}
			})
			if f := one(t, r, c.metric, "west→east"); f.Low != c.want.Low || f.High != c.want.High || f.Missing != c.want.Missing || f.Reason != c.want.Reason {
				t.Errorf("%+v, want %+v", f, c.want)
			}
		})
	}
}

// TestFiguresOfASoak are intervals of the critical load: what is offered there, and what comes back of it; of all
// directions the least sets the load.
func TestFiguresOfASoak(t *testing.T) {
	r := measured(func(r *report.Report) {
		r.Plan.Procedure.Type, r.Answer.Reason, r.Answer.Confirmed = plan.TypeSoak, report.LoadEstimated, true
		for i := range r.Answer.Directions {
			d := &r.Answer.Directions[i]
			d.Intended.PacketsPerSecond, d.Offered.PacketsPerSecond, d.Received.PacketsPerSecond, d.Received.Layer1BitsPerSecond = 10_000, 10_000, 5000, 50_000
			d.Estimate = &report.Estimate{LossRatio: units.One / 10, Low: report.Number([]string{"8000", "6000"}[i]), High: report.Number([]string{"9000", ""}[i])}
		}
		r.Answer.Directions[1].Estimate.Extrapolated = true
	})
	there, back := r.Answer.Directions[0].Name(), r.Answer.Directions[1].Name()
	for _, want := range []report.Figure{
		{Metric: figures.OfferedPacketsPerSecond, Direction: there, Low: "8000", High: "9000", Confirmed: true},
		{Metric: figures.PacketsPerSecond, Direction: there, Low: "7200", High: "8100", Confirmed: true},
		{Metric: figures.Layer1BitsPerSecond, Direction: there, Low: "72000", High: "81000", Confirmed: true},
		{Metric: figures.PacketsPerSecond, Direction: back, Low: "5400"},
		// both ways as much as one may be offered: 6000 to 9000
		{Metric: figures.OfferedPacketsPerSecond, Direction: report.AllDirections, Low: "12000", High: "18000"},
		{Metric: figures.PacketsPerSecond, Direction: report.AllDirections, Low: "10800", High: "16200"},
		{Metric: figures.LossRatio, Direction: there, Missing: "the procedure finds the rate at which a given share is lost: judge that rate instead", Confirmed: true},
	} {
		if f := one(t, r, want.Metric, want.Direction); f.Low != want.Low || f.High != want.High || f.Missing != want.Missing || f.Confirmed != want.Confirmed || f.Reason != report.LoadEstimated {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
	r.Answer.Directions[0].Estimate.Extrapolated, r.Answer.Directions[1].Estimate.Extrapolated = true, false
	if f := one(t, r, figures.OfferedPacketsPerSecond, report.AllDirections); f.Confirmed {
		t.Errorf("the first direction is extrapolated, and all together %+v", f)
	}
	r.Answer.Directions[0].Estimate.Extrapolated, r.Answer.Directions[1].Estimate.Extrapolated = false, true
	if h := figures.HeadlineOf(r); h.Bound || h.Unconfirmed {
		t.Errorf("%+v", h)
	}
	if r.Answer.Confirmed = false; !figures.HeadlineOf(r).Unconfirmed || one(t, r, figures.PacketsPerSecond, there).Confirmed != true {
		t.Errorf("extrapolated %+v", figures.HeadlineOf(r))
	}
	r.Answer.NearGenerators = []string{there}
	if f := one(t, r, figures.PacketsPerSecond, there); f.High != "" || f.Reason != report.NearGenerators {
		t.Errorf("near the generators' limit %+v", f)
	}
	if said := figures.Summary(r); !strings.HasPrefix(said, there+": ≥ 8.00 kpps with 10 % lost; ") {
		t.Errorf("near the generators' limit %s", said)
	}
	r.Answer.NearGenerators, r.Answer.Directions[0].Estimate.High = nil, ""
	if h := figures.HeadlineOf(r); h.Sign() != "≥" {
		t.Errorf("open above %+v", h)
	}
}

// TestADirectionOfASoakIsABoundByItself: beside a direction that is estimated, one that is open above is a lower
// bound, for its own reason, and one that is extrapolated is not confirmed.
func TestADirectionOfASoakIsABoundByItself(t *testing.T) {
	r := measured(func(r *report.Report) {
		r.Plan.Procedure.Type, r.Answer.Reason = plan.TypeSoak, report.LoadEstimated
		for i := range r.Answer.Directions {
			d := &r.Answer.Directions[i]
			d.Intended.PacketsPerSecond, d.Offered.PacketsPerSecond, d.Received.PacketsPerSecond = 10_000, 10_000, 10_000
			d.Estimate = &report.Estimate{LossRatio: 1, Low: "8000", High: report.Number([]string{"9000", ""}[i])}
			d.Limit = &report.DirectionLimit{Reason: []report.Reason{report.LoadEstimated, report.GeneratorLimited}[i], Confirmed: true}
		}
	})
	h := figures.HeadlineOf(r)
	there, back := &r.Answer.Directions[0], &r.Answer.Directions[1]
	if own, other := figures.HeadlineIn(h, r, *there), figures.HeadlineIn(h, r, *back); own.Sign() != "" || other.Sign() != "≥" {
		t.Errorf("%q and %q", own.Sign(), other.Sign())
	}
	if own, other := one(t, r, figures.PacketsPerSecond, there.Name()), one(t, r, figures.PacketsPerSecond, back.Name()); own.Reason != report.LoadEstimated || other.Reason != report.GeneratorLimited || other.High != "" {
		t.Errorf("%+v and %+v", own, other)
	}
	if there.Estimate.Extrapolated = true; figures.HeadlineIn(h, r, *there).Sign() != "~" {
		t.Errorf("extrapolated %q", figures.HeadlineIn(h, r, *there).Sign())
	}
}

// A load that was given loses frames in a generator's bursts, too, which the device might have forwarded of an even
// load: they widen what is claimed. Of a search they don't, as it asks for less.
func TestBurstsMakeAFigureOfAGivenLoadWider(t *testing.T) {
	for lost, want := range map[int64][2]report.Figure{
		0:    {{Low: "1000", High: "1000"}, {Low: "0.5", High: "0.5"}},
		1600: {{Low: "1000", High: "1400"}, {Low: "0.3", High: "0.5"}},
	} {
		r := measured(func(r *report.Report) {
			r.Answer.Reason = report.LoadHeld
			d := &r.Answer.Directions[0]
			d.Sent.Packets, d.Returned.Packets, d.LossRatio, d.LossRatioMin, d.LostToSending = 8000, 4000, units.One/2, units.One/2, lost
		})
		if f := one(t, r, figures.PacketsPerSecond, "west→east"); f.Low != want[0].Low || f.High != want[0].High {
			t.Errorf("%d lost to sending: %s to %q came back, want %+v", lost, f.Low, f.High, want[0])
		}
		if f := one(t, r, figures.LossRatio, "west→east"); f.Low != want[1].Low || f.High != want[1].High {
			t.Errorf("%d lost to sending: %s to %q was lost, want %+v", lost, f.Low, f.High, want[1])
		}
	}
}
