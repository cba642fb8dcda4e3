package forwarder_test

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

var table = flag.Bool("table", false, "measure the whole table of limits, sizes and overloads (a few minutes)")

var mixes = map[string][]int{"64": {64}, "1518": {1518}, "IMIX": {
	64, 64, 64, 64, 64, 64, 64, 594, 594, 594, 594, 1518,
	64, 64, 64, 64, 64, 64, 64, 594, 594, 594, 594, 1518,
	64, 64, 64, 64, 64, 64, 64, 594, 594, 594, 594, 1518,
	64, 64, 64, 64, 64, 64, 64, 594, 594, 594, 594, 1518,
}}

// frames are addressed to the far generator where the device is a bridge, else to the device.
func frames(mode plan.Forwarding, from, to int, sizes []int) [][]byte {
	fs := make([][]byte, len(sizes))
	for i, s := range sizes {
		fs[i] = frame4(from, to, s)
		if mode == plan.L2 {
			copy(fs[i], generatorMAC(to))
		}
	}
	return fs
}

// reading is what one direction received in all, the time from the first frame sent to the last, the rate
// really offered, and what the limit had to let through of it.
type reading struct {
	traffic units.Traffic
	window  time.Duration
	offered float64 // packets/s
	due     float64 // packets or layer-2 bits, as the limit counts
}

// ideal is a bucket as a limit describes it. It is full at first. Each frame that leaves takes its cost from
// the bucket, or is lost.
type ideal struct {
	perSecond, depth, level float64
	inBits                  bool
	previous                time.Time
	passed                  float64
}

func idealOf(l plan.Limit) *ideal {
	b := &ideal{perSecond: float64(l.PacketsPerSecond)}
	if l.Layer2BitsPerSecond > 0 {
		b.perSecond, b.inBits = float64(l.Layer2BitsPerSecond), true
	}
	b.depth = b.perSecond * l.Depth().Seconds()
	b.level = b.depth
	return b
}

func (b *ideal) offer(moment time.Time, frame []byte) {
	if !b.previous.IsZero() {
		b.level = min(b.depth, b.level+b.perSecond*moment.Sub(b.previous).Seconds())
	}
	b.previous = moment
	cost := 1.0
	if b.inBits {
		cost = float64(8 * (len(frame) + units.FCSBytes))
	}
	if b.level >= cost {
		b.level, b.passed = b.level-cost, b.passed+cost
	}
}

// TestALimitLetsThroughItsRateAndOnceItsBurst overloads four directions at once, from idle, and accounts for
// every frame. What came through is no more than the burst and the rate times the time between the first frame
// and the last, and no less than an ideal bucket makes of the moments at which frames left: the two are the
// same unless the machine holds a sender up for longer than the burst.
func TestALimitLetsThroughItsRateAndOnceItsBurst(t *testing.T) {
	const burst, d = 500 * time.Millisecond, time.Second
	check := func(t *testing.T, r *rig, mode plan.Forwarding, l plan.Limit, offered float64,
		received func(units.Traffic) int64) {
		t.Helper()
		l.Burst = plan.Duration(burst)
		for link, got := range r.fromIdle(t, mode, l, mixes["IMIX"], offered, d) {
			passed, ceiling := float64(received(got.traffic)), idealOf(l).perSecond*(burst+got.window).Seconds()
			if passed < 0.99*got.due || passed > 1.01*ceiling {
				t.Errorf("link%d received %.0f, want %.0f to %.0f within 1 %%; offered were %.0f packets/s", link,
					passed, got.due, ceiling, got.offered)
			}
		}
	}
	for _, mode := range []plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite} {
		t.Run(string(mode)+" in packets", func(t *testing.T) {
			check(t, newRig(t, 4), mode, plan.Limit{PacketsPerSecond: 5000}, 15_000,
				func(came units.Traffic) int64 { return came.Packets })
		})
		t.Run(string(mode)+" in bits", func(t *testing.T) {
			check(t, newRig(t, 4), mode, plan.Limit{Layer2BitsPerSecond: 20_000_000}, 20_000, units.Traffic.Layer2Bits)
		})
	}
}

// TestEachFrameIsForwardedWithinTheLimit: what the Reference loses of a load that it should carry is taken for
// the device's loss. So few frames are under way at once that no queue overflows, however long the machine
// holds anybody up.
func TestEachFrameIsForwardedWithinTheLimit(t *testing.T) {
	forwardsEach := func(t *testing.T, r *rig, mode plan.Forwarding) {
		t.Helper()
		const total, underWay = int64(400), 50
		fd, fs := r.socket(t, 0), frames(mode, 0, 1, mixes["IMIX"])
		first := r.received(t, 1).Packets
		for sent := int64(0); sent < total; {
			for range underWay {
				if _, err := unix.Write(fd, fs[sent%int64(len(fs))]); err != nil {
					t.Fatal(err)
				}
				sent++
			}
			for deadline := time.Now().Add(5 * time.Second); r.received(t,
				1).Packets-first < sent; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("of %d frames %d came", sent, r.received(t, 1).Packets-first)
				}
			}
		}
	}
	for _, mode := range []plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite} {
		for name, limit := range map[string]*plan.Limit{"no limit": nil,
			"a limit in packets": {PacketsPerSecond: 1_000_000},
			"a limit in bits":    {Layer2BitsPerSecond: 8_000_000_000}} {
			t.Run(string(mode)+" with "+name, func(t *testing.T) {
				r := newRig(t, 2)
				r.configure(t, mode, limit)
				forwardsEach(t, r, mode)
			})
		}
	}
	t.Run("XDP", func(t *testing.T) {
		r := newRig(t, 2)
		r.plainGenerator(t)
		r.applyMode(t, plan.Mode{XDP: &plan.XDPMode{}})
		forwardsEach(t, r, plan.L3)
	})
}

// Overloading a limit shows its rate to 1 % on a busy machine. The kernel itself says that not one frame a
// second is missing.
func TestTheKernelEnforcesTheLimit(t *testing.T) {
	for _, mode := range []plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRig(t, 2)
			r.configure(t, mode, &plan.Limit{PacketsPerSecond: 12_345, Burst: plan.Duration(20 * time.Millisecond)})
			s := newRig(t, 2)
			s.configure(t, mode, &plan.Limit{Layer2BitsPerSecond: 8_000_008})
			for i := range r.links {
				if l := r.packetLimit(t, i); l == nil || l.Rate != 12_345 || l.Unit != expr.LimitTimeSecond ||
					l.Burst != 247 || !l.Over {
					t.Errorf("what enters link%d is limited by %+v, want 12345 packets/s with a burst of 247", i, l)
				}
				if rate := s.bitLimit(t, i); rate != 8_000_008 {
					t.Errorf("what leaves by link%d is limited to %d bits/s, want 8000008", i, rate)
				}
			}
		})
	}
}

// packetLimit is the limit that the kernel keeps for what enters a link, nil for none.
func (r *rig) packetLimit(t *testing.T, link int) (limit *expr.Limit) {
	t.Helper()
	netnstest.RunIn(t, r.dut, func() error {
		conn, err := nftables.New()
		if err != nil {
			return err
		}
		table := &nftables.Table{Family: nftables.TableFamilyNetdev, Name: "linerate"}
		rules, err := conn.GetRules(table, &nftables.Chain{Table: table, Name: "from-" + r.links[link].Interface})
		for _, rule := range rules {
			for _, e := range rule.Exprs {
				if l, ok := e.(*expr.Limit); ok {
					limit = l
				}
			}
		}
		return err
	})
	return limit
}

// bitLimit is the rate that the kernel keeps for what leaves by a link, 0 for none.
func (r *rig) bitLimit(t *testing.T, link int) (bitsPerSecond uint64) {
	t.Helper()
	netnstest.RunIn(t, r.dut, func() error {
		l, err := netlink.LinkByName(r.links[link].Interface)
		if err != nil {
			return err
		}
		queues, err := netlink.QdiscList(l)
		for _, q := range queues {
			if bucket, ok := q.(*netlink.Tbf); ok {
				bitsPerSecond = 8 * bucket.Rate
			}
		}
		return err
	})
	return bitsPerSecond
}

// fromIdle offers traffic to every link at once, so much that the burst is used up well before the end, and
// returns what each received.
func (r *rig) fromIdle(t *testing.T, mode plan.Forwarding, l plan.Limit, sizes []int, perSecond float64,
	d time.Duration) []reading {
	t.Helper()
	r.configure(t, mode, &l)
	readings := make([]reading, len(r.links))
	var senders sync.WaitGroup
	for i := range r.links {
		fd := r.socket(t, i)
		fs := frames(mode, i, i^1, sizes)
		senders.Go(func() {
			bucket := idealOf(l)
			sent, took := sendWatched(t, fd, fs, perSecond, d, bucket.offer)
			readings[i^1] = reading{window: took, offered: float64(sent) / took.Seconds(), due: bucket.passed}
		})
	}
	senders.Wait()
	for i := range readings {
		readings[i].traffic = r.settled(t, i)
	}
	return readings
}

// settled is what a link has received when nothing more comes.
func (r *rig) settled(t *testing.T, link int) units.Traffic {
	t.Helper()
	for previous := r.received(t, link); ; {
		time.Sleep(20 * time.Millisecond)
		current := r.received(t, link)
		if current == previous {
			return current
		}
		previous = current
	}
}

// TestLimitTable prints how exact the limits are, for the record.
func TestLimitTable(t *testing.T) {
	if !*table {
		t.Skip("ask for it with -table")
	}
	t.Logf("%-10s %-5s %10s %10s  %s", "limit", "mix", "intended", "offered", "received, off the limit by")
	for _, pps := range []int64{2000, 10_000, 50_000} {
		for _, mix := range []string{"64", "IMIX", "1518"} {
			for _, factor := range []float64{1.2, 2, 5, 20} {
				row(t, plan.Limit{PacketsPerSecond: pps}, mix, float64(pps)*factor)
			}
		}
	}
	for _, bps := range []int64{5_000_000, 30_000_000, 150_000_000} {
		for _, mix := range []string{"64", "IMIX", "1518"} {
			for _, factor := range []float64{1.2, 2, 5, 20} {
				pps := float64(bps) / 8 / meanSize(mixes[mix]) * factor
				row(t, plan.Limit{Layer2BitsPerSecond: bps}, mix, pps)
			}
		}
	}
}

func meanSize(sizes []int) float64 {
	sum := 0
	for _, s := range sizes {
		sum += s
	}
	return float64(sum) / float64(len(sizes))
}

// row overloads one limit in both directions at once, from idle, and prints the direction that is further off.
func row(t *testing.T, l plan.Limit, mix string, intended float64) {
	t.Helper()
	if intended > 300_000 {
		t.Logf("%-10s %-5s %10.0f %10s  not measured: more than the test can send", limitText(l), mix, intended, "")
		return
	}
	const burst, d = 200 * time.Millisecond, 2500 * time.Millisecond
	l.Burst = plan.Duration(burst)
	worst, offered := 0.0, 0.0
	r := newRig(t, 2)
	for _, got := range r.fromIdle(t, plan.L3, l, mixes[mix], intended, d) {
		ratio := float64(got.traffic.Packets) / float64(l.PacketsPerSecond)
		if l.PacketsPerSecond == 0 {
			ratio = float64(got.traffic.Layer2Bits()) / float64(l.Layer2BitsPerSecond)
		}
		if deviation := ratio/(burst+got.window).Seconds() - 1; math.Abs(deviation) >= math.Abs(worst) {
			worst, offered = deviation, got.offered
		}
	}
	t.Logf("%-10s %-5s %10.0f %10.0f  %+.4f %%", limitText(l), mix, intended, offered, 100*worst)
}

func limitText(l plan.Limit) string {
	if l.PacketsPerSecond > 0 {
		return fmt.Sprintf("%d pps", l.PacketsPerSecond)
	}
	return fmt.Sprintf("%d Mbps", l.Layer2BitsPerSecond/1_000_000)
}

// What a limit's rules or queue count as passed is what came out, and what they count as dropped is the rest of
// what was sent.
func TestALimitCountsWhatItDrops(t *testing.T) {
	for name, limit := range map[string]plan.Limit{
		"packets": {PacketsPerSecond: 2000, Burst: plan.Duration(20 * time.Millisecond)},
		"bits":    {Layer2BitsPerSecond: 8_000_000, Burst: plan.Duration(20 * time.Millisecond)},
	} {
		for _, mode := range []plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				r := newRig(t, 2)
				r.configure(t, mode, &limit)
				sent, _ := send(t, r.socket(t, 0), frames(mode, 0, 1, mixes["IMIX"]), 10_000, 200*time.Millisecond)
				came := r.settled(t, 1).Packets
				counters, err := forwarder.ReadLimitCounters(r.dut, forwarder.Spec{Forwarding: mode, Links: r.links,
					Directions: r.bothWays(), Limit: &limit})
				a, b := r.links[0].Interface, r.links[1].Interface
				want := []forwarder.LimitCounters{{From: a, To: b, Passed: came, Dropped: sent - came},
					{From: b, To: a}}
				if err != nil || !slices.Equal(counters, want) || came == 0 || came == sent {
					t.Errorf("got %+v (%v), want %+v", counters, err, want)
				}
			})
		}
	}
	if counters, err := forwarder.ReadLimitCounters(nil, forwarder.Spec{}); err != nil || counters != nil {
		t.Errorf("without a limit there is %v (%v), want nothing", counters, err)
	}
}
