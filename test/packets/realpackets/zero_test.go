//go:build full

package realpackets

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/calm"
)

// loseOneIn makes the device drop one of so many frames that enter each port, counted one by one, which only the device knows.
func (r *rig) loseOneIn(t *testing.T, frames uint32) {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(r.device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "device"})
	chain := conn.AddChain(&nftables.Chain{Name: "lose", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
	for i := range r.ports {
		name := make([]byte, 16)
		copy(name, fmt.Sprintf("d%d", i))
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Meta{Key: expr.MetaKeyIIFNAME, Register: 1},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
			&expr.Numgen{Register: 1, Modulus: frames, Type: unix.NFT_NG_INCREMENTAL},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{0, 0, 0, 0}},
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
}

// zeroLoss asks for the highest load of which no frame is lost.
const zeroLoss = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: zero-loss}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 256}
  procedure:
    maxLossRatio: 0%
    ramp: {warmupDuration: 1s, targetRate: 20kpps, rampDuration: 8s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 10s, holdDuration: 0s, stopAtSaturation: true}
  criteria: [{name: nothing-is-lost, metric: LossRatio, direction: Total, max: 0%}]
`

// TestZeroLoss: at a loss limit of zero a device that loses nothing is confirmed to lose nothing, to the frame, and one that loses exactly one frame in so many, fewer than the edges of a
// held window hide, is never reported as lossless: the truth is within the bounds of each window.
func TestZeroLoss(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, oneIn := range []uint32{0, 50_000, 30_011} {
		t.Run(fmt.Sprintf("one in %d", oneIn), func(t *testing.T) {
			rig := newRig(t, 2)
			rig.route(t)
			if oneIn > 0 {
				rig.loseOneIn(t, oneIn)
			}
			begun := time.Now()
			r := rig.measure(t, zeroLoss)
			for _, claim := range claimsLessLoss(r, int64(oneIn)) { // however busy the machine
				t.Error(claim)
			}
			faults, took := zeroFaults(r, int64(oneIn)), watch.Since(begun)
			outcome := took.Outcome(faults)
			if outcome == calm.Wrong {
				t.Errorf("on a calm machine: %s", strings.Join(faults, "; "))
			}
			t.Logf("%s: %s (%s)", outcome, strings.Join(faults, "; "), took)
		})
	}
}

// claimsLessLoss is where a Report claims less loss than a device has that loses one frame in oneIn.
func claimsLessLoss(r *report.Report, oneIn int64) (claims []string) {
	if oneIn > 0 && (r.Answer.Confirmed || r.Verdict.Outcome == report.Passed) {
		claims = append(claims, fmt.Sprintf("confirmed %v, %s: %s; %+v", r.Answer.Confirmed, r.Answer.Reason, r.Answer.EvidenceText(), r.Verdict))
	}
	for _, w := range r.Windows {
		for _, d := range w.Directions {
			if least, _ := lossOf(d, oneIn); float64(d.MostLost()) < least*float64(units.One) {
				claims = append(claims, fmt.Sprintf("window %d, %s→%s: the Report says that at most %s is lost, and at least %g is: %s", w.Number, d.From, d.To, d.MostLost(), least, d.Reason))
			}
		}
	}
	return claims
}

// zeroFaults are what a calm machine does not show: windows that are void for their edges alone, more loss than the device's, and a device that loses nothing and isn't confirmed to.
func zeroFaults(r *report.Report, oneIn int64) (faults []string) {
	for _, w := range r.Windows {
		if w.Quality == report.Invalid && strings.Contains(w.Reason, "the window's edges alone may account") {
			faults = append(faults, fmt.Sprintf("window %d is void: %s", w.Number, w.Reason))
		}
		for _, d := range w.Directions {
			if _, most := lossOf(d, oneIn); float64(d.LossRatioMin) > most*float64(units.One)+1 {
				faults = append(faults, fmt.Sprintf("window %d, %s→%s: the Report says that at least %s is lost, and at most %g is: %s", w.Number, d.From, d.To, d.LossRatioMin, most, d.Reason))
			}
		}
	}
	if oneIn == 0 && (r.Ending != report.Completed || !r.Answer.Confirmed || r.Answer.Total.MostLost() != 0) {
		faults = append(faults, fmt.Sprintf("%s, %s, confirmed %v: %s", r.Ending, r.Answer.Reason, r.Answer.Confirmed, r.Answer.EvidenceText()))
	}
	return faults
}

// lossOf is the share that a device lost of what a direction sent, which counts from any frame on: give or take one frame.
func lossOf(d report.Direction, oneIn int64) (least, most float64) {
	sent := float64(d.Sent.Packets)
	if oneIn == 0 || sent == 0 {
		return 0, 0
	}
	lost := sent / float64(oneIn)
	return max(0, lost-1) / sent, (lost + 1) / sent
}
