package vitals

import (
	"net"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

func require(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cable is between two namespaces, with an address at each end.
func cable(t *testing.T, name string, a, b *netif.Namespace, addressA, addressB string) {
	t.Helper()
	require(t, a.Do(func() error {
		return netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name,
			PeerNamespace: netlink.NsFd(b.Fd())})
	}))
	for _, end := range []struct {
		ns      *netif.Namespace
		address string
	}{{a, addressA}, {b, addressB}} {
		require(t, end.ns.Do(func() error {
			link, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			address, err := netlink.ParseAddr(end.address)
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

// Linux answers at any of its addresses on any of its interfaces: a frame by a link under test for the pod's
// own address gets there.
func TestWhoIsOnALinkLearnsNothing(t *testing.T) {
	pod, runner, device := netnstest.New(t), netnstest.New(t), netnstest.New(t)
	cable(t, "eth0", pod, runner, "192.0.2.1/24", "192.0.2.2/24")
	cable(t, "west", pod, device, "198.18.0.1/24", "198.18.0.2/24")
	require(t, device.Do(func() error {
		link, err := netlink.LinkByName("west")
		if err != nil {
			return err
		}
		_, network, err := net.ParseCIDR("192.0.2.0/24")
		if err != nil {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: network,
			Gw: net.IPv4(198, 18, 0, 1)})
	}))
	require(t, pod.Do(func() error {
		lo, err := netlink.LinkByName("lo")
		if err != nil {
			return err
		}
		return netlink.LinkSetUp(lo)
	}))
	var l net.Listener
	require(t, pod.Do(func() (err error) {
		l, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "192.0.2.1:0")
		return err
	}))
	defer func() { _ = l.Close() }()
	for name, c := range map[string]struct {
		namespace *netif.Namespace
		welcome   bool
	}{"the runner": {runner, true}, "the device, by the link": {device, false}, "the pod itself": {pod, true}} {
		t.Run(name, func(t *testing.T) {
			var client net.Conn
			require(t, c.namespace.Do(func() (err error) {
				client, err = (&net.Dialer{}).DialContext(t.Context(), "tcp",
					netip.MustParseAddrPort(l.Addr().String()).String())
				return err
			}))
			defer func() { _ = client.Close() }()
			conn, err := l.Accept()
			require(t, err)
			defer func() { _ = conn.Close() }()
			var refusal error
			require(t, pod.Do(func() error { refusal = FromLinkUnderTest(conn); return nil }))
			if (refusal == nil) != c.welcome {
				t.Errorf("it is told %v", refusal)
			}
			t.Log(refusal)
		})
	}
}
