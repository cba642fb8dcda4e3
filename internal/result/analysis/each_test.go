package analysis_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/procedures"
	"github.com/linerate-dev/linerate/internal/result/analysis"
	"github.com/linerate-dev/linerate/test/rigs/proceduretest"
)

// oneByOne are five Reports of a ramp of each direction by itself, through a device that carries so much one way
// and so much back, whose windows of all at once are of that quality.
func oneByOne(t *testing.T, west, east float64, atOnce report.Quality) (all []*report.Report) {
	t.Helper()
	for i := range 5 {
		r := searched(t, west, east)
		r.Started = time.Unix(int64(i), 0)
		r.Plan.Procedure.EachDirection = &plan.EachDirection{Directions: []string{"west→east", "east→west"}}
		device := func(_ int, asked [2]float64) (offered, received [2]float64) {
			return asked, [2]float64{min(asked[0], west+float64(i)), min(asked[1], east+float64(i))}
		}
		r.Windows, _ = proceduretest.CarryOutBoth(t, procedures.New(r.Plan.Procedure), device, func(_ int, w *report.Window) {
			if w.Phase == report.AllAtOnce {
				w.Quality = atOnce
				for k := range w.Directions {
					w.Directions[k].Quality = atOnce
				}
			}
		})
		r.Answer = analysis.Answer(r)
		all = append(all, r)
	}
	return all
}

// That all limits at once could not be judged, or lost frames, takes nothing from a direction's own figure: neither
// from its confirmation nor from the lack of one.
func TestADirectionsFigureIsComparedByItsOwnConfirmation(t *testing.T) {
	least := plan.Criterion{Metric: "PacketsPerSecond", Direction: "Each", Min: "3900"}
	allowed := plan.Criterion{Metric: "PacketsPerSecond", Direction: "Each", MaxRegression: ratio("2%")}
	ofAll := allowed
	ofAll.Direction = "Total"
	for name, c := range map[string]struct {
		atOnce    report.Quality
		east      float64
		criterion plan.Criterion
		change    func(*report.Report)
		want      report.Outcome
		says      string
	}{
		"a regression of a confirmed direction":             {report.Invalid, 3500, allowed, nil, report.DidFail, "east→west"},
		"none":                                              {report.Invalid, 4000, allowed, nil, report.Passed, "west→east"},
		"at least so much of each":                          {report.Invalid, 4000, least, nil, report.Passed, "all 5 runs meet it"},
		"all at once, which nobody could judge":             {report.Invalid, 4000, ofAll, nil, report.Undecided, "5 of 5 runs set aside (its figure is not confirmed)"},
		"a regression of a direction that wasn't confirmed": {report.Lossy, 3500, allowed, unconfirmedBack, report.Undecided, "east→west: only 0 of 5 runs confirmed this figure"},
		"at least so much of one that wasn't":               {report.Lossy, 4000, least, unconfirmedBack, report.Undecided, "all 5 runs leave it open (east→west: 4.00 kpps, at least 3,900 pps demanded, and the figure is not confirmed)"},
	} {
		t.Run(name, func(t *testing.T) {
			candidate := oneByOne(t, 10_000, c.east, c.atOnce)
			b := analysis.BaselineOf("LoadTest", "before", analysis.Candidate{Plan: candidate[0].Plan}, kept(oneByOne(t, 10_000, 4000, c.atOnce)))
			for _, r := range candidate {
				if c.change != nil {
					c.change(r)
				}
			}
			v := analysis.Judge([]plan.Criterion{c.criterion}, candidate, b)
			if v.Outcome != c.want || !strings.Contains(v.Criteria[0].Message, c.says) {
				t.Errorf("%s: %s, want %s: …%s…", v.Outcome, v.Criteria[0].Message, c.want, c.says)
			}
		})
	}
}

func unconfirmedBack(r *report.Report) { r.Answer.Directions[1].Limit.Confirmed = false }

// What generators left out while all limits were held at once, the device may carry all the same: a demand that
// lies between what came back and what the directions' own limits add up to is open.
func TestWhatWasNotSentAtOnceFailsNoDemandForTheSum(t *testing.T) {
	r := oneByOne(t, 10_000, 4000, report.Good)[0]
	r.Answer.Total.Received.PacketsPerSecond -= 70
	total := r.Answer.Total.Received.PacketsPerSecond
	for least, want := range map[int64]report.Outcome{total: report.Passed, total + 60: report.Undecided, total + 200: report.DidFail} {
		v := analysis.Judge([]plan.Criterion{{Metric: "PacketsPerSecond", Direction: "Total", Min: strconv.FormatInt(least, 10)}}, []*report.Report{r}, nil)
		if v.Outcome != want {
			t.Errorf("at least %d of %d: %s, want %s: %s", least, total, v.Outcome, want, v.Criteria[0].Message)
		}
	}
}
