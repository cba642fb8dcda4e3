package realpackets

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/report"
)

const deviceTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: device}
spec:
  dut: {type: Device}
  links:
  - {name: west, lineRate: 1gbps, dut: {macAddress: "02:00:00:00:00:99"}}
  - {name: east, lineRate: 1gbps, dut: {macAddress: "02:00:00:00:00:98"}}
  procedure:
    ramp: {warmupDuration: 1s, targetRate: 5kpps, rampDuration: 3s, stepDuration: 1s, settleDuration: 300ms, confirmDuration: 1s, holdDuration: 0s}
`

// TestAMiswiredPathIsNotMeasured: frames that come back, but not through the device, must never become a figure.
func TestAMiswiredPathIsNotMeasured(t *testing.T) {
	beside(t)
	for _, c := range []struct {
		name    string
		bridges [][]int
		says    string
	}{
		{"a bounced cable returns frames on the port that sent them", [][]int{{0}, {1}}, "came back on west, the port that sent them"},
		{"a cable past the device returns frames that nothing routed", [][]int{{0, 1}}, "bypassed the device"},
		{"a dead device returns nothing", nil, "none of"},
	} {
		t.Run(c.name, func(t *testing.T) {
			beside(t)
			rig := newRig(t, 2)
			for i, ports := range c.bridges {
				rig.bridge(t, fmt.Sprintf("b%d", i), ports...)
			}
			r := rig.measure(t, deviceTest)
			if r.Ending != report.PathNotProven {
				t.Errorf("ending %s, want %s: %s", r.Ending, report.PathNotProven, r.Message)
			}
			if r.Answer.Measured || r.Answer.Saturated {
				t.Errorf("a figure was given for a path that isn't proven: %+v", r.Answer)
			}
			if !strings.Contains(r.Message, c.says) {
				t.Errorf("the message does not say %q: %s", c.says, r.Message)
			}
		})
	}
}

// TestARouterWithoutARouteSaysSo: the errors that a real router sends of marked frames are read, whoever reads them: by the port's own capture.
func TestARouterWithoutARouteSaysSo(t *testing.T) {
	beside(t)
	rig := newRig(t, 2)
	rig.route(t)
	in(t, rig.device, func() error {
		_, dst, err := net.ParseCIDR("48.0.0.0/24")
		if err != nil {
			return err
		}
		return netlink.RouteDel(&netlink.Route{Dst: dst})
	})
	r := rig.measure(t, strings.NewReplacer(`, dut: {macAddress: "02:00:00:00:00:99"}`, "", `, dut: {macAddress: "02:00:00:00:00:98"}`, "").Replace(deviceTest))
	const who, says = "198.18.0.1 answered ", `with ICMP "network unreachable": it has no route to 48.0.0.1; give it one that leads to link east` // how many, the kernel's rate limit says
	if r.Ending != report.PathNotProven || !strings.Contains(r.Message, who) || !strings.Contains(r.Message, says) {
		t.Errorf("%s: %s\nwant …%s…%s", r.Ending, r.Message, who, says)
	}
}
