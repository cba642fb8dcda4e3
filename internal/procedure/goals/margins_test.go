package goals

import (
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/pages/published"
)

var update = flag.Bool("update", false, "compute the table of docs/measured/simulated-searches.md, and write it")

// tried are the probabilities of a bad trial by which margins are judged, from 0 to 1 without the border itself.
func tried() (p []float64) {
	for i := range 51 {
		if i != 25 {
			p = append(p, float64(i)/50)
		}
	}
	return p
}

// quorumOfAtMost is the quorum that takes so many trials at most, by an exceed ratio of one half.
func quorumOfAtMost(trials int) quorum { return quorum{(trials + 1) / 2, trials/2 + 1} }

// excess is how much more often margins put a load on the wrong side than the sum alone does, at their worst,
// or the first time that this is too much.
func excess(r quorum, l margins) float64 {
	worst := math.Inf(-1)
	for _, p := range tried() {
		if worst = max(worst, r.chanceOfWrongClass(p, 0.5, l.classify)-r.chanceOfWrongClass(p, 0.5,
			noEarlyEnd)); worst > tolerance {
			break
		}
	}
	return worst
}

// smallest is the margins whose sum is the fewest trials, and of these the ones with the fewest good trials,
// which cannot be ended early.
func smallest(r quorum) margins {
	for sum := 2; ; sum++ {
		for good := max(1, sum-r.bad); good <= min(r.good, sum-1); good++ {
			if l := (margins{good, sum - good}); excess(r, l) <= tolerance {
				return l
			}
		}
	}
}

func TestMarginsAreTheSmallest(t *testing.T) {
	var want []string
	fits := true
	for trials := 1; trials < max(len(marginsByTrials), 61); trials++ {
		r := quorumOfAtMost(trials)
		l := smallest(r)
		if l.good >= r.good && l.bad >= r.bad {
			l = margins{}
		}
		want = append(want, fmt.Sprintf("%d: {%d, %d}", trials, l.good, l.bad))
		fits = fits && trials < len(marginsByTrials) && marginsByTrials[trials] == l
	}
	if !fits {
		t.Errorf("the margins are\n%s", strings.Join(want, ", "))
	}
}

// TestTheTableOfWrongClasses computes the table of docs/measured/simulated-searches.md: trials of 1 s that take
// 1.5 s, a sum of 21 s.
func TestTheTableOfWrongClasses(t *testing.T) {
	r := quorumOf(21, 0.5, 1.5)
	l, _ := r.margins()
	var want strings.Builder
	want.WriteString("| of all trials are bad | `RFC9971` is wrong | after trials | `Sequential` is wrong | after " +
		"trials |\n|---|---|---|---|---|\n")
	for tenth := range 11 {
		p := float64(tenth) / 10
		_, bySum := r.chanceOfLower(p, noEarlyEnd)
		_, byLead := r.chanceOfLower(p, l.classify)
		fmt.Fprintf(&want, "| %d %% | %.2f %% | %.1f | %.2f %% | %.1f |\n", 10*tenth, 100*r.chanceOfWrongClass(p, 0.5,
			noEarlyEnd), bySum, 100*r.chanceOfWrongClass(p, 0.5, l.classify), byLead)
	}
	const page = "../../../docs/measured/simulated-searches.md"
	if *update {
		if err := published.Section(page, "wrong classes", want.String()); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(page)
	if err != nil || !strings.Contains(string(text), want.String()) {
		t.Errorf("%v: %s has another table than (-update writes it)\n%s", err, page, want.String())
	}
}

// TestAResultSaysHowOftenAClassIsWrong: as the table does, and by RFC 2544's one trial four times in five where
// a fifth of all trials is bad.
func TestAResultSaysHowOftenAClassIsWrong(t *testing.T) {
	trial := []Trial{{Load: 1e5, Duration: time.Minute, Took: time.Minute}}
	second := []Trial{{Load: 1e5, Duration: time.Second, Took: 3 * time.Second / 2}}
	several := Goal{ExceedRatio: 0.5, Width: 0.005, FinalTrial: time.Second, DurationSum: 21 * time.Second}
	for _, c := range []struct {
		classification Classification
		goal           Goal
		trials         []Trial
		want           string
	}{
		{RFC9971, several, second, "0.0116"},
		{Sequential, several, second, "0.0126"},
		{RFC9971, Goal{Width: 0.005, FinalTrial: time.Minute, DurationSum: time.Minute}, trial, "0.8000"},
		{RFC9971, several, nil, "NaN"},
	} {
		s := Settings{Classification: c.classification, Goals: []Goal{c.goal}, MinLoad: 1e5, MaxLoad: 1e7}
		if got := fmt.Sprintf("%.4f", s.Conclude(c.trials)[0].WrongClass); got != c.want {
			t.Errorf("%s of %+v: %s, want %s", c.classification, c.goal, got, c.want)
		}
	}
}

// TestTheChanceIsWhatTrialsDo: in all 2^14 ways that 14 trials can end, each counted as a search counts it.
func TestTheChanceIsWhatTrialsDo(t *testing.T) {
	const bad = 0.3
	for _, early := range []bool{false, true} {
		goalTarget := target{exceed: 0.5, trial: time.Second, sum: 21, early: early}
		holds := 0.0
		for outcome := range 1 << 14 {
			var y targetStats
			chance := 1.0
			for i := range 14 {
				trial := Trial{Duration: time.Second, Took: 3 * time.Second / 2}
				if outcome>>i&1 == 1 {
					trial.LossRatio = 1
					chance *= bad
				} else {
					chance *= 1 - bad
				}
				y.add(goalTarget, trial)
			}
			if y.class(goalTarget) == lower {
				holds += chance
			}
		}
		r, endsEarly := quorumOf(21, 0.5, 1.5), noEarlyEnd
		if l, ok := r.margins(); ok && early {
			endsEarly = l.classify
		}
		if got, _ := r.chanceOfLower(bad, endsEarly); math.Abs(got-holds) > 1e-12 {
			t.Errorf("a load holds with a chance of %g (decided early: %v), and by counting with %g", got, early, holds)
		}
	}
}
