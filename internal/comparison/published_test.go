package comparison_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/statistics"
)

var update = flag.Bool("update", false, "write the tables of docs/statistics.md")

// mostWrong is how many of the simulated pairs may come to a wrong claim: 5 %, twice what the method promises.
const mostWrong = simulated / 20

func TestAChangeOfThreeSpreadsIsFlaggedWithFiveRuns(t *testing.T) {
	got := all([]setting{{runs: 5, spread: 0.01, change: 0.03}, {runs: 5, spread: 0.01}})
	if got[0].failed < simulated*9/10 {
		t.Errorf("a change of 3 %% at a spread of 1 %% was flagged in %d of %d pairs", got[0].failed, simulated)
	}
	if got[1].failed > mostWrong {
		t.Errorf("no change was flagged in %d of %d pairs", got[1].failed, simulated)
	}
	publish(t, "short", fmt.Sprintf("| candidate | flagged as worse | of pairs |\n|---|---|---|\n| 3 %% less, spread 1 %%, 5 runs of each | %d | %d |\n| no change, spread 1 %%, 5 runs of each | %d | %d |\n",
		got[0].failed, simulated, got[1].failed, simulated))
}

// The grid that is published.
var (
	runCounts = []int{3, 5, 10, 20}
	spreads   = []float64{0.002, 0.005, 0.01, 0.02}
	changes   = []float64{0, 0.01, 0.02, 0.03, 0.05}
)

func TestWrongClaimsAreRareAtEveryCountSpreadAndChange(t *testing.T) {
	for _, allowed := range []float64{0, 0.02} {
		var settings []setting
		for _, n := range runCounts {
			for _, spread := range spreads {
				for _, change := range changes {
					settings = append(settings, setting{runs: n, spread: spread, change: change, allowed: allowed})
				}
			}
		}
		results := all(settings)
		for i, s := range settings {
			holds(t, s, results[i])
		}
		publish(t, fmt.Sprintf("grid, %g %% allowed", 100*allowed), grid(settings, results))
	}
}

// holds fails where too many claims were wrong.
func holds(t *testing.T, s setting, got counts) {
	t.Helper()
	if s.change <= s.allowed && got.failed > mostWrong {
		t.Errorf("%+v: no worse than allowed, and flagged %d times", s, got.failed)
	}
	if s.change > s.allowed && got.passed > mostWrong {
		t.Errorf("%+v: worse than allowed, and passed %d times", s, got.passed)
	}
}

// grid is a row for each count of runs and spread, with the outcomes of each change.
func grid(settings []setting, results []counts) string {
	var b strings.Builder
	b.WriteString("| runs of each | spread |")
	for _, c := range changes {
		fmt.Fprintf(&b, " %g %% less |", 100*c)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(changes)))
	for i, s := range settings {
		if i%len(changes) == 0 {
			fmt.Fprintf(&b, "\n| %d | %g %% |", s.runs, 100*s.spread)
		}
		fmt.Fprintf(&b, " %s |", results[i].text())
	}
	b.WriteString("\n")
	return b.String()
}

// text are the outcomes in percent: passed, failed, undecided.
func (c counts) text() string {
	share := func(n int) string { return fmt.Sprintf("%.1f", 100*float64(n)/simulated) }
	return share(c.passed) + " · " + share(c.failed) + " · " + share(c.undecided)
}

// shapes are what a lab does to its runs other than chance of the usual kind.
var shapes = []struct {
	words string
	of    setting
	fair  bool // chance treats candidate and baseline alike
}{
	{"normal", setting{noise: normal}, true},
	{"heavy tails (Student's t, 3 degrees of freedom)", setting{noise: heavy}, true},
	{"one run of ten is disturbed, 10 % low", setting{noise: disturbed}, true},
	{"a device that comes up in one of two states, 4 % apart", setting{noise: twofold}, true},
	{"figures on a grid of 1 %, as a coarse search has them", setting{resolution: 0.01}, true},
	{"all lose 0.5 % from run to run; candidate and baseline take turns", setting{drift: 0.005, interleaved: true}, false},
	{"all lose 0.5 % from run to run; the baseline's runs come first", setting{drift: 0.005}, false},
}

func TestWrongClaimsAreRareWhateverTheShapeOfChance(t *testing.T) {
	var settings []setting
	for _, shape := range shapes {
		for _, n := range []int{5, 10} {
			for _, at := range []setting{{}, {change: 0.03}, {allowed: 0.02}, {change: 0.05, allowed: 0.02}} {
				s := shape.of
				s.runs, s.spread, s.change, s.allowed = n, 0.01, at.change, at.allowed
				settings = append(settings, s)
			}
		}
	}
	results := all(settings)
	var b strings.Builder
	b.WriteString("| runs | of each | no change, 0 % allowed | 3 % less, 0 % allowed | no change, 2 % allowed | 5 % less, 2 % allowed |\n|---|---|---|---|---|---|\n")
	for i := 0; i < len(settings); i += 4 {
		shape := shapes[i/8]
		fmt.Fprintf(&b, "| %s | %d |", shape.words, settings[i].runs)
		for k := range 4 {
			fmt.Fprintf(&b, " %s |", results[i+k].text())
			if shape.fair {
				holds(t, settings[i+k], results[i+k])
			}
		}
		b.WriteString("\n")
	}
	publish(t, "shapes", b.String())
}

// A gate as it is recommended: 2 % allowed, 5 runs of each, figures as a search has them that goes on to half a percent.
func TestAGateTellsFivePercentFromNone(t *testing.T) {
	var b strings.Builder
	b.WriteString("| spread of the runs | no change | 5 % less |\n|---|---|---|\n")
	for _, spread := range []float64{0.001, 0.002, 0.003, 0.005, 0.007} {
		gate := setting{runs: 5, spread: spread, allowed: 0.02, resolution: 0.005}
		worse := gate
		worse.change = 0.05
		got := all([]setting{gate, worse})
		fmt.Fprintf(&b, "| %.1f %% | %s | %s |\n", 100*spread, got[0].text(), got[1].text())
		if spread <= 0.003 && (got[0].passed < simulated || got[1].failed < simulated) {
			t.Errorf("at a spread of %g %%: no change %+v, 5 %% less %+v", 100*spread, got[0], got[1])
		}
	}
	publish(t, "gate", b.String())
}

func TestASpreadThatIsVouchedForDecidesSingleRuns(t *testing.T) {
	var b strings.Builder
	b.WriteString("| runs of each | spread of the runs | vouched for | no change | 2 % less | 5 % less |\n|---|---|---|---|---|---|\n")
	for _, n := range []int{1, 3} {
		for _, spread := range []float64{0.002, 0.005, 0.01} {
			settings := []setting{{change: 0}, {change: 0.02}, {change: 0.05}}
			for i := range settings {
				settings[i].runs, settings[i].spread, settings[i].assumed, settings[i].allowed = n, spread, 0.005, 0.02
			}
			results := all(settings)
			fmt.Fprintf(&b, "| %d | %g %% | 0.5 %% |", n, 100*spread)
			for i, s := range settings {
				fmt.Fprintf(&b, " %s |", results[i].text())
				if spread <= s.assumed {
					holds(t, s, results[i])
				}
			}
			b.WriteString("\n")
		}
	}
	publish(t, "vouched", b.String())
}

// How often the runs that are named as enough are: of those cases where a number is named.
func TestSoManyRunsAsAreNamedDoTell(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	var b strings.Builder
	b.WriteString("| spread | really less, 2 % allowed | first runs of each | named (median) | then decided |\n|---|---|---|---|---|\n")
	for _, s := range []setting{{spread: 0.01, change: 0}, {spread: 0.01, change: 0.04}, {spread: 0.02, change: 0}, {spread: 0.02, change: 0.05}} {
		s.allowed, s.runs = 0.02, 5
		var named []float64
		told := 0
		for len(named) < simulated/4 {
			j := judge(s.sample(r, s.runs, 1-s.change), s.sample(r, s.runs, 1), allow(s.allowed, 0))
			if j.Outcome != report.Undecided || j.Needed.Candidate == 0 {
				continue
			}
			named = append(named, float64(j.Needed.Candidate))
			again := judge(s.sample(r, j.Needed.Candidate, 1-s.change), s.sample(r, j.Needed.Baseline, 1), allow(s.allowed, 0))
			if again.Outcome != report.Undecided {
				told++
			}
		}
		median := statistics.Summarize(named).Median
		fmt.Fprintf(&b, "| %g %% | %g %% | %d | %g | %.0f %% |\n", 100*s.spread, 100*s.change, s.runs, math.Ceil(median), 100*float64(told)/float64(len(named)))
		if told < len(named)/2 {
			t.Errorf("%+v: of %d, %d told", s, len(named), told)
		}
	}
	publish(t, "named", b.String())
}

func (s setting) sample(r *rand.Rand, n int, truth float64) []comparison.Run {
	runs := make([]comparison.Run, n)
	for i := range runs {
		runs[i] = s.run(r, truth, i, 0)
	}
	return runs
}

// document is the page whose tables are counted here.
const document = "../../docs/statistics.md"

// publish compares a table of the document with what was counted, or writes it with -update.
func publish(t *testing.T, name, table string) {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- %s: counted by go test ./internal/comparison -update -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	page, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	old, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place for the table %q", document, name)
	}
	if *update {
		if err := os.WriteFile(document, []byte(before+begin+table+end+after), 0o644); err != nil { // a page for everybody
			t.Fatal(err)
		}
		return
	}
	if old != table {
		t.Errorf("%s says of %s\n%s\ncounted was\n%s", document, name, old, table)
	}
}
