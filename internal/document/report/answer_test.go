package report_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// What may be lost is within a limit that it just reaches, and so is what surely is: only what is beyond it leaves
// the question open.
func TestLossThatJustReachesALimitLeavesNothingOpen(t *testing.T) {
	for _, c := range []struct {
		least, most units.Ratio
		open        bool
	}{{0, 10, false}, {0, 11, true}, {10, 11, true}, {11, 12, false}, {10, 10, false}} {
		if got := report.LossLeftOpen(c.least, c.most, 10); got != c.open {
			t.Errorf("loss from %d to %d of 10 allowed: open %t, want %t", c.least, c.most, got, c.open)
		}
	}
}

func TestLessThan99PercentOfWhatWasAskedForIsUnderOffered(t *testing.T) {
	for offered, under := range map[int64]bool{9899: true, 9900: false, 10_000: false} {
		d := report.Direction{Intended: report.Flow{PacketsPerSecond: 10_000}, Offered: report.Flow{PacketsPerSecond: offered}}
		if d.UnderOffered() != under {
			t.Errorf("%d of 10000: %t", offered, !under)
		}
	}
}

// What neither came back nor was dropped by the generator, at either end, or taken by the limit, the machine lost.
func TestWhatNobodyDroppedWasLostElsewhere(t *testing.T) {
	whole := report.Total{Sent: units.Traffic{Packets: 1000}, Returned: units.Traffic{Packets: 900}, ReceiveErrors: 30, SendDrops: 20, Drained: true, Limiter: &report.Limiter{Dropped: 10}}
	unlimited, undrained := whole, whole
	unlimited.Limiter, undrained.Drained = nil, false
	for want, totals := range map[int64][]report.Total{40: {whole}, 0: {unlimited, undrained}} {
		for _, total := range totals {
			if got := total.LostElsewhere(); got != want {
				t.Errorf("%+v: %d lost elsewhere, want %d", total, got, want)
			}
		}
	}
}

// Near the generators' own limit what was found is no limit of the device, however sharp it is.
func TestALimitNearTheGeneratorsIsALowerBound(t *testing.T) {
	for _, r := range []report.Answer{{Claim: report.Claim{Saturated: true}, Reason: report.LossAboveLimit}, {Reason: report.LoadHeld}, {Reason: report.MaximumOffered}} {
		if r.LowerBound() {
			t.Errorf("%+v is a lower bound", r)
		}
		if r.NearGenerators = []string{"west→east"}; !r.LowerBound() {
			t.Errorf("%+v is none", r)
		}
	}
}

// Latencies are of one figure where metric, direction, load and frame size are the same.
func TestWhichLatenciesAreOfOneFigure(t *testing.T) {
	one := report.LatencyMedian{Metric: "LatencyP99", Direction: "west→east", LatencyLoad: units.One / 2, FrameSize: 64}
	if again := one; !one.Same(again) {
		t.Error("it isn't the same as itself")
	}
	for name, change := range map[string]func(*report.LatencyMedian){
		"metric": func(m *report.LatencyMedian) { m.Metric = "LatencyP50" }, "direction": func(m *report.LatencyMedian) { m.Direction = "east→west" },
		"load": func(m *report.LatencyMedian) { m.LatencyLoad = units.One }, "frame size": func(m *report.LatencyMedian) { m.FrameSize = 1518 },
	} {
		other := one
		if change(&other); one.Same(other) {
			t.Errorf("another %s is the same", name)
		}
	}
}
