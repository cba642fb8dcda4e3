//go:build full

package realpackets

import (
	"math"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/calm"
	"github.com/linerate-dev/linerate/test/rigs/impaired"
)

// TestABurstDoesNotRaiseTheFigure: a limit of so many packets/s is found as that, whether the device saves up 16 frames of what it didn't forward or 10 ms. A generator that sends in bursts would
// lose frames at the small bucket, below the limit, and find less.
func TestABurstDoesNotRaiseTheFigure(t *testing.T) {
	needRoot(t)
	watch, err := calm.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	const limit = 20_000
	begun := time.Now()
	found := map[string]float64{}
	for name, saves := range map[string]time.Duration{"16 frames": 16 * time.Second / limit, "10 ms": savesUp} {
		d := impairedDevice{name: name, ports: [2]impaired.Impairment{{Limit: limit, Saves: saves}}, mode: together, oneWay: true, target: "40kpps", finds: []string{there}}
		a := d.measure(t)
		for _, fault := range d.faults(a) {
			t.Errorf("a bucket of %s: %s", name, fault)
		}
		if a.report == nil {
			return
		}
		if m, measured := directionOf(a.report, there); measured {
			found[name] = float64(m.Received.PacketsPerSecond)
		}
		t.Logf("a bucket of %s: %s", name, d.said(a))
	}
	took := watch.Since(begun)
	var faults []string
	if small, large := found["16 frames"], found["10 ms"]; small == 0 || large == 0 || math.Abs(small/large-1) > 0.01 {
		faults = append(faults, "the figures differ by more than 1 %, or one is missing")
	}
	switch outcome := took.Outcome(faults); outcome {
	case calm.Wrong:
		t.Errorf("%v: %v; %s", faults, found, took)
	case calm.Right, calm.Disturbed:
		t.Logf("%s: %v; %s", outcome, found, took)
	}
}
