package comparison_test

import (
	"cmp"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/statistics"
	"github.com/linerate-dev/linerate/test/rigs/proceduretest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// update writes the tables, which the full tier alone counts whole.
var update = flag.Bool("update", false, "write the tables of docs/measured/statistics.md and docs/measured/gate.md (with -tags full)")

// What a lab does to runs.
var shapes = []struct {
	words               string
	candidate, baseline noise
	seen                search
}{
	{"normal", normal, normal, exactly},
	{"heavy tails", heavy, heavy, exactly},
	{"tail up", upwards, upwards, exactly},
	{"tail down", downwards, downwards, exactly},
	{"tails apart", downwards, upwards, exactly},
	{"disturbed", disturbed, disturbed, exactly},
	{"one side disturbed", disturbed, normal, exactly},
	{"two states", twofold, twofold, exactly},
	{"one side two states", twofold, normal, exactly},
	{"grid", normal, normal, onGrid(0.01)},
}

// The sizes, and how many times wider the candidate's runs spread than the baseline's, that errors are counted for.
// Both claims are counted, so that 5 against 40 is 40 against 5, too.
var (
	sizes  = [][2]int{{5, 5}, {5, 8}, {5, 10}, {5, 20}, {5, 40}, {6, 6}, {8, 8}, {10, 10}, {10, 40}, {20, 20}, {40, 40}}
	widths = []float64{1.0 / 20, 1.0 / 5, 1.0 / 2, 1, 2, 5, 20}
)

// errorPairs are judged for each cell of the tables of errors.
const errorPairs = 2000

func TestWrongClaimsAreRareForAllSizesSpreadsAndShapes(t *testing.T) {
	var settings []setting
	for _, size := range tier.Sample(2, sizes) {
		for _, shape := range shapes {
			for _, wider := range widths {
				spread := 0.01 * math.Sqrt(wider)
				settings = append(settings, setting{words: fmt.Sprintf("%d against %d, %s, candidate's spread × %.3g", size[0], size[1], shape.words, wider), less: 0.02, allowed: 0.02,
					candidate: side{runs: size[0], noise: shape.candidate, spread: spread, seen: shape.seen},
					baseline:  side{runs: size[1], noise: shape.baseline, spread: spread / wider, seen: shape.seen}})
			}
		}
	}
	results := all(settings, errorPairs)
	var b strings.Builder
	b.WriteString("| runs |")
	for _, shape := range shapes {
		fmt.Fprintf(&b, " %s |", shape.words)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(shapes)))
	worst := 0
	for i, s := range settings {
		if results[i].wrong() > results[worst].wrong() {
			worst = i
		}
		if results[i].wrong() > mostWrong(errorPairs) {
			t.Errorf("%s: %+v", s.words, results[i])
		}
		if i%(len(shapes)*len(widths)) == 0 {
			fmt.Fprintf(&b, "\n| %d, %d |", s.candidate.runs, s.baseline.runs)
		}
		if i%len(widths) == 0 {
			fmt.Fprintf(&b, " %.1f |", 100*slices.MaxFunc(results[i:i+len(widths)], func(a, b counts) int { return cmp.Compare(a.wrong(), b.wrong()) }).wrong())
		}
	}
	b.WriteString("\n")
	if tier.Full {
		fmt.Fprintf(&b, "\nThe worst of these %d cells: %s, %.1f %%.\n", len(settings), settings[worst].words, 100*results[worst].wrong())
	}
	publish(t, "errors", b.String())
}

// A search that takes the same steps each time errs alike in all runs of a device that is steady, and independently
// in those of one that isn't; a stray among them makes no difference to that.
func TestWrongClaimsAreRareWhateverBracketsHaveInCommon(t *testing.T) {
	const width = 0.005
	stray := func(r *rand.Rand, spread float64) float64 { // 4 % low, without moving the median
		if r.Float64() < 0.1 {
			return -0.04
		}
		return spread * 0.1397
	}
	var b strings.Builder
	b.WriteString("| spread of the runs, in widths of a bracket | 5 of each | 10 of each | 20 of each | 40 of each |\n|---|---|---|---|---|\n")
	for _, spreads := range tier.Sample(2, [][2]float64{{0, 0}, {0.1, 0}, {0.2, 0.1}, {0.2, 0.2}, {0.3, 0.1}, {0.6, 0}, {0.6, 0.6}, {1, 0.2}, {2, 2}}) {
		fmt.Fprintf(&b, "| %g, the baseline's %g |", spreads[0], spreads[1])
		for _, n := range []int{5, 10, 20, 40} {
			var settings []setting
			// wherever on the grid the candidate lies, compared with the baseline
			for _, less := range []float64{0.0005, 0.002, 0.0025, 0.003, 0.0045} {
				for _, strays := range []bool{false, true} {
					of := func(share float64) side {
						spread := share * width
						return side{runs: n, spread: 1, seen: onGrid(width), noise: func(r *rand.Rand) float64 {
							if strays {
								return spread*normal(r) + stray(r, spread)
							}
							return spread * normal(r)
						}}
					}
					settings = append(settings, setting{words: fmt.Sprintf("%d of each, spreads %v, %g less, strays: %t", n, spreads, less, strays), candidate: of(spreads[0]), baseline: of(spreads[1]), less: less, allowed: less})
				}
			}
			worst := 0.0
			for i, c := range all(settings, errorPairs/2) {
				worst = max(worst, c.wrong())
				if c.wrong() > mostWrong(errorPairs/2) {
					t.Errorf("%s: %+v", settings[i].words, c)
				}
			}
			fmt.Fprintf(&b, " %.1f |", 100*worst)
		}
		b.WriteString("\n")
	}
	publish(t, "brackets", b.String())
}

// searched is what the real search finds of devices with a limit that is drawn anew for each run: of a device that
// carries as much under overload as at its limit, or less and less.
func searched(t *testing.T, collapses bool) search {
	t.Helper()
	procedure := ramp.New(plan.Procedure{MaxLossRatio: units.One / 1000, Ramp: plan.Ramp{RampDuration: plan.Duration(20 * time.Second), StepDuration: plan.Duration(2 * time.Second),
		SettleDuration: plan.Duration(500 * time.Millisecond), Precision: units.One / 200, ConfirmDuration: plan.Duration(5 * time.Second), StopAtSaturation: true}})
	const from, to, steps = 0.8, 1.2, 1600 // shares of 10 000 packets/s: half of what the search climbs to
	found := make([]comparison.Run, steps)
	for i := range found {
		limit := 10_000 * (from + (to-from)*float64(i)/steps)
		device := proceduretest.Limited(limit)
		if collapses {
			device = func(_ int, asked float64) (float64, float64) {
				if asked <= limit {
					return asked, asked
				}
				return asked, limit * math.Sqrt(limit/asked)
			}
		}
		var history []report.Window
		for s := procedure.Next(history); !s.End; s = procedure.Next(history) {
			history = append(history, proceduretest.Window(device, s, len(history)))
		}
		c := procedure.Conclude(history)
		if !c.Saturated || !c.Confirmed {
			t.Fatalf("a limit of %g: %+v", limit, c)
		}
		low := float64(history[c.Window].Directions[0].Received.PacketsPerSecond) / limit
		found[i] = comparison.Run{Low: low, High: low / (1 - c.Resolution.Float())}
	}
	return func(_ *rand.Rand, limit float64) comparison.Run {
		truth := math.Exp(limit)
		i := int(math.Round((truth/10_000 - from) / (to - from) * steps))
		near := found[min(max(i, 0), steps-1)]
		return comparison.Run{Low: truth * near.Low, High: truth * near.High}
	}
}

// A gate as it is recommended: 2 % allowed, and figures as a search has them that goes on to half a percent.
func TestAGateTellsThreePercentFromTwoWithFiveRuns(t *testing.T) {
	const pairs = 1000
	changes, spreads := []float64{0, 0.01, 0.02, 0.025, 0.03, 0.035, 0.04, 0.05}, []float64{0.001, 0.002, 0.003, 0.005, 0.01}
	for _, device := range tier.Sample(1, []struct {
		name      string
		collapses bool
	}{{"power", false}, {"power behind a device that collapses", true}}) {
		name, seen := device.name, searched(t, device.collapses)
		var settings []setting
		for _, n := range tier.Sample(1, []int{5, 8, 10}) {
			for _, spread := range spreads {
				for _, less := range changes {
					s := both(side{runs: n, noise: normal, spread: spread, seen: seen})
					s.less, s.allowed = less, 0.02
					settings = append(settings, s)
				}
			}
		}
		var b, short strings.Builder
		short.WriteString("| spread of five runs | 0 % less | 1 % less | 2 % less | 2.5 % less | 3 % less | 3.5 % less | 4 % less | 5 % less |\n|---|---|---|---|---|---|---|---|---|")
		b.WriteString("| runs of each | spread |")
		for _, c := range changes {
			fmt.Fprintf(&b, " %.3g %% less |", 100*c)
		}
		b.WriteString("\n|---|---|" + strings.Repeat("---|", len(changes)))
		for i, got := range all(settings, pairs) {
			s := settings[i]
			if i%len(changes) == 0 {
				fmt.Fprintf(&b, "\n| %d | %g %% |", s.candidate.runs, 100*s.candidate.spread)
			}
			fmt.Fprintf(&b, " %s |", got.text())
			if s.candidate.runs == 5 {
				if i%len(changes) == 0 {
					fmt.Fprintf(&short, "\n| %g %% |", 100*s.candidate.spread)
				}
				fmt.Fprintf(&short, " %.1f |", 100*float64(got.failed)/pairs)
			}
			switch {
			case s.less == s.allowed && got.wrong() > mostWrong(pairs), s.less < s.allowed && got.failed > 1, s.less > s.allowed && got.passed > 1:
				t.Errorf("%s: %d of each, spread %g, %g less: wrong %+v", name, s.candidate.runs, s.candidate.spread, s.less, got)
			case s.less == 0.03 && s.candidate.spread <= 0.003 && 100*got.failed < 95*pairs:
				t.Errorf("%s: %d of each, spread %g: 3 %% less was told in %+v", name, s.candidate.runs, s.candidate.spread, got)
			}
		}
		b.WriteString("\n")
		publish(t, name, b.String())
		if !device.collapses {
			publishIn(t, "../../../docs/measured/gate.md", "power", short.String()+"\n")
		}
	}
}

func TestASpreadThatIsVouchedForDecidesSingleRuns(t *testing.T) {
	const pairs, assumed = 2000, 0.005
	var b strings.Builder
	b.WriteString("| runs of each | spread of the runs | found | no change | 2 % less | 5 % less |\n|---|---|---|---|---|---|\n")
	for _, n := range []int{1, 3} {
		for _, spread := range []float64{0.002, 0.005, 0.01} {
			for _, found := range []struct {
				words string
				seen  search
			}{{"exactly", exactly}, {"to 0.5 %", onGrid(0.005)}} {
				fmt.Fprintf(&b, "| %d | %g %% | %s |", n, 100*spread, found.words)
				for _, less := range []float64{0, 0.02, 0.05} {
					r, got := rand.New(rand.NewPCG(uint64(n), uint64(1e6*less))), counts{of: pairs}
					s := side{runs: n, noise: normal, spread: spread, seen: found.seen}
					candidate, baseline := make([]comparison.Run, n), make([]comparison.Run, n)
					for range pairs {
						limit := math.Log(10_000) + r.Float64()/10
						s.runsOf(r, limit+math.Log1p(-less), candidate)
						s.runsOf(r, limit, baseline)
						switch judge(candidate, baseline, allow(0.02, assumed)).Outcome {
						case report.Passed:
							got.passed++
						case report.DidFail:
							got.failed++
						case report.Undecided:
						}
					}
					fmt.Fprintf(&b, " %s |", got.text())
					if spread <= assumed && less == 0.02 && got.wrong() > mostWrong(pairs) {
						t.Errorf("%d of each, spread %g, found %s: %+v", n, spread, found.words, got)
					}
				}
				b.WriteString("\n")
			}
		}
	}
	publish(t, "vouched", b.String())
}

// How often the runs that are named as enough are: of those cases where a number is named.
func TestSoManyRunsAsAreNamedDoTell(t *testing.T) {
	const pairs = 250
	r := rand.New(rand.NewPCG(6, 2))
	var b strings.Builder
	b.WriteString("| spread | really less, 2 % allowed | first runs of each | named (median) | then decided |\n|---|---|---|---|---|\n")
	for _, s := range []struct{ spread, less float64 }{{0.01, 0}, {0.01, 0.04}, {0.02, 0}, {0.02, 0.05}} {
		of := side{noise: normal, spread: s.spread, seen: exactly}
		drawn := func(n, m int) comparison.Answer {
			candidate, baseline := make([]comparison.Run, n), make([]comparison.Run, m)
			of.runsOf(r, math.Log1p(-s.less), candidate)
			of.runsOf(r, 0, baseline)
			return judge(candidate, baseline, allow(0.02, 0))
		}
		var named []float64
		told := 0
		for len(named) < pairs {
			j := drawn(5, 5)
			if j.Outcome != report.Undecided || j.Needed.Candidate == 0 {
				continue
			}
			named = append(named, float64(j.Needed.Candidate))
			if drawn(j.Needed.Candidate, j.Needed.Baseline).Outcome != report.Undecided {
				told++
			}
		}
		median := statistics.Summarize(named).Median
		fmt.Fprintf(&b, "| %g %% | %g %% | 5 | %g | %.0f %% |\n", 100*s.spread, 100*s.less, math.Ceil(median), 100*float64(told)/pairs)
		if told < pairs/2 {
			t.Errorf("%g less at a spread of %g: of %d, %d told", s.less, s.spread, pairs, told)
		}
	}
	publish(t, "named", b.String())
}

// document is the page whose tables are counted here.
const document = "../../../docs/measured/statistics.md"

// publish compares a table of the document with what was counted of it: the gate counts some rows of those that are
// dear. In the full tier -update writes it.
func publish(t *testing.T, name, table string) {
	t.Helper()
	publishIn(t, document, name, table)
}

func publishIn(t *testing.T, document, name, table string) {
	t.Helper()
	begin, end := fmt.Sprintf("<!-- %s: counted by go test -tags full ./internal/result/comparison -update -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	page, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	old, after, closed := strings.Cut(rest, end)
	switch {
	case !found || !closed:
		t.Fatalf("%s has no place for the table %q", document, name)
	case *update && tier.Full:
		// a page for everybody
		if err := os.WriteFile(document, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	case tier.Full && old != table:
		t.Errorf("%s says of %s\n%s\ncounted was\n%s", document, name, old, table)
	case !tier.Full:
		for row := range strings.Lines(table) {
			if !strings.Contains("\n"+old, "\n"+row) {
				t.Errorf("%s says of %s\n%s\nwhich hasn't the row that was counted\n%s", document, name, old, row)
			}
		}
	}
}
