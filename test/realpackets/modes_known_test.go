//go:build full

package realpackets

import (
	"fmt"
	"os/exec"
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
    ramp: {warmupDuration: 2s, targetRate: 1500kpps, rampDuration: 15s, stepDuration: 1s, settle: 300ms, confirmDuration: 2s, holdDuration: 0s, stopAtSaturation: true}
`

// comparedModes are measured in turns, so that what the machine does to one it does to all. Each but the first is set against another one.
func comparedModes() []comparedMode {
	return []comparedMode{
		{name: "router", mode: "{router: {}}", bits: 17, flows: 254},
		{name: "XDP", mode: "{xdp: {}}", bits: 17, flows: 254, against: "router", not: report.Less},
		{name: "bridge", mode: "{bridge: {}}", bits: 17, flows: 254, against: "router"},
		{name: "filter, 1000 rules", mode: "{filter: {rules: 1000}}", bits: 17, flows: 254, against: "router", must: report.Less},
		{name: "NAT", mode: "{nat: {}}", bits: 17, flows: 254, against: "router", must: report.Less},
		{name: "WireGuard tunnel", mode: "{tunnel: {kind: wireguard}}", bits: 17, flows: 254, against: "router", must: report.Less},
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
}

// runsOfMode is what statistics.md asks for at least.
const runsOfMode = 5

// TestModesByHighestCleanLoad sets the highest clean loads of five runs of each mode against each other.
func TestModesByHighestCleanLoad(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	begun, modes := time.Now(), comparedModes()
	runs := map[string][]comparison.Run{}
	var figure comparison.Figure
	for range runsOfMode {
		for _, m := range modes {
			r := measure(t, fmt.Sprintf(searchOfMode, m.mode, m.bits, m.flows))
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
	taken := watch.Since(begun)
	var page strings.Builder
	fmt.Fprintf(&page, "%s: highest clean load (at most 0.5 %% of the frames lost) of 64-byte frames one way, medians of %d runs in turns; %v.\n\n| mode | highest clean load | against | change |\n|---|---|---|---|\n",
		published.Provenance(time.Now()), runsOfMode, taken)
	for _, m := range modes {
		answer := comparison.Compare(comparison.Question{Figure: figure, Candidate: runs[m.name], Baseline: runs[m.against]})
		change := ""
		if m.against != "" {
			change = strings.TrimSpace(string(answer.Judgement) + ": " + answer.Sentence)
		}
		fmt.Fprintf(&page, "| %s | %s | %s | %s |\n", m.name, figure.Format(middle(runs[m.name])), m.against, change)
		if m.must != "" && answer.Judgement != m.must || m.not != "" && answer.Judgement == m.not {
			t.Errorf("%s beside %s: %s: %s", m.name, m.against, answer.Judgement, answer.Sentence)
		}
	}
	t.Log(page.String())
	if *table == "" || t.Failed() {
		return
	}
	if err := published.Section(*table, "modes", page.String()); err != nil {
		t.Fatal(err)
	}
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
	modes := []string{"{router: {routes: 100000}}", "{bridge: {}}", "{filter: {rules: 10000}}", "{nat: {sessions: 100000}}", "{xdp: {}}", "{tunnel: {kind: wireguard}}"}
	if _, err := exec.LookPath("dpdk-testpmd"); err == nil {
		modes = append(modes, "{userspace: {kind: testpmd}}")
	}
	if _, _, err := tunnel.FindIPsec(); err == nil {
		modes = append(modes, "{tunnel: {kind: ipsec, cipher: AES-128-GCM}}", "{tunnel: {kind: ipsec, cipher: ChaCha20-Poly1305}}")
	}
	for _, mode := range modes {
		r := measure(t, fmt.Sprintf(shortOfMode, mode))
		if r.Ending != report.Completed || !r.Result.Measured {
			t.Errorf("%s: %s: %s", mode, r.Ending, r.Message)
		}
		if r.Environment == nil || !strings.Contains(r.Environment.DeviceMode, "; Linux ") {
			t.Errorf("%s: the environment is %+v", mode, r.Environment)
		}
	}
}
