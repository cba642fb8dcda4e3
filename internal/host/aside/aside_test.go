package aside_test

import (
	"context"
	"errors"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/aside"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func listen(t *testing.T, address string, links ...string) net.Listener {
	t.Helper()
	l, err := aside.Listen(t.Context(), address, links)
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// silence is how long a call waits before it counts as unheard. What is heard answers within less than a millisecond.
const silence = 500 * time.Millisecond

// heard says whether a call is answered.
func heard(dialer net.Dialer, address string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), silence)
	defer cancel()
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func TestConnectionsFromALinkAreNotAccepted(t *testing.T) {
	for name, c := range map[string]struct {
		links []string
		want  bool
	}{
		"no links":                        {nil, true},
		"a link that is no interface":     {[]string{"no-such-link"}, true},
		"the interface by which it comes": {[]string{"lo"}, false},
		"that one behind another":         {[]string{"no-such-link", "lo"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			l := listen(t, "127.0.0.1:0", c.links...)
			if got := heard(net.Dialer{}, l.Addr().String()); got != c.want {
				t.Errorf("heard: %t, want %t", got, c.want)
			}
		})
	}
}

// namespace is a pod's.
func namespace(t *testing.T) *netif.Namespace {
	t.Helper()
	ns := netnstest.New(t)
	must(t, ns.Do(func() error { return up("lo") }))
	return ns
}

func up(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(link)
}

// cable joins two pods by interfaces of one name.
func cable(t *testing.T, name string, a, b *netif.Namespace, addressA, addressB string) {
	t.Helper()
	must(t, a.Do(func() error {
		return netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name, PeerNamespace: netlink.NsFd(b.Fd())})
	}))
	for ns, text := range map[*netif.Namespace]string{a: addressA, b: addressB} {
		must(t, ns.Do(func() error {
			link, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			address, err := netlink.ParseAddr(text)
			if err != nil {
				return err
			}
			if err := netlink.AddrAdd(link, address); err != nil {
				return err
			}
			return netlink.LinkSetUp(link)
		}))
	}
}

// byInterface calls from an address by an interface, whatever the routes say: a device under test does with its own
// packets what it wants.
func byInterface(name, from string) net.Dialer {
	return net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}, Control: func(_, _ string, conn syscall.RawConn) error {
		var failed error
		if err := conn.Control(func(fd uintptr) { failed = unix.BindToDevice(int(fd), name) }); err != nil {
			return err
		}
		return failed
	}}
}

// The device is on a link of the generator's, and on the pods' network as any pod is. It knows the generator's
// addresses on both.
//
//	generator eth0 10.0.0.1 ──── pods' network ──── 10.0.0.2 eth0 device
//	          west 192.0.2.1 ─── link under test ── 192.0.2.2 west
//	          east 198.51.100.1 ─────── another ─── 198.51.100.2 east
func TestADeviceCannotDriveAGeneratorFromTheLink(t *testing.T) {
	generator, device := namespace(t), namespace(t)
	cable(t, "eth0", generator, device, "10.0.0.1/24", "10.0.0.2/24")
	cable(t, "west", generator, device, "192.0.2.1/24", "192.0.2.2/24")
	cable(t, "east", generator, device, "198.51.100.1/24", "198.51.100.2/24")
	// a route that who binds to the link takes, and nobody else, as the pods' network's is the better one
	must(t, device.Do(func() error {
		link, err := netlink.LinkByName("west")
		if err != nil {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: &net.IPNet{IP: net.IPv4(10, 0, 0, 0), Mask: net.CIDRMask(24, 32)}, Gw: net.IPv4(192, 0, 2, 1), Priority: 1000})
	}))
	// as pods' often are: what comes back by another way is taken
	for _, ns := range []*netif.Namespace{generator, device} {
		must(t, ns.Do(func() (err error) {
			for _, s := range []string{"all", "west", "eth0"} {
				err = errors.Join(err, os.WriteFile("/proc/sys/net/ipv4/conf/"+s+"/rp_filter", []byte("0"), 0o644))
			}
			return err
		}))
	}
	var open, shut net.Listener
	must(t, generator.Do(func() (err error) {
		if open, err = net.Listen("tcp", ":4501"); err != nil {
			return err
		}
		shut, err = aside.Listen(t.Context(), ":4502", []string{"east", "west"})
		return err
	}))
	t.Cleanup(func() { _, _ = open.Close(), shut.Close() })
	call := func(from *netif.Namespace, dialer net.Dialer, address string) (was bool) {
		must(t, from.Do(func() error { was = heard(dialer, address); return nil }))
		return was
	}
	// answered is the same of a call that is to be: cables that were just set up may take a moment to carry anything.
	answered := func(from *netif.Namespace, dialer net.Dialer, address string) bool {
		for range 20 {
			if call(from, dialer, address) {
				return true
			}
		}
		return false
	}
	for name, c := range map[string]struct {
		from    *netif.Namespace
		dialer  net.Dialer
		address string
		aside   bool
	}{
		"by the pods' network":                        {device, net.Dialer{}, "10.0.0.1", true},
		"by itself, as a probe":                       {generator, net.Dialer{}, "127.0.0.1", true},
		"by the link, at the link's address":          {device, net.Dialer{}, "192.0.2.1", false},
		"by the other link, at its address":           {device, net.Dialer{}, "198.51.100.1", false},
		"by the link, at the pods' network's address": {device, byInterface("west", "192.0.2.2"), "10.0.0.1", false},
	} {
		t.Run(name, func(t *testing.T) {
			if !answered(c.from, c.dialer, c.address+":4501") {
				t.Error("where nobody listens aside it isn't heard either, so that this test proves nothing")
			}
			if got := call(c.from, c.dialer, c.address+":4502"); got != c.aside {
				t.Errorf("heard: %t, want %t", got, c.aside)
			}
		})
	}
	t.Run("another program is shut off the link, too", func(t *testing.T) {
		must(t, generator.Do(func() error {
			shut, err := aside.Shut([]string{"east", "west", "no-such-link"})
			if len(shut) != 2 {
				t.Errorf("shut are %q", shut)
			}
			return err
		}))
		for address, want := range map[string]bool{"10.0.0.1:4501": true, "192.0.2.1:4501": false, "198.51.100.1:4501": false} {
			if got := call(device, net.Dialer{}, address); got != want {
				t.Errorf("%s is heard: %t, want %t", address, got, want)
			}
		}
	})
}
