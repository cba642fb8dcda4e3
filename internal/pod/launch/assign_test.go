package launch

import (
	"slices"
	"testing"
)

func TestAttachmentsWithOtherNamesThanTheLinks(t *testing.T) {
	pod := kernelPod().netdev("net1", "02:00:00:00:00:31", "-1").netdev("net2", "02:00:00:00:00:32", "-1")
	pod.networks = []Network{{Name: "lab/b", Interface: "net2"}, {Name: "lab/a", Interface: "net1"}}
	for _, c := range []struct {
		name  string
		links []Link
		want  []string
		codes []Code
	}{
		{"a network of its own is enough", []Link{{Name: "west", Network: "lab/a"}, {Name: "east", Network: "b"}},
			[]string{"net1", "net2"}, nil},
		{"an interface that was named must be there", []Link{{Name: "west", Network: "a", Interface: "net9"},
			{Name: "east", Network: "b"}}, nil, []Code{AmbiguousLink}},
		{"one attachment doesn't serve two links", []Link{{Name: "west", Network: "lab/a"},
			{Name: "east", Network: "a"}}, nil, []Code{AmbiguousLink, AmbiguousLink}},
		{"without a network the interface's name decides", []Link{{Name: "west", Interface: "net2"}, {Name: "net1"}},
			[]string{"net2", "net1"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, faults := Decide(pod.observe(), Options{Links: c.links})
			if !slices.Equal(config.Interfaces, c.want) || !slices.Equal(codes(faults), c.codes) {
				t.Errorf("ports %v, faults %v", config.Interfaces, faults)
			}
		})
	}
}

func TestKernelInterfacesOfDevices(t *testing.T) {
	t.Run("where they are asked for, a device's own interface is used", func(t *testing.T) {
		config, faults := Decide(mlx5Pod().observe(), Options{Links: links(t, "west=lab/mlx-west", "east=lab/mlx-east"),
			Kernel: true})
		if len(faults) > 0 || config.Kind != Kernel || !slices.Equal(config.Interfaces, []string{"west", "east"}) {
			t.Fatalf("%s ports %v, faults %v", config.Kind, config.Interfaces, faults)
		}
		if d := config.Devices[0]; d.PhysicalPort != "0000:5e:00.0" || !d.VirtualFunction || config.RXDescriptors != 0 {
			t.Errorf("west is told as %+v", d)
		}
	})
	t.Run("a whole port that was moved into the pod is its own wire", func(t *testing.T) {
		pod := kernelPod().device("0000:01:00.0", "ixgbe", "0x8086", "0x10fb", 0, "", "west")
		config, faults := Decide(pod.observe(),
			Options{Links: links(t, "west=lab/bridge-west", "east=lab/bridge-east")})
		if len(faults) > 0 || config.Devices[0].PhysicalPort != "0000:01:00.0" || config.Devices[0].VirtualFunction ||
			config.Devices[1].PhysicalPort != "" {
			t.Errorf("%+v, faults %v", config.Devices, faults)
		}
	})
}

func TestWhereTheRPCAnswers(t *testing.T) {
	for _, c := range []struct {
		extra map[string]any
		want  int
	}{{nil, 4501}, {map[string]any{"zmq_rpc_port": 5501}, 5501}, {map[string]any{"zmq_rpc_port": float64(5502)}, 5502},
		{map[string]any{"zmq_rpc_port": int64(5503)}, 5503}} {
		config, faults := Decide(kernelPod().observe(), Options{Links: links(t, "west=bridge-west", "east=bridge-east"),
			Extra: c.extra})
		if len(faults) > 0 || config.RPC() != c.want {
			t.Errorf("%v: port %d, want %d; %v", c.extra, config.RPC(), c.want, faults)
		}
	}
}
