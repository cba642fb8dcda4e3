package routes_test

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/internal/render/routes"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// The commands for Linux are typed in three namespaces. Then the hosts' own stacks reach each other through the device,
// between any addresses of their networks.
func TestTheCommandsOfLinuxMakeAPath(t *testing.T) {
	six := tagged()
	for i := range six.Generators { // this kernel may have no VLANs
		six.Generators[i].Ports[0].VLAN = 0
	}
	for name, c := range map[string]struct {
		plan     *plan.Plan
		from, to string
	}{
		"a router":         {router(), "16.0.0.9", "48.0.0.77"},
		"a router of IPv6": {six, "2001:2:0:100::9", "2001:2:0:200::77"},
		"a bridge":         {bridge(), "16.0.0.9", "48.0.0.77"},
	} {
		t.Run(name, func(t *testing.T) {
			device, west, east := netnstest.New(t), netnstest.New(t), netnstest.New(t)
			connect(t, device, map[string]*netif.Namespace{"west": west, "east": east})
			for role, ns := range map[string]*netif.Namespace{routes.Device: device, "west": west, "east": east} {
				text, err := routes.Write(c.plan, routes.Options{System: "linux", Role: role})
				if err != nil {
					t.Fatal(err)
				}
				enter(t, ns, text)
			}
			before := forwarded(t, device)
			echo(t, west, east, netip.MustParseAddr(c.from), netip.MustParseAddr(c.to))
			echo(t, east, west, netip.MustParseAddr(c.to), netip.MustParseAddr(c.from))
			if grown := forwarded(t, device) - before; c.plan.DUT.Forwarding == plan.L3 && grown < 4 {
				t.Errorf("the device forwarded %d packets", grown)
			}
		})
	}
}

// connect cables the device to each host. Both ends have the link's name.
func connect(t *testing.T, device *netif.Namespace, hosts map[string]*netif.Namespace) {
	t.Helper()
	for name, host := range hosts {
		netnstest.RunIn(t, device, func() error {
			return netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: name}, PeerName: name,
				PeerNamespace: netlink.NsFd(host.Fd())})
		})
	}
}

// enter types commands.
func enter(t *testing.T, ns *netif.Namespace, text string) {
	t.Helper()
	netnstest.RunIn(t, ns, func() error {
		if said, err := exec.Command("sh", "-euc", text).CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s\n%s", err, said, text)
		}
		return nil
	})
}

// echo sends a datagram to a host that returns it.
func echo(t *testing.T, client, server *netif.Namespace, from, to netip.Addr) {
	t.Helper()
	const port = 4501
	listen := func(ns *netif.Namespace, a netip.Addr) (c *net.UDPConn) {
		netnstest.RunIn(t, ns, func() (err error) {
			c, err = net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.AddrPortFrom(a, port)))
			return err
		})
		return c
	}
	sink, source := listen(server, to), listen(client, from)
	defer func() { _, _ = sink.Close(), source.Close() }()
	deadline := time.Now().Add(10 * time.Second)
	go func() {
		_ = sink.SetDeadline(deadline)
		for {
			b := make([]byte, 64)
			n, peer, err := sink.ReadFromUDPAddrPort(b)
			if err != nil {
				return
			}
			_, _ = sink.WriteToUDPAddrPort(b[:n], peer)
		}
	}()
	b := make([]byte, 64)
	for time.Now().Before(deadline) { // the first ones may be lost while the links come up
		_, _ = source.WriteToUDPAddrPort([]byte("there and back"), netip.AddrPortFrom(to, port))
		_ = source.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
		if n, peer, err := source.ReadFromUDPAddrPort(b); err == nil && string(b[:n]) == "there and back" && peer.Addr() == to {
			return
		}
	}
	t.Errorf("no datagram came from %s to %s and back", from, to)
}

// forwarded is how many packets a namespace's kernel forwarded, of IPv4 and IPv6.
func forwarded(t *testing.T, ns *netif.Namespace) (packets int) {
	t.Helper()
	netnstest.RunIn(t, ns, func() error {
		four, err := os.ReadFile("/proc/thread-self/net/snmp")
		if err != nil {
			return err
		}
		six, err := os.ReadFile("/proc/thread-self/net/snmp6")
		if err != nil {
			return err
		}
		var ip []string // a line of names, then a line of values
		for line := range strings.Lines(string(four)) {
			if strings.HasPrefix(line, "Ip: ") {
				ip = append(ip, line)
			}
		}
		place := slices.Index(strings.Fields(ip[0]), "ForwDatagrams")
		packets, err = strconv.Atoi(strings.Fields(ip[1])[place])
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(six)) {
			if fields := strings.Fields(line); fields[0] == "Ip6OutForwDatagrams" {
				more, err := strconv.Atoi(fields[1])
				if err != nil {
					return err
				}
				packets += more
			}
		}
		return nil
	})
	return packets
}
