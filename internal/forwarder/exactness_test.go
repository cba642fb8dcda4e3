package forwarder_test

import (
	"flag"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/units"
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

// reading is what one direction received in a window, and the window.
type reading struct {
	traffic units.Traffic
	window  time.Duration
}

func (r reading) packetsPerSecond() float64 { return float64(r.traffic.Packets) / r.window.Seconds() }
func (r reading) bitsPerSecond() float64 {
	return float64(r.traffic.Layer2Bits()) / r.window.Seconds()
}

// overload offers a rate to every direction at once and reads each receiver over a window that begins after the burst is used up.
func overload(t *testing.T, r *rig, mode plan.Forwarding, sizes []int, perSecond float64, settle, window time.Duration) []reading {
	t.Helper()
	var senders sync.WaitGroup
	for i := range r.links {
		fd := r.socket(t, i)
		fs := frames(mode, i, i^1, sizes)
		senders.Go(func() { send(t, fd, fs, perSecond, settle+window+50*time.Millisecond) })
	}
	time.Sleep(settle)
	first := make([]units.Traffic, len(r.links))
	at := make([]time.Time, len(r.links))
	for i := range r.links {
		first[i], at[i] = r.received(t, i), time.Now()
	}
	time.Sleep(window)
	readings := make([]reading, len(r.links))
	for i := range r.links {
		readings[i] = reading{r.received(t, i).Sub(first[i]), time.Since(at[i])}
	}
	senders.Wait()
	return readings
}

func within(t *testing.T, what string, got, want, ratio float64) {
	t.Helper()
	if math.Abs(got-want) > want*ratio {
		t.Errorf("%s: %.1f, want %.1f within %.2f %%", what, got, want, 100*ratio)
	}
}

func TestAPacketLimitIsExactInEveryDirection(t *testing.T) {
	for _, mode := range []plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRig(t, 4)
			r.configure(t, mode, &plan.Limit{PacketsPerSecond: 5000, Burst: plan.Duration(10 * time.Millisecond)})
			for i, got := range overload(t, r, mode, mixes["IMIX"], 8000, 200*time.Millisecond, time.Second) {
				within(t, fmt.Sprintf("packets/s received on link%d", i), got.packetsPerSecond(), 5000, 0.01)
			}
		})
	}
}

func TestABitLimitIsExactInEveryDirection(t *testing.T) {
	for _, mode := range []plan.Forwarding{plan.L3, plan.L2, plan.MACRewrite} {
		t.Run(string(mode), func(t *testing.T) {
			r := newRig(t, 4)
			r.configure(t, mode, &plan.Limit{Layer2BitsPerSecond: 20_000_000, Burst: plan.Duration(10 * time.Millisecond)})
			for i, got := range overload(t, r, mode, mixes["IMIX"], 10000, 200*time.Millisecond, time.Second) {
				within(t, fmt.Sprintf("layer-2 bits/s received on link%d", i), got.bitsPerSecond(), 20_000_000, 0.01)
			}
		})
	}
}

// TestLimitTable prints how exact the limits are, for the record.
func TestLimitTable(t *testing.T) {
	if !*table {
		t.Skip("ask for it with -table")
	}
	const burst = plan.Duration(10 * time.Millisecond)
	for _, pps := range []int64{2000, 10000, 50000} {
		for _, mix := range []string{"64", "IMIX", "1518"} {
			for _, factor := range []float64{1.2, 2, 5, 20} {
				r := newRig(t, 2)
				r.configure(t, plan.L3, &plan.Limit{PacketsPerSecond: pps, Burst: burst})
				for i, got := range overload(t, r, plan.L3, mixes[mix], float64(pps)*factor, 300*time.Millisecond, 2*time.Second) {
					t.Logf("%6d pps %4s %4.1fx link%d: %+.4f %%", pps, mix, factor, i, 100*(got.packetsPerSecond()/float64(pps)-1))
					within(t, "packets/s", got.packetsPerSecond(), float64(pps), 0.01)
				}
			}
		}
	}
	for _, bps := range []int64{5_000_000, 30_000_000, 150_000_000} {
		for _, mix := range []string{"64", "IMIX", "1518"} {
			for _, factor := range []float64{1.2, 2, 5, 20} {
				r := newRig(t, 2)
				r.configure(t, plan.L3, &plan.Limit{Layer2BitsPerSecond: bps, Burst: burst})
				mean := 0
				for _, s := range mixes[mix] {
					mean += s
				}
				pps := float64(bps) / 8 / float64(mean) * float64(len(mixes[mix])) * factor
				if pps > 400_000 {
					continue
				}
				for i, got := range overload(t, r, plan.L3, mixes[mix], pps, 300*time.Millisecond, 2*time.Second) {
					t.Logf("%9d bps %4s %4.1fx link%d: %+.4f %%", bps, mix, factor, i, 100*(got.bitsPerSecond()/float64(bps)-1))
					within(t, "bits/s", got.bitsPerSecond(), float64(bps), 0.01)
				}
			}
		}
	}
}
