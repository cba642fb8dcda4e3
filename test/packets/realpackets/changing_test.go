package realpackets

import (
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// sh runs commands of ip and nft in the device's namespace.
func (r *rig) sh(t *testing.T, script string) {
	t.Helper()
	in(t, r.device, func() error {
		out, err := exec.Command("sh", "-euc", script).CombinedOutput()
		if err != nil {
			return fmt.Errorf("%w: %s\n%s", err, out, script)
		}
		return nil
	})
}

// police makes the device drop what is above so many frames/s of what enters a port, whatever the frames are.
func (r *rig) police(t *testing.T, rates map[string]int64) {
	t.Helper()
	for port, rate := range rates {
		one := r
		if port == "d1" && r.east != nil {
			one = &rig{device: r.east}
		}
		one.sh(t, fmt.Sprintf(`nft 'table netdev police_%[1]s { chain in { type filter hook ingress device "%[1]s" priority 0; limit rate over %[2]d/second burst %[3]d packets drop; }; }'`,
			port, rate, max(1, rate*int64(saved)/int64(time.Second))))
	}
}

// masquerade is a NAT of hosts on west, which lets in from east only what answers them.
const masquerade = `nft 'table ip nat { chain out { type nat hook postrouting priority 100; oifname "d1" masquerade; }; }'
nft 'table ip filter { chain pass { type filter hook forward priority 0; iifname "d1" ct state != { established, related } drop; }; }'`

// changingTest is a test of a device that changes frames. It doesn't depend on the limit.
func changingTest(dut, links, traffic string) string {
	if links == "" {
		links = "[{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]"
	}
	return fmt.Sprintf(`apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: changing}
spec:
  dut: {type: Device, %s}
  links: %s
  traffic: {profile: FixedSize, %s}
  procedure: %s
`, dut, links, traffic, sceneRamp)
}

// TestASceneOfNAT: behind a NAT of Linux both directions are measured, as the way back answers what arrived, and a
// device that makes one flow of two is refused.
func TestASceneOfNAT(t *testing.T) {
	beside(t)
	limit := 3_000 + rand.Int64N(3_001)
	t.Run("masquerade, both ways", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, 2)
		r.route(t)
		r.sh(t, masquerade)
		r.police(t, map[string]int64{"d0": limit, "d1": limit})
		rep := r.measure(t, changingTest("changes: [Addresses]", "", "frameSize: 64, flows: {count: 32}"))
		device := truth.Device{Limits: map[string]int64{"west→east": limit, "east→west": limit}, Burst: saved}
		for _, fault := range device.Faults(rep) {
			t.Error(fault)
		}
		if len(rep.Path) != 2 || rep.Path[0].Learned == nil || rep.Path[0].Learned.TranslatedFlows != 32 ||
			rep.Path[1].Learned == nil || !rep.Path[1].Learned.Answers {
			t.Errorf("learned: %+v", rep.Path)
		}
	})
	t.Run("two flows become one", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, 2)
		r.route(t)
		r.sh(t, `nft 'table ip raw { chain in { type filter hook prerouting priority -300; iifname "d0" ip saddr set 198.18.1.9; }; }'`)
		rep := r.measure(t, changingTest("changes: [Addresses]", "", "frameSize: 64, flows: {count: 32, fields: [SourceAddress]}"))
		if rep.Ending != report.PathNotProven || !strings.Contains(rep.Message, "both arrive as 198.18.1.9") {
			t.Errorf("%s: %s", rep.Ending, rep.Message)
		}
	})
}
