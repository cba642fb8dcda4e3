package launch

import "testing"

func TestThePhysicalPortBehindAnInterface(t *testing.T) {
	const pf = "sys/bus/pci/devices/0000:3b:00.0/sriov_numvfs"
	auxiliary := func(p *fakePod) *fakePod {
		return p.netdev("west", "02:00:00:00:00:01", "25000").link("sys/class/net/west/device",
			"../../../mlx5_core.sf.4").
			link("sys/bus/auxiliary/devices/mlx5_core.sf.4", "../../../devices/pci0000:00/0000:5e:00.0/mlx5_core.sf.4")
	}
	reported := func(device, physical string) Network {
		return Network{Interface: "west", DeviceType: "pci", PCIAddress: device, PhysicalFunction: physical}
	}
	for _, c := range []struct {
		name    string
		pod     *fakePod
		network Network
		want    Port
	}{
		{"a virtual function that left the kernel", intelPod(), reported("0000:3b:02.0", ""),
			Port{"0000:3b:02.0", "0000:3b:00.0", true}},
		{"a virtual function's interface", mlx5Pod(), Network{}, Port{"0000:5e:00.2", "0000:5e:00.0", true}},
		{"a virtual function's interface, told of", mlx5Pod(), reported("0000:5e:00.2", ""),
			Port{"0000:5e:00.2", "0000:5e:00.0", true}},
		{"a plugin that tells the port", newPod(), reported("0000:3b:02.0", "0000:3b:00.0"),
			Port{"0000:3b:02.0", "0000:3b:00.0", true}},
		{"a plugin that tells a whole port", newPod(), reported("0000:3b:00.0", "0000:3b:00.0"),
			Port{"0000:3b:00.0", "0000:3b:00.0", false}},
		{"a port of which there are virtual functions", newPod().device("0000:3b:00.0", "ice", "0x8086", "0x1592", 0,
			"", "west").file(pf, "4"),
			Network{}, Port{"0000:3b:00.0", "0000:3b:00.0", true}},
		{"a port that could have some", newPod().device("0000:3b:00.0", "ice", "0x8086", "0x1592", 0, "",
			"west").file(pf, "0"),
			Network{}, Port{"0000:3b:00.0", "0000:3b:00.0", false}},
		{"a scalable function", auxiliary(newPod()), Network{}, Port{"", "0000:5e:00.0", true}},
		{"a scalable function of a virtual one", auxiliary(newPod().device("0000:5e:00.0", "mlx5_core", "0x15b3",
			"0x101e", 0, "0000:5e:00.7", "")),
			Network{}, Port{"", "0000:5e:00.7", true}},
		{"a device of another bus", newPod().netdev("west", "02:00:00:00:00:01",
			"25000").link("sys/class/net/west/device", "../../../virtio3"), Network{}, Port{}},
		{"a representor", newPod().netdev("west", "02:00:00:00:00:01",
			"25000").file("sys/class/net/west/phys_switch_id", "aabb").
			file("sys/class/net/west/phys_port_name", "pf1vf3"), Network{}, Port{"", "aabb/pf1", true}},
		{"a representor of another host's function", newPod().netdev("west", "02:00:00:00:00:01",
			"25000").file("sys/class/net/west/phys_switch_id", "aabb").
			file("sys/class/net/west/phys_port_name", "c1pf0sf88"), Network{}, Port{"", "aabb/c1pf0", true}},
		{"a switch's own port", newPod().netdev("west", "02:00:00:00:00:01",
			"25000").file("sys/class/net/west/phys_switch_id", "aabb").
			file("sys/class/net/west/phys_port_name", "p1"), Network{}, Port{"", "aabb/p1", false}},
		{"an end of a veth", kernelPod(), Network{}, Port{}},
		{"a virtual function's interface, told of as another", mlx5Pod(), reported("0000:3b:02.7", "0000:3b:00.0"),
			Port{"0000:5e:00.2", "0000:5e:00.0", true}},
		{"a virtual function's interface, told to be of another port", mlx5Pod(),
			reported("0000:5e:00.2", "0000:3b:00.0"), Port{"0000:5e:00.2", "0000:5e:00.0", true}},
		{"a virtual function that left the kernel, told to be of another port", intelPod(),
			reported("0000:3b:02.0", "0000:99:00.0"), Port{"0000:3b:02.0", "0000:3b:00.0", true}},
		{"a port that is told of without a device", kernelPod(), reported("", "0000:3b:00.0"), Port{}},
		{"a representor, told of as a card's", newPod().netdev("west", "02:00:00:00:00:01",
			"25000").file("sys/class/net/west/phys_switch_id", "aabb").
			file("sys/class/net/west/phys_port_name", "pf1vf3"), reported("0000:3b:02.0", "0000:3b:00.0"),
			Port{"", "aabb/pf1", true}},
		{"no interface at all", newPod(), Network{}, Port{}},
		{"a device that is gone from sysfs", newPod(), reported("0000:3b:02.0", ""), Port{Device: "0000:3b:02.0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := FindPort(c.pod.tree, c.network, "west"); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}

func TestAPluginMayTellTheVirtualFunctionsPort(t *testing.T) {
	const text = `[{"name":"lab/sriov-west","interface":"west","device-info":{"type":"pci","version":"1.1.0",
		"pci":{"pci-address":"0000:3b:02.0","pf-pci-address":"0000:3b:00.0"}}}]`
	networks, err := ParseNetworkStatus([]byte(text))
	if err != nil || len(networks) != 1 || networks[0].PhysicalFunction != "0000:3b:00.0" {
		t.Errorf("%+v, %v", networks, err)
	}
}
