//go:build full

package realpackets

import (
	"fmt"
	"net"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
)

// TestAKilledRampEndsWhenItSaid: a server without a heartbeat, as TRex is, goes on sending when its client dies, until the client's guard stops it: within the time that the client had said, and long
// before the traffic would have ended by itself.
func TestAKilledRampEndsWhenItSaid(t *testing.T) {
	beside(t)
	rig := newRig(t, 2)
	rig.route(t)
	rig.generate(t, "--heartbeat", "0s", "--next-hop", rig.addressByHand(t))
	cmd := exec.Command(linerate, "ramp", "-s", "127.0.0.1", "-wm", "1kpps", "-wd", "1", "-rt", "1", "-rd", "60", "-hd", "1", "--line-rate", "1gbps", "-o", t.TempDir()+"/out.json")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	in(t, rig.generator, cmd.Start)
	talk := newReader(stderr)
	line, err := talk.ReadString('\n')
	for err == nil && !strings.Contains(line, "will have stopped sending by") {
		line, err = talk.ReadString('\n')
	}
	if err != nil {
		t.Fatalf("the ramp did not say when its traffic ends: %v", err)
	}
	latest, within := endOf(t, line), stoppedWithin(t, line)
	awaitLine(t, talk, "ramping")
	if !rig.sends(t) {
		t.Fatal("nothing is sent before the kill: this test would prove nothing")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	killed := time.Now()
	_ = cmd.Wait()
	if latest.Before(killed.Add(2 * within)) {
		t.Fatalf("the traffic ends by itself at %s: this test would prove nothing", latest)
	}
	eventually(t, time.Until(killed.Add(within)), "the server still sends", func() bool { return !rig.sends(t) })
}

// stoppedWithin reads how long the guard may take.
func stoppedWithin(t *testing.T, line string) time.Duration {
	t.Helper()
	words := regexp.MustCompile(`stops TRex within (\S+);`).FindStringSubmatch(line)
	if words == nil {
		t.Fatalf("no duration in %q", line)
	}
	within, err := time.ParseDuration(words[1])
	if err != nil {
		t.Fatal(err)
	}
	return within
}

// addressByHand gives the device the generator's MACs, and returns the device's own, as a TRex configuration file would have them.
func (r *rig) addressByHand(t *testing.T) string {
	t.Helper()
	var own []string
	for i := range r.ports {
		var generator net.HardwareAddr
		in(t, r.generator, func() error {
			link, err := netlink.LinkByName(fmt.Sprintf("g%d", i))
			if err == nil {
				generator = link.Attrs().HardwareAddr
			}
			return err
		})
		in(t, r.device, func() error {
			link, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
			if err != nil {
				return err
			}
			own = append(own, link.Attrs().HardwareAddr.String())
			return netlink.NeighSet(&netlink.Neigh{LinkIndex: link.Attrs().Index, IP: net.IPv4(198, 18, byte(i), 2), HardwareAddr: generator, State: netlink.NUD_PERMANENT})
		})
	}
	return strings.Join(own, ",")
}

// endOf reads the time of day that the ramp printed.
func endOf(t *testing.T, line string) time.Time {
	t.Helper()
	clock := regexp.MustCompile(`\d\d:\d\d:\d\d [^\s,]+`).FindString(line)
	at, err := time.ParseInLocation(time.TimeOnly+" MST", clock, time.Local)
	if err != nil {
		t.Fatalf("no time in %q: %v", line, err)
	}
	now := time.Now()
	end := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), at.Second(), 0, time.Local)
	if end.Before(now) {
		end = end.AddDate(0, 0, 1)
	}
	return end
}

// sends says whether the generator's ports send something within half a second.
func (r *rig) sends(t *testing.T) bool {
	t.Helper()
	before := r.sent(t)
	time.Sleep(500 * time.Millisecond)
	return r.sent(t) > before+10
}
