package comparison_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

func TestSeveralAnswersFailOnlyAsSeldomByChanceAsOneDoes(t *testing.T) {
	failed := func(chance float64) comparison.Answer {
		return comparison.Answer{Outcome: report.DidFail, Reason: comparison.Shown, Chance: comparison.Chance{Passed: 1, Failed: chance}}
	}
	open := comparison.Answer{Outcome: report.Undecided, Reason: comparison.TooWide, Chance: comparison.Chance{Passed: 1, Failed: 0.4}}
	for name, c := range map[string]struct {
		answers []comparison.Answer
		failed  string // of each, whether it still is
		chance  units.Ratio
	}{
		"one":                                  {[]comparison.Answer{failed(0.024)}, "f", units.One * 24 / 1000},
		"one of two":                           {[]comparison.Answer{failed(0.024), open}, "u-", units.One * 48 / 1000},
		"one of two, surely":                   {[]comparison.Answer{open, failed(0.012)}, "-f", units.One * 24 / 1000},
		"both: the second needs less":          {[]comparison.Answer{failed(0.024), failed(0.012)}, "ff", units.One * 24 / 1000},
		"both, and neither shows it for both":  {[]comparison.Answer{failed(0.013), failed(0.013)}, "uu", units.One * 26 / 1000},
		"a worst run isn't a matter of chance": {[]comparison.Answer{failed(0), open}, "f-", 1},
		"none":                                 {nil, "", 0},
	} {
		got := ""
		for _, a := range comparison.Holm(c.answers) {
			switch {
			case a.Outcome == report.DidFail:
				got += "f"
			case a.Reason == comparison.OneOfSeveral && strings.Contains(a.Sentence, "more runs would tell"):
				got += "u"
			default:
				got += "-"
			}
		}
		if chance := comparison.ChanceOfAny(c.answers); got != c.failed || chance != c.chance {
			t.Errorf("%s: %s, want %s; chance %s, want %s", name, got, c.failed, chance, c.chance)
		}
	}
}

// Forty comparisons without any change, and nothing less allowed: without Holm's procedure more than every third night would have a false alarm.
func TestFortyComparisonsFailAsSeldomAsOne(t *testing.T) {
	const nights, cells, runs = 1000, 40, 5
	r := rand.New(rand.NewPCG(40, 1))
	odds, of := comparison.Odds(runs, runs), side{noise: normal, spread: 0.003, seen: exactly}
	candidate, baseline := make([]comparison.Run, runs), make([]comparison.Run, runs)
	alone, together := 0, 0
	for range nights {
		var answers []comparison.Answer
		alarm := false
		for range cells {
			of.runsOf(r, 0, candidate)
			of.runsOf(r, 0, baseline)
			a := comparison.Answer{Outcome: report.Undecided, Chance: odds(candidate, baseline, 1)}
			if a.Chance.Failed <= promised {
				a.Outcome, alarm = report.DidFail, true
			}
			answers = append(answers, a)
		}
		if alarm {
			alone++
		}
		for _, a := range comparison.Holm(answers) {
			if a.Outcome == report.DidFail {
				together++
				break
			}
		}
	}
	if float64(together) > nights*mostWrong(nights) || alone < nights/4 {
		t.Errorf("of %d nights %d had a false alarm, %d without care for their number", nights, together, alone)
	}
	publish(t, "nights", fmt.Sprintf("| nights of 40 comparisons without any change, 0 %% allowed | with a false alarm |\n|---|---|\n| each for itself | %.1f %% |\n| together | %.1f %% |\n",
		100*float64(alone)/nights, 100*float64(together)/nights))
}
