package fabric_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

func across(change func(*fabric.Spec)) fabric.Spec {
	nodes := []fabric.Node{{Name: "a", Namespace: "/a"}, {Name: "b", Namespace: "/b"}}
	s := fabric.Across("lab", nodes, 2, "west", "east")
	if change != nil {
		change(&s)
	}
	return s
}

func TestSpecInventory(t *testing.T) {
	t.Run("a node has a resource per wire, with the functions of its port", func(t *testing.T) {
		var got []string
		for _, r := range across(nil).Inventory("b").Resources {
			for _, d := range r.Devices {
				got = append(got, fmt.Sprintf("%s %s %s of %s on %s", r.Name, d.ID, d.Interface, d.PF, d.Wire.Bridge))
			}
		}
		want := []string{
			"linerate.dev/sriov-west 0000:04:02.0 westp1v0 of 0000:04:00.0 on west",
			"linerate.dev/sriov-west 0000:04:02.1 westp1v1 of 0000:04:00.0 on west",
			"linerate.dev/sriov-east 0000:06:02.0 eastp1v0 of 0000:06:00.0 on east",
			"linerate.dev/sriov-east 0000:06:02.1 eastp1v1 of 0000:06:00.0 on east",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	t.Run("ports of one resource are one pool", func(t *testing.T) {
		s := across(func(s *fabric.Spec) {
			for i := range s.Wires {
				for j := range s.Wires[i].Ports {
					s.Wires[i].Ports[j].Resource = "linerate.dev/nic"
				}
			}
		})
		got := s.Inventory("a").Resources
		if len(got) != 1 || len(got[0].Devices) != 4 {
			t.Errorf("%+v", got)
		}
	})
	t.Run("functions share their port where the Spec says so", func(t *testing.T) {
		s := across(func(s *fabric.Spec) { s.Wires[1].Ports[0].Shared = true })
		for d := range s.Inventory("a").Devices() {
			if d.SharesPort != (d.Wire.Bridge == "east") {
				t.Errorf("%+v", d)
			}
		}
	})
	t.Run("a MAC is a function's own, and the same each time", func(t *testing.T) {
		if diff := cmp.Diff(across(nil).Inventory("a"), across(nil).Inventory("a")); diff != "" {
			t.Error(diff)
		}
		macs := map[string]bool{}
		for _, name := range []string{"lab", "other"} {
			for _, node := range []string{"a", "b"} {
				for d := range across(func(s *fabric.Spec) { s.Name = name }).Inventory(node).Devices() {
					if macs[d.MAC] {
						t.Errorf("%s twice", d.MAC)
					}
					macs[d.MAC] = true
				}
			}
		}
	})
	t.Run("the largest port has IDs and names that Linux takes", func(t *testing.T) {
		s := across(func(s *fabric.Spec) { s.Wires[0].Name, s.Wires[0].Ports[0].Functions = "abcdefgh", 64 })
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		var lastDevice vf.Device
		for d := range s.Inventory("a").Devices() {
			if d.Wire.Bridge == "abcdefgh" {
				lastDevice = d
			}
		}
		if lastDevice.ID != "0000:03:09.7" || lastDevice.Interface != "abcdefghp0v63" {
			t.Errorf("last %+v", lastDevice)
		}
	})
}

func TestSpecRefuses(t *testing.T) {
	for want, change := range map[string]func(*fabric.Spec){
		`fabric "Lab"`:                        func(s *fabric.Spec) { s.Name = "Lab" },
		`fabric "../x"`:                       func(s *fabric.Spec) { s.Name = "../x" },
		`node "a"`:                            func(s *fabric.Spec) { s.Nodes[1].Name = "a" },
		`node "b"`:                            func(s *fabric.Spec) { s.Nodes[1].Namespace = "" },
		`wire "east"`:                         func(s *fabric.Spec) { s.Wires[0].Name = "east" },
		`wire "west-wire"`:                    func(s *fabric.Spec) { s.Wires[0].Name = "west-wire" },
		`wire west: port 0: there is no node`: func(s *fabric.Spec) { s.Wires[0].Ports[0].Node = "c" },
		`0 functions`:                         func(s *fabric.Spec) { s.Wires[0].Ports[0].Functions = 0 },
		`65 functions`:                        func(s *fabric.Spec) { s.Wires[0].Ports[0].Functions = 65 },
		`resource "nic"`:                      func(s *fabric.Spec) { s.Wires[0].Ports[0].Resource = "nic" },
		`mtu 65536`:                           func(s *fabric.Spec) { s.MTU = 65536 },
		`numa -3`:                             func(s *fabric.Spec) { s.Wires[0].Ports[0].NUMA = -3 },
	} {
		t.Run(want, func(t *testing.T) {
			if err := across(change).Check(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v", err)
			}
		})
	}
}
