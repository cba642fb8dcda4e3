package lab

import (
	"reflect"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/device/forwarder"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

func TestNothingThatSendsSharesAProcessorWithADeviceThread(t *testing.T) {
	oneWay, bothWays := []forwarder.Direction{{From: "west", To: "east"}},
		[]forwarder.Direction{{From: "west", To: "east"}, {From: "east", To: "west"}}
	for name, c := range map[string]struct {
		topology   Topology
		processors []int
		want       placement
	}{
		"one way, two processors": {Topology{Directions: oneWay}, []int{0, 1},
			placement{senders: map[string][]int{"west": {0}},
				forwarders: map[string]int{"west": 1}, others: []int{0}}},
		"one way, of many processors": {Topology{Directions: oneWay}, []int{2, 5, 7, 9},
			placement{senders: map[string][]int{"west": {2}},
				forwarders: map[string]int{"west": 9}, others: []int{2, 5, 7}}},
		"both ways": {Topology{Directions: bothWays}, []int{0, 1, 2, 3},
			placement{senders: map[string][]int{"west": {0}, "east": {1}},
				forwarders: map[string]int{"west": 2, "east": 3}, others: []int{0, 1}}},
		"two threads a port": {Topology{Directions: oneWay, Cores: 2}, []int{0, 1, 2},
			placement{senders: map[string][]int{"west": {0, 1}},
				forwarders: map[string]int{"west": 2}, others: []int{0, 1}}},
		"to two links": {Topology{Directions: []forwarder.Direction{{From: "west", To: "east"},
			{From: "west", To: "north"}}}, []int{0, 1}, placement{senders: map[string][]int{"west": {0}},
			forwarders: map[string]int{"west": 1}, others: []int{0}}},
		"one processor": {Topology{Directions: oneWay}, []int{3}, placement{}},
		"both ways, two processors": {Topology{Directions: bothWays}, []int{0, 1},
			placement{senders: map[string][]int{"west": {0}, "east": {0}},
				forwarders: map[string]int{"west": 1, "east": 1}, others: []int{0}}},
		"both ways, three processors": {Topology{Directions: bothWays}, []int{0, 1, 2},
			placement{senders: map[string][]int{"west": {0}, "east": {1}},
				forwarders: map[string]int{"west": 2, "east": 2}, others: []int{0, 1}}},
		"two threads, two processors": {Topology{Directions: oneWay, Cores: 2}, []int{0, 1},
			placement{senders: map[string][]int{"west": {0, 0}},
				forwarders: map[string]int{"west": 1}, others: []int{0}}},
		"live frames leave no processor to all else": {Topology{Directions: oneWay, Path: plan.PathLive}, []int{0, 1},
			placement{senders: map[string][]int{"west": {0}}, forwarders: map[string]int{"west": 1}}},
		"live frames beside a third processor": {Topology{Directions: oneWay, Path: plan.PathLive}, []int{0, 1, 2},
			placement{senders: map[string][]int{"west": {0}}, forwarders: map[string]int{"west": 2},
				others: []int{0, 1}}},
		"a limit stands in": {Topology{Directions: oneWay, Limit: &plan.Limit{}}, []int{0, 1}, placement{}},
		"a program forwards": {Topology{Directions: oneWay,
			Mode: &plan.Mode{Userspace: &plan.UserspaceMode{}}}, []int{0, 1}, placement{}},
		"gateways of a tunnel": {Topology{Directions: oneWay, Mode: &plan.Mode{Tunnel: &plan.TunnelMode{}}},
			[]int{0, 1, 3}, placement{senders: map[string][]int{"west": {0}},
				forwarders: map[string]int{"west": 3}, gateways: []int{1, 3}}},
		"gateways, both ways": {Topology{Directions: bothWays, Mode: &plan.Mode{Tunnel: &plan.TunnelMode{}}},
			[]int{0, 1}, placement{}},
		"ends of sessions": {Topology{Directions: oneWay, Ends: true}, []int{0, 1}, placement{}},
		"a real device":    {Topology{Directions: oneWay, Kind: Device}, []int{0, 1}, placement{}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.topology.Kind == "" {
				c.topology.Kind = Reference
			}
			var processors unix.CPUSet
			for _, cpu := range c.processors {
				processors.Set(cpu)
			}
			if got := c.topology.placement(&processors); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
