package virtualfunctions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/test/rigs/built"
	"github.com/linerate-dev/linerate/test/rigs/machine"
	"github.com/linerate-dev/linerate/test/rigs/tier"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// device makes a router in a namespace of its own of one function of each port, and limits what it forwards from west to
// east. The policer's bucket takes ten packets: an emulated machine sends and forwards them some milliseconds apart.
const device = `set -eu
ip netns add device
for side in 0 1; do
	ip link set ens1f${side}v1 netns device
	ip -n device address add 198.18.$side.1/24 dev ens1f${side}v1
	ip -n device link set ens1f${side}v1 up
	ip link set ens1f${side}v0 up
done
ip -n device route add 16.0.0.0/24 via 198.18.0.2
ip -n device route add 48.0.0.0/24 via 198.18.1.2
ip netns exec device sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip netns exec device nft -f - <<RULES
table ip router {
	chain forwarded {
		type filter hook forward priority 0;
		iifname ens1f0v1 limit rate over $1/second burst 10 packets drop
	}
}
RULES
`

const loadTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: virtual-functions}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}
  procedure: %s
`

const (
	overload = `{type: MaximumOfferedLoad, maximumOfferedLoad: {rate: 400pps, warmupDuration: 1s, trialDuration: 10s, trials: 2}}`
	ramp     = `{maxLossRatio: 0.3%, ramp: {warmupDuration: 1s, targetRate: 400pps, rampDuration: 8s, stepDuration: 1s, ` +
		`settleDuration: 300ms, confirmDuration: 8s, holdDuration: 0s, precision: 0.5%, stopAtSaturation: true}}`
)

// TestALimitBetweenVirtualFunctionsIsFoundWithinOnePercent draws a limit of 150 to 300 packets/s, which linerate does
// not know: all that an emulated card carries is far below a real one. What comes back of an overload is that limit.
// The full tier finds it by a ramp as well.
func TestALimitBetweenVirtualFunctionsIsFoundWithinOnePercent(t *testing.T) {
	limit := 150 + rand.IntN(151)
	linerate, err := built.Program("linerate")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	begun := time.Now()
	m := boot(ctx, t, machine.Description{})
	t.Logf("the machine was up after %s", time.Since(begun).Round(time.Second))
	if _, err := m.Command("sh", "-c", device, "device", fmt.Sprint(limit)).Output(ctx); err != nil {
		t.Fatal(err)
	}
	r := measure(ctx, t, m, linerate, overload)
	if r.Ending != report.Completed || len(r.Answer.Directions) != 1 {
		t.Fatalf("no figure: %s %s", r.Ending, r.Message)
	}
	received := r.Answer.Directions[0].Received.PacketsPerSecond
	t.Logf("limit %d packets/s, received %d after %s", limit, received, time.Since(begun).Round(time.Second))
	for _, fault := range known(limit, 2).Faults(r) {
		t.Error(fault)
	}
	if math.Abs(off(float64(received), limit)) > 1 {
		t.Errorf("%d packets/s came back of an overload, off by %+.1f %%", received, off(float64(received), limit))
	}
	if tier.Full {
		findByRamp(ctx, t, m, linerate, limit)
	}
}

// known is the device. Its policer's bucket takes ten packets, and is full before each trial of a figure.
func known(limit, trials int) truth.Device {
	return truth.Device{Limits: map[string]int64{"west→east": int64(limit)},
		Burst: time.Duration(10*trials) * time.Second / time.Duration(limit)}
}

// off is by how many percent a figure is above the limit.
func off(figure float64, limit int) float64 { return 100 * (figure/float64(limit) - 1) }

func findByRamp(ctx context.Context, t *testing.T, m *machine.Machine, linerate string, limit int) {
	t.Helper()
	begun := time.Now()
	r := measure(ctx, t, m, linerate, ramp)
	i := slices.IndexFunc(r.Figures, func(f report.Figure) bool {
		return f.Metric == figures.PacketsPerSecond && f.Direction == "west→east" && f.Load == 0
	})
	if i < 0 {
		t.Fatalf("no figure: %s %s", r.Ending, r.Message)
	}
	f := r.Figures[i]
	t.Logf("ramp: limit %d packets/s: %s to %s; %d windows, %s; %s", limit, f.Low, f.High, len(r.Windows),
		time.Since(begun).Round(time.Second), r.Answer.Reason)
	if faults := known(limit, 1).Faults(r); len(faults) > 0 {
		t.Errorf("not so: %s", strings.Join(faults, "; "))
	}
	low, high := off(f.Low.Float(), limit), math.Inf(1)
	if f.High != "" {
		high = off(f.High.Float(), limit)
	}
	if !r.Answer.Saturated || math.Abs(low) > 1 || high < -1 {
		t.Errorf("the limit isn't found within 1 %%: %+.1f %% to %+.1f %%", low, high)
	}
	if t.Failed() {
		for _, w := range r.Windows {
			t.Logf("window %d: %s, load %s, %s, %s: %s", w.Number, w.Phase, w.Load, w.Duration.Std(), w.Quality, w.Reason)
		}
	}
}

// measure runs the LoadTest between the functions that the device doesn't have.
func measure(ctx context.Context, t *testing.T, m *machine.Machine, linerate, procedure string) *report.Report {
	t.Helper()
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, loadTest, procedure), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	run := m.Command(linerate, "run", file, "-o", "json", "--save", "", "--ports", "ens1f0v0,ens1f1v0")
	run.Stdout, run.Stderr = &stdout, &stderr
	err := run.Run(ctx)
	var r report.Report
	if unread := json.Unmarshal([]byte(stdout.String()), &r); unread != nil {
		t.Fatalf("no report: %v, %v\n%s", err, unread, stderr.String())
	}
	if err != nil {
		t.Errorf("linerate run: %v: %s\n%s", err, r.Message, stderr.String())
	}
	return &r
}

// boot brings one machine up until the test ends. Where the host lacks a package the test is skipped, but fails in CI.
func boot(ctx context.Context, t *testing.T, d machine.Description) *machine.Machine {
	t.Helper()
	rig, err := machine.Start(ctx, machine.Lab{Machines: []machine.Description{d}}, os.Stderr)
	if missing, ok := errors.AsType[machine.MissingPackage](err); ok && os.Getenv("CI") != "true" {
		t.Skip(missing)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(rig.Close)
	return rig.Machine("")
}
