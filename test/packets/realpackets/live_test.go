//go:build full

package realpackets

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// liveTest is a test of the lab's own forwarder or cable. The judge knows the limit, as always with the built-in forwarder.
const liveTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: live}
spec:
  dut: %s
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {directions: [{from: west, to: east}]}
  procedure: %s
`

// TestLiveFramesThroughDevices: the lab's own cables take live frames, also where no end of them has a processor of its own, and what is measured by them is true.
func TestLiveFramesThroughDevices(t *testing.T) {
	needRoot(t)
	limit := 4_000 + rand.Int64N(5_001)
	for _, c := range []struct {
		name, dut, procedure string
		device               truth.Device
		losesNone            bool
	}{
		{"through the built-in forwarder with a limit", fmt.Sprintf("{type: Reference, reference: {limit: {packetsPerSecond: %d, burst: %v}}}", limit, saved), sceneRamp,
			truth.Device{Limits: map[string]int64{"west→east": limit}, Burst: saved}, false},
		{"over a cable", "{type: Loopback}", sceneHeld, truth.Device{Limits: map[string]int64{"west→east": 1_000_000}, Burst: time.Second}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, 0).report(t, "run", writeFile(t, "live.yaml", fmt.Sprintf(liveTest, c.dut, c.procedure)), "-o", "json", "--save", "", "--path", "live")
			for _, fault := range c.device.Faults(r) {
				t.Error(fault)
			}
			if path := r.Generators[0].Ports[0].Path; !strings.Contains(path, "live frames") || strings.Contains(path, "not by live frames") {
				t.Errorf("west sends by %q, want live frames", path)
			}
			for _, total := range r.Totals {
				if c.losesNone && total.Sent.Packets != total.Returned.Packets+total.ReceiveErrors {
					t.Errorf("of %d frames that a cable took, %d came back", total.Sent.Packets, total.Returned.Packets)
				}
			}
		})
	}
}
