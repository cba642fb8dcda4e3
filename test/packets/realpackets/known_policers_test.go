//go:build full

package realpackets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/reporttest"
)

// The sizes of IMIX, mean: an IPv4 packet, which nft counts, and a frame without FCS, which tc counts.
const (
	mixedPacket = (7*46 + 4*576 + 1500) / 12.0
	mixedFrame  = mixedPacket + 14
)

// policer is a device of the kernel's that saves up unused rate, and the procedure that it is measured by.
type policer struct {
	byBytes   bool
	depth     time.Duration
	procedure string
	byDefault bool // the API's settings, else short ones
	// committed is how many frames of IMIX a second it forwards for as long as one likes.
	committed int64
}

func policers() (list []policer) {
	for _, byBytes := range []bool{true, false} {
		for _, depth := range []time.Duration{100 * time.Millisecond, time.Second, 5 * time.Second} {
			for _, procedure := range []string{plan.TypeRamp, plan.TypeSearch, plan.TypeMaximumOfferedLoad} {
				for _, byDefault := range []bool{false, true} {
					p := policer{byBytes: byBytes, depth: depth, procedure: procedure, byDefault: byDefault, committed: 2_000 + rand.Int64N(3_001)}
					if byDefault && procedure == plan.TypeRamp {
						p.committed = 1_500 + rand.Int64N(1_001) // reached within half a minute of the ten minutes' staircase
					}
					list = append(list, p)
				}
			}
		}
	}
	return list
}

// TestKnownAnswersOfPolicers: what is said of a policer is its committed rate, or is said to be shown for no longer than its bucket lasts. Windows are short, or those of the API, and end before deep buckets do.
func TestKnownAnswersOfPolicers(t *testing.T) {
	all := policers()
	knownAnswers{section: "policers", right: "as they should be",
		columns: []string{"policer", "its bucket", "procedure", "it forwards for as long as one likes", "what is said of it", "outcome", "took", "machine"},
	}.run(t, namesOf(all, policer.title), func(t *testing.T, i int) knownAnswer {
		t.Helper()
		p, begun := all[i], time.Now()
		r := newRig(t, 2)
		r.route(t)
		p.police(t, r)
		rep := r.measure(t, p.yaml())
		faults, missing := p.held(rep)
		return knownAnswer{report: rep, faults: faults, missing: missing, took: time.Since(begun),
			cells: []string{p.counts(), p.depth.String(), p.settings(), p.known(), p.said(rep)}}
	})
}

func (p policer) title() string { return fmt.Sprintf("%s, %s, %s", p.counts(), p.depth, p.settings()) }

func (p policer) settings() string {
	switch {
	case p.byDefault && p.procedure == plan.TypeRamp:
		return "Ramp, by default but for its end at saturation" // else it takes eleven minutes
	case p.byDefault:
		return p.procedure + ", by default"
	}
	return p.procedure
}

func (p policer) counts() string {
	switch {
	case p.usesQueue():
		return "by bytes (tbf, a queue of one frame)"
	case p.byBytes:
		return "by bytes (nft)"
	}
	return "by packets (nft)"
}

// usesQueue says that the bucket is shallower than nft's by bytes can be: that is as deep as a second at its rate, and its burst more.
func (p policer) usesQueue() bool { return p.byBytes && p.depth < time.Second }

// perSecond is the committed rate as the policer counts it.
func (p policer) perSecond() float64 {
	switch {
	case p.usesQueue():
		return float64(p.committed) * mixedFrame
	case p.byBytes:
		return float64(p.committed) * mixedPacket
	}
	return float64(p.committed)
}

// police puts the policer on what leaves by d1.
func (p policer) police(t *testing.T, r *rig) {
	t.Helper()
	if p.usesQueue() {
		in(t, r.device, func() error {
			link, err := netlink.LinkByName("d1")
			if err != nil {
				return err
			}
			const tick = 64 * time.Nanosecond
			return netlink.QdiscAdd(&netlink.Tbf{QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
				Rate: uint64(p.perSecond()), Limit: 1514, Buffer: uint32(p.depth / tick)})
		})
		return
	}
	limit := &expr.Limit{Type: expr.LimitTypePkts, Rate: uint64(p.perSecond()), Unit: expr.LimitTimeSecond, Burst: uint32(p.perSecond() * p.depth.Seconds()), Over: true}
	if p.byBytes {
		limit.Type, limit.Burst = expr.LimitTypePktBytes, uint32(p.perSecond()*(p.depth-time.Second).Seconds())
	}
	conn, err := nftables.New(nftables.WithNetNSFd(r.device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "device"})
	chain := conn.AddChain(&nftables.Chain{Name: "limit", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
	conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{limit, &expr.Verdict{Kind: expr.VerdictDrop}}})
	if err := conn.Flush(); err != nil {
		t.Fatalf("set the policer: %v", err)
	}
}

func (p policer) yaml() string {
	procedure := map[string]string{
		plan.TypeRamp:               "{ramp: {warmupDuration: 1s, targetRate: 12kpps, rampDuration: 6s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 5s, holdDuration: 0s, stopAtSaturation: true}}",
		plan.TypeSearch:             `{type: Search, search: {minRate: 500pps, maxRate: 12kpps, warmupDuration: 1s, goals: [{name: NDR, lossRatio: 0%, finalTrialDuration: 1s, durationSum: 1s}]}}`,
		plan.TypeMaximumOfferedLoad: "{type: MaximumOfferedLoad, maximumOfferedLoad: {rate: 12kpps, warmupDuration: 1s, trialDuration: 5s, trials: 1}}",
	}[p.procedure]
	if p.byDefault {
		procedure = map[string]string{
			plan.TypeRamp:               "{ramp: {targetRate: 40kpps, stopAtSaturation: true}}",
			plan.TypeSearch:             "{type: Search, search: {minRate: 500pps, maxRate: 12kpps, goals: [{name: NDR}]}}",
			plan.TypeMaximumOfferedLoad: "{type: MaximumOfferedLoad, maximumOfferedLoad: {rate: 12kpps}}",
		}[p.procedure]
	}
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: policed}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: IMIX, directions: [{from: west, to: east}]}
  procedure: %s
`, procedure)
}

// held holds the claim against the committed rate: faults are claims that aren't so, missing a limit that had to be found within 1 %, unless the bucket carried all that was asked for.
func (p policer) held(r *report.Report) (faults, missing []string) {
	if r.Ending != report.Completed || !r.Answer.Measured || len(r.Answer.Directions) != 1 {
		return nil, []string{"there is no figure: " + r.Message}
	}
	came := p.came(r.Answer.Directions[0])
	if p.procedure == plan.TypeMaximumOfferedLoad {
		if off := came/p.perSecond() - 1; math.Abs(off) > 0.01 && r.Answer.ShownFor == 0 {
			faults = append(faults, fmt.Sprintf("off by %+.1f %%", 100*off))
		}
		return faults, nil
	}
	f := p.figure(r)
	low, high := f.Low.Float()/float64(p.committed)-1, math.Inf(1)
	if f.High != "" {
		high = f.High.Float()/float64(p.committed) - 1
	}
	if low > 0.01 && (r.Answer.ShownFor == 0 || r.Answer.ShownFor.Std().Seconds() > p.depth.Seconds()/low) {
		faults = append(faults, fmt.Sprintf("claimed %+.1f %% too high", 100*low))
	}
	if high < -0.01 {
		faults = append(faults, fmt.Sprintf("its limit is claimed %.1f %% too low", -100*high))
	}
	if f.High == "" && r.Answer.ShownFor > 0 {
		return faults, nil // a lower bound that says for how long it was shown, and for no longer than the bucket lasts
	}
	if !r.Answer.Saturated || math.Abs(low) > 0.01 || math.IsInf(high, 1) {
		missing = append(missing, fmt.Sprintf("the committed rate isn't found within 1 %%: %+.1f %% to %+.1f %%", 100*low, 100*high))
	}
	return faults, missing
}

// came is what came back of a direction, as the policer counts it.
func (p policer) came(d report.Direction) float64 {
	frames := float64(d.Received.PacketsPerSecond)
	bytes := float64(d.Received.Layer2BitsPerSecond)/8 - units.FCSBytes*frames
	switch {
	case p.usesQueue():
		return bytes
	case p.byBytes:
		return bytes - (mixedFrame-mixedPacket)*frames
	}
	return frames
}

func (p policer) figure(r *report.Report) report.Figure {
	i := slices.IndexFunc(r.Figures, func(f report.Figure) bool {
		return f.Metric == figures.PacketsPerSecond && f.Direction == there && f.Load == 0
	})
	if i < 0 {
		return report.Figure{Low: "0"}
	}
	return r.Figures[i]
}

func (p policer) known() string {
	text := fmt.Sprintf("%d pps", p.committed)
	if p.byBytes && p.procedure == plan.TypeMaximumOfferedLoad {
		text += fmt.Sprintf(": %.0f bytes/s", p.perSecond())
	}
	return text
}

func (p policer) said(r *report.Report) string {
	if !r.Answer.Measured {
		return "no figure: " + string(r.Answer.Reason)
	}
	d, f := r.Answer.Directions[0], p.figure(r)
	switch {
	case p.procedure == plan.TypeMaximumOfferedLoad && p.byBytes:
		return fmt.Sprintf("%d of %d pps came back: %.0f bytes/s", d.Received.PacketsPerSecond, d.Offered.PacketsPerSecond, p.came(d))
	case p.procedure == plan.TypeMaximumOfferedLoad:
		return fmt.Sprintf("%d of %d pps came back", d.Received.PacketsPerSecond, d.Offered.PacketsPerSecond)
	case f.High == "":
		return fmt.Sprintf("at least %.0f, shown for %s: %s", f.Low.Float(), r.Answer.ShownFor.Std().Round(1e8), r.Answer.Reason)
	}
	text := fmt.Sprintf("limit: %.0f to %.0f", f.Low.Float(), f.High.Float())
	if len(r.Answer.Goals) > 0 && r.Answer.Reason == report.BurstsOnly {
		lower, _, _ := reporttest.Bounds(r, r.Answer.Goals[0].Name)
		text += fmt.Sprintf("; as bursts, in trials of 1s, %.0f", lower)
	}
	return text
}
