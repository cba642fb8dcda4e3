package launch

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/pod"
)

func TestRefusals(t *testing.T) {
	sriov := []string{"west=lab/sriov-west", "east=lab/sriov-east"}
	bridges := []string{"west=lab/bridge-west", "east=lab/bridge-east"}
	for _, c := range []struct {
		name  string
		pod   *fakePod
		links []string
		opts  Options
		want  []Code
		words string
	}{
		{"no links at all", intelPod(), nil, Options{}, []Code{NoLinks}, "--link"},
		{"a link's network isn't attached", intelPod(), []string{"west=lab/sriov-west", "east=lab/nowhere"}, Options{},
			[]Code{LinkWithoutNetwork}, "lab/nowhere isn't attached"},
		{"the network is another namespace's", intelPod(), []string{"west=sriov-west", "east=sriov-east"},
			Options{Namespace: "prod"}, []Code{LinkWithoutNetwork, LinkWithoutNetwork}, "lab/sriov-west"},
		{"both links got the same device", intelPod().attached(onPCI("lab/again", "again", "0000:3b:02.0")),
			[]string{"east=lab/sriov-east", "again=lab/again"}, Options{}, []Code{AmbiguousLink},
			"both got 0000:3b:02.0"},
		{"the device left the node", intelPod().attached(onPCI("lab/gone", "gone", "0000:ff:00.0")),
			[]string{"west=lab/sriov-west", "gone=lab/gone"}, Options{}, []Code{NoDevice}, "0000:ff:00.0"},
		{"the device is a vDPA one", intelPod().attached(Network{Name: "lab/v", Interface: "v", DeviceType: "vdpa"}),
			[]string{"west=lab/sriov-west", "v=lab/v"}, Options{}, []Code{NoDevice}, "vdpa"},
		{"a kernel driver has the device", intelPod().link("sys/bus/pci/devices/0000:3b:02.0/driver",
			"../drivers/iavf"), sriov, Options{}, []Code{NotBoundToVFIO}, "is bound to iavf, and TRex needs vfio-pci: "},
		{"no driver has the device", intelPod().device("0000:3b:10.0", "", "0x8086", "0x1889", 0, "",
			"").attached(onPCI("lab/n", "n", "0000:3b:10.0")), []string{"west=lab/sriov-west", "n=lab/n"}, Options{},
			[]Code{NotBoundToVFIO}, "is bound to no driver; the node's IOMMU is off"},
		{"/dev/vfio is missing", remove(intelPod(), "dev/vfio/"), sriov, Options{}, []Code{NoVFIO}, "/dev/vfio/vfio"},
		{"an IOMMU group is missing", remove(intelPod(), "dev/vfio/81"), sriov, Options{}, []Code{NoIOMMUGroup},
			"/dev/vfio/81"},
		{"RDMA devices are missing", remove(mlx5Pod(), "dev/infiniband/"), []string{"west=lab/mlx-west",
			"east=lab/mlx-east"}, Options{}, []Code{NoRDMA}, "isRdma"},
		{"mlx5 without its interface", remove(mlx5Pod(), "sys/bus/pci/devices/0000:5e:00.2/net/"),
			[]string{"west=lab/mlx-west", "east=lab/mlx-east"}, Options{}, []Code{InterfaceMissing}, "netdevice"},
		{"Intel and Mellanox together", mixedPod(), []string{"west=lab/sriov-west", "mlx=lab/mlx"}, Options{},
			[]Code{MixedDrivers}, "mlx5_core"},
		{"a device and a kernel interface together", intelPod().netdev("k", "02:00:00:00:00:10",
			"-1").attached(Network{Name: "lab/k", Interface: "k"}), []string{"west=lab/sriov-west", "k=lab/k"},
			Options{}, []Code{MixedDrivers}, "kernel's interface k"},
		{"no IPC_LOCK", intelPod().rights(0, 0), sriov, Options{}, []Code{MissingRight}, "IPC_LOCK"},
		{"no NET_RAW nor NET_ADMIN", kernelPod().rights(0, 1<<capIPCLock), bridges, Options{}, []Code{MissingRight},
			"NET_ADMIN, NET_RAW"},
		{"an ordinary user", intelPod().rights(1000, allRights), sriov, Options{}, []Code{MissingRight}, "user 0"},
		{"too few cores", intelPod().cgroupV2("2-4", "4294967296", "4294967296"), sriov, Options{Cores: 4},
			[]Code{TooFewCores}, "has 3 CPUs, and TRex needs 6"},
		{"two CPUs without a wish", intelPod().cgroupV2("2-3", "4294967296", "4294967296"), sriov, Options{},
			[]Code{TooFewCores}, "has 2 CPUs, and TRex needs 3"},
		{"several cores on kernel interfaces", kernelPod(), bridges, Options{Cores: 2}, []Code{TooManyCores},
			"one queue"},
		{"the node has no hugepages", intelPod().nodeHugepages(0, 0), sriov, Options{}, []Code{NoHugepages},
			"node has no hugepages"},
		{"the pod asked for none", intelPod().cgroupV2("2-5", "4294967296", "0"), sriov, Options{}, []Code{NoHugepages},
			"may use no hugepages"},
		{"none are mounted", intelPod().file("proc/self/mountinfo",
			"36 35 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup rw"), sriov, Options{}, []Code{NoHugepages}, "mounted"},
		{"the limit is too small", intelPod().cgroupV2("2-5", "4294967296", "536870912"), sriov, Options{},
			[]Code{HugepagesTooSmall}, "512 MiB"},
		{"others use the node's", intelPod().nodeHugepages(16, 0), sriov, Options{}, []Code{HugepagesTooSmall},
			"node has 0 MiB"},
		{"too little memory", kernelPod().cgroupV2("0-3", "536870912", "0"), bridges, Options{}, []Code{MemoryTooSmall},
			"512 MiB"},
		{"no such interface", remove(kernelPod(), "sys/class/net/east/"), bridges, Options{}, []Code{InterfaceMissing},
			"only eth0, lo, west"},
		{"extra configuration takes the ports away", intelPod(), sriov,
			Options{Extra: map[string]any{"interfaces": []any{"x"}}}, []Code{ReservedSetting}, "interfaces"},
		{"everything at once is told at once", intelPod().rights(0, 0).nodeHugepages(0, 0).cgroupV2("1", "max", "0"),
			sriov, Options{}, []Code{MissingRight, TooFewCores, NoHugepages}, "IPC_LOCK"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opts.Links = links(t, c.links...)
			_, faults := Decide(c.pod.observe(), c.opts)
			if !slices.Equal(codes(faults), c.want) {
				t.Fatalf("faults %v, want %v", faults, c.want)
			}
			message := TerminationMessage(faults)
			if !strings.Contains(message, c.words) {
				t.Errorf("%q doesn't say %q", message, c.words)
			}
			if lines := strings.Split(message, "\n"); len(lines) != len(faults) {
				t.Errorf("%d faults in %d lines: %q", len(faults), len(lines), message)
			}
		})
	}
}

// remove removes a part of the tree.
func remove(p *fakePod, prefix string) *fakePod {
	for name := range p.tree {
		if strings.HasPrefix(name, prefix) {
			delete(p.tree, name)
		}
	}
	return p
}

func mixedPod() *fakePod {
	return intelPod().device("0000:5e:00.2", "mlx5_core", "0x15b3", "0x101e", 0, "0000:5e:00.0",
		"mlx").attached(onPCI("lab/mlx", "mlx", "0000:5e:00.2"))
}

func TestTerminationMessageFitsWhatKubernetesKeeps(t *testing.T) {
	long := strings.Repeat("ü", 5000)
	message := TerminationMessage([]Fault{{TRexEnded, long, "x"}})
	if len(message) > pod.MaxTerminationMessage || !strings.HasSuffix(message, "ü") {
		t.Errorf("%d bytes, ending in %q", len(message), message[len(message)-4:])
	}
}
