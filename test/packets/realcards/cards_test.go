//go:build full

package realcards

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/test/rigs/machine"
)

// leaveXDP names the interface on which this program, started in the machine, leaves a program that drops all frames.
const leaveXDP = "LINERATE_LEAVE_XDP"

func TestMain(m *testing.M) {
	if name := os.Getenv(leaveXDP); name != "" {
		if err := dropAll(name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if order := strings.Split(os.Getenv(flood), "/"); len(order) == 3 {
		if err := sendFlood(order[0], order[1], order[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func dropAll(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	program, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "GPL", Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R0, 1 /* XDP_DROP */), asm.Return()}})
	if err != nil {
		return err
	}
	return netlink.LinkSetXdpFd(link, program.FD())
}

// row is a lab that lacks one thing.
type row struct {
	name string
	harm string   // breaks it
	args []string // of linerate doctor
	says string   // doctor's sentence
	// run is what the test's own message says, where the test meets the fault. Empty means that no test is run.
	run       string
	frameSize int
	// mends is what a person does who reads doctor's arrow. Empty means the arrow's own words, up to a semicolon that
	// begins advice for clusters.
	mends string
}

const ownNode = "is a virtual function, and what its port"

func rows() []row {
	self, _ := os.Executable() // a missing name fails where it is used
	return []row{
		{name: "a port that is down", harm: `ip link set ens1f0 down
			until [ "$(cat /sys/class/net/ens1f0v0/carrier)" = 0 ]; do sleep 0.1; done`, args: []string{"ens1f0"},
			says: "fail port ens1f0: it is down, and a virtual function has no link",
			run:  "interface ens1f0v0 (link west) has no carrier: it is a virtual function of port ens1f0"},
		{name: "a VLAN that the port sets", harm: "ip link set ens1f0 vf 1 vlan 100", args: []string{"ens1f0"},
			says: "vf 1 (0000", run: ownNode},
		{name: "a limit that the port sets", harm: "ip link set ens1f0 vf 0 max_tx_rate 100", args: []string{"ens1f0"},
			says: "vf 0 (ens1f0v0): the port limits what they send"},
		{name: "pause frames", args: []string{"ens1f0"},
			harm: "ethtool -A ens1f0 autoneg on" + awaitLinks + "ethtool -A ens1f0 rx off tx off" + awaitLinks,
			says: "port ens1f0: pause frames are on", mends: "ethtool -A ens1f0 autoneg off rx off tx off"},
		{name: "no trust", harm: "ip link set ens1f0 vf 0 trust off", args: []string{"ens1f0", "--engine", "TRex"},
			says: "vf 0 (ens1f0v0): they aren't trusted"},
		{name: "one MAC twice", harm: "ip link set ens1f0 vf 1 mac $(cat /sys/class/net/ens1f0v0/address)",
			args: []string{"ens1f0"}, says: "another function of the port, or the port, has the same MAC",
			mends: "ip link set ens1f0 vf 1 mac $(ip netns exec dut cat /sys/class/net/ens1f0v1/address)"},
		{name: "too small an MTU", args: []string{"ens1f0", "--frame-size", "4018"}, frameSize: 4018,
			says: "its MTU of 1500 lets frames of 1518 bytes pass at most, its functions' too, and the test has 4018",
			run:  "frames of 4018 bytes don't fit interface ens1f0v0 (link west), whose MTU is 1500"},
		{name: "an XDP program that another pod left", harm: leaveXDP + "=ens1f0v0 " + self, args: []string{"ens1f0"},
			says: "vf 0 (ens1f0v0): an XDP program that somebody left is on them",
			run:  "an XDP program of somebody else"},
		{name: "filters that another pod left", harm: `tc qdisc add dev ens1f0v0 clsact
			tc filter add dev ens1f0v0 ingress matchall action drop; tc filter add dev ens1f0v0 egress matchall action drop`,
			args: []string{"ens1f0"}, says: "vf 0 (ens1f0v0): filters of tc that somebody left are on them", run: proven},
		{name: "promiscuous mode that another pod left",
			harm: "ip link set ens1f0v0 promisc on", args: []string{"ens1f0"},
			says: "vf 0 (ens1f0v0): they are promiscuous", run: proven},
		{name: "addresses that another pod left", harm: "ip address add 192.0.2.1/24 dev ens1f0v0",
			args: []string{"ens1f0"}, says: "vf 0 (ens1f0v0): they have addresses", run: proven},
		{name: "a short receive ring", harm: "ethtool -G ens1f0v0 rx 256", args: []string{"ens1f0"},
			says: "vf 0 (ens1f0v0): their receive rings are short"},
		{name: "interrupts on processors of another NUMA node", harm: `
			for i in $(ls /sys/class/net/ens1f0v0/device/msi_irqs); do echo 1 > /proc/irq/$i/smp_affinity_list; done`,
			args: []string{"ens1f0"}, says: "vf 0 (ens1f0v0): processors of another NUMA node handle their interrupts"},
		{name: "no functions", args: []string{"ens1f2"}, says: "port ens1f2: it has none of the 7 virtual functions"},
		{name: "ports on two NUMA nodes", says: "NUMA nodes: ens1f0 is on node 0, ens1f1 is on node 1", mends: "none"},
		{name: "no hugepages on that node",
			harm: "echo 0 > /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages",
			args: []string{"ens1f1", "--engine", "TRex"},
			says: "hugepages of NUMA node 1: it has 0 MiB, and a TRex on port ens1f1 of that node needs 1024", mends: "none"},
		{name: "a port that isn't there", args: []string{"ens9"}, says: "port ens9: this machine has no such port of a card, " +
			"but ens1f0, ens1f1, ens1f2", mends: "none"},
	}
}

// TestWhatACardShows breaks one thing after the other in one machine.
func TestWhatACardShows(t *testing.T) {
	l := start(t, machine.Description{NUMANodes: 2, Hugepages: 16, Ports: []machine.Port{
		{Functions: 2}, {Functions: 2, NUMANode: 1}, {}}})
	l.must(t, layRouter)
	t.Run("a lab that works", func(t *testing.T) {
		if said := l.doctor(t, "ens1f0"); !strings.Contains(said, "ok port ens1f0: igb, NUMA node 0, MTU 1500, 2 of 7 "+
			"virtual functions; its clock stamps PTP frames") {
			t.Errorf("doctor: %s", said)
		}
		if said := l.run(t, "L3", 128); !strings.Contains(said, proven) || !strings.Contains(said,
			"receive drops are invisible: the generators' ports on west, east (igbvf)") {
			t.Errorf("run: %s", said)
		}
	})
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) { l.play(t, r) })
	}
	t.Run("paths by driver", l.pathsByDriver)
	t.Run("a port that goes down under its functions in a run", l.portGoesDown)
	t.Run("drops that a function's driver hides", l.hiddenDrops)
	t.Run("the spoof check under a bridge", l.spoofCheckUnderABridge)
	t.Run("a wrong driver", l.wrongDriver)
}

func (l *lab) play(t *testing.T, r row) {
	if r.harm != "" {
		l.must(t, r.harm)
	}
	said := l.doctor(t, r.args...)
	if !strings.Contains(said, r.says) {
		t.Errorf("doctor doesn't say %q: %s", r.says, said)
	}
	if r.run != "" {
		if ran := l.run(t, "L3", max(r.frameSize, 128)); !strings.Contains(ran, r.run) {
			t.Errorf("the test doesn't say %q: %s", r.run, ran)
		}
	}
	switch r.mends {
	case "none":
		return
	case "":
		l.must(t, arrow(t, said, r.says)+"\n")
	default:
		l.must(t, r.mends)
	}
	l.must(t, awaitLinks)
	if said = l.doctor(t, r.args...); strings.Contains(said, r.says) {
		t.Errorf("doctor still says: %s", said)
	}
}

// arrow is what stands behind the arrow after a sentence, up to the next finding.
func arrow(t *testing.T, said, sentence string) string {
	t.Helper()
	_, after, _ := strings.Cut(said, sentence)
	_, fix, found := strings.Cut(after, "→ ")
	if !found {
		t.Fatalf("no way out after %q: %s", sentence, said)
	}
	for _, end := range []string{" ok ", " warn ", " fail ", "; in a cluster", " (so for each function)"} {
		fix, _, _ = strings.Cut(fix, end)
	}
	return fix
}

// spoofCheckUnderABridge: a bridge sends with the source MACs of others. QEMU's card takes the setting and drops nothing
// by it, so that only doctor can show the fault here. A function gets frames for its own MAC alone, and for those that
// the bridge adds (fdb, self).
func (l *lab) spoofCheckUnderABridge(t *testing.T) {
	l.must(t, `west=$(cat /sys/class/net/ens1f0v0/address) east=$(cat /sys/class/net/ens1f1v0/address)
ip netns exec dut sh -euc "
	ip address flush dev ens1f0v1; ip address flush dev ens1f1v1
	ip link add br0 type bridge; ip link set br0 up
	ip link set ens1f0v1 master br0; ip link set ens1f1v1 master br0
	bridge fdb add $east dev ens1f0v1 self; bridge fdb add $west dev ens1f1v1 self
	bridge fdb add $west dev ens1f0v1 master static; bridge fdb add $east dev ens1f1v1 master static
	for name in ens1f0v1 ens1f1v1; do bridge link set dev \$name flood off mcast_flood off bcast_flood off; done"
for port in ens1f0 ens1f1; do ip link set $port vf 1 spoofchk on; done`)
	l.must(t, awaitLinks)
	args := []string{"ens1f0", "--bridge"}
	const says = "the spoof check is on, and drops what a bridge forwards"
	said := l.doctor(t, args...)
	if !strings.Contains(said, says) {
		t.Fatalf("doctor: %s", said)
	}
	l.must(t, arrow(t, said, says)+"; ip link set ens1f1 vf 1 spoofchk off")
	if said = l.doctor(t, args...); strings.Contains(said, says) {
		t.Errorf("doctor still says: %s", said)
	}
	if ran := l.run(t, "L2", 128); !strings.Contains(ran, proven) {
		t.Errorf("without it: %s", ran)
	}
}

// portGoesDown takes the port down as soon as the load is there.
func (l *lab) portGoesDown(t *testing.T) {
	said := flat(l.must(t, fmt.Sprintf(`cat > /run/test.yaml <<'END'
%s
END
%s run /run/test.yaml --ports ens1f0v0,ens1f1v0 --save "" > /run/said 2>&1 &
until grep -q asked /run/said; do sleep 0.1; kill -0 $! || break; done
ip link set ens1f0 down
wait $! || true
cat /run/said`, loadTest("L3", 128, "60s"), l.linerate)))
	const want = "the link of west"
	if !strings.Contains(said, want) || strings.Contains(said, "Saturated") {
		t.Errorf("it doesn't say %q: %s", want, said)
	}
	l.must(t, "ip link set ens1f0 up"+awaitLinks)
}

// hiddenDrops has a function receive more than its ring holds while nobody empties it. No counter of its interface
// shows what it lost, as the engine says of its driver.
func (l *lab) hiddenDrops(t *testing.T) {
	self, _ := os.Executable() // a missing name fails where it is used
	said := l.must(t, fmt.Sprintf(`
read_counters() { ip netns exec dut sh -c 'cd /sys/class/net/ens1f1v1/statistics; cat rx_packets;
	cat rx_dropped rx_missed_errors rx_fifo_errors rx_over_errors rx_errors' | tr '\n' ' '; }
ip netns exec dut sh -euc 'echo 1 > /sys/class/net/ens1f1v1/threaded; ethtool -G ens1f1v1 rx 80'
%s
flood() { %s=ens1f1v0/$(ip netns exec dut cat /sys/class/net/ens1f1v1/address)/$1 chrt -f 60 %s; }
before=$(read_counters); now=$before
for i in $(seq 150); do # until the port lets frames through to the function, whose new ring restarted it
	[ "$now" = "$before" ] || break
	flood 1; sleep 0.2; now=$(read_counters)
done
while [ "$now" != "$before" ]; do before=$now; sleep 0.5; now=$(read_counters); done
echo "$before"
for processor in 0 1; do taskset -c $processor chrt -f 50 timeout 3 chrt -f 40 sh -c 'while :; do :; done' & done
sleep 0.5
flood %d
wait
calm=0; last=$before
for i in $(seq 150); do # until the function has read what its ring held
	now=$(read_counters); calm=$((calm + 1))
	[ "$now" != "$before" ] && [ "$now" = "$last" ] || calm=0
	[ $calm -lt 10 ] || break
	last=$now; sleep 0.2
done
echo "$now"
ip netns exec dut sh -euc 'echo 0 > /sys/class/net/ens1f1v1/threaded; ethtool -G ens1f1v1 rx 1024'`, awaitLinks, flood, self, floodFrames))
	var before, after [6]int64
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i, counters := range []*[6]int64{&before, &after} {
		fields := strings.Fields(lines[min(i, len(lines)-1)])
		for j := range min(len(counters), len(fields)) {
			counters[j], _ = strconv.ParseInt(fields[j], 10, 64) // what is no number is 0, and fails below
		}
	}
	received := after[0] - before[0]
	if received <= 0 || received >= floodFrames/2 {
		t.Fatalf("it received %d of %d frames: too many or too few were lost to see who counts them: %s", received, floodFrames,
			said)
	}
	for i := 1; i < len(after); i++ {
		if after[i] != before[i] {
			t.Errorf("a counter shows drops, and the engine calls igbvf's hidden: %s", said)
		}
	}
	l.must(t, awaitLinks)
}

// flood is INTERFACE/MAC/FRAMES: what this program, started in the machine, sends to whom.
const (
	flood       = "LINERATE_FLOOD"
	floodFrames = 2000
)

func sendFlood(name, mac, count string) error {
	frames, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	link, err := net.InterfaceByName(name)
	if err != nil {
		return err
	}
	destination, err := net.ParseMAC(mac)
	if err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err != nil {
		return err
	}
	// IPv4, as the kernel counts frames of types that it doesn't know as dropped
	frame := slices.Concat([]byte(destination), []byte(link.HardwareAddr), []byte{0x08, 0x00})
	frame = append(frame, make([]byte, 50)...)
	for sent := 0; sent < frames; {
		switch err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: link.Index}); err {
		case nil:
			sent++
		case unix.ENOBUFS, unix.EAGAIN:
		default:
			return err
		}
	}
	return nil
}

// pathsByDriver: what the engine says of how it sends, by the card's own driver and the function's.
func (l *lab) pathsByDriver(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"igb, more threads than queues": {[]string{"ens1f2", "--cores", "3"}, "ens1f2: sends by AF_XDP (not by live frames"},
		"igb, live frames": {[]string{"ens1f2", "--path", "live"},
			"the driver of ens1f2 (igb) sends nothing for XDP as it is now"},
		"igb, zero copy": {[]string{"ens1f2", "--path", "zero_copy"},
			"ens1f2: sends by AF_XDP (no zero copy: operation not supported)"},
		"igbvf": {[]string{"ens1f0v0"}, "ens1f0v0: sends by AF_XDP (not by live frames"},
		"igbvf, zero copy": {[]string{"ens1f0v0", "--path", "zero_copy"},
			"ens1f0v0: sends by AF_XDP (no zero copy: operation not supported)"},
		"igbvf, live frames": {[]string{"ens1f0v0", "--path", "live"},
			"the driver of ens1f0v0 (igbvf) sends nothing for XDP as it is now"},
	} {
		t.Run(name, func(t *testing.T) {
			said, _ := l.answer(t, "", append([]string{"timeout", "-s", "INT", "10", l.linerate, "generator", "--listen",
				"127.0.0.1:0", "--secret-file", "", "--ports"}, c.args...)...)
			if !strings.Contains(flat(said), c.want) {
				t.Errorf("it says %s", said)
			}
		})
	}
}

// wrongDriver: TRex gets a function whose kernel driver has it. The launcher's words are the condition's.
func (l *lab) wrongDriver(t *testing.T) {
	l.must(t, "modprobe vfio-pci")
	const says = "functions of ens1f0: they are bound to igbvf, and TRex needs vfio-pci"
	said := l.doctor(t, "ens1f0", "--engine", "TRex")
	if !strings.Contains(said, says) {
		t.Fatalf("doctor: %s", said)
	}
	address := strings.TrimSpace(l.must(t, "basename $(readlink /sys/class/net/ens1f0/device/virtfn0)"))
	if launched := l.launch(t, address); !strings.Contains(launched, "device "+address+" is bound to igbvf, and TRex needs "+
		"vfio-pci") {
		t.Errorf("the launcher: %s", launched)
	}
	l.must(t, arrow(t, said, says))
	if said = l.doctor(t, "ens1f0", "--engine", "TRex"); strings.Contains(said, says) {
		t.Errorf("doctor still says: %s", said)
	}
	if launched := l.launch(t, address); strings.Contains(launched, "is bound to igbvf") ||
		!strings.Contains(launched, "MiB of hugepages left, and TRex needs at least") {
		t.Errorf("the launcher: %s", launched)
	}
}

// launch asks the launcher of a TRex pod that was given this function, without starting a TRex.
func (l *lab) launch(t *testing.T, address string) string {
	t.Helper()
	l.must(t, fmt.Sprintf(`cat > /run/network-status <<'END'
[{"name":"lab/west","interface":"west","device-info":{"type":"pci","version":"1.1.0","pci":{"pci-address":"%s"}}}]
END`, address))
	said, _ := l.answer(t, "", l.linerate, "trex-launch", "--link", "west=lab/west", "--network-status",
		"/run/network-status", "--termination-log", "/dev/null", "--print")
	return flat(said)
}

// TestAMachineWithoutAnIOMMU has a machine of its own.
func TestAMachineWithoutAnIOMMU(t *testing.T) {
	l := start(t, machine.Description{WithoutIOMMU: true, Ports: []machine.Port{{Functions: 1}}})
	said := l.doctor(t, "--engine", "TRex")
	if !strings.Contains(said, "fail IOMMU: it is off, and vfio-pci gives no device to a TRex without it → turn on VT-d or "+
		"AMD IOMMU in the firmware, and boot with intel_iommu=on iommu=pt") {
		t.Errorf("doctor: %s", said)
	}
	l.must(t, "modprobe vfio-pci")
	address := strings.TrimSpace(l.must(t, "basename $(readlink /sys/class/net/ens1f0/device/virtfn0)"))
	if said = l.launch(t, address); !strings.Contains(said, "is bound to igbvf, and TRex needs vfio-pci; the node's IOMMU is "+
		"off") {
		t.Errorf("the launcher: %s", said)
	}
	if said = l.doctor(t); !strings.Contains(said, "warn IOMMU: it is off: the software engine needs none") {
		t.Errorf("doctor: %s", said)
	}
}
