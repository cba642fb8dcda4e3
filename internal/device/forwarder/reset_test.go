package forwarder_test

import (
	"net"
	"strings"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// A reset forgets what was learned, and keeps what was set up, however often it is asked for.
func TestAResetForgetsWhatWasLearned(t *testing.T) {
	r := newRig(t, 2)
	spec := forwarder.Spec{Forwarding: plan.L3, Links: r.links,
		Directions: []forwarder.Direction{{From: r.links[0].Interface, To: r.links[1].Interface}}}
	if _, err := forwarder.Configure(t.Context(), r.dut, spec); err != nil {
		t.Fatal(err)
	}
	set, learned := 0, net.HardwareAddr{2, 0, 0, 0, 0, 9}
	neighbours := func(family int) (list []netlink.Neigh) {
		for _, l := range r.links {
			link, err := netlink.LinkByName(l.Interface)
			if err != nil {
				t.Fatal(err)
			}
			entries, err := netlink.NeighList(link.Attrs().Index, family)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, entries...)
		}
		return list
	}
	err := r.dut.Do(func() error {
		for _, n := range neighbours(unix.AF_UNSPEC) {
			if n.State&netlink.NUD_PERMANENT != 0 {
				set++
			}
		}
		for i, l := range r.links {
			link, err := netlink.LinkByName(l.Interface)
			if err != nil {
				return err
			}
			if err := netlink.NeighAdd(&netlink.Neigh{LinkIndex: link.Attrs().Index, State: netlink.NUD_REACHABLE,
				IP: net.IPv4(198, 18, byte(i), 77), HardwareAddr: learned}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || set == 0 {
		t.Fatalf("%d static neighbours, %v", set, err)
	}
	for i, want := range []string{"removed 2 neighbours, 0 learned addresses, ",
		"removed 0 neighbours, 0 learned addresses, "} {
		report, err := forwarder.Reset(r.dut, spec)
		if err != nil || !strings.HasPrefix(report, want) {
			t.Errorf("reset %d: %q, %v; want %q…", i+1, report, err, want)
		}
	}
	err = r.dut.Do(func() error {
		stayed := 0
		for _, n := range neighbours(unix.AF_UNSPEC) {
			if n.HardwareAddr.String() == learned.String() {
				t.Errorf("%v is still known", n)
			}
			if n.State&netlink.NUD_PERMANENT != 0 {
				stayed++
			}
		}
		if stayed != set {
			t.Errorf("%d of %d static neighbours stayed", stayed, set)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAResetForgetsWhatABridgeLearned(t *testing.T) {
	r := newRig(t, 2)
	spec := forwarder.Spec{Forwarding: plan.L2, Links: r.links,
		Directions: []forwarder.Direction{{From: r.links[0].Interface, To: r.links[1].Interface}}}
	if _, err := forwarder.Configure(t.Context(), r.dut, spec); err != nil {
		t.Fatal(err)
	}
	err := r.dut.Do(func() error {
		link, err := netlink.LinkByName(r.links[0].Interface)
		if err != nil {
			return err
		}
		return netlink.NeighSet(&netlink.Neigh{LinkIndex: link.Attrs().Index, Family: unix.AF_BRIDGE,
			Flags: netlink.NTF_MASTER, State: netlink.NUD_REACHABLE, HardwareAddr: net.HardwareAddr{2, 0, 0, 0, 0, 9}})
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{", 1 learned addresses, ", ", 0 learned addresses, "} {
		report, err := forwarder.Reset(r.dut, spec)
		if err != nil || !strings.Contains(report, want) {
			t.Errorf("reset %d: %q, %v; want %q", i+1, report, err, want)
		}
	}
}
