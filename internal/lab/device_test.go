package lab_test

import (
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/internal/lab"
	"github.com/linerate-dev/linerate/internal/lab/netspace"
)

// deviceNamespace stands for a machine with Ethernet interfaces eth1 and eth2, cabled to a device that is eth3 and eth4.
func deviceNamespace(t *testing.T) *netspace.Namespace {
	t.Helper()
	needRoot(t)
	ns, err := netspace.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ns.Close() })
	do(t, ns, func() error {
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

func do(t *testing.T, ns *netspace.Namespace, fn func() error) {
	t.Helper()
	if err := ns.Do(fn); err != nil {
		t.Fatal(err)
	}
}

func setUp(t *testing.T, ns *netspace.Namespace, names ...string) {
	t.Helper()
	do(t, ns, func() error {
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
	// The parent reaches its engine over the loopback of the namespace that it is in: so do we.
	setUp(t, ns, "lo")
	cmd := parentCommand(t)
	started := startParent(t, cmd, ns, deviceTopology(t, "eth2", "eth1"))
	var v view
	do(t, ns, func() error {
		c, err := net.Dial("tcp", started.Address)
		if err != nil {
			return err
		}
		return converse(c, "view", &v)
	})
	if !slices.Equal(v.Interfaces, []string{"eth2", "eth1"}) {
		t.Errorf("the engine has %v", v.Interfaces)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	eventually(t, "its process is gone", func() bool { return !exists("/proc", v.PID) })
	do(t, ns, func() error {
		_, err := netlink.LinkByName("eth1") // the interfaces are the user's, and stay
		return err
	})
}

func TestAnInterfaceThatMustNotOrCannotBeUsedIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*netspace.Namespace) error
		words string
	}{
		"it is down": {func(*netspace.Namespace) error {
			link, err := netlink.LinkByName("eth1")
			if err != nil {
				return err
			}
			return netlink.LinkSetDown(link)
		}, `interface eth1 (link west) is down: set it up with "ip link set eth1 up"`},
		"its cable is unplugged": {func(*netspace.Namespace) error {
			link, err := netlink.LinkByName("eth3")
			if err != nil {
				return err
			}
			return netlink.LinkSetDown(link)
		}, "interface eth1 (link west) has no carrier"},
		"it carries the default route": {func(*netspace.Namespace) error {
			link, err := netlink.LinkByName("eth1")
			if err != nil {
				return err
			}
			return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Scope: netlink.SCOPE_LINK, Dst: &net.IPNet{IP: net.IPv4zero.To4(), Mask: net.CIDRMask(0, 32)}})
		}, "interface eth1 (link west) carries this machine's default route"},
		"it carries the IPv6 default route": {func(*netspace.Namespace) error {
			link, err := netlink.LinkByName("eth1")
			if err != nil {
				return err
			}
			return netlink.RouteAdd(&netlink.Route{LinkIndex: link.Attrs().Index, Dst: &net.IPNet{IP: net.IPv6zero, Mask: net.CIDRMask(0, 128)}})
		}, "interface eth1 (link west) carries this machine's default route"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := deviceNamespace(t)
			var err error
			do(t, ns, func() error {
				if err := c.spoil(ns); err != nil {
					return err
				}
				var l *lab.Lab
				if l, err = lab.Start(t.Context(), deviceTopology(t, "eth1", "eth2"), lab.Host{Path: "/nonexistent"}); err == nil {
					_ = l.Close()
				}
				return nil
			})
			wantFault(t, err, lab.BadInput, c.words)
		})
	}
}

// TestAUserWhoMayNotIsToldTheWayOut takes away what a lab needs, in user namespaces that stand for machines with other settings.
func TestAUserWhoMayNotIsToldTheWayOut(t *testing.T) {
	needRoot(t)
	nobody := []string{"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"}
	noNet := []string{"unshare", "-U", "-r", "sh", "-c", "echo 0 > /proc/sys/user/max_net_namespaces && exec \"$@\"", "sh"}
	reference := topologyOf(t, planOf([]string{"west", "east"}), lab.Options{})
	for name, c := range map[string]struct {
		command  *exec.Cmd
		topology lab.Topology
		words    string
	}{
		"no more namespaces":            {parentCommand(t, noNet...), reference, "user.max_net_namespaces = 0"},
		"no user namespaces":            {parentCommand(t, "unshare", "-U"), reference, "an ordinary user may not make network namespaces here"},
		"real interfaces without right": {parentCommand(t, nobody...), deviceTopology(t, "eth1", "eth2"), "run with sudo, or give the binary CAP_NET_RAW"},
	} {
		t.Run(name, func(t *testing.T) {
			ns := deviceNamespace(t)
			if got := failingParent(t, c.command, ns, c.topology); !strings.Contains(got, c.words) {
				t.Errorf("it said %q, want %q", got, c.words)
			}
		})
	}
}
