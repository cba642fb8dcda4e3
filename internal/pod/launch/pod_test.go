package launch

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
)

// fakePod is a pod's file tree, as the kernel would show it, with two NUMA nodes of eight logical CPUs and four
// physical cores each.
type fakePod struct {
	tree        fstest.MapFS
	environment []string
	networks    []Network
}

const allRights = 1<<capNetAdmin | 1<<capNetRaw | 1<<capIPCLock

func newPod() *fakePod {
	p := &fakePod{tree: fstest.MapFS{}}
	for cpu := range 16 {
		p.file(fmt.Sprintf("sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu),
			fmt.Sprintf("%d,%d", cpu%8, cpu%8+8))
	}
	p.file("sys/devices/system/node/node0/cpulist", "0-3,8-11")
	p.file("sys/devices/system/node/node1/cpulist", "4-7,12-15")
	p.file("sys/devices/system/node/possible", "0-1")
	p.file("proc/meminfo", "MemTotal:       65536000 kB\nHugepagesize:       2048 kB")
	return p.rights(0, allRights).file("sys/class/net/lo/address", "00:00:00:00:00:00")
}

func (p *fakePod) file(name, text string) *fakePod {
	p.tree[name] = &fstest.MapFile{Data: []byte(text + "\n"), Mode: 0o644}
	return p
}

func (p *fakePod) link(name, destination string) *fakePod {
	p.tree[name] = &fstest.MapFile{Data: []byte(destination), Mode: fs.ModeSymlink | 0o777}
	return p
}

func (p *fakePod) rights(uid int, capabilities uint64) *fakePod {
	return p.file("proc/self/status", fmt.Sprintf("Name:\tlinerate\nUid:\t%[1]d\t%[1]d\t%[1]d\t%[1]d\n"+
		"CapEff:\t%016[2]x\nCpus_allowed_list:\t0-15", uid, capabilities))
}

// cgroupV2 is how a container with a cgroup namespace of its own sees its limits.
func (p *fakePod) cgroupV2(cpus, memory, huge1G string) *fakePod {
	p.file("proc/self/cgroup", "0::/")
	p.file("proc/self/mountinfo", `36 35 0:30 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw
37 35 0:44 / /dev/hugepages rw,relatime - hugetlbfs nodev rw,pagesize=1024M`)
	p.file("sys/fs/cgroup/cpuset.cpus.effective", cpus)
	p.file("sys/fs/cgroup/cpu.max", "max 100000")
	p.file("sys/fs/cgroup/memory.max", memory)
	return p.file("sys/fs/cgroup/hugetlb.1GB.max", huge1G).file("sys/fs/cgroup/hugetlb.2MB.max", "0")
}

// cgroupV1 is a hierarchy per controller, of which the container sees its own part, or with whole the whole.
func (p *fakePod) cgroupV1(cpus, memory, huge1G string, whole bool) *fakePod {
	const group = "/kubepods/pod1/c1"
	root, subfolder := group, ""
	if whole {
		root, subfolder = "/", group
	}
	p.file("proc/self/cgroup", "4:hugetlb:"+group+"\n3:memory:"+group+"\n2:cpuset:"+group+"\n1:cpu,cpuacct:"+group+
		"\n0::/system.slice")
	mounts := "37 35 0:44 / /hugepages-1Gi rw,relatime - hugetlbfs nodev rw,pagesize=1024M\n40 35 0:30 / " +
		"/sys/fs/cgroup/unified rw - cgroup2 cgroup rw"
	for i, controllers := range []string{"cpuset", "memory", "hugetlb", "cpu,cpuacct"} {
		mounts += fmt.Sprintf("\n%d 35 0:%d %s /sys/fs/cgroup/%s ro,nosuid master:9 - cgroup none rw,%s", 50+i, 50+i,
			root, controllers, controllers)
	}
	p.file("proc/self/mountinfo", mounts)
	p.file("sys/fs/cgroup/cpuset"+subfolder+"/cpuset.effective_cpus", cpus)
	p.file("sys/fs/cgroup/memory"+subfolder+"/memory.limit_in_bytes", memory)
	p.file("sys/fs/cgroup/cpu,cpuacct"+subfolder+"/cpu.cfs_quota_us", "-1")
	p.file("sys/fs/cgroup/cpu,cpuacct"+subfolder+"/cpu.cfs_period_us", "100000")
	return p.file("sys/fs/cgroup/hugetlb"+subfolder+"/hugetlb.1GB.limit_in_bytes", huge1G).file("sys/fs/cgroup/hugetlb"+
		subfolder+"/hugetlb.2MB.limit_in_bytes", "0")
}

func (p *fakePod) nodeHugepages(total, free int) *fakePod {
	p.file("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
		"0").file("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "0")
	p.file("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", fmt.Sprint(total))
	return p.file("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", fmt.Sprint(free))
}

// device is a PCI device. A netdev is its interface in the pod, a pf the port that it is a virtual function of.
func (p *fakePod) device(address, driver, vendor, model string, node int, pf, netdev string) *fakePod {
	dir := "sys/bus/pci/devices/" + address
	p.file(dir+"/vendor", vendor).file(dir+"/device", model).file(dir+"/numa_node", fmt.Sprint(node))
	if driver != "" {
		p.link(dir+"/driver", "../../../bus/pci/drivers/"+driver)
	}
	if pf != "" {
		p.link(dir+"/physfn", "../"+pf)
		p.file("sys/bus/pci/devices/"+pf+"/vendor", vendor)
	}
	if netdev != "" {
		p.file(dir+"/net/"+netdev+"/address", "02:00:00:00:00:01")
		p.netdev(netdev, "02:00:00:00:00:01", "25000").link("sys/class/net/"+netdev+"/device", "../../../"+address)
	}
	return p
}

func (p *fakePod) netdev(name, mac, speed string) *fakePod {
	dir := "sys/class/net/" + name
	return p.file(dir+"/address", mac).file(dir+"/mtu", "1500").file(dir+"/speed", speed)
}

// vfio is a virtual function on vfio-pci, with its group in the pod.
func (p *fakePod) vfio(address, pf, group string, node int) *fakePod {
	p.device(address, "vfio-pci", "0x8086", "0x1889", node, pf, "")
	p.link("sys/bus/pci/devices/"+address+"/iommu_group", "../../../kernel/iommu_groups/"+group)
	return p.file("dev/vfio/vfio", "").file("dev/vfio/"+group, "")
}

func (p *fakePod) attached(networks ...Network) *fakePod {
	p.networks = append(p.networks, networks...)
	return p
}

func (p *fakePod) observe() Observed { return Observe(p.tree, p.environment, p.networks) }

func onPCI(name, iface, address string) Network {
	return Network{Name: name, Interface: iface, MAC: "02:00:00:00:00:aa", DeviceType: "pci", DeviceVersion: "1.1.0",
		PCIAddress: address}
}

// intelPod has two Intel virtual functions of two ports on NUMA node 1, handed out in the opposite order of the links.
func intelPod() *fakePod {
	return newPod().cgroupV2("2-5,10-13", "4294967296", "4294967296").nodeHugepages(16, 8).
		vfio("0000:3b:02.0", "0000:3b:00.0", "81", 1).vfio("0000:3b:0a.0", "0000:3b:00.1", "82", 1).
		attached(Network{Name: "cbr0", Interface: "eth0", Default: true},
			onPCI("lab/sriov-east", "east", "0000:3b:02.0"), onPCI("lab/sriov-west", "west", "0000:3b:0a.0"))
}

func mlx5Pod() *fakePod {
	return newPod().cgroupV1("0-3,8-11", "4294967296", "2147483648", false).nodeHugepages(16, 8).
		device("0000:5e:00.2", "mlx5_core", "0x15b3", "0x101e", 0, "0000:5e:00.0", "west").
		device("0000:5e:01.2", "mlx5_core", "0x15b3", "0x101e", 0, "0000:5e:00.1", "east").
		file("dev/infiniband/uverbs0", "").file("dev/infiniband/uverbs1", "").
		attached(onPCI("lab/mlx-west", "west", "0000:5e:00.2"), onPCI("lab/mlx-east", "east", "0000:5e:01.2"))
}

func kernelPod() *fakePod {
	return newPod().cgroupV2("0-3", "4294967296", "0").
		netdev("west", "02:00:00:00:00:10", "10000").netdev("east", "02:00:00:00:00:11", "-1").netdev("eth0",
		"02:00:00:00:00:12", "-1").
		attached(Network{Name: "lab/bridge-west", Interface: "west"}, Network{Name: "lab/bridge-east",
			Interface: "east"})
}

func links(t *testing.T, texts ...string) []Link {
	t.Helper()
	parsed, err := ParseLinkFlags(texts)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func codes(faults []Fault) []Code {
	var list []Code
	for _, f := range faults {
		list = append(list, f.Code)
	}
	return list
}
