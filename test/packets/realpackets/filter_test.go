package realpackets

import (
	"math"
	"slices"
	"testing"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// filterTest holds a load that any router carries, so that its rate says nothing about a filter. Trains follow.
const filterTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: filter}
spec:
  dut: {type: Device}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {profile: FixedSize, frameSize: 64, directions: [{from: west, to: east}]}
  procedure:
    type: ConstantLoad
    constantLoad: {rate: 10kpps, warmupDuration: 0s, duration: 1s, window: 1s}
    trains: {count: 60, setUps: 6}
`

// TestRulesOfAFilterShowInTheTimePerFrame gives a router rules that match no frame, in turns. Each rule costs some
// nanoseconds, so more rules take longer, and in the full tier ten times as many ten times as long.
func TestRulesOfAFilterShowInTheTimePerFrame(t *testing.T) {
	needRoot(t)
	own, err := machine.OwnProcessors()
	if err != nil {
		t.Fatal(err)
	}
	processors := machine.ListProcessors(own)
	counts, rounds := []int{0, 300}, 1
	if tier.Full {
		counts, rounds = []int{0, 1, 3, 10, 100, 1000}, 9
	}
	r := &rig{generator: space(t), device: space(t), ports: 2}
	r.cableQueues(t, 1)
	r.route(t)
	r.receive(t, placed{queues: 1, flows: 1, threads: []int{processors[len(processors)-1]}})
	r.hold(t)
	times := map[int][]float64{}
	for range rounds {
		for _, n := range counts {
			r.giveRules(t, n)
			times[n] = append(times[n], timePerFrame(t, r.measure(t, filterTest)))
		}
	}
	var medians []float64
	for _, n := range counts {
		slices.Sort(times[n])
		medians = append(medians, times[n][len(times[n])/2])
		t.Logf("%d rules: %.0f ns a frame, of %.0f", n, medians[len(medians)-1], times[n])
	}
	if !slices.IsSorted(medians) || medians[0] == medians[len(medians)-1] {
		t.Errorf("more rules don't take longer: %.0f ns with %d", medians, counts)
	}
	if tier.Full {
		hundred, thousand := (medians[4]-medians[0])/100, (medians[5]-medians[0])/1000
		if t.Logf("a rule takes %.1f ns by 100, and %.1f ns by 1000", hundred, thousand); math.Abs(hundred/thousand-1) > 0.03 {
			t.Errorf("100 rules take %.1f ns each, and 1000 take %.1f", hundred, thousand)
		}
	}
}

// timePerFrame is the middle of the figure, in nanoseconds.
func timePerFrame(t *testing.T, r *report.Report) float64 {
	t.Helper()
	i := slices.IndexFunc(r.Figures, func(f report.Figure) bool {
		return f.Metric == procedure.TimePerFrame && f.Direction == "west→east"
	})
	if i < 0 || r.Figures[i].Low.Float() <= 0 {
		for _, w := range r.Windows {
			t.Logf("window %d, %s: %s, %s", w.Number, w.Phase, w.Quality, w.Reason)
		}
		t.Fatalf("no time per frame: %s %s, figures %+v", r.Message, r.Answer.EvidenceText(), r.Figures)
	}
	t.Logf("%s", r.Answer.Message)
	return (r.Figures[i].Low.Float() + r.Figures[i].High.Float()) / 2
}

// giveRules gives the router so many rules, and no others.
func (r *rig) giveRules(t *testing.T, rules int) {
	t.Helper()
	conn, err := nftables.New(nftables.WithNetNSFd(r.device.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	conn.FlushRuleset()
	table := conn.AddTable(&nftables.Table{Family: nftables.TableFamilyIPv4, Name: "device"})
	chain := conn.AddChain(&nftables.Chain{Name: "filter", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookForward, Priority: nftables.ChainPriorityFilter})
	const destination, length = 16, 4 // in the header of IPv4
	const batch = 100                 // as many answers as a socket's buffer holds
	for i := range rules {
		if i%batch == batch-1 {
			if err := conn.Flush(); err != nil {
				t.Fatalf("set %d of %d rules: %v", i, rules, err)
			}
		}
		conn.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: []expr.Any{
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseNetworkHeader, Offset: destination, Len: length},
			&expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: []byte{203, 0, byte(i >> 8), byte(i)}},
			&expr.Verdict{Kind: expr.VerdictDrop},
		}})
	}
	if err := conn.Flush(); err != nil {
		t.Fatalf("set %d rules: %v", rules, err)
	}
}
