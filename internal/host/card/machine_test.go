package card_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/host/card"
	"github.com/linerate-dev/linerate/test/rigs/cards"
)

func TestAMachineWithAnIntel82576(t *testing.T) {
	spoofChecked := card.Settings{MAC: "02:00:00:00:aa:02", SpoofCheck: true, VLAN: 100}
	m := card.Read(cards.IGB(), map[string]card.Answer{
		"eth1": {State: card.State{Pause: true, Stamps: card.PTPStamps},
			Functions: map[int]card.Settings{1: spoofChecked}},
	})
	if !m.VFIO || m.IOMMUGroups != 15 || len(m.Hugepages) != 4 || len(m.Ports) != 2 {
		t.Fatalf("got %+v", m)
	}
	if diff := cmp.Diff(card.Hugepages{Node: 1, PageKiB: 2048, Total: 210, Free: 210}, m.Hugepages[3]); diff != "" {
		t.Error(diff)
	}
	function := func(index int, address, group, name, mac string) card.Function {
		return card.Function{Index: index, Device: card.Device{Address: address, Driver: "igbvf", Vendor: "0x8086",
			Model: "0x10ca", PhysicalFunction: "0000:21:00.0", PhysicalInterface: "eth1", IOMMUGroup: group,
			Interfaces: []string{name}, SpeedMbps: 1000},
			Interface: &card.Interface{Name: name, MAC: mac, MTU: 1500, AdminUp: true, Carrier: true}}
	}
	want := card.Port{
		Device: card.Device{Address: "0000:21:00.0", Driver: "igb", Vendor: "0x8086", Model: "0x10c9", IOMMUGroup: "10",
			Interfaces: []string{"eth1"}, SpeedMbps: 1000},
		Interface: card.Interface{Name: "eth1", MAC: "02:00:00:00:01:00", MTU: 1500, AdminUp: true, Carrier: true,
			State: card.State{Pause: true, Stamps: card.PTPStamps}},
		MostFunctions: 7,
		Functions: []card.Function{function(0, "0000:21:10.0", "13", "eth4", "02:00:00:00:aa:01"),
			function(1, "0000:21:10.2", "14", "eth5", "02:00:00:00:aa:02")},
	}
	want.Functions[1].Settings = &spoofChecked
	if diff := cmp.Diff(want, m.Ports[1]); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	if m.Ports[0].NUMANode != 1 {
		t.Errorf("eth0 is on node %d", m.Ports[0].NUMANode)
	}
}

// TestAPodHasTheFunction: a function whose interface is in another network namespace keeps its device.
func TestAPodHasTheFunction(t *testing.T) {
	tree := cards.IGB()
	cards.Remove(tree, "eth5")
	f := card.Read(tree, nil).Ports[1].Functions[1]
	if f.Interface != nil || f.Address != "0000:21:10.2" || f.Driver != "igbvf" {
		t.Errorf("got %+v", f)
	}
}
