package forwarder_test

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// rig is a generator's and a forwarder's namespace, joined by one veth per link.
type rig struct {
	generator, dut *netif.Namespace
	links          []forwarder.Link
}

// linksMade counts this process's links.
var linksMade atomic.Int64

// newLinkName is a name that no other link has: the kernel's threads are named after their links, whatever the
// namespace, and outlive them a little. It is short, as they keep nine bytes of it: the link's number and the
// process's, which has 22 bits at most.
func newLinkName() string {
	return "l" + strconv.FormatInt(linksMade.Add(1)<<22|int64(os.Getpid()), 36)
}

// newRig makes links with 198.18.N.2 and 2001:2:0:N::2 at the generator and .1 at the forwarder; the network
// 16.N.0.0/16 is behind each.
func newRig(t *testing.T, links int) *rig {
	t.Helper()
	netnstest.Root(t)
	r := &rig{generator: netnstest.New(t), dut: netnstest.New(t)}
	for i := range links {
		r.addLink(t, i)
	}
	return r
}

func (r *rig) addLink(t *testing.T, i int) {
	t.Helper()
	name := newLinkName()
	netnstest.RunIn(t, r.generator, func() error {
		attrs := netlink.NewLinkAttrs()
		attrs.Name, attrs.HardwareAddr, attrs.MTU = name, generatorMAC(i), 2000
		veth := netlink.NewVeth(attrs)
		veth.PeerName, veth.PeerHardwareAddr, veth.PeerNamespace, veth.PeerMTU = name, dutMAC(i),
			netlink.NsFd(r.dut.Fd()), 2000
		if err := netlink.LinkAdd(veth); err != nil {
			return err
		}
		if err := os.WriteFile("/proc/sys/net/ipv6/conf/"+name+"/disable_ipv6", []byte("1"), 0); err != nil {
			return err
		}
		return netlink.LinkSetUp(veth)
	})
	r.links = append(r.links, forwarder.Link{
		Interface: name,
		Addresses: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("198.18.%d.1/24", i)),
			netip.MustParsePrefix(fmt.Sprintf("2001:2:0:%x::1/64", i))},
		Generator: []netip.Addr{netip.MustParseAddr(fmt.Sprintf("198.18.%d.2", i)),
			netip.MustParseAddr(fmt.Sprintf("2001:2:0:%x::2", i))},
		GeneratorMAC: forwarder.MAC(generatorMAC(i)),
		Networks: []netip.Prefix{netip.MustParsePrefix(fmt.Sprintf("16.%d.0.0/16", i)),
			netip.MustParsePrefix(fmt.Sprintf("2001:2:0:1%02x::/64", i))},
	})
}

func generatorMAC(i int) net.HardwareAddr { return net.HardwareAddr{2, 0, 0, 0, byte(i), 2} }
func dutMAC(i int) net.HardwareAddr       { return net.HardwareAddr{2, 0, 0, 0, byte(i), 1} }

// bothWays are the directions between the links 0 and 1, 2 and 3, and so on.
func (r *rig) bothWays() []forwarder.Direction {
	var ds []forwarder.Direction
	for i := 0; i < len(r.links); i += 2 {
		a, b := r.links[i].Interface, r.links[i+1].Interface
		ds = append(ds, forwarder.Direction{From: a, To: b}, forwarder.Direction{From: b, To: a})
	}
	return ds
}

// setUp makes the rig's forwarder of a specification, between all links.
func (r *rig) setUp(t *testing.T, spec forwarder.Spec) forwarder.Spec {
	t.Helper()
	spec.Links, spec.Directions = r.links, r.bothWays()
	info, err := forwarder.Configure(t.Context(), r.dut, spec)
	if err != nil {
		t.Fatal(err)
	}
	if len(info.Missing) > 0 {
		t.Errorf("not set up: %q", info.Missing)
	}
	return spec
}

func (r *rig) configure(t *testing.T, mode plan.Forwarding, limit *plan.Limit) {
	t.Helper()
	r.setUp(t, forwarder.Spec{Forwarding: mode, Limit: limit})
}

// plainGenerator leaves the generator's frames to nobody else to finish, as the lab does.
func (r *rig) plainGenerator(t *testing.T) {
	t.Helper()
	for _, l := range r.links {
		netnstest.RunIn(t, r.generator,
			func() error { return netif.SetOffload(l.Interface, netif.TCPSegmentation, false) })
	}
}

// received is the kernel's count of what a generator's interface received, FCS added.
func (r *rig) received(t *testing.T, link int) units.Traffic {
	t.Helper()
	var got units.Traffic
	netnstest.RunIn(t, r.generator, func() error {
		l, err := netlink.LinkByName(r.links[link].Interface)
		if err != nil {
			return err
		}
		s := l.Attrs().Statistics
		got = units.Traffic{Packets: int64(s.RxPackets), Bytes: int64(s.RxBytes) + int64(s.RxPackets)*units.FCSBytes}
		return nil
	})
	return got
}

// socket opens a packet socket on a generator's interface.
func (r *rig) socket(t *testing.T, link int) int {
	t.Helper()
	fd := -1
	netnstest.RunIn(t, r.generator, func() error {
		l, err := netlink.LinkByName(r.links[link].Interface)
		if err != nil {
			return err
		}
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		return unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: networkOrder(unix.ETH_P_ALL), Ifindex: l.Attrs().Index})
	})
	t.Cleanup(func() { _ = unix.Close(fd) })
	return fd
}

func networkOrder(v uint16) uint16 { return v<<8 | v>>8 }

// send offers frames, in turn, at a rate for a time, and returns how many left and the time from the first to
// the last. It keeps to the schedule, catching up in bursts of at most batch, and ends with the last frame that
// is due.
func send(t *testing.T, fd int, frames [][]byte, perSecond float64, d time.Duration) (sent int64, took time.Duration) {
	t.Helper()
	return sendWatched(t, fd, frames, perSecond, d, func(time.Time, []byte) {})
}

// sendWatched does that, and tells when each frame left.
func sendWatched(t *testing.T, fd int, frames [][]byte, perSecond float64, d time.Duration,
	record func(time.Time, []byte)) (sent int64, took time.Duration) {
	t.Helper()
	const batch = 32
	var first time.Duration
	total := int64(perSecond * d.Seconds())
	for start := time.Now(); sent < total; {
		due := min(int64(perSecond*time.Since(start).Seconds()), total) - sent
		if due < 1 {
			time.Sleep(20 * time.Microsecond)
			continue
		}
		for range min(due, batch) {
			frame := frames[sent%int64(len(frames))]
			if _, err := unix.Write(fd, frame); err != nil {
				t.Errorf("send: %v", err)
				return sent, took
			}
			record(time.Now(), frame)
			sent++
		}
		took = time.Since(start) - first
		if first == 0 {
			first, took = took, 0
		}
	}
	return sent, took
}

// frame4 is a UDP frame of a size (FCS included, not part of it) from the network behind one link to the one
// behind the other.
func frame4(from, to, size int) []byte {
	f := make([]byte, size-units.FCSBytes)
	copy(f, dutMAC(from))
	copy(f[6:], generatorMAC(from))
	binary.BigEndian.PutUint16(f[12:], unix.ETH_P_IP)
	ip := f[14:]
	ip[0], ip[8], ip[9] = 0x45, 64, unix.IPPROTO_UDP
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)))
	copy(ip[12:], []byte{16, byte(from), 0, 1})
	copy(ip[16:], []byte{16, byte(to), 0, 1})
	binary.BigEndian.PutUint16(ip[10:], checksum(ip[:20]))
	udp(ip[20:])
	return f
}

func frame6(from, to, size int) []byte {
	f := make([]byte, size-units.FCSBytes)
	copy(f, dutMAC(from))
	copy(f[6:], generatorMAC(from))
	binary.BigEndian.PutUint16(f[12:], unix.ETH_P_IPV6)
	ip := f[14:]
	ip[0], ip[6], ip[7] = 0x60, unix.IPPROTO_UDP, 64
	binary.BigEndian.PutUint16(ip[4:], uint16(len(ip)-40))
	source, destination := netip.MustParseAddr(fmt.Sprintf("2001:2:0:1%02x::1", from)),
		netip.MustParseAddr(fmt.Sprintf("2001:2:0:1%02x::1", to))
	copy(ip[8:], source.AsSlice())
	copy(ip[24:], destination.AsSlice())
	udp(ip[40:])
	return f
}

// tcpSegments are segments of one connection in order, as a receiver would merge them.
func tcpSegments(from, to, count, size int) [][]byte {
	segments := make([][]byte, count)
	payload := size - units.FCSBytes - 14 - 20 - 20
	for i := range segments {
		f := frame4(from, to, size)
		ip := f[14:]
		ip[9] = unix.IPPROTO_TCP
		ip[6] = 0x40 // don't fragment
		binary.BigEndian.PutUint16(ip[10:], 0)
		binary.BigEndian.PutUint16(ip[10:], checksum(ip[:20]))
		tcp := ip[20:]
		clear(tcp)
		binary.BigEndian.PutUint16(tcp, 1025)
		binary.BigEndian.PutUint16(tcp[2:], 80)
		binary.BigEndian.PutUint32(tcp[4:], uint32(1+i*payload))
		tcp[12], tcp[13] = 5<<4, 0x10
		binary.BigEndian.PutUint16(tcp[14:], 0xffff)
		pseudo := append(append([]byte{}, ip[12:20]...), 0, unix.IPPROTO_TCP, byte(len(tcp)>>8), byte(len(tcp)))
		binary.BigEndian.PutUint16(tcp[16:], checksum(append(pseudo, tcp...)))
		segments[i] = f
	}
	return segments
}

func udp(b []byte) {
	binary.BigEndian.PutUint16(b, 1025)
	binary.BigEndian.PutUint16(b[2:], 12)
	binary.BigEndian.PutUint16(b[4:], uint16(len(b)))
}

func checksum(b []byte) uint16 {
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}
