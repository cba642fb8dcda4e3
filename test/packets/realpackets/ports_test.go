package realpackets

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/netif"
)

// sessionsTest is a test of a device of which it says no more than where it is: links, forwarding, sessions, directions and the seconds that are measured.
const sessionsTest = `apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: box-tcp}
spec:
  dut: {type: Device, forwarding: %s}
  links: [%s]
  traffic: {type: Sessions, sessions: %s, directions: %s}
  procedure: {type: ConstantLoad, constantLoad: {rate: %s, warmupDuration: 1s, duration: %ds, window: 1s}}
`

const (
	twoLinks = "{name: west}, {name: east}"
	oneWay   = "[{from: west, to: east}]"
)

// payloadOf is what TCP carries over a link of so many bits/s of frames without FCS: 1448 of 1514 bytes.
func payloadOf(bitsPerSecond float64) float64 { return bitsPerSecond * 1448 / 1514 }

// shapeEach makes the device send no more than so many bits/s on each port (tc's tbf), with room for 50 ms.
func (r *rig) shapeEach(t *testing.T, bitsPerSecond int64) {
	t.Helper()
	in(t, r.device, func() error {
		for i := range r.ports {
			link, err := netlink.LinkByName(fmt.Sprintf("d%d", i))
			if err != nil {
				return err
			}
			const burst, waits = 5 * time.Millisecond, 50 * time.Millisecond
			bytes := func(d time.Duration) uint32 { return uint32(bitsPerSecond / 8 * int64(d) / int64(time.Second)) }
			if err := netlink.QdiscReplace(&netlink.Tbf{
				QdiscAttrs: netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(1, 0), Parent: netlink.HANDLE_ROOT},
				Rate:       uint64(bitsPerSecond / 8), Limit: bytes(burst + waits), Buffer: uint32(burst / 64), // the kernel's ticks are of 64 ns
			}); err != nil {
				return fmt.Errorf("shape d%d: %w", i, err)
			}
		}
		return nil
	})
}

// furnish gives the ports what a port in use may have, which a run must leave as it is.
func (r *rig) furnish(t *testing.T) {
	t.Helper()
	in(t, r.generator, func() error {
		for i := range r.ports {
			name := fmt.Sprintf("g%d", i)
			link, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			_, far, _ := net.ParseCIDR(fmt.Sprintf("203.0.113.%d/28", 16*i))
			ipv6 := "/proc/sys/net/ipv6/conf/" + name
			err = errors.Join(os.WriteFile(ipv6+"/addr_gen_mode", []byte("1"), 0), os.WriteFile(ipv6+"/disable_ipv6", []byte("0"), 0), // without a link-local address, which would come later
				netlink.LinkSetAlias(link, "to the box"), netlink.LinkSetTxQLen(link, 777), netif.SetOffload(name, netif.TCPSegmentation, i == 0),
				netif.AddAddress(link, netip.MustParsePrefix(fmt.Sprintf("192.0.2.%d/28", 16*i+1))), netif.AddAddress(link, netip.MustParsePrefix(fmt.Sprintf("2001:db8:%d::1/64", i+1))),
				netlink.RouteAdd(&netlink.Route{Dst: far, Gw: net.IPv4(192, 0, 2, byte(16*i+2)), LinkIndex: link.Attrs().Index}),
				netif.SetNeighbour(link, netip.AddrFrom4([4]byte{192, 0, 2, byte(16*i + 2)}), net.HardwareAddr{2, 0, 0, 0, 0, byte(i)}),
				netlink.QdiscReplace(netlink.NewHtb(netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: netlink.MakeHandle(7, 0), Parent: netlink.HANDLE_ROOT})))
			if err != nil {
				return fmt.Errorf("furnish %s: %w", name, err)
			}
		}
		return nil
	})
	eventually(t, 5*time.Second, "a port's local route of IPv6 isn't there", func() bool { // the kernel adds it a moment later
		for i, s := range r.portStates(t) {
			if !strings.Contains(strings.Join(s.Routes, " "), fmt.Sprintf(" 2001:db8:%d::1/128 ", i+1)) {
				return false
			}
		}
		return true
	})
}

// portState is all that a person sees of a port: ip address, route, neighbour and tc, and ethtool -k.
type portState struct {
	Attrs                                   string
	Addresses, Routes, Neighbours, Queues   []string
	Checksum, Segments, Generic, Merges, SG uint32
}

func (r *rig) portStates(t *testing.T) (states []portState) {
	t.Helper()
	in(t, r.generator, func() error {
		for i := range r.ports {
			name := fmt.Sprintf("g%d", i)
			link, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			a := link.Attrs()
			s := portState{Attrs: fmt.Sprintf("%s %d %s %s mtu %d, %d in the queue, %s, promiscuous %d %d, %s, master %d", a.Name, a.Index, a.HardwareAddr, a.Alias, a.MTU, a.TxQLen, a.Flags, a.Promisc, a.Allmulti, a.OperState, a.MasterIndex)}
			addresses, err1 := netlink.AddrList(link, netlink.FAMILY_ALL)
			for _, address := range addresses {
				s.Addresses = append(s.Addresses, address.IPNet.String())
			}
			for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
				routes, err := netlink.RouteListFiltered(family, &netlink.Route{LinkIndex: a.Index, Table: 0}, netlink.RT_FILTER_OIF|netlink.RT_FILTER_TABLE)
				err1 = errors.Join(err1, err)
				for _, route := range routes {
					s.Routes = append(s.Routes, route.String())
				}
			}
			neighbours, err2 := netlink.NeighList(a.Index, netlink.FAMILY_V4)
			for _, n := range neighbours {
				if n.State == netlink.NUD_PERMANENT {
					s.Neighbours = append(s.Neighbours, n.String())
				}
			}
			queues, err3 := netlink.QdiscList(link)
			for _, q := range queues {
				s.Queues = append(s.Queues, fmt.Sprint(q.Type(), q.Attrs().Handle, q.Attrs().Parent))
			}
			slices.Sort(s.Addresses)
			slices.Sort(s.Routes)
			for command, value := range map[uint32]*uint32{0x16: &s.Checksum, 0x1e: &s.Segments, 0x23: &s.Generic, 0x2b: &s.Merges, 0x18: &s.SG} { // ETHTOOL_GTXCSUM, GTSO, GGSO, GGRO, GSG
				asked := struct{ command, value uint32 }{command: command}
				err3 = errors.Join(err3, netif.Ethtool(name, unsafe.Pointer(&asked)))
				*value = asked.value
			}
			if err := errors.Join(err1, err2, err3); err != nil {
				return fmt.Errorf("look at %s: %w", name, err)
			}
			states = append(states, s)
		}
		return nil
	})
	return states
}

// asBefore waits until the ports are as they were, for the kernel removes a killed run's namespaces a moment later.
func (r *rig) asBefore(t *testing.T, before []portState) {
	t.Helper()
	var difference string
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if difference = cmp.Diff(before, r.portStates(t)); difference == "" {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("the ports aren't as before (-before +after):\n%s", difference)
		}
	}
}

// sessionsBox is a router on furnished ports, with a limit that only the test knows.
func sessionsBox(t *testing.T, bitsPerSecond int64) *rig {
	t.Helper()
	r := newRig(t, 2)
	r.route(t)
	r.furnish(t)
	r.shapeEach(t, bitsPerSecond)
	return r
}

// fits fails where the path is said to be the limit, and a direction has over 1 % more than the device lets through, or less than so much of it. Where a busy machine was the limit, a direction may have 5 % more: what waited at an end when the first window began. It says whether the limit was found.
func fits(t *testing.T, r *report.Report, payload, least float64) (found bool) {
	t.Helper()
	if !r.Answer.Measured {
		t.Fatalf("%s: %s %s", r.Answer.Reason, r.Message, r.Answer.EvidenceText())
	}
	found = r.Answer.Reason == report.PathLimited
	for _, d := range r.Answer.Directions {
		got := float64(d.Sessions.GoodputBitsPerSecond) / payload
		t.Logf("%s→%s: %.2f %% of the limit, %s", d.From, d.To, 100*got, r.Answer.Reason)
		if got > 1.05 || found && (got > 1.01 || got < least) {
			t.Errorf("%s→%s: %d bit/s, %s, want %.0f within 1 %%", d.From, d.To, d.Sessions.GoodputBitsPerSecond, r.Answer.Reason, payload)
		}
	}
	return found
}

// TestSessionsThroughARealDevice: a router that linerate knows nothing of limits TCP on the ports of --ports, and the ports are as they were, after the run and after a kill in the middle of another.
func TestSessionsThroughARealDevice(t *testing.T) {
	beside(t)
	limit := 45_000_000 + rand.Int64N(10_000_000)
	r := sessionsBox(t, limit)
	before := r.portStates(t)
	fits(t, r.measure(t, fmt.Sprintf(sessionsTest, "L3", twoLinks, "{parallel: 4}", oneWay, "Unlimited", 2)), payloadOf(float64(limit)), 0.99)
	r.asBefore(t, before)
	r.killSessions(t, rand.N(3*time.Second), 'b')
	r.asBefore(t, before)
}

// killSessions begins a run, and kills the run itself ('r'), its child ('c') or both at once ('b') after so long. It returns when no process of the run lives.
func (r *rig) killSessions(t *testing.T, after time.Duration, whom byte) {
	t.Helper()
	cmd := exec.Command(linerate, "run", writeFile(t, "sessions.yaml", fmt.Sprintf(sessionsTest, "L3", twoLinks, "{parallel: 4}", oneWay, "Unlimited", 20)), "--save", "", "--ports", r.portList())
	in(t, r.generator, func() error {
		loopbackUp()
		return cmd.Start()
	})
	time.Sleep(after) // any moment: there is nothing to wait for
	all := append(descendants(t, cmd.Process.Pid), cmd.Process.Pid)
	for _, pid := range all {
		if whom == 'b' || (pid == cmd.Process.Pid) == (whom == 'r') {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	_ = cmd.Wait()
	eventually(t, 10*time.Second, "a process of the run is still there", func() bool { return !anyAlive(all) })
}

// TestOnesOwnCable: a Loopback with --ports measures what the generator sends over the cable between two ports, which a bridge stands for, in frames and in sessions.
func TestOnesOwnCable(t *testing.T) {
	beside(t)
	r := newRig(t, 2)
	r.bridge(t, "br", 0, 1)
	before := r.portStates(t)
	for _, test := range []string{
		"traffic: {profile: FixedSize, frameSize: 64}\n  procedure: {type: MaximumOfferedLoad, maximumOfferedLoad: {rate: 10kpps, warmupDuration: 0s, trialDuration: 1s, trials: 1}}\n",
		"traffic: {type: Sessions, sessions: {application: Iperf3}}\n  procedure: {type: ConstantLoad, constantLoad: {rate: 20mbps, warmupDuration: 1s, duration: 1s, window: 1s}}\n",
	} {
		rep := r.measure(t, "apiVersion: linerate.dev/v1alpha1\nkind: LoadTest\nmetadata: {name: cable}\nspec:\n  dut: {type: Loopback}\n  links: [{name: west, lineRate: 1gbps}, {name: east, lineRate: 1gbps}]\n  "+test)
		if !rep.Answer.Measured {
			t.Errorf("%s: %s", rep.Answer.Reason, rep.Message)
		}
	}
	r.asBefore(t, before)
}
