package lab_test

import (
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/lab"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/netnstest"
)

// deviceNamespace stands for a machine with Ethernet interfaces eth1 and eth2, cabled to a device that is eth3
// and eth4.
func deviceNamespace(t *testing.T) *netif.Namespace {
	t.Helper()
	netnstest.Root(t)
	ns, err := netif.NewNamespace()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	netnstest.RunIn(t, ns, func() error {
		for _, names := range [][2]string{{"eth1", "eth3"}, {"eth2", "eth4"}} {
			attrs := netlink.NewLinkAttrs()
			attrs.Name = names[0]
			veth := netlink.NewVeth(attrs)
			veth.PeerName = names[1]
			if err := netlink.LinkAdd(veth); err != nil {
				return err
			}
		}
		return nil
	})
	setUp(t, ns, "eth1", "eth2", "eth3", "eth4")
	return ns
}

func setUp(t *testing.T, ns *netif.Namespace, names ...string) {
	t.Helper()
	netnstest.RunIn(t, ns, func() error {
		for _, name := range names {
			link, err := netlink.LinkByName(name)
			if err != nil {
				return err
			}
			if err := netlink.LinkSetUp(link); err != nil {
				return err
			}
		}
		return nil
	})
}

func deviceTopology(t *testing.T, ports ...string) lab.Topology {
	t.Helper()
	return topologyOf(t, planOf([]string{"west", "east"}, dutType("Device")), lab.Options{Ports: ports})
}

func TestADeviceIsReachedOverInterfacesOfThisNamespace(t *testing.T) {
	ns := deviceNamespace(t)
	// The parent reaches its engine over the loopback of its namespace, and so does this test.
	setUp(t, ns, "lo")
	cmd := parentCommand(t)
	started := startParent(t, cmd, ns, deviceTopology(t, "eth2", "eth1"))
	var v view
	netnstest.RunIn(t, ns, func() error {
		c, err := started.Key.Dial(t.Context(), credential.Control, started.Address)
		if err != nil {
			return err
		}
		return answerQuestions(c, "view", &v)
	})
	if !slices.Equal(v.Interfaces, []string{"eth2", "eth1"}) {
		t.Errorf("the engine has %v", v.Interfaces)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "its process is gone", func() bool { return !exists("/proc", v.PID) })
	netnstest.RunIn(t, ns, func() error {
		_, err := netlink.LinkByName("eth1") // the interfaces are the user's, and stay
		return err
	})
}

func TestAnInterfaceThatMustNotOrCannotBeUsedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*netif.Namespace) error
		words string
	}{
		"it is down": {func(*netif.Namespace) error {
			link, err := netlink.LinkByName("eth1")
			if err != nil {
				return err
			}
			return netlink.LinkSetDown(link)
		}, `interface eth1 (link west) is down: set it up with "ip link set eth1 up"`},
		"its cable is unplugged": {func(*netif.Namespace) error {
			link, err := netlink.LinkByName("eth3")
			if err != nil {
				return err
			}
			return netlink.LinkSetDown(link)
		}, "interface eth1 (link west) has no carrier"},
		"it carries the default route": {func(*netif.Namespace) error {
			link, err := netlink.LinkByName("eth1")
			if err != nil {
				return err
			}
			return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Scope: netlink.SCOPE_LINK,
				Dst: &net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}})
		}, "interface eth1 (link west) carries this machine's default route"},
		"it carries the IPv6 default route": {func(*netif.Namespace) error {
			link, err := netlink.LinkByName("eth1")
			if err != nil {
				return err
			}
			return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: &net.IPNet{IP: net.IPv6zero,
				Mask: net.CIDRMask(0, 128)}})
		}, "interface eth1 (link west) carries this machine's default route"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := deviceNamespace(t)
			var err error
			netnstest.RunIn(t, ns, func() error {
				if err := c.spoil(ns); err != nil {
					return err
				}
				var l *lab.Lab
				if l, err = lab.Start(t.Context(), deviceTopology(t, "eth1", "eth2"),
					lab.Host{Path: "/nonexistent"}); err == nil {
					_ = l.Close()
				}
				return nil
			})
			wantFault(t, err, lab.BadInput, c.words)
		})
	}
}

// TestAUserWithoutRightsLearnsTheWayOut takes away what a lab needs, in user namespaces that stand for machines
// with other settings.
func TestAUserWithoutRightsLearnsTheWayOut(t *testing.T) {
	netnstest.Root(t)
	ordinary := []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}
	withoutNamespaces := []string{"unshare", "-U", "-r", "sh", "-c",
		"echo 0 > /proc/sys/user/max_net_namespaces && exec \"$@\"", "sh"}
	reference := topologyOf(t, planOf([]string{"west", "east"}), lab.Options{})
	for name, c := range map[string]struct {
		command  *exec.Cmd
		topology lab.Topology
		words    string
	}{
		"no more namespaces": {parentCommand(t, withoutNamespaces...), reference,
			"user.max_net_namespaces = 0"},
		"no user namespaces": {parentCommand(t, "unshare", "-U"), reference,
			"an ordinary user may not make network namespaces here"},
		"real interfaces without right": {parentCommand(t, ordinary...), deviceTopology(t, "eth1", "eth2"),
			"run with sudo, or give the binary CAP_NET_RAW"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := deviceNamespace(t)
			if got := failingParent(t, c.command, ns, c.topology); !strings.Contains(got, c.words) {
				t.Errorf("it said %q, want %q", got, c.words)
			}
		})
	}
}

// TestTheMachineDoesNotRouteTheTestsFrames has a machine that forwards, as one with containers does, and a
// device that returns frames to it which are addressed to its MAC.
func TestTheMachineDoesNotRouteTheTestsFrames(t *testing.T) {
	ns := deviceNamespace(t)
	setUp(t, ns, "lo")
	netnstest.RunIn(t, ns, func() error {
		settings := map[string]string{"ipv4/ip_forward": "1", "ipv6/conf/eth1/disable_ipv6": "1",
			"ipv6/conf/eth2/disable_ipv6": "1", "ipv6/conf/eth3/disable_ipv6": "1", "ipv6/conf/eth4/disable_ipv6": "1"}
		for path, value := range settings {
			if err := os.WriteFile("/proc/sys/net/"+path, []byte(value), 0); err != nil {
				return err
			}
		}
		link, err := netlink.LinkByName("eth2")
		if err != nil {
			return err
		}
		if err := netlink.NeighSet(&netlink.Neigh{LinkIndex: link.Attrs().Index, State: netlink.NUD_PERMANENT,
			IP: net.IPv4(48, 0, 0, 1), HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 9}}); err != nil {
			return err
		}
		return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Scope: netlink.SCOPE_LINK,
			Dst: &net.IPNet{IP: net.IPv4(48, 0, 0, 0).To4(), Mask: net.CIDRMask(8, 32)}})
	})
	if got := routed(t, ns); got != 10 {
		t.Fatalf("without a test, the machine routed %d frames of 10: nothing to prevent", got)
	}
	cmd := parentCommand(t)
	startParent(t, cmd, ns, deviceTopology(t, "eth1", "eth2"))
	if got := routed(t, ns); got != 0 {
		t.Errorf("during a test, the machine routed %d frames of 10", got)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "the machine is as it was", func() bool { return routed(t, ns) == 10 })
}

// routed sends ten frames to eth1 by its cable and counts those that the machine sends on to the other one.
func routed(t *testing.T, ns *netif.Namespace) uint64 {
	t.Helper()
	var first, second uint64
	netnstest.RunIn(t, ns, func() error {
		sender, err := netlink.LinkByName("eth3")
		if err != nil {
			return err
		}
		machine, err := netlink.LinkByName("eth1")
		if err != nil {
			return err
		}
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
		if err != nil {
			return err
		}
		defer func() { _ = unix.Close(fd) }()
		first = receivedBy("eth4")
		for range 10 {
			if err := unix.Sendto(fd, packetTo(machine.Attrs().HardwareAddr), 0,
				&unix.SockaddrLinklayer{Ifindex: sender.Attrs().Index}); err != nil {
				return err
			}
		}
		second = receivedBy("eth4")
		return nil
	})
	return second - first
}

func receivedBy(name string) uint64 {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return 0
	}
	return link.Attrs().Statistics.RxPackets
}

// packetTo is an empty IPv4 packet (protocol 253, for experiments) from 16.0.0.1 to 48.0.0.1.
func packetTo(mac net.HardwareAddr) []byte {
	frame := make([]byte, 60)
	copy(frame, mac)
	copy(frame[6:], []byte{2, 0, 0, 0, 0, 8, 8, 0, 0x45, 0, 0, 20, 0, 0, 0, 0, 64, 253, 0, 0, 16, 0, 0, 1, 48, 0, 0, 1})
	mendHeader(frame)
	return frame
}

// mendHeader writes the checksum of an IPv4 header.
func mendHeader(frame []byte) {
	frame[24], frame[25] = 0, 0
	sum := uint32(0)
	for i := 14; i < 34; i += 2 {
		sum += uint32(frame[i])<<8 | uint32(frame[i+1])
	}
	sum = sum>>16 + sum&0xffff
	frame[24], frame[25] = byte(^sum>>8), byte(^sum)
}
