//go:build full

package realpackets

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/test/rigs/truth"
)

// changingDevice is a device made of Linux that changes frames, or a chain of devices, and its broken twin.
type changingDevice struct {
	name  string
	build func(t *testing.T, r *rig)
	test  string
	// oneWay: there is traffic from west to east alone.
	oneWay bool
	// learned is what the Report has to name.
	learned func(west, east report.PathCheck) bool
	// twin is what is wrong with the twin, and says what is said of it. A device without a right answer is its own twin.
	twin      string
	buildTwin func(t *testing.T, r *rig)
	testTwin  string
	says      string
}

const (
	wayOut   = "frameSize: 128, flows: {count: 48}"
	oneAlone = wayOut + ", directions: [{from: west, to: east}]"
	// hosts are the 48 flows' hosts on west, each with an address of its own on east.
	oneToOne = `map out { type ipv4_addr : ipv4_addr; elements = { %s } }; map back { type ipv4_addr : ipv4_addr; elements = { %s } };`
)

func changingDevices() []changingDevice {
	routed := func(script string) func(*testing.T, *rig) {
		return func(t *testing.T, r *rig) { t.Helper(); r.route(t); r.sh(t, script) }
	}
	// pairs are hosts of west and their addresses outside. The way back is shifted for the twin.
	pairs := func(shift int) string {
		var out, back []string
		for i := 1; i <= 48; i++ {
			out = append(out, fmt.Sprintf("16.0.0.%d : 198.18.1.%d", i, 100+i))
			back = append(back, fmt.Sprintf("198.18.1.%d : 16.0.0.%d", 100+i, (i-1+shift)%48+1))
		}
		maps := fmt.Sprintf(oneToOne, strings.Join(out, ", "), strings.Join(back, ", "))
		return fmt.Sprintf(`nft 'table ip raw { %s chain in { type filter hook prerouting priority -300; iifname "d0" ip saddr set ip saddr map @out; iifname "d1" ip daddr set ip daddr map @back; }; }'`, maps)
	}
	translated := func(west, east report.PathCheck) bool {
		return west.Learned.TranslatedFlows == 48 && east.Learned.Answers
	}
	wrapped := func(name string, bytes int) func(west, east report.PathCheck) bool {
		return func(west, _ report.PathCheck) bool {
			return west.Learned.Tunnel == name && west.Learned.AddedBytesMin == bytes && west.Learned.AddedBytesMax == bytes
		}
	}
	const vxlan = `ip link add vx type vxlan id 7 local 198.18.1.1 remote 198.18.1.2 dstport 4789 dev d1 nolearning noudpcsum
ip link set vx address 02:00:00:00:00:70 up; ip addr add 10.9.0.1/24 dev vx
ip neigh replace 10.9.0.2 lladdr 02:00:00:00:00:77 dev vx nud permanent
ip route replace 48.0.0.0/24 via 10.9.0.2 dev vx`
	const trunk = "[{name: west, lineRate: 1gbps, vlan: 100}, {name: east, lineRate: 1gbps}]"
	const vrrp = `ip addr flush dev d0; ip link set d0 address 02:00:00:00:dd:00; echo 1 >/proc/sys/net/ipv4/conf/d0/arp_ignore
ip addr add 198.18.0.3/24 dev d0; ip link add v0 link d0 address 00:00:5e:00:01:01 type macvlan mode private
echo 1 >/proc/sys/net/ipv6/conf/v0/disable_ipv6; ip link set v0 up; ip addr add 198.18.0.1/32 dev v0; ip route replace 16.0.0.0/24 via 198.18.0.2 dev d0`
	const known = "[{name: west, lineRate: 1gbps, dut: {sourceMACs: [02:00:00:00:dd:00]}}, {name: east, lineRate: 1gbps}]"
	const nat64 = `[{name: west, lineRate: 1gbps, generator: {address: "2001:2::2/64", networks: ["2001:2:0:10::/120"]}, dut: {address: "2001:2::1/64"}},
    {name: east, lineRate: 1gbps, generator: {address: 198.18.1.2/24, networks: ["64:ff9b::3000:0/120"]}, dut: {address: 198.18.1.1/24}}]`
	const v6 = `frameSize: 128, flows: {count: 48}, allowedPrefixes: ["64:ff9b::/96"]`
	// a program translates, which may wait for a processor
	test64 := strings.Replace(changingTest("changes: [Addresses, Length]", nat64, v6), "settleDuration: 100ms", "settleDuration: 800ms", 1)
	return []changingDevice{
		{name: "two routers in a row", build: twoRouters, test: changingTest("hops: 2", "", wayOut),
			twin: "one router more than declared", testTwin: changingTest("hops: 1", "", wayOut), says: "if 2 routers are under test, write dut.hops: 2"},
		{name: "nft masquerade, both ways", build: routed(masquerade), test: changingTest("changes: [Addresses]", "", wayOut), learned: translated,
			twin: "not declared", testTwin: changingTest("", "", wayOut), says: "is not declared: if the device is to do so, write dut.changes: [Addresses]"},
		{name: "1:1 NAT, both ways", build: routed(pairs(0)), test: changingTest("changes: [Addresses]", "", wayOut), learned: translated,
			twin: "the way back comes to the next host", buildTwin: routed(pairs(1)), says: "48.0.0.1:53 arrives instead of"},
		{name: "VXLAN at one end, both ways", build: routed(vxlan), test: changingTest("changes: [Encapsulation]", "", wayOut), learned: wrapped("VXLAN", 50),
			twin: "not declared", testTwin: changingTest("", "", wayOut), says: "inside other packets (VXLAN, from 198.18.1.1 to 198.18.1.2), which is not declared"},
		{name: "GRE at one end", build: func(t *testing.T, r *rig) { t.Helper(); r.wrap(t, 47, 24) }, oneWay: true, test: changingTest("changes: [Encapsulation]", "", oneAlone), learned: wrapped("GRE", 24),
			twin: "not declared", testTwin: changingTest("changes: [Addresses]", "", oneAlone), says: "inside other packets (GRE, from 198.18.1.1 to 198.18.1.2), which is not declared"},
		{name: "IPIP at one end", build: func(t *testing.T, r *rig) { t.Helper(); r.wrap(t, 4, 20) }, oneWay: true, test: changingTest("changes: [Encapsulation]", "", oneAlone), learned: wrapped("IPIP", 20),
			twin: "and translates on the way", buildTwin: func(t *testing.T, r *rig) {
				t.Helper()
				r.wrap(t, 4, 20)
				r.sh(t, `nft 'table ip raw { chain in { type filter hook prerouting priority -300; iifname "d0" ip saddr set 198.18.1.9; }; }'`)
			}, says: "which is not declared: if the device is to do so, write dut.changes: [Addresses]"},
		{name: "NAT64 by tayga, both ways", build: tayga, test: test64, learned: translated,
			twin: "gives two flows one destination", testTwin: strings.Replace(test64, "count: 48}", "count: 48, fields: [DestinationAddress]}", 1), buildTwin: func(t *testing.T, r *rig) {
				t.Helper()
				tayga(t, r)
				r.sh(t, `nft 'table ip raw { chain in { type filter hook prerouting priority -300; iifname "nat64" ip daddr set 48.0.0.9; }; }'`)
			}, says: "both arrive as"},
		{name: "a trunk port against an access port", build: func(t *testing.T, r *rig) { t.Helper(); r.trunk(t, 100) }, test: changingTest("forwarding: L2", trunk, wayOut),
			twin: "another VLAN than the link's", buildTwin: func(t *testing.T, r *rig) { t.Helper(); r.trunk(t, 200) }, says: "with VLAN 200 instead of 100"},
		{name: "a VRRP gateway with a MAC of its own", build: routed(vrrp), test: changingTest("readyDelay: 5s", known, wayOut),
			twin: "the MAC not named", testTwin: changingTest("readyDelay: 5s", "", wayOut), says: "source MAC 02:00:00:00:dd:00 instead of the device's 00:00:5e:00:01:01"},
		{name: "fragmentation by a small MTU", twin: "1024-byte frames, MTU 576", buildTwin: routed("ip link set d1 mtu 576"), testTwin: changingTest("changes: [Length]", "", "frameSize: 1024"),
			says: "the device fragments: 8 of 8 frames with IP packets of 1006 bytes arrived on east in pieces of 572"},
	}
}

// TestKnownAnswersOfChangingDevices: the limit of a device that changes frames is found within 1 %, with what it changes, and its broken twin is
// refused in one sentence.
func TestKnownAnswersOfChangingDevices(t *testing.T) {
	devices := changingDevices()
	var names []string
	for _, d := range devices {
		names = append(names, d.name)
	}
	knownAnswers{section: "changing devices", right: "within 1 %",
		columns: []string{"device", "it forwards, each way", "what is said of it", "what was learned", "its twin", "what is said of that", "outcome", "took", "machine"},
	}.run(t, names, func(t *testing.T, i int) knownAnswer {
		t.Helper()
		begun := time.Now()
		a := devices[i].measure(t)
		devices[i].measureTwin(t, &a)
		a.took = time.Since(begun)
		return a
	})
}

func (d changingDevice) measure(t *testing.T) (a knownAnswer) {
	t.Helper()
	if d.build == nil {
		a.cells = []string{d.name, "", "", ""}
		return a
	}
	limit := 3_000 + rand.Int64N(5_001)
	r := newRig(t, 2)
	d.build(t, r)
	r.police(t, map[string]int64{"d0": limit, "d1": limit})
	a.report = r.measure(t, d.test)
	device := truth.Device{Limits: map[string]int64{there: limit}, Burst: saved}
	if !d.oneWay {
		device.Limits[back] = limit
	}
	a.faults = device.Faults(a.report)
	var said, learned []string
	for direction := range device.Limits {
		m, found := directionOf(a.report, direction)
		if off := math.Abs(float64(m.Received.PacketsPerSecond)/float64(limit) - 1); !found || off > 0.01 {
			a.missing = append(a.missing, fmt.Sprintf("%s: the limit of %d isn't found to 1 %%: %s", direction, limit, a.report.Message))
		}
		said = append(said, fmt.Sprintf("%s %d pps", direction, m.Received.PacketsPerSecond))
	}
	for _, p := range a.report.Path {
		if _, text, found := strings.Cut(p.Message, "; learned: "); found {
			learned = append(learned, text)
		}
	}
	if d.learned != nil {
		east := report.PathCheck{}
		if len(a.report.Path) > 1 {
			east = a.report.Path[1]
		}
		if len(a.report.Path) == 0 || a.report.Path[0].Learned == nil || !d.oneWay && east.Learned == nil || !d.learned(a.report.Path[0], east) {
			a.faults = append(a.faults, fmt.Sprintf("learned %+v", a.report.Path))
		}
	}
	a.cells = []string{d.name, fmt.Sprint(limit, " pps"), strings.Join(said, ", "), strings.Join(learned, "<br>")}
	return a
}

func (d changingDevice) measureTwin(t *testing.T, a *knownAnswer) {
	t.Helper()
	build, test := d.buildTwin, d.testTwin
	if build == nil {
		build = d.build
	}
	if test == "" {
		test = d.test
	}
	r := newRig(t, 2)
	build(t, r)
	rep := r.measure(t, test)
	if rep.Ending != report.PathNotProven || !strings.Contains(rep.Message, d.says) {
		a.faults = append(a.faults, fmt.Sprintf("the twin (%s): %s: %s", d.twin, rep.Ending, rep.Message))
	}
	a.cells = append(a.cells, d.twin, rep.Message)
}

// twoRouters makes the device a router, with a second one between it and east.
func twoRouters(t *testing.T, r *rig) {
	t.Helper()
	far := space(t)
	in(t, r.device, func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name = "x0"
		if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: "x1", PeerNamespace: netlink.NsFd(far.Fd())}); err != nil {
			return err
		}
		port, err := netlink.LinkByName("d1")
		if err != nil {
			return err
		}
		return netlink.LinkSetNsFd(port, far.Fd())
	})
	script := `echo 1 >/proc/sys/net/ipv4/ip_forward; for i in %[1]s %[2]s; do echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; ip link set $i up; done
ip addr add 198.18.%[3]d.1/24 dev %[1]s; ip addr add 10.9.0.%[4]d/24 dev %[2]s
ip route add %[5]s via 198.18.%[3]d.2; ip route add %[6]s via 10.9.0.%[7]d`
	r.sh(t, fmt.Sprintf(script, "d0", "x0", 0, 1, networks[0], networks[1], 2))
	second := &rig{device: far}
	second.sh(t, fmt.Sprintf(script, "d1", "x1", 1, 2, networks[1], networks[0], 1))
	r.east = far // where d1 is
}

// wrap makes the device a router that wraps what it sends to the hosts behind east into packets of its own to the generator there, by a program of
// the kernel's (BPF_LWT_ENCAP_IP), as this kernel has no GRE and no IPIP.
func (r *rig) wrap(t *testing.T, protocol uint8, bytes int) {
	t.Helper()
	r.route(t)
	le := binary.LittleEndian
	source, target := net.IPv4(198, 18, 1, 1).To4(), net.IPv4(198, 18, 1, 2).To4()
	sum := int32(0x4500) + 0x4000 + int32(protocol)
	for _, a := range [][]byte{source, target} {
		sum += int32(binary.BigEndian.Uint16(a)) + int32(binary.BigEndian.Uint16(a[2:]))
	}
	const frame = -24
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.LWTXmit, License: "GPL", Instructions: asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R7, asm.R6, 0, asm.Word), // skb->len
		asm.Add.Imm(asm.R7, int32(bytes)),
		asm.Mov.Reg(asm.R3, asm.R7),
		asm.Add.Imm(asm.R3, sum),
		asm.Mov.Reg(asm.R4, asm.R3), asm.RSh.Imm(asm.R4, 16), asm.And.Imm(asm.R3, 0xffff), asm.Add.Reg(asm.R3, asm.R4),
		asm.Mov.Reg(asm.R4, asm.R3), asm.RSh.Imm(asm.R4, 16), asm.And.Imm(asm.R3, 0xffff), asm.Add.Reg(asm.R3, asm.R4),
		asm.Xor.Imm(asm.R3, 0xffff),
		asm.HostTo(asm.BE, asm.R3, asm.Half),
		asm.HostTo(asm.BE, asm.R7, asm.Half),
		asm.StoreImm(asm.RFP, frame, 0x45, asm.Word),
		asm.StoreMem(asm.RFP, frame+2, asm.R7, asm.Half),
		asm.StoreImm(asm.RFP, frame+4, 0, asm.Word),
		asm.StoreImm(asm.RFP, frame+8, int64(protocol)<<8|64, asm.Word),
		asm.StoreMem(asm.RFP, frame+10, asm.R3, asm.Half),
		asm.StoreImm(asm.RFP, frame+12, int64(int32(le.Uint32(source))), asm.Word),
		asm.StoreImm(asm.RFP, frame+16, int64(int32(le.Uint32(target))), asm.Word),
		asm.StoreImm(asm.RFP, frame+20, 0x80000, asm.Word), // GRE: no flags, IPv4
		asm.Mov.Reg(asm.R1, asm.R6), asm.Mov.Imm(asm.R2, 2), asm.Mov.Reg(asm.R3, asm.RFP), asm.Add.Imm(asm.R3, frame), asm.Mov.Imm(asm.R4, int32(bytes)),
		asm.FnLwtPushEncap.Call(),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.Mov.Imm(asm.R0, 128), // BPF_LWT_REROUTE
		asm.JEq.Imm(asm.R1, 0, "out"),
		asm.Mov.Imm(asm.R0, 2), // BPF_DROP
		asm.Return().WithSymbol("out"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	in(t, r.device, func() error {
		port, err := netlink.LinkByName("d1")
		if err != nil {
			return err
		}
		encap := &netlink.BpfEncap{}
		if err := encap.SetProg(nl.LWT_BPF_XMIT, program.FD(), "wrap"); err != nil {
			return err
		}
		_, network, err := net.ParseCIDR(networks[1])
		if err != nil {
			return err
		}
		return netlink.RouteReplace(&netlink.Route{Dst: network, Gw: target, LinkIndex: port.Attrs().Index, Encap: encap})
	})
}

// trunk makes the device a bridge whose port to west has the tag, and whose port to east has none, by programs of the kernel's, as this kernel has no
// VLANs.
func (r *rig) trunk(t *testing.T, vlan int32) {
	t.Helper()
	r.bridge(t, "b0", 0, 1)
	push := asm.Instructions{asm.Mov.Imm(asm.R2, 0x0081), asm.Mov.Imm(asm.R3, vlan), asm.FnSkbVlanPush.Call(), asm.Mov.Imm(asm.R0, 0), asm.Return()}
	pop := asm.Instructions{asm.FnSkbVlanPop.Call(), asm.Mov.Imm(asm.R0, 0), asm.Return()}
	in(t, r.device, func() error {
		port, err := netlink.LinkByName("d0")
		if err != nil {
			return err
		}
		for attach, instructions := range map[ebpf.AttachType]asm.Instructions{ebpf.AttachTCXIngress: pop, ebpf.AttachTCXEgress: push} {
			program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.SchedCLS, AttachType: attach, License: "GPL", Instructions: instructions})
			if err != nil {
				return err
			}
			attached, err := link.AttachTCX(link.TCXOptions{Interface: port.Attrs().Index, Program: program, Attach: attach})
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = attached.Close(); _ = program.Close() })
		}
		return nil
	})
}

// tayga makes the device a NAT64 of Debian's.
func tayga(t *testing.T, r *rig) {
	t.Helper()
	if _, err := exec.LookPath("tayga"); err != nil {
		t.Skip("needs tayga (Debian: apt-get install tayga)")
	}
	r.route(t)
	dir := t.TempDir()
	conf := filepath.Join(dir, "tayga.conf")
	text := fmt.Sprintf("tun-device nat64\nipv4-addr 198.19.0.1\nipv6-addr 2001:2:0:ff::1\nprefix 64:ff9b::/96\ndynamic-pool 198.19.1.0/24\ndata-dir %s\n", dir)
	if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r.sh(t, fmt.Sprintf(`tayga --mktun -c %s
for i in d0 nat64; do echo 0 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding
ip link set nat64 up; ip route add 198.19.0.0/16 dev nat64; ip -6 route add 64:ff9b::/96 dev nat64; ip -6 addr add 2001:2::1/64 dev d0 nodad
ip -6 route add 2001:2:0:10::/120 via 2001:2::2 dev d0`, conf))
	cmd := exec.Command("tayga", "-d", "-c", conf)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	in(t, r.device, cmd.Start)
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}
