//go:build full

package realpackets

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// eachTest is a test of a device of which it says nothing, in either mode of a ramp.
const eachTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: each}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: IMIX}
  procedure:
    %s
    ramp: {warmupDuration: 2s, targetRate: 30kpps, rampDuration: 12s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}
`

// TestEachDirectionsOwnLimit: a device with 10 000 packets/s one way and 4 000 the other is told as such where each direction is varied by itself, and by no
// direction's figure where they climb together. A limit that the directions share each has alone, and that both at once don't have it twice is told.
func TestEachDirectionsOwnLimit(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	apart := func(t *testing.T, r *rig) { r.limitEach(t, 10*time.Millisecond, 10_000, 4_000) }
	for _, c := range []struct {
		name, mode string
		limit      func(*testing.T, *rig)
		faults     func(*report.Report) []string
	}{
		{"10 000 one way and 4 000 the other, each by itself", "directions: Each", apart, func(r *report.Report) []string {
			return append(off(r, true, 10_000, 4_000), atOnce(r, false, 14_000)...)
		}},
		{"the same while the other direction is held at 1 500", "directions: Each, otherLoad: 5%", apart, func(r *report.Report) []string {
			return append(off(r, true, 10_000, 4_000), atOnce(r, false, 14_000)...)
		}},
		{"the same, together", "directions: Together", apart, func(r *report.Report) []string { return off(r, false, 4_000, 4_000) }},
		{"10 000 that both directions share, each by itself", "directions: Each", func(t *testing.T, r *rig) { r.limitAll(t, 10*time.Millisecond, 10_000) }, func(r *report.Report) []string {
			return append(off(r, true, 10_000, 10_000), atOnce(r, true, 10_000)...)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rig := newRig(t, 2)
			rig.route(t)
			c.limit(t, rig)
			begun := time.Now()
			r := rig.measure(t, fmt.Sprintf(eachTest, strings.ReplaceAll(c.mode, ", ", "\n    ")))
			faults := append(c.faults(r), strayed(r)...)
			took := watch.Since(begun)
			t.Logf("%s: %s (%s)", took.Outcome(faults), strings.Join(faults, "; "), took)
			if took.Outcome(faults) == calm.Wrong {
				t.Errorf("on a calm machine: %s", strings.Join(faults, "; "))
			}
		})
	}
}

// off is what keeps the directions' figures from being these limits within 1 %: each a limit of its own, or else a lower bound wherever the direction carries more.
func off(r *report.Report, limits bool, want ...int64) (faults []string) {
	if r.Ending != report.Completed || !r.Answer.Measured || len(r.Answer.Directions) != len(want) {
		return []string{fmt.Sprintf("ending %s: %s %s", r.Ending, r.Message, r.Answer.EvidenceText())}
	}
	for i, d := range r.Answer.Directions {
		if away := float64(d.Received.PacketsPerSecond-want[i]) / float64(want[i]); math.Abs(away) > 0.01 {
			faults = append(faults, fmt.Sprintf("%s→%s: %d came back, %.2f %% off %d", d.From, d.To, d.Received.PacketsPerSecond, away*100, want[i]))
		}
		if limit := limits || i == 1; d.Limit == nil || d.Limit.Saturated != limit {
			faults = append(faults, fmt.Sprintf("%s→%s: %+v, want a limit: %t", d.From, d.To, d.Limit, limit))
		}
	}
	return faults
}

// atOnce is what keeps the figures of all at once from being so much within 1 %, and from telling that directions have their limits together, or that they share one.
func atOnce(r *report.Report, shared bool, want int64) (faults []string) {
	if !r.Answer.HeldAtOnce() {
		return []string{"what was found was not held at once"}
	}
	total, w := r.Answer.Total, r.Windows[slices.IndexFunc(r.Windows, func(w report.Window) bool { return w.Number == r.Answer.Window })]
	if shared && w.Quality != report.Lossy || !shared && w.Quality != report.Good && !queueful(r) {
		faults = append(faults, fmt.Sprintf("all at once is %s: %s", w.Quality, w.Reason))
	}
	if away := float64(total.Received.PacketsPerSecond-want) / float64(want); math.Abs(away) > 0.01 {
		faults = append(faults, fmt.Sprintf("all at once %d came back, %.2f %% off %d", total.Received.PacketsPerSecond, away*100, want))
	}
	return faults
}

// queueful says whether all at once lost no more than the device's queue may have hidden of each load when that was found: 10 ms of it in a window of 5 s, and what is allowed. The queue is as
// full then as the time before left it, so a load so little above the limit is clean now and lossy then, and either is told as it was.
func queueful(r *report.Report) bool {
	const most = units.One/1000 + units.One*10/5000
	return !slices.ContainsFunc(r.Answer.Directions, func(d report.Direction) bool { return d.LossRatio > most })
}

// strayed are windows in which something was sent where nothing was to be.
func strayed(r *report.Report) (faults []string) {
	for _, w := range r.Windows {
		for _, d := range w.Directions {
			if d.Intended.PacketsPerSecond == 0 && d.Sent.Packets > 0 {
				faults = append(faults, fmt.Sprintf("window %d: %d frames were sent from %s to %s, where nothing was to be", w.Number, d.Sent.Packets, d.From, d.To))
			}
		}
	}
	return faults
}

// limitAll makes the device drop what is above so many packets/s of what enters all its ports together.
func (r *rig) limitAll(t *testing.T, saves time.Duration, packetsPerSecond int64) {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(r.device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "device"})
	chain := conn.AddChain(&nftables.Chain{Name: "limit", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
	bucket := uint32(max(1, packetsPerSecond*int64(saves)/int64(time.Second)))
	conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
		&expr.Limit{Type: expr.LimitTypePkts, Rate: uint64(packetsPerSecond), Unit: expr.LimitTimeSecond, Burst: bucket, Over: true},
		&expr.Verdict{Kind: expr.VerdictDrop},
	}})
	if err := conn.Flush(); err != nil {
		t.Fatalf("set the device's limit: %v", err)
	}
}
