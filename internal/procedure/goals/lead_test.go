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

// tried are the probabilities of a bad trial by which leads are judged: from 0 to 1, without the border itself.
func tried() (p []float64) {
	for i := range 51 {
		if i != 25 {
			p = append(p, float64(i)/50)
		}
	}
	return p
}

// raceOfAtMost is the race that takes so many trials at most, by an exceed ratio of one half.
func raceOfAtMost(trials int) race { return race{(trials + 1) / 2, trials/2 + 1} }

// excess is how much more often a lead puts a load on the wrong side than the sum alone does, at its worst, or the first time that this is too much.
func excess(r race, l lead) float64 {
	worst := math.Inf(-1)
	for _, p := range tried() {
		if worst = max(worst, r.wrong(p, 0.5, l.wins)-r.wrong(p, 0.5, never)); worst > tolerance {
			break
		}
	}
	return worst
}

// smallest is the lead of which both parts together are the fewest trials, and the good ones, which can't be ended early, the fewest of these.
func smallest(r race) lead {
	for both := 2; ; both++ {
		for good := max(1, both-r.bad); good <= min(r.good, both-1); good++ {
			if l := (lead{good, both - good}); excess(r, l) <= tolerance {
				return l
			}
		}
	}
}

func TestLeadsAreTheSmallest(t *testing.T) {
	var want []string
	fits := true
	for most := 1; most < max(len(leads), 61); most++ {
		r := raceOfAtMost(most)
		l := smallest(r)
		if l.good >= r.good && l.bad >= r.bad {
			l = lead{}
		}
		want = append(want, fmt.Sprintf("%d: {%d, %d}", most, l.good, l.bad))
		fits = fits && most < len(leads) && leads[most] == l
	}
	if !fits {
		t.Errorf("the leads are\n%s", strings.Join(want, ", "))
	}
}

// TestTheTableOfWrongClasses computes the table of docs/measured/simulated-searches.md: trials of 1 s that take 1.5 s, a sum of 21 s.
func TestTheTableOfWrongClasses(t *testing.T) {
	r := raceOf(21, 0.5, 1.5)
	l, _ := r.lead()
	var want strings.Builder
	want.WriteString("| of all trials are bad | `RFC9971` is wrong | after trials | `Sequential` is wrong | after trials |\n|---|---|---|---|---|\n")
	for tenth := range 11 {
		p := float64(tenth) / 10
		_, bySum := r.holds(p, never)
		_, byLead := r.holds(p, l.wins)
		fmt.Fprintf(&want, "| %d %% | %.2f %% | %.1f | %.2f %% | %.1f |\n", 10*tenth, 100*r.wrong(p, 0.5, never), bySum, 100*r.wrong(p, 0.5, l.wins), byLead)
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

// TestAResultSaysHowOftenAClassIsWrong: as the table does, and by RFC 2544's one trial four times in five where a fifth of all trials is bad.
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
		{RFC9971, RFC2544(0.005), trial, "0.8000"},
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
		of := target{exceed: 0.5, trial: time.Second, sum: 21, early: early}
		holds := 0.0
		for way := range 1 << 14 {
			var y tally
			chance := 1.0
			for i := range 14 {
				trial := Trial{Duration: time.Second, Took: 3 * time.Second / 2}
				if way>>i&1 == 1 {
					trial.LossRatio = 1
					chance *= bad
				} else {
					chance *= 1 - bad
				}
				y.add(of, trial)
			}
			if y.class(of) == lower {
				holds += chance
			}
		}
		r, sooner := raceOf(21, 0.5, 1.5), never
		if l, ok := r.lead(); ok && early {
			sooner = l.wins
		}
		if got, _ := r.holds(bad, sooner); math.Abs(got-holds) > 1e-12 {
			t.Errorf("a load holds with a chance of %g (decided early: %v), and by counting with %g", got, early, holds)
		}
	}
}
