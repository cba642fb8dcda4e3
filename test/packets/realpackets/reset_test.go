package realpackets

import (
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// resetTest sends one way only: frames that come out at east don't show a bridge where east is.
const resetTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: reset}
spec:
  dut:
    type: Device
    forwarding: L2
    setup: {command: [%[1]s, ip, link, set, switch, up]}
    teardown: {command: [%[1]s, ip, link, set, switch, down]}
  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]
  traffic: {directions: [{from: west, to: east}]}
  procedure:
    type: MaximumOfferedLoad
    reset: {command: [%[1]s, ip, link, set, switch, type, bridge, fdb_flush], timeout: 10s}
    maximumOfferedLoad: {rate: 1kpps, warmupDuration: 0s, trialDuration: 1s, trials: 2}
`

// TestASwitchIsTaughtAfterEachReset: without learning frames a switch whose table is emptied sends all frames out of all ports, since nothing ever comes from east. The third
// port tells: it gets learning frames, and those that were sent before them, and none of a trial.
func TestASwitchIsTaughtAfterEachReset(t *testing.T) {
	beside(t)
	rig := newRig(t, 3)
	rig.bridge(t, "switch", 0, 1, 2)
	rig.ports = 2 // linerate's
	inDevice := fmt.Sprintf("nsenter, --net=/proc/%d/fd/%d", os.Getpid(), rig.device.Fd())
	r := rig.measure(t, fmt.Sprintf(resetTest, inDevice))
	if r.Ending != report.Completed {
		t.Fatalf("%s: %s", r.Ending, r.Message)
	}
	for _, w := range r.Windows {
		if w.Reset == nil || !strings.HasSuffix(w.Reset.Action, "ip link set switch type bridge fdb_flush") || w.Reset.Duration <= 0 || w.Reset.Forwards <= 0 {
			t.Errorf("window %d: its reset is %+v", w.Number, w.Reset)
		}
	}
	in(t, rig.device, func() error {
		bystander, err := netlink.LinkByName("d2")
		if err != nil {
			return err
		}
		sent := r.Totals[0].Sent.Packets
		if flooded := int64(bystander.Attrs().Statistics.TxPackets); sent < 1000 || flooded > sent/10 {
			t.Errorf("%d frames were sent from west to east, and %d left by the switch's third port", sent, flooded)
		}
		bridge, err := netlink.LinkByName("switch")
		if err == nil && bridge.Attrs().Flags&net.FlagUp != 0 {
			t.Error("the switch is up: nothing was torn down")
		}
		return err
	})
}
