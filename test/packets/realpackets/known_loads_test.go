//go:build full

package realpackets

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
)

const (
	// overloadRate is how far the rate that comes back of too much load may be from the limit, as a share of it.
	overloadRate = 0.005
	// curveLoss is how far a curve's loss ratio may be from what the limit takes.
	curveLoss = 0.01
	// nearLimit is how close to the limit, as a share of it, a load may lose frames or not.
	nearLimit = 0.02
)

// given is a device whose limit is known, and a procedure that measures it at loads that are given.
type given struct {
	name      string
	limit     int64 // packets per second and direction
	device    bool  // the limit is set by the test on a device of its own, and stands nowhere in the file
	procedure string
	lineRate  string
	traffic   string
	// criteria are what is demanded, each with what must become of it.
	criteria []demand
}

// demand is a criterion whose outcome is known before anything is measured.
type demand struct {
	metric  report.Metric
	bound   string
	value   float64
	outcome report.Outcome
}

// givens are the rows. A limit R that the file tells is loaded with 2 R, 1.25 R and 0.8 R; one that it doesn't tell lies somewhere between 12 500 and 19 000,
// and the file's loads and demands are the same wherever.
func givens() []given {
	const r = 10_000
	var list []given
	for _, traffic := range []string{"{profile: IMIX}", "{profile: FixedSize, frameSize: 64}", "{profile: FixedSize, frameSize: 1518}"} {
		list = append(list, given{name: "curve at 2, 1.25 and 0.8 R, " + frames(traffic), limit: r, traffic: traffic,
			procedure: "{type: FrameLoss, frameLoss: {maxRate: 20kpps, minRate: 8kpps, step: 7500pps, warmupDuration: 1s, trialDuration: 5s}}",
			criteria: []demand{
				{figures.LossRatio, "max", 0.51, report.Passed}, {figures.LossRatio, "max", 0.48, report.DidFail},
				{figures.PacketsPerSecond, "min", 0.98 * r, report.Passed}, {figures.PacketsPerSecond, "min", 1.02 * r, report.DidFail},
			}})
	}
	overloaded := []demand{
		{figures.LossRatio, "max", 0.9, report.Passed}, {figures.LossRatio, "max", 0.1, report.DidFail},
		{figures.PacketsPerSecond, "min", 12_000, report.Passed}, {figures.PacketsPerSecond, "min", 20_000, report.DidFail},
	}
	held := func(rate string) string {
		return "{type: ConstantLoad, constantLoad: {rate: " + rate + ", warmupDuration: 1s, duration: 10s, window: 2s}}"
	}
	const most = "{type: MaximumOfferedLoad, maximumOfferedLoad: {warmupDuration: 1s, trialDuration: 10s, trials: 2}}"
	return append(list,
		given{name: "curve from 40 to 4 kpps", limit: hidden(), device: true, criteria: overloaded,
			procedure: "{type: FrameLoss, frameLoss: {maxRate: 40kpps, minRate: 4kpps, step: 6kpps, warmupDuration: 1s, trialDuration: 5s, cleanTrials: 0}}"},
		given{name: "2 R held", limit: r, procedure: held("20kpps"), criteria: []demand{
			{figures.LossRatio, "max", 0.51, report.Passed}, {figures.LossRatio, "max", 0.49, report.DidFail},
			{figures.PacketsPerSecond, "min", 0.99 * r, report.Passed}, {figures.PacketsPerSecond, "min", 1.01 * r, report.DidFail},
		}},
		given{name: "1.25 R held", limit: r, procedure: held("12500pps"), criteria: []demand{
			{figures.LossRatio, "max", 0.21, report.Passed}, {figures.LossRatio, "max", 0.19, report.DidFail},
			{figures.PacketsPerSecond, "min", 0.99 * r, report.Passed}, {figures.PacketsPerSecond, "min", 1.01 * r, report.DidFail},
		}},
		given{name: "0.8 R held", limit: r, procedure: held("8kpps"), criteria: clean(0.8 * r)},
		given{name: "30 kpps held", limit: hidden(), device: true, procedure: held("30kpps"), criteria: overloaded},
		given{name: "10 kpps held", limit: hidden(), device: true, procedure: held("10kpps"), criteria: clean(10_000)},
		given{name: "all that 100 Mb/s carry", limit: r, lineRate: "100mbps", procedure: most, criteria: []demand{
			{figures.LossRatio, "max", 0.7, report.Passed}, {figures.LossRatio, "max", 0.68, report.DidFail},
			{figures.PacketsPerSecond, "min", 0.99 * r, report.Passed}, {figures.PacketsPerSecond, "min", 1.01 * r, report.DidFail},
		}},
		given{name: "all that 100 Mb/s carry", limit: hidden(), device: true, lineRate: "100mbps", procedure: most, criteria: overloaded},
	)
}

// hidden is a limit that only the device knows.
func hidden() int64 { return 12_500 + rand.Int64N(6_501) }

// clean is what a load below the limit decides: what is more than it stays open, for the device may do more.
func clean(load float64) []demand {
	return []demand{
		{figures.LossRatio, "max", 0.001, report.Passed}, {figures.LossRatio, "min", 0.01, report.DidFail},
		{figures.PacketsPerSecond, "min", 0.99 * load, report.Passed}, {figures.PacketsPerSecond, "max", 0.9 * load, report.DidFail},
		{figures.PacketsPerSecond, "min", 1.1 * load, report.Undecided}, {figures.PacketsPerSecond, "max", 1.1 * load, report.Undecided},
	}
}

// frames names the traffic in a row.
func frames(traffic string) string {
	if _, size, fixed := strings.Cut(strings.TrimSuffix(traffic, "}"), "frameSize: "); fixed {
		return size + "-byte frames"
	}
	return "IMIX"
}

// TestKnownAnswersOfGivenLoads: a device limited to R loses 1 − R ÷ load of what is above it, and nothing below; R is what comes back, never a limit that is
// claimed; and criteria are judged by that.
func TestKnownAnswersOfGivenLoads(t *testing.T) {
	list := givens()
	knownAnswers{section: "given loads", right: "as they should be",
		columns: []string{"device and loads", "limit R", "each load: sent → came back per second, loss (of the limit)", "worst", "criteria", "outcome", "took", "machine"},
	}.run(t, namesOf(list, given.title), func(t *testing.T, i int) knownAnswer {
		t.Helper()
		code, r := list[i].measure(t)
		return knownAnswer{report: r, faults: list[i].faults(r, code), cells: list[i].cells(r), took: lasted(r)}
	})
}

func (g given) title() string {
	if g.device {
		return g.name + ", a device that the file knows nothing of"
	}
	return g.name
}

// measure returns the exit code and the Report.
func (g given) measure(t *testing.T) (int, *report.Report) {
	t.Helper()
	args := []string{"run", writeFile(t, "test.yaml", g.yaml()), "-o", "json", "--save", ""}
	var got outcome
	if g.device {
		rig := newRig(t, 2)
		rig.route(t)
		rig.limitEach(t, saved, g.limit, g.limit)
		got = rig.call(t, append(args, "--ports", rig.portList())...)
	} else {
		got = call(t, 5*time.Minute, args...)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(got.stdout), &r); err != nil {
		t.Fatalf("exit code %d, no report: %v\nstderr:\n%s", got.code, err, got.stderr)
	}
	t.Logf("%s %s", r.Message, r.Answer.EvidenceText())
	return got.code, &r
}

func (g given) yaml() string {
	dut, lineRate, traffic, criteria := "{type: Device}", "1gbps", "{profile: IMIX}", []string(nil)
	if !g.device {
		dut = fmt.Sprintf("{type: Reference, reference: {limit: {packetsPerSecond: %d, burst: %s}}}", g.limit, saved)
	}
	if g.lineRate != "" {
		lineRate = g.lineRate
	}
	if g.traffic != "" {
		traffic = g.traffic
	}
	for i, c := range g.criteria {
		criteria = append(criteria, fmt.Sprintf("{name: demand-%d, metric: %s, %s: %q}", i, c.metric, c.bound, fmt.Sprint(c.value)))
	}
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: given-loads}
spec:
  dut: %s
  links: [{name: west, lineRate: %s}, {name: east, lineRate: %s}]
  traffic: %s
  criteria: [%s]
  procedure: %s
`, dut, lineRate, lineRate, traffic, strings.Join(criteria, ", "), g.procedure)
}

// faults are what keeps a Report from being the known answer.
func (g given) faults(r *report.Report, code int) (faults []string) {
	if r.Ending != report.Completed || !r.Answer.Measured {
		return []string{fmt.Sprintf("ending %s, measured %v: %s %s", r.Ending, r.Answer.Measured, r.Message, r.Answer.EvidenceText())}
	}
	if r.Answer.Saturated {
		faults = append(faults, "a limit is claimed, and nothing searched for one")
	}
	if points, want := g.points(r), g.loads(r); len(points) != 2*want {
		faults = append(faults, fmt.Sprintf("%d of %d loads and directions have a figure", len(points), 2*want))
	}
	above := false
	for _, p := range g.points(r) {
		faults = append(faults, p.faults()...)
		above = above || p.load() > 1+nearLimit
	}
	if above == r.Answer.LowerBound() {
		faults = append(faults, fmt.Sprintf("the reason is %s, and that of the device is otherwise", r.Answer.Reason))
	}
	return append(faults, g.misjudged(r, code)...)
}

// misjudged are criteria, and the verdict, that aren't what the device is.
func (g given) misjudged(r *report.Report, code int) (faults []string) {
	if len(r.Verdict.Criteria) != len(g.criteria) {
		return []string{fmt.Sprintf("%d criteria are judged, want %d", len(r.Verdict.Criteria), len(g.criteria))}
	}
	for i, c := range g.criteria {
		if got := r.Verdict.Criteria[i]; got.Outcome != c.outcome {
			faults = append(faults, fmt.Sprintf("%s %s %g is %s, want %s: %s", c.metric, c.bound, c.value, got.Outcome, c.outcome, got.Message))
		}
	}
	if r.Verdict.Outcome != report.DidFail || code != report.ExitFailed { // each row has a demand that isn't met
		faults = append(faults, fmt.Sprintf("the verdict is %s and the exit code %d, want %s and %d", r.Verdict.Outcome, code, report.DidFail, report.ExitFailed))
	}
	return faults
}

// loads is how many loads the test has.
func (g given) loads(r *report.Report) int {
	if p := r.Plan.Procedure.FrameLoss; p != nil {
		return 1 + int((p.MaxRate.Micros-p.MinRate.Micros-1)/p.Step.Micros) + 1
	}
	return 1
}

// point is a direction's result at a load, and how far it may be off.
type point struct {
	report.Direction
	limit int64
	curve bool
}

// points are each load's directions, the highest load first: of a curve its trials', else the result's.
func (g given) points(r *report.Report) (points []point) {
	all, curve := [][]report.Direction{r.Answer.Directions}, r.Plan.Procedure.Type == plan.TypeFrameLoss
	if curve {
		all = nil
		var loads []units.Ratio
		for _, w := range slices.Backward(r.Windows) {
			if w.Phase == report.Trial && w.Quality != report.Invalid && !slices.Contains(loads, w.Load) {
				all, loads = append([][]report.Direction{w.Directions}, all...), append(loads, w.Load)
			}
		}
	}
	for _, directions := range all {
		for _, m := range directions {
			points = append(points, point{m, g.limit, curve})
		}
	}
	return points
}

// load is what was offered as a multiple of the limit.
func (p point) load() float64 { return float64(p.Offered.PacketsPerSecond) / float64(p.limit) }

// known is the share that the device loses of the load.
func (p point) known() float64 { return max(0, 1-1/p.load()) }

func (p point) loss() float64 { return p.LossRatio.Float() }

// off is how far what is claimed is from what is known: of a curve its loss, of an overload the rate.
func (p point) off() float64 {
	if p.curve || p.load() < 1 {
		return p.loss() - p.known()
	}
	return float64(p.Received.PacketsPerSecond-p.limit) / float64(p.limit)
}

func (p point) faults() (faults []string) {
	said := fmt.Sprintf("%s→%s: of %d packets/s %d came back, loss %.3f %%, by a limit of %d", p.From, p.To, p.Offered.PacketsPerSecond, p.Received.PacketsPerSecond, 100*p.loss(), p.limit)
	allowed := overloadRate
	switch {
	case p.load() < 1-nearLimit:
		if p.LossRatioMin > 0 {
			faults = append(faults, said+": nothing should be lost")
		}
		return faults
	case p.curve || p.load() < 1+nearLimit:
		allowed = curveLoss
	}
	if math.Abs(p.off()) > allowed {
		faults = append(faults, fmt.Sprintf("%s: %.2f %% off", said, 100*p.off()))
	}
	return faults
}

// cells are the row's: the device, its limit, what came back of each load, how far the worst is off, and the criteria's outcomes.
func (g given) cells(r *report.Report) []string {
	worst, got := 0.0, []string(nil)
	for _, p := range g.points(r) {
		if math.Abs(p.off()) > math.Abs(worst) {
			worst = p.off()
		}
		got = append(got, fmt.Sprintf("%d → %d, %.2f %% (%.2f %%)", p.Offered.PacketsPerSecond, p.Received.PacketsPerSecond, 100*p.loss(), 100*p.known()))
	}
	judged := map[report.Outcome]int{}
	for _, c := range r.Verdict.Criteria {
		judged[c.Outcome]++
	}
	unit := "points of loss"
	if r.Plan.Procedure.Type != plan.TypeFrameLoss && !r.Answer.LowerBound() {
		unit = "%"
	}
	return []string{g.title(), fmt.Sprintf("%d pps", g.limit), strings.Join(got, "<br>"), fmt.Sprintf("%+.2f %s", 100*worst, unit),
		fmt.Sprintf("%d met, %d not, %d open", judged[report.Passed], judged[report.DidFail], judged[report.Undecided])}
}
