package cni_test

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

const (
	first  = "0000:03:02.0" // westp0v0
	second = "0000:03:02.1"
)

func TestAdd(t *testing.T) {
	t.Run("the pod has the function under the name it asked for, up, with the function's own MAC", func(t *testing.T) {
		n := newNode(t)
		pod := n.pod("one")
		result := n.mustAdd(pod, first)
		link := pod.link(t, "net1")
		if mac := n.device(first).MAC; link.HardwareAddr.String() != mac || link.Flags&net.FlagUp == 0 ||
			link.Alias != first {
			t.Errorf("net1 is %+v, want it up, with MAC %s and alias %s", link, mac, first)
		}
		if i := result.Interfaces[0]; i.Name != "net1" || i.Mac != link.HardwareAddr.String() ||
			i.Sandbox != pod.namespace || i.Mtu != 1500 {
			t.Errorf("result %+v", i)
		}
		if n.home(first) || !n.home(second) {
			t.Error("want the first function away and the second at home")
		}
	})
	t.Run("MAC and addresses are those that were asked for", func(t *testing.T) {
		n := newNode(t)
		pod := n.pod("one")
		pod.wants = map[string]any{"mac": "02:11:22:33:44:55", "ips": []string{"198.18.0.1/24", "2001:db8::1/64"}}
		result := n.mustAdd(pod, first)
		if mac := pod.link(t, "net1").HardwareAddr.String(); mac != "02:11:22:33:44:55" ||
			result.Interfaces[0].Mac != mac {
			t.Errorf("MAC %s, result %s", mac, result.Interfaces[0].Mac)
		}
		if got := pod.addresses(t, "net1"); !slices.Contains(got, "198.18.0.1/24") ||
			!slices.Contains(got, "2001:db8::1/64") || len(result.IPs) != 2 {
			t.Errorf("addresses %v, result %v", got, result.IPs)
		}
	})
	t.Run("the device may come as a capability", func(t *testing.T) {
		n := newNode(t)
		pod := n.pod("one")
		pod.wants = map[string]any{"deviceID": first}
		n.mustAdd(pod, "")
		if pod.link(t, "net1").Alias != first {
			t.Error("it isn't the device that was asked for")
		}
	})
	t.Run("two attachments of a pod get a function each", func(t *testing.T) {
		n := newNode(t)
		west := n.pod("one")
		east := west
		east.name = "net2"
		n.mustAdd(west, first)
		n.mustAdd(east, second)
		if a, b := west.link(t, "net1").Alias, east.link(t, "net2").Alias; a != first || b != second {
			t.Errorf("net1 is %s and net2 %s", a, b)
		}
	})
	t.Run("a lost function is made again", func(t *testing.T) {
		n := newNode(t)
		n.inside(n.device(first).Unplug)
		pod := n.pod("one")
		n.mustAdd(pod, first)
		if pod.link(t, "net1").Alias != first {
			t.Error("it isn't the device that was asked for")
		}
	})
}

func TestAddRefuses(t *testing.T) {
	t.Run("a device that another pod still has", func(t *testing.T) {
		n := newNode(t)
		one, two := n.pod("one"), n.pod("two")
		n.mustAdd(one, first)
		if _, err := n.add(two, first); err == nil ||
			!strings.Contains(err.Error(), "still in use, as net1 of container one") {
			t.Errorf("error %v", err)
		}
		if one.link(t, "net1").Alias != first {
			t.Error("the first pod lost its function")
		}
		n.mustDel(one, first)
		n.mustAdd(two, first)
	})
	t.Run("no device, an unknown one, a multicast MAC, an address without prefix, an ipam", func(t *testing.T) {
		n := newNode(t)
		for want, c := range map[string]struct {
			device string
			wants  map[string]any
			ipam   string
		}{
			"resourceName":           {},
			"isn't in this node's":   {device: "0000:99:02.0"},
			`mac "01:00:00:00:00:1"`: {device: first, wants: map[string]any{"mac": "01:00:00:00:00:1"}},
			`ips: "198.18.0.1"`:      {device: first, wants: map[string]any{"ips": []string{"198.18.0.1"}}},
			"has no ipam":            {device: first, ipam: "host-local"},
		} {
			pod := n.pod("one")
			pod.wants, pod.ipam = c.wants, c.ipam
			if _, err := n.add(pod, c.device); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		}
	})
	t.Run("a name that the pod has already, and the function is at home again", func(t *testing.T) {
		n := newNode(t)
		pod := n.pod("one")
		if err := vf.InNamespace(pod.namespace, func() error {
			return netlink.LinkAdd(&netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: "net1"}})
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := n.add(pod, first); err == nil || !strings.Contains(err.Error(), "rename westp0v0 to net1") {
			t.Errorf("error %v", err)
		}
		if !n.home(first) {
			t.Error("the function isn't at home")
		}
		n.mustAdd(n.pod("two"), first)
	})
}

func TestDel(t *testing.T) {
	t.Run("the function is at home as it was, whatever the pod did to it", func(t *testing.T) {
		n := newNode(t)
		pod := n.pod("one")
		pod.wants = map[string]any{"mac": "02:11:22:33:44:55"}
		n.mustAdd(pod, first)
		if err := vf.InNamespace(pod.namespace, func() error {
			link, err := netlink.LinkByName("net1")
			if err != nil {
				return err
			}
			return errors.Join(netlink.LinkSetDown(link), netlink.LinkSetName(link, "vpp0"),
				netlink.LinkSetMTU(link, 1400), netlink.LinkSetAlias(link, ""))
		}); err != nil {
			t.Fatal(err)
		}
		n.mustDel(pod, first)
		d := n.device(first)
		var link *netlink.LinkAttrs
		n.inside(func() error {
			l, err := netlink.LinkByName(d.Interface)
			if err == nil {
				link = l.Attrs()
			}
			return err
		})
		if link.HardwareAddr.String() != d.MAC || link.MTU != d.MTU || link.Alias != first {
			t.Errorf("at home it is %+v", link)
		}
	})
	t.Run("the function comes home also when the pod's namespace is gone", func(t *testing.T) {
		n := newNode(t)
		pod := n.pod("one")
		n.mustAdd(pod, first)
		ended := pod
		ended.namespace = ""
		n.mustDel(ended, first)
		if !n.home(first) {
			t.Error("it isn't at home")
		}
		n.mustAdd(n.pod("two"), first)
	})
	t.Run("what is gone already, or never was, is no error; and another container's function stays",
		func(t *testing.T) {
			n := newNode(t)
			podOne, two := n.pod("one"), n.pod("two")
			n.mustDel(podOne, first)
			n.mustAdd(podOne, first)
			n.mustDel(two, first)
			if n.home(first) {
				t.Error("a DEL of container two took container one's function")
			}
			n.mustDel(podOne, first)
			n.mustDel(podOne, first)
		})
	t.Run("a pulled cable stays pulled", func(t *testing.T) {
		n := newNode(t)
		pod := n.pod("one")
		n.mustAdd(pod, first)
		if err := n.fabric.SetPort("west", 0, false); err != nil {
			t.Fatal(err)
		}
		n.mustDel(pod, first)
		restarted := n.pod("two")
		n.mustAdd(restarted, first)
		if restarted.link(t, "net1").RawFlags&0x10000 != 0 { // IFF_LOWER_UP
			t.Error("the function has a carrier, with its cable pulled")
		}
	})
	t.Run("functions go round and round", func(t *testing.T) {
		n := newNode(t)
		for i := range 10 {
			pod := n.pod(fmt.Sprint("pod", i))
			n.mustAdd(pod, first)
			n.mustDel(pod, first)
		}
		if records, err := filepath.Glob(filepath.Join(n.state, "attachments", "*.json")); err != nil ||
			len(records) > 0 {
			t.Errorf("records left: %v %v", records, err)
		}
		if away, err := n.fabric.Away(); err != nil || len(away) > 0 {
			t.Errorf("away: %v %v", away, err)
		}
	})
}

func TestCheck(t *testing.T) {
	wants := map[string]any{"mac": "02:11:22:33:44:55", "ips": []string{"198.18.0.1/24"}}
	for name, c := range map[string]struct {
		harm func(netlink.Link) error
		want string
	}{
		"as it was": {func(netlink.Link) error { return nil }, ""},
		"another MAC": {func(l netlink.Link) error {
			return netlink.LinkSetHardwareAddr(l,
				net.HardwareAddr{2, 0, 0, 0, 0, 9})
		}, "has MAC 02:00:00:00:00:09"},
		"an address lost": {func(l netlink.Link) error { return netlink.AddrDel(l, mustAddr("198.18.0.1/24")) },
			"lost its address 198.18.0.1/24"},
		"the interface gone": {netlink.LinkDel, "no interface net1"},
		"another interface there": {func(l netlink.Link) error { return netlink.LinkSetAlias(l, "other") },
			"isn't device " + first},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			pod := n.pod("one")
			pod.wants = wants
			n.mustAdd(pod, first)
			if err := vf.InNamespace(pod.namespace, func() error {
				link, err := netlink.LinkByName("net1")
				if err != nil {
					return err
				}
				return c.harm(link)
			}); err != nil {
				t.Fatal(err)
			}
			err := n.check(pod, first)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	t.Run("a pod that was never attached", func(t *testing.T) {
		n := newNode(t)
		pod := n.pod("one")
		n.mustAdd(pod, first)
		n.mustDel(pod, first)
		if err := n.check(pod, first); err == nil {
			t.Error("no error")
		}
	})
}

func TestVersion(t *testing.T) {
	n := newNode(t)
	info, err := n.cni.GetVersionInfo(t.Context(), "linerate-vf")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"0.3.1", "0.4.0", "1.0.0", "1.1.0"} {
		if !slices.Contains(info.SupportedVersions(), v) {
			t.Errorf("version %s isn't among %v", v, info.SupportedVersions())
		}
	}
}
