package comparison_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
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
			case a.Reason == comparison.OneOfSeveral && strings.Contains(a.Sentence, "more runs would decide"):
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

// Who asks again until the runs tell is wrong more often, unless the tries share what one may be wrong by: made
// anew each time, or with the runs of all tries so far.
func TestSeveralTriesAreWrongAsSeldomAsOne(t *testing.T) {
	const asked, tries, runs = 2000, 4, 5
	var b strings.Builder
	b.WriteString("| four tries, five runs of each more for every one | Failed, at just what is allowed | with `--tries 4` |\n|---|---|---|\n")
	for _, pooled := range []bool{false, true} {
		r, of := rand.New(rand.NewPCG(4, 4)), side{noise: normal, spread: 0.003, seen: exactly}
		wrong := [2]int{}
		for range asked {
			failed := [2]bool{}
			var candidate, baseline []comparison.Run
			for range tries {
				c, b := make([]comparison.Run, runs), make([]comparison.Run, runs)
				of.runsOf(r, 0, c)
				of.runsOf(r, 0, b)
				if pooled {
					c, b = append(c, candidate...), append(b, baseline...)
				}
				candidate, baseline = c, b
				chance := comparison.Odds(len(c), len(b))(c, b, 1)
				failed[0] = failed[0] || chance.Failed <= promised
				failed[1] = failed[1] || chance.Failed <= promised/tries
			}
			for i := range failed {
				if failed[i] {
					wrong[i]++
				}
			}
		}
		words := "each by its own runs"
		if pooled {
			words = "by all runs so far"
		}
		fmt.Fprintf(&b, "| %s | %.1f %% | %.1f %% |\n", words, 100*float64(wrong[0])/asked, 100*float64(wrong[1])/asked)
		if float64(wrong[1]) > asked*mostWrong(asked) || wrong[0] <= wrong[1] {
			t.Errorf("%s: %v of %d", words, wrong, asked)
		}
	}
	publish(t, "tries", b.String())

	steady, tried := exact(9974, 9966, 9973, 9965, 9977), allow(0.02, 0)
	tried.Tries = 4
	a := judge(exact(9785, 9760, 9772, 9750, 9766), steady, tried)
	if once := judge(exact(9785, 9760, 9772, 9750, 9766), steady, allow(0.02, 0)); a.Chance != once.Chance || !strings.Contains(a.Sentence, "98.8 % interval") || !strings.Contains(a.Sentence, "in one of 4 tries") {
		t.Errorf("%+v: %s\nonce: %+v", a, a.Sentence, once)
	}
}

// Forty comparisons without any change, and nothing less allowed: without Holm's procedure more than every third
// night would have a false alarm.
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
