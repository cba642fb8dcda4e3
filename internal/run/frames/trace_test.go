package frames_test

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/sim"
)

var update = flag.Bool("update", false, "write the golden traces")

// TestTraces compares whole runs with reviewed ones, every decision with its reason, and every window.
func TestTraces(t *testing.T) {
	falling := func(offered float64) float64 { // livelock, as above 10 kpps each packet more costs one and a half
		return math.Max(2000, math.Min(offered, 10_000-1.5*(offered-10_000)))
	}
	dip := func(offered float64) float64 { // between 6 and 9.5 kpps something resonates
		if offered > 6000 && offered < 9500 {
			return 5500
		}
		return math.Min(offered, 14_000)
	}
	traces := map[string]*scenario{
		"limit":          scene(),
		"to-the-top":     scene(toTheTop, hold(10)),
		"not-saturated":  scene(deviceLimit(0), hold(15)),
		"weak-generator": scene(onGenerator(func(g *sim.Generator) { g.MaxRate = 7 * kpps })),
		"receive-drops": scene(deviceLimit(0),
			onGenerator(func(g *sim.Generator) { g.ReceiveDrops, g.ReceiveDropsFrom = units.One/10, 6*kpps })),
		"burst":              scene(onDevice(func(d *sim.Device) { d.Burst = 500_000_000 })),
		"livelock":           scene(toTheTop, onDevice(func(d *sim.Device) { d.Capacity = falling })),
		"non-monotonic":      scene(toTheTop, onDevice(func(d *sim.Device) { d.Capacity = dip })),
		"limit-of-first":     scene(target("200kpps"), deviceLimit(1*kpps)),
		"trouble":            scene(trouble(14, 20.5)),
		"trouble-when-held":  scene(trouble(38, 38.2)),
		"flap":               scene(fault(0, sim.Flap, 12)),
		"lost":               scene(replicas(2), fault(1, sim.Restart, 15), unreachable(1)),
		"interrupted":        scene(interrupted(20)),
		"one-weak-side":      scene(func(s *scenario) { s.world.Directions[1].Device.Limit = 4 * kpps }),
		"each-direction":     scene(asymmetric, eachDirection(0)),
		"path-not-proven":    scene(onDevice(func(d *sim.Device) { d.Bounced = true })),
		"without-refine":     scene(onRamp(func(r *plan.Ramp) { r.Precision = 0 })),
		"restless-generator": scene(restlessly(8*time.Second, 40*ms, 60*ms)),
		"burst-at-the-edge":  scene(deviceLimit(19_990*units.PacketPerSecond), hold(15)),
	}
	for name, s := range traces {
		t.Run(name, func(t *testing.T) {
			got := story(s.run(t))
			file := filepath.Join("testdata", "traces", name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the trace differs from %s (-update writes it):\n%s", file, got)
			}
		})
	}
}

// story is a run's notes and windows, in the order in which they came.
func story(r *report.Report) string {
	var b strings.Builder
	next := 0
	windows := func(end plan.Duration) {
		for ; next < len(r.Windows) && r.Windows[next].Start+r.Windows[next].Duration <= end; next++ {
			b.WriteString(line(r.Windows[next]))
		}
	}
	for _, n := range r.Notes {
		windows(n.Time)
		fmt.Fprintf(&b, "%7.1fs %s\n", n.Time.Std().Seconds(), n.Message)
	}
	windows(math.MaxInt64)
	for _, total := range r.Totals {
		fmt.Fprintf(&b, "total %s→%s: sent %d, returned %d, dropped by the generator %d, drained %v\n", total.From,
			total.To, total.Sent.Packets, total.Returned.Packets, total.ReceiveErrors, total.Drained)
	}
	return b.String()
}

func line(w report.Window) string {
	return fmt.Sprintf("         | %2d %-10s %6s %% for %4.1fs %-7s %s\n", w.Number, w.Phase,
		w.Load.Percent().FormatFixed(), w.Duration.Std().Seconds(), w.Quality, w.Reason)
}
