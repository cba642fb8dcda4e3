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

	"github.com/linerate-dev/linerate/internal/comparison"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/statistics"
	"github.com/linerate-dev/linerate/internal/tunnel"
	"github.com/linerate-dev/linerate/test/calm"
	"github.com/linerate-dev/linerate/test/published"
)

// searchOfMode is the same traffic for each mode but NAT, whose addresses of outside are others: 254 flows one way over networks of 65 536 addresses (a router of a million routes has networks of 16 million).
const searchOfMode = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: modes}
spec:
  dut: {type: Reference, reference: {mode: %s}}
  links:
  - {name: west, lineRate: 10gbps, generator: {networks: [16.0.0.0/%[2]d]}}
  - {name: east, lineRate: 10gbps, generator: {networks: [48.0.0.0/%[2]d]}}
  traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}], flows: {count: %[3]d, vary: [SourceAddress, DestinationAddress]}}
  procedure:
    maxLossRatio: "0.005"
    ramp: {warmupDuration: 2s, targetRate: %[4]dkpps, rampDuration: 10s, stepDuration: 1s, settle: 300ms, confirmDuration: 2s, holdDuration: 0s, stopAtSaturation: true}
`

// comparedModes are measured in turns, so that what the machine does to one it does to all. Each but the first is set against another one.
func comparedModes() []comparedMode {
	return []comparedMode{
		{name: "router", mode: "{router: {}}", bits: 17, flows: 254},
		{name: "XDP", mode: "{xdp: {}}", bits: 17, flows: 254, against: "router", not: report.Less},
		{name: "bridge", mode: "{bridge: {}}", bits: 17, flows: 254, against: "router"},
		{name: "filter, 1000 rules", mode: "{filter: {rules: 1000}}", bits: 17, flows: 254, against: "router", must: report.Less, target: 150},
		{name: "NAT", mode: "{nat: {}}", bits: 17, flows: 254, against: "router", must: report.Less},
		{name: "WireGuard tunnel", mode: "{tunnel: {kind: wireguard}}", bits: 17, flows: 254, against: "router", must: report.Less, target: 150},
		{name: "IPsec tunnel", mode: "{tunnel: {kind: ipsec, cipher: AES-128-GCM}}", bits: 17, flows: 254, against: "router", must: report.Less, target: 150, of: strongSwan},
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
	target     int              // of its ramp, in kpps; 0: 1500. A tenth of it, the first step, is to be a load that it carries
	of         func() error     // which program of Debian's it is made of; nil: none
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

// TestModesByHighestCleanLoad sets the highest clean loads of five runs of each mode against each other.
func TestModesByHighestCleanLoad(t *testing.T) {
	needRoot(t)
	begun := time.Now()
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	modes := slices.DeleteFunc(comparedModes(), func(m comparedMode) bool { return lacks(t, m.name, m.of) })
	runs := map[string][]comparison.Run{}
	var figure comparison.Figure
	for range runsOfMode {
		for _, m := range modes {
			r := measure(t, fmt.Sprintf(searchOfMode, m.mode, m.bits, m.flows, cmp.Or(m.target, 1500)))
			if r.Ending != report.Completed {
				t.Fatalf("%s: %s: %s", m.name, r.Ending, r.Message)
			}
			figure = comparison.Throughput(r)
			if why := figure.Unfit(r); why != "" {
				t.Logf("%s: a run doesn't count: %s", m.name, why)
				continue
			}
			runs[m.name] = append(runs[m.name], figure.Runs(r)...)
		}
	}
	var page, sentences strings.Builder
	fmt.Fprintf(&page, "%s: highest clean load (at most 0.5 %% of the frames lost) of 64-byte frames one way, each device with a processor of its own; medians of runs in turns; %v.\n\n| device | runs | highest clean load |\n|---|---|---|\n",
		published.Provenance(time.Now()), watch.Since(begun))
	for _, m := range modes {
		fmt.Fprintf(&page, "| %s | %d | %s |\n", m.name, len(runs[m.name]), figure.Format(middle(runs[m.name])))
		if m.against == "" {
			continue
		}
		answer := comparison.Compare(comparison.Question{Figure: figure, Candidate: runs[m.name], Baseline: runs[m.against]})
		fmt.Fprintf(&sentences, "- %s: %s %s: %s.\n", m.name, shown[answer.Judgement], m.against, answer.Sentence)
		if m.must != "" && answer.Judgement != m.must || m.not != "" && answer.Judgement == m.not {
			t.Errorf("%s beside %s: %s: %s", m.name, m.against, answer.Judgement, answer.Sentence)
		}
	}
	page.WriteString("\nWhat the runs show:\n\n" + sentences.String())
	t.Log(page.String())
	if *table == "" {
		return
	}
	if err := published.Section(*table, "modes", page.String()); err != nil {
		t.Fatal(err)
	}
}

// shown are judgements as they stand between the two devices.
var shown = map[report.Judgement]string{
	report.Less: "less than", report.More: "more than", report.NotShown: "no difference is shown from", report.TooFew: "too few runs beside", report.NotComparable: "can't be compared with",
}

// middle is the median of what runs found at least.
func middle(runs []comparison.Run) float64 {
	var lows []float64
	for _, r := range runs {
		lows = append(lows, r.Low)
	}
	return statistics.Summarize(lows).Median
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
		"{router: {routes: 100000}}": nil, "{bridge: {}}": nil, "{filter: {rules: 10000}}": nil, "{nat: {sessions: 100000}}": nil, "{xdp: {}}": nil, "{tunnel: {kind: wireguard}}": nil,
		"{userspace: {kind: testpmd}}": testpmd, "{tunnel: {kind: ipsec, cipher: AES-128-GCM}}": strongSwan, "{tunnel: {kind: ipsec, cipher: ChaCha20-Poly1305}}": strongSwan,
	} {
		if lacks(t, mode, of) {
			continue
		}
		r := measure(t, fmt.Sprintf(shortOfMode, mode))
		if r.Ending != report.Completed || !r.Result.Measured {
			t.Errorf("%s: %s: %s", mode, r.Ending, r.Message)
		}
		if r.Environment == nil || !strings.Contains(r.Environment.DeviceMode, "; Linux ") {
			t.Errorf("%s: the environment is %+v", mode, r.Environment)
		}
	}
}
