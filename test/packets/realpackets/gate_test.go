//go:build full

package realpackets

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/pages/published"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

var gates = flag.Int("gate", 0, "judge so many releases that didn't change and so many that lost 5 % (each takes a minute and a quarter); 0: one, and chance says of which kind")

const (
	// allowed is the recommended allowance of a gate, loss what a slower release lost.
	allowed = "2%"
	loss    = 0.05
	// gateRuns is how often each side is measured, fewRuns how often at least: those decide only where all agree, and save time.
	gateRuns = 5
	fewRuns  = 4
	// weakRate is what a generator sends at most that is too weak for the devices here, which forward 15 000 packets/s at least.
	weakRate = "5kpps"
	// weakerRate is what a generator sends at most that is weaker still.
	weakerRate = "4kpps"
)

// gateTest is what both sides of a judgement are measured by, in about 6 s: two steps that say where to look, windows of 0.4 s with 6 000 frames
// and more, so that the loss that counts is 6 of them, a bracket of 0.5 % held for a second.
const gateTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: gate}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}
  procedure:
    ramp: {warmupDuration: 0s, targetRate: 30kpps, rampDuration: 1s, stepDuration: 500ms, settleDuration: 100ms, precision: 0.5%, confirmDuration: 1s, holdDuration: 0s, stopAtSaturation: true}
`

// release is what is judged: a device whose limit only the test knows.
type release struct {
	was, is int64 // packets per second and direction
	dropped bool
	judged  judged
}

// judged is what the judge said, which saw nothing but Reports.
type judged struct {
	code       int
	comparison report.Comparison
	took       time.Duration
	machine    calm.LostTime // meanwhile
	// repeated are how many runs of each side were measured again before.
	repeated [2]int
}

// side is what it said of the candidate.
func (j judged) side() report.Compared { return j.comparison.Rows[0].Sides[1] }

// TestGate draws devices at random, some as good as the one before and some 5 % worse, measures both in turns with real packets, and lets the
// judge say which is which. The files and Plans don't depend on it: the limits are set in devices that linerate knows nothing of.
func TestGate(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var releases []*release
	t.Run("each", func(t *testing.T) {
		for _, dropped := range kinds() {
			r := draw(dropped)
			releases = append(releases, r)
			t.Run(fmt.Sprint("release ", len(releases)), func(t *testing.T) {
				begun := time.Now()
				r.judged = judgeRelease(t, r)
				r.judged.machine = watch.Since(begun)
				t.Log(r.row())
			})
		}
	})
	if t.Failed() {
		return // who wasn't judged isn't judged wrongly
	}
	for i, r := range releases { // only now it is looked at what they were
		want := 0
		if r.dropped {
			want = report.ExitFailed
		}
		if r.judged.code != want {
			t.Errorf("release %d, %d after %d packets/s, was judged with exit code %d, want %d: %s", i+1, r.is, r.was, r.judged.code, want, r.judged.side().Message)
		}
	}
	if *table != "" && *gates > 0 {
		if err := published.Section(*table, "gate", gateTable(releases)); err != nil {
			t.Error(err)
		}
	}
}

// kinds says which releases dropped, in random order.
func kinds() []bool {
	if *gates == 0 {
		return []bool{rand.IntN(2) == 0}
	}
	all := slices.Concat(slices.Repeat([]bool{false}, *gates), slices.Repeat([]bool{true}, *gates))
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func draw(dropped bool) *release {
	r := &release{was: 15_000 + rand.Int64N(10_001), dropped: dropped}
	if r.is = r.was; dropped {
		r.is = int64(float64(r.was) * (1 - loss))
	}
	return r
}

// judgeRelease measures both devices in turns, so that what drifts looks like no difference, and asks for the judgement.
func judgeRelease(t *testing.T, r *release) judged {
	t.Helper()
	begun := time.Now()
	dir := t.TempDir()
	before, after := device(t, r.was), device(t, r.is)
	runs := gateRuns
	if *gates == 0 {
		runs = fewRuns
	}
	for i := range runs {
		if i%2 == 1 { // each turn the other way round, so that drift and what comes every second run meet both
			after.keep(t, filepath.Join(dir, "after"), i)
		}
		before.keep(t, filepath.Join(dir, "before"), i)
		if i%2 == 0 {
			after.keep(t, filepath.Join(dir, "after"), i)
		}
	}
	repeated := [2]int{before.repeatDisturbed(t, filepath.Join(dir, "before"), runs), after.repeatDisturbed(t, filepath.Join(dir, "after"), runs)}
	j := judgeFolders(t, filepath.Join(dir, "before"), filepath.Join(dir, "after"))
	j.took, j.repeated = time.Since(begun), repeated
	return j
}

// repeatDisturbed measures one run of a side again if a suite would, as that does by default once a cell. What comes of it takes its place in the folder.
func (r *rig) repeatDisturbed(t *testing.T, folder string, runs int) (repeated int) {
	t.Helper()
	reports := make([]*report.Report, runs)
	for i := range reports {
		document, err := os.ReadFile(reportFile(folder, i))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(document, &reports[i]); err != nil {
			t.Fatal(err)
		}
	}
	which, why := suite.Disturbed(reports)
	if which < 0 {
		return 0
	}
	t.Logf("run %d of %s is measured again: %s", which, filepath.Base(folder), why)
	r.keep(t, folder, which)
	return 1
}

// reportFile is where a side's run is kept.
func reportFile(folder string, run int) string {
	return filepath.Join(folder, fmt.Sprintf("%d.json", run))
}

func device(t *testing.T, limit int64) *rig {
	t.Helper()
	r := newRig(t, 2)
	r.route(t)
	r.limitEach(t, 2*time.Millisecond, limit, limit) // a bucket that is deep beside a window would let more pass in short windows than in long ones
	return r
}

// keep measures, and keeps the Report in the folder.
func (r *rig) keep(t *testing.T, folder string, run int) {
	t.Helper()
	r.keepOf(t, writeFile(t, "gate.yaml", gateTest), folder, run)
}

// keepOf measures by a file, and keeps the Report in the folder.
func (r *rig) keepOf(t *testing.T, file, folder string, run int) {
	t.Helper()
	got := r.call(t, "run", file, "-o", "json", "--save", "", "--ports", r.portList())
	if got.code != report.ExitOK {
		t.Fatalf("run %d of %s ended with exit code %d:\n%s", run, filepath.Base(folder), got.code, got.stderr)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(reportFile(folder, run), []byte(got.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
}

// judgeFolders lets the command line judge, by its exit code and its document.
func judgeFolders(t *testing.T, before, after string) judged {
	t.Helper()
	got := call(t, time.Minute, "compare", before, after, "--max-regression", allowed, "-o", "json")
	j := judged{code: got.code}
	if err := json.Unmarshal([]byte(got.stdout), &j.comparison); err != nil {
		t.Fatalf("exit code %d, no comparison: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	if n := len(j.comparison.Rows); n != 1 {
		t.Fatalf("the comparison has %d rows, want 1", n)
	}
	return j
}

// overloadTest is what a gate's witness measures by: short trials at a rate that is more than the devices here carry.
const overloadTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: overload}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}
  procedure:
    type: MaximumOfferedLoad
    maximumOfferedLoad: {rate: 30kpps, warmupDuration: 0s, trialDuration: 1s, trials: 2}
`

// overloadRuns is how often each side is overloaded, as a gate's witness does.
const overloadRuns = 22

// TestAWitnessFindsHalfAPercentBeyondTheLimit: of a device that forwards 2.5 % less, of which 2 % are allowed, less comes back of an overload, and short runs of each show that it is
// more than is allowed; of one that forwards 1.5 % less they show that it isn't. How far runs lie apart is logged: it is what this rests on.
func TestAWitnessFindsHalfAPercentBeyondTheLimit(t *testing.T) {
	needRoot(t)
	const was = 20_000
	dir, file := t.TempDir(), writeFile(t, "overload.yaml", overloadTest)
	releases := []struct {
		name string
		less float64
		code int
	}{{"before", 0, 0}, {"2.5 % less", 0.025, report.ExitFailed}, {"1.5 % less", 0.015, report.ExitOK}}
	var rigs []*rig
	for _, r := range releases {
		rigs = append(rigs, device(t, int64(was*(1-r.less))))
	}
	begun := time.Now()
	for i := range overloadRuns {
		for _, k := range rand.Perm(len(rigs)) { // so that nothing that comes back every few runs meets one of them alone
			rigs[k].keepOf(t, file, filepath.Join(dir, releases[k].name), i)
		}
	}
	t.Logf("%d runs in %v", overloadRuns*len(rigs), time.Since(begun).Round(time.Second))
	for _, r := range releases[1:] {
		j := judgeFolders(t, filepath.Join(dir, "before"), filepath.Join(dir, r.name))
		t.Logf("%s: %s: %s, then %s: %s", r.name, j.side().Verdict, told(j.comparison.Rows[0].Sides[0], 0), told(j.side(), 0), changed(j.side()))
		if j.code != r.code {
			t.Errorf("%s was judged with exit code %d, want %d: %s", r.name, j.code, r.code, j.side().Message)
		}
	}
}

// TestAGateWithAWeakGeneratorIsUndecided: the device dropped by half, and a generator that sends too little to see it shows neither that it did nor that it didn't, however often
// both are measured. Every run is one of its own, for copies of a run count once, and one run of each decides nothing whatever it found. So the test looks whether a judge that takes
// what came back for the device's limit would have decided: that both are alike where the generator sent the same, and that the device lost a fifth where the generator did.
func TestAGateWithAWeakGeneratorIsUndecided(t *testing.T) {
	beside(t)
	dir := t.TempDir()
	rates := map[string][]float64{}
	for _, side := range []struct {
		name  string
		limit int64
		sends string
	}{{"before", 20_000, weakRate}, {"after", 10_000, weakRate}, {"after, by a weaker one", 10_000, weakerRate}} {
		rig := device(t, side.limit)
		rig.generate(t, "--max-rate", side.sends)
		rates[side.name] = rig.weak(t, filepath.Join(dir, side.name))
	}
	for after, fooled := range map[string]report.Outcome{"after": report.Passed, "after, by a weaker one": report.DidFail} {
		if o := judgedAsLimits(rates["before"], rates[after]); o != fooled {
			t.Fatalf("%s: taken for limits, %.0f and then %.0f packets/s would be judged %s, want %s: these runs prove nothing", after, rates["before"], rates[after], o, fooled)
		}
		j := judgeFolders(t, filepath.Join(dir, "before"), filepath.Join(dir, after))
		s := j.side()
		if j.code != report.ExitNotMeasured || s.Verdict != report.Undecided || s.Figures == nil || !s.Figures.LowerBound || !strings.Contains(s.Message, "lower bound") {
			t.Errorf("%s: exit code %d and %s (%s), want %d and Undecided, as its runs are lower bounds", after, j.code, s.Verdict, s.Message, report.ExitNotMeasured)
		}
		for _, side := range j.comparison.Rows[0].Sides {
			if side.Figures == nil || side.Figures.Runs != gateRuns {
				t.Errorf("%s: of a side's %d runs not all count (%+v): fewer decide nothing, and this test would prove nothing", after, gateRuns, side.Figures)
			}
		}
	}
}

// weak measures a side's runs with the throttled generator, keeps their Reports in the folder, and returns what came back in each, packets per second.
func (r *rig) weak(t *testing.T, folder string) (rates []float64) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range gateRuns {
		measured := r.external(t, strings.Replace(gateTest, "dut:", `generator: {engine: Software, placement: {servers: [{address: "127.0.0.1:4501"}]}}`+"\n  dut:", 1))
		if measured.Answer.Reason != report.GeneratorLimited {
			t.Fatalf("the generator wasn't too weak: %s: %s", measured.Answer.Reason, measured.Answer.EvidenceText())
		}
		document, err := json.Marshal(measured)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(reportFile(folder, i), document, 0o600); err != nil {
			t.Fatal(err)
		}
		rates = append(rates, float64(measured.Answer.Total.Received.PacketsPerSecond))
	}
	return rates
}

// judgedAsLimits is the verdict on runs of which what came back is taken for what the device can do.
func judgedAsLimits(before, after []float64) report.Outcome {
	least, err := units.ParseShare(allowed)
	if err != nil {
		return report.Undecided
	}
	exact := func(rates []float64) (runs []comparison.Run) {
		for _, v := range rates {
			runs = append(runs, comparison.Exact(v))
		}
		return runs
	}
	return comparison.Compare(comparison.Question{Figure: comparison.Figure{Metric: "PacketsPerSecond", Direction: report.AllDirections}, Candidate: exact(after), Baseline: exact(before),
		Allowance: &comparison.Allowance{MaxRegression: least}}).Outcome
}

// row is a release in the published table.
func (r *release) row() string {
	sides := r.judged.comparison.Rows[0].Sides
	kind := "no change"
	if r.dropped {
		kind = "5 % less"
	}
	return fmt.Sprintf("| %s | %d → %d | %s | %s | %s | %s (%d) | %.0f s | %s |", kind, r.was, r.is, told(sides[0], r.judged.repeated[0]), told(sides[1], r.judged.repeated[1]), changed(sides[1]),
		sides[1].Verdict, r.judged.code, r.judged.took.Seconds(), r.judged.machine.Row())
}

// told is a side's figure with its spread, and how many of its runs were repeated.
func told(s report.Compared, repeated int) string {
	if s.Figures == nil {
		return "not measured"
	}
	text := fmt.Sprint(s.Figures.PacketsPerSecond)
	if s.Figures.Spread != nil {
		text += fmt.Sprintf(" ± %s %%", s.Figures.Spread.Percent.FormatFixed())
	}
	if repeated > 0 {
		text += fmt.Sprintf(", %d repeated", repeated)
	}
	return text
}

// changed is the change with what encloses it.
func changed(s report.Compared) string {
	c := s.Change
	if c == nil {
		return "-"
	}
	text := c.Percent.FormatFixed() + " %"
	if c.LowPercent != nil && c.HighPercent != nil {
		text += fmt.Sprintf(" (%s to %s)", c.LowPercent.FormatFixed(), c.HighPercent.FormatFixed())
	}
	return text
}

// gateTable is the published table, with its sum.
func gateTable(releases []*release) string {
	right := map[bool]int{}
	count := map[bool]int{}
	var rows []string
	for _, r := range releases {
		count[r.dropped]++
		if r.dropped == (r.judged.code == report.ExitFailed) && (r.dropped || r.judged.code == 0) {
			right[r.dropped]++
		}
		rows = append(rows, r.row())
	}
	slices.SortStableFunc(rows, strings.Compare)
	return fmt.Sprintf("%s. Of %d releases that didn't change, %d passed; of %d that lost 5 %%, %d failed.\n\n"+
		"| release | limit, packets/s | measured before | measured after | change | verdict (exit code) | took | machine |\n|---|---|---|---|---|---|---|---|\n%s\n",
		published.Provenance(time.Now()), count[false], right[false], count[true], right[true], strings.Join(rows, "\n"))
}
