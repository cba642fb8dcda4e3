//go:build full

package realpackets

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/device/tunnel"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/comparison"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units/statistics"
	"github.com/linerate-dev/linerate/test/pages/published"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// searchOfMode is the same traffic for each mode but NAT, whose addresses of outside are others: 254 flows one way over networks of 65 536 addresses (a router of a million routes has networks of 16 million).
//
// 2 % of the frames may be lost, so that a host that takes 10 ms of a second spoils no window: what comes back of a load just above the limit is what comes back of one just below. The bracket is as wide, for devices
// differ by 10 % and more.
const searchOfMode = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: modes}
spec:
  dut: {type: Reference, reference: {mode: %s}}
  links:
  - {name: west, lineRate: 10gbps, generator: {networks: [16.0.0.0/%[2]d]}}
  - {name: east, lineRate: 10gbps, generator: {networks: [48.0.0.0/%[2]d]}}
  traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}], flows: {count: %[3]d, fields: [SourceAddress, DestinationAddress]}}
  procedure:
    maxLossRatio: 2%%
    ramp: {warmupDuration: 2s, %[4]s, stepDuration: 800ms, settleDuration: 200ms, precision: 2%%, confirmDuration: 2s, holdDuration: 0s, stopAtSaturation: true}
`

// comparedModes are measured in turns, so that what the machine does to one it does to all. Each but the first is set against another one.
func comparedModes() []comparedMode {
	return []comparedMode{
		{name: "router", mode: "{router: {}}", bits: 17, flows: 254},
		{name: "XDP", mode: "{xdp: {}}", bits: 17, flows: 254, against: "router", not: report.Less},
		{name: "bridge", mode: "{bridge: {}}", bits: 17, flows: 254, against: "router"},
		{name: "filter, 1000 rules", mode: "{filter: {rules: 1000}}", bits: 17, flows: 254, against: "router", must: report.Less, target: 150},
		{name: "NAT", mode: "{nat: {}}", bits: 17, flows: 254, against: "router", must: report.Less},
		{name: "WireGuard tunnel", mode: "{tunnel: {kind: WireGuard}}", bits: 17, flows: 254, against: "router", must: report.Less, target: 150},
		{name: "IPsec tunnel", mode: "{tunnel: {kind: IPsec, cipher: AES-128-GCM}}", bits: 17, flows: 254, against: "router", must: report.Less, target: 150, of: strongSwan},
		{name: "router, 1 route, 100 000 flows", mode: "{router: {}}", bits: 8, flows: 100_000},
		{name: "router, 1 000 000 routes, 100 000 flows", mode: "{router: {routes: 1000000}}", bits: 8, flows: 100_000, against: "router, 1 route, 100 000 flows", not: report.More},
	}
}

type comparedMode struct {
	name, mode string
	bits       int // of the networks
	flows      int
	against    string
	must, not  report.Judgement // empty: anything may come out
	target     int              // of its first climb, in kpps; 0: 1500. A tenth of it, the first step, is to be a load that it carries
	of         func() error     // which program of Debian's it is made of; nil: none
}

// search is the file of the run after these. A device of which nothing is known climbs from a tenth of its target. Near a limit two steps say where to look, at three quarters of it and at one and a half times as much: a
// limit below the first is found all the same, and what the device carries above the second is told as a lower bound.
func (m comparedMode) search(runs []modeRun) string {
	climb := fmt.Sprintf("targetRate: %dkpps, rampDuration: 8s", m.next(runs))
	if limit := near(runs); limit > 0 {
		climb = fmt.Sprintf("targetRate: %.0fpps, rampDuration: 1600ms", 1.5*limit)
	}
	return fmt.Sprintf(searchOfMode, m.mode, m.bits, m.flows, climb)
}

// next is the target of a climb after these runs, in kpps: the first one, and twice as much for each run that carried all it was asked for, up to about the line rate.
func (m comparedMode) next(runs []modeRun) int {
	target := cmp.Or(m.target, 1500)
	for _, r := range runs {
		if len(r.counting) > 0 && r.counting[0].Bound == report.TargetReached {
			target *= 2
		}
	}
	return min(target, 14_000)
}

// strongSwan says what this machine lacks of it; nil: nothing.
func strongSwan() error {
	_, _, err := tunnel.FindIPsec()
	return err
}

// testpmd says that this machine lacks it; nil: it doesn't.
func testpmd() error {
	_, err := exec.LookPath("dpdk-testpmd")
	return err
}

// lacks says that a device's program isn't there; in CI that is a failure, for what isn't measured must not be green.
func lacks(t *testing.T, device string, of func() error) bool {
	t.Helper()
	if of == nil {
		return false
	}
	err := of()
	switch {
	case err == nil:
		return false
	case os.Getenv("CI") == "true":
		t.Fatalf("%s: %v: hack/ci-packages devices installs it", device, err)
	}
	t.Logf("%s is left out: %v: hack/ci-packages devices installs it", device, err)
	return true
}

// runsOfMode is what statistics.md asks for at least.
const runsOfMode = 5

// TestModesByHighestCleanLoad sets the highest clean loads of five runs of each mode against each other. The table is written after each run, so that one that is interrupted keeps what it measured; no run is
// repeated. One device alone: -run 'TestModesByHighestCleanLoad//^NAT$'.
func TestModesByHighestCleanLoad(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	runs := modeRuns{watch: watch, begun: time.Now(), measured: published.Provenance(time.Now()), of: map[string][]modeRun{}}
	modes := comparedModes()
	for turn := range runsOfMode {
		t.Run(fmt.Sprint("turn ", turn+1), func(t *testing.T) {
			for _, m := range modes {
				t.Run(m.name, func(t *testing.T) {
					if lacks(t, m.name, m.of) {
						return
					}
					runs.add(t, m, turn+1)
					runs.publish(t, modes)
				})
			}
		})
	}
	t.Log(runs.page(modes))
	for _, m := range modes {
		if why := runs.wrong(m); why != "" {
			t.Error(why)
		}
	}
}

// modeRuns are all runs so far.
type modeRuns struct {
	watch    *calm.Watch
	begun    time.Time
	measured string // when, of what and on what
	of       map[string][]modeRun
	rows     []string
}

// modeRun is what one run found, and how calm the machine was.
type modeRun struct {
	counting []comparison.Run // none: it counts in no comparison
	machine  calm.LostTime
	lost     int // windows that lost frames to others on the machine
}

// limit is what the run found, if it lost frames above that; 0: it found no limit.
func (r modeRun) limit() float64 {
	if len(r.counting) == 0 || r.counting[0].LowerBound() {
		return 0
	}
	return r.counting[0].Low
}

// near is where the next run begins: at the highest limit of these; 0: the last one found none, so the next looks everywhere.
func near(runs []modeRun) (limit float64) {
	if len(runs) == 0 || runs[len(runs)-1].limit() == 0 {
		return 0
	}
	for _, r := range runs {
		limit = max(limit, r.limit())
	}
	return limit
}

// carried is the figure that devices are compared by.
func carried() comparison.Figure {
	return comparison.Figure{Metric: figures.PacketsPerSecond, Direction: report.AllDirections}
}

// add measures a device once more.
func (s *modeRuns) add(t *testing.T, m comparedMode, turn int) {
	t.Helper()
	begun := time.Now()
	r := measure(t, m.search(s.of[m.name]))
	run := modeRun{machine: s.watch.Since(begun)}
	for _, w := range r.Windows {
		if w.LostToDisturbance() {
			run.lost++
		}
	}
	said, found := carried().Unfit(r), carried().Runs(r)
	switch {
	case said == "":
		run.counting, said = found, interval(found)
	case r.Ending == report.Completed && !r.Answer.Measured:
		said = fmt.Sprintf("no figure: %s", r.Answer.Reason)
	case len(found) > 0:
		said = interval(found) + ", doesn't count: " + said
	}
	if r.Ending != report.Completed && run.machine.Outcome([]string{said}) == calm.Wrong {
		t.Errorf("on a calm machine: %s", said)
	}
	s.of[m.name] = append(s.of[m.name], run)
	s.rows = append(s.rows, fmt.Sprintf("| %d | %s | %s | %d | %d | %v | %s |", turn, m.name, strings.ReplaceAll(said, "|", "\\|"), len(r.Windows), run.lost, time.Since(begun).Round(time.Second), run.machine.Row()))
	t.Log(s.rows[len(s.rows)-1])
}

// interval is what a run says, of all directions together.
func interval(runs []comparison.Run) string {
	switch {
	case len(runs) == 0:
		return "nothing"
	case runs[0].LowerBound():
		return fmt.Sprintf("at least %s: %s", carried().Format(runs[0].Low), runs[0].Bound)
	}
	return carried().Format(runs[0].Low) + " to " + carried().Format(runs[0].High)
}

// counting are a device's runs that count.
func (s *modeRuns) counting(name string) (all []comparison.Run) {
	for _, r := range s.of[name] {
		all = append(all, r.counting...)
	}
	return all
}

// publish writes the page as far as it is known.
func (s *modeRuns) publish(t *testing.T, modes []comparedMode) {
	t.Helper()
	if *table == "" {
		return
	}
	if err := published.Section(*table, "modes", s.page(modes)); err != nil {
		t.Error(err)
	}
}

// page has the devices, what the runs show, and each run.
func (s *modeRuns) page(modes []comparedMode) string {
	var devices, sentences strings.Builder
	for _, m := range modes {
		if len(s.of[m.name]) == 0 {
			continue
		}
		counting, median := s.counting(m.name), "none"
		if len(counting) > 0 {
			median = medianText(counting)
		}
		fmt.Fprintf(&devices, "| %s | %d of %d | %s |\n", m.name, len(counting), len(s.of[m.name]), median)
		if m.against != "" && len(s.of[m.against]) > 0 {
			answer := s.compare(m)
			fmt.Fprintf(&sentences, "- %s: %s %s: %s.\n", m.name, shown[answer.Judgement], m.against, answer.Sentence)
		}
	}
	return fmt.Sprintf("%s: highest load of 64-byte frames one way of which at most 2 %% are lost, in packets/s that came back, each device with a processor of its own; %d runs, at most %d of each device; %v.\n\n"+
		"| device | runs that count | median |\n|---|---|---|\n%s\nWhat the runs show:\n\n%s\n| turn | device | what was found | windows | of them disturbed | took | machine |\n|---|---|---|---|---|---|---|\n%s\n",
		s.measured, len(s.rows), runsOfMode, s.watch.Since(s.begun), devices.String(), sentences.String(), strings.Join(s.rows, "\n"))
}

func (s *modeRuns) compare(m comparedMode) comparison.Answer {
	return comparison.Compare(comparison.Question{Figure: carried(), Candidate: s.counting(m.name), Baseline: s.counting(m.against)})
}

// wrong is what the runs of a device show, beside the other one's, that can't be so; empty: nothing. Where the machine was disturbed that is no fault, and what only isn't shown is none where windows were.
func (s *modeRuns) wrong(m comparedMode) string {
	if len(s.of[m.name]) == 0 || len(s.of[m.against]) == 0 {
		return ""
	}
	answer := s.compare(m)
	opposite := answer.Judgement == m.not && m.not != "" || m.must == report.Less && answer.Judgement == report.More
	if !opposite && (m.must == "" || answer.Judgement == m.must) {
		return ""
	}
	for _, r := range slices.Concat(s.of[m.name], s.of[m.against]) {
		if r.machine.Disturbed() || !opposite && r.lost > 0 {
			return ""
		}
	}
	return fmt.Sprintf("on a calm machine: %s beside %s: %s: %s", m.name, m.against, answer.Judgement, answer.Sentence)
}

// shown are judgements as they stand between the two devices.
var shown = map[report.Judgement]string{
	report.Less: "less than", report.More: "more than", report.NotShown: "no difference is shown from", report.TooFew: "too few runs beside", report.NotComparable: "can't be compared with",
}

// medianText is the median of runs, with ≥ where it is a lower bound: one of them may have carried more than the median, for all that is known.
func medianText(runs []comparison.Run) string {
	median := middle(runs)
	if slices.ContainsFunc(runs, func(r comparison.Run) bool { return r.LowerBound() && r.Low <= median }) {
		return "≥ " + carried().Format(median)
	}
	return carried().Format(median)
}

// middle is the median of what runs found at least.
func middle(runs []comparison.Run) float64 {
	var lows []float64
	for _, r := range runs {
		lows = append(lows, r.Low)
	}
	return statistics.Summarize(lows).Median
}

// TestWhereTheNextRunOfAModeBegins: near the highest limit that was found, unless the last run found none.
func TestWhereTheNextRunOfAModeBegins(t *testing.T) {
	limit := func(low float64) modeRun { return modeRun{counting: []comparison.Run{{Low: low, High: 1.02 * low}}} }
	bound, unconfirmed := modeRun{counting: []comparison.Run{comparison.AtLeast(900)}}, modeRun{}
	for _, c := range []struct {
		name string
		runs []modeRun
		want float64
	}{
		{"nothing was measured yet", nil, 0},
		{"the first found a limit", []modeRun{limit(500)}, 500},
		{"the second was disturbed", []modeRun{limit(500), limit(300)}, 500},
		{"the last found no limit, so there may be none near", []modeRun{limit(500), bound}, 0},
		{"the last doesn't count", []modeRun{limit(500), unconfirmed}, 0},
		{"one before the last found no limit", []modeRun{bound, limit(700)}, 700},
	} {
		if got := near(c.runs); got != c.want {
			t.Errorf("%s: near %v, want %v", c.name, got, c.want)
		}
	}
}

// TestHowFarTheNextRunOfAModeClimbs: further than what a device carried all of, or all its runs would be lower bounds.
func TestHowFarTheNextRunOfAModeClimbs(t *testing.T) {
	ended := func(why report.Reason) modeRun {
		run := comparison.AtLeast(900)
		run.Bound = why
		return modeRun{counting: []comparison.Run{run}}
	}
	for _, c := range []struct {
		name string
		runs []modeRun
		want int
	}{
		{"nothing was measured yet", nil, 150},
		{"one carried it all", []modeRun{ended(report.TargetReached)}, 300},
		{"so did the next one", []modeRun{ended(report.TargetReached), ended(report.TargetReached)}, 600},
		{"the generator had no more", []modeRun{ended(report.TargetReached), ended(report.GeneratorLimited)}, 300},
		{"one doesn't count", []modeRun{{}, ended(report.LossAboveLimit)}, 150},
	} {
		if got := (comparedMode{target: 150}).next(c.runs); got != c.want {
			t.Errorf("%s: up to %d kpps, want %d", c.name, got, c.want)
		}
	}
	if got := (comparedMode{}).next(slices.Repeat([]modeRun{ended(report.TargetReached)}, 5)); got != 14_000 {
		t.Errorf("after five runs up to %d kpps", got)
	}
}

// TestAMedianOfLowerBoundsIsOne: but not where those lie above it.
func TestAMedianOfLowerBoundsIsOne(t *testing.T) {
	limit := func(low float64) comparison.Run { return comparison.Run{Low: low, High: 1.02 * low} }
	for _, c := range []struct {
		name string
		runs []comparison.Run
		want string
	}{
		{"limits alone", []comparison.Run{limit(100), limit(300), limit(200)}, "200.00 pps"},
		{"a bound above it", []comparison.Run{limit(100), comparison.AtLeast(300), limit(200)}, "200.00 pps"},
		{"a bound below it", []comparison.Run{comparison.AtLeast(100), limit(300), limit(200)}, "≥ 200.00 pps"},
		{"it is one itself", []comparison.Run{limit(100), limit(300), comparison.AtLeast(200)}, "≥ 200.00 pps"},
	} {
		if got := medianText(c.runs); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// shortOfMode is a load that any machine carries.
const shortOfMode = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: mode}
spec:
  dut: {type: Reference, reference: {mode: %s}}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 128}
  procedure: {type: ConstantLoad, constantLoad: {rate: 2kpps, warmupDuration: 2s, duration: 2s, window: 1s}}
`

// TestModesForwardByLinerateRun: in each mode frames come out as it makes them (the path is proven), and all come back.
func TestModesForwardByLinerateRun(t *testing.T) {
	needRoot(t)
	for mode, of := range map[string]func() error{
		"{router: {routes: 100000}}": nil, "{bridge: {}}": nil, "{filter: {rules: 0}}": nil, "{filter: {rules: 10000}}": nil, "{nat: {sessions: 100000}}": nil, "{xdp: {}}": nil, "{tunnel: {kind: WireGuard}}": nil,
		"{userspace: {kind: Testpmd}}": testpmd, "{tunnel: {kind: IPsec, cipher: AES-128-GCM}}": strongSwan, "{tunnel: {kind: IPsec, cipher: ChaCha20-Poly1305}}": strongSwan,
	} {
		t.Run(mode, func(t *testing.T) {
			if lacks(t, mode, of) {
				return
			}
			r := measure(t, fmt.Sprintf(shortOfMode, mode))
			if r.Ending != report.Completed || !r.Answer.Measured {
				t.Errorf("%s: %s", r.Ending, r.Message)
			}
			if r.Environment == nil || !strings.Contains(r.Environment.DeviceMode, "; Linux ") {
				t.Errorf("the environment is %+v", r.Environment)
			}
		})
	}
}
