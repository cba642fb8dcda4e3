package launch

import (
	"reflect"
	"slices"
	"testing"

	"github.com/linerate-dev/linerate/internal/host/card"
)

func TestLimitsOfEitherCgroupVersion(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  *fakePod
	}{
		{"version 2", newPod().cgroupV2("2-5,10", "4294967296", "2147483648")},
		{"version 1, its own part mounted", newPod().cgroupV1("2-5,10", "4294967296", "2147483648", false)},
		{"version 1, all of it mounted", newPod().cgroupV1("2-5,10", "4294967296", "2147483648", true)},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.pod.nodeHugepages(16, 8).observe()
			if o.MemoryLimit != 4<<30 || o.MilliCPU != Unlimited {
				t.Errorf("memory %d, CPU %d", o.MemoryLimit, o.MilliCPU)
			}
			var ids []int
			for _, cpu := range o.CPUs {
				ids = append(ids, cpu.ID)
			}
			if !slices.Equal(ids, []int{2, 3, 4, 5, 10}) || o.CPUs[2] != (CPU{ID: 4, Node: 1, Core: 4}) ||
				o.CPUs[4] != (CPU{ID: 10, Node: 0, Core: 2}) {
				t.Errorf("CPUs %+v", o.CPUs)
			}
			i := slices.IndexFunc(o.Hugepages, func(h Hugepages) bool { return h.PageKiB == 1<<20 })
			if i < 0 || o.Hugepages[i].Limit != 2<<30 || o.Hugepages[i].Free != 8 || len(o.Hugepages[i].Mounts) != 1 {
				t.Errorf("hugepages %+v", o.Hugepages)
			}
		})
	}
}

func TestLimitsThatNobodySet(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  *fakePod
	}{
		{"version 2's max", newPod().cgroupV2("0", "max", "max")},
		{"version 1's highest number", newPod().cgroupV1("0", "9223372036854771712", "9223372036854771712", false)},
		{"no cgroup in sight", newPod()},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.pod.nodeHugepages(1, 1).observe()
			if o.MemoryLimit != Unlimited || o.Hugepages[0].Limit != Unlimited {
				t.Errorf("memory %d, hugepages %+v", o.MemoryLimit, o.Hugepages)
			}
			if len(o.CPUs) == 0 {
				t.Error("no CPUs: /proc/self/status says which there are")
			}
		})
	}
}

func TestCPUTimeOnSharedCPUs(t *testing.T) {
	pod := intelPod().file("sys/fs/cgroup/cpu.max", "350000 100000")
	if got := pod.observe().MilliCPU; got != 3500 {
		t.Fatalf("%d thousandths of a CPU, want 3500", got)
	}
	config, faults := Decide(pod.observe(), Options{Links: links(t, "west=lab/sriov-west", "east=lab/sriov-east"),
		Cores: 2})
	if len(faults) > 0 || !slices.ContainsFunc(config.Notices, func(n Notice) bool { return n.Code == SharedCPUs }) {
		t.Errorf("faults %v, notices %v", faults, config.Notices)
	}
}

func TestDevicesAsSysfsShowsThem(t *testing.T) {
	pod := mlx5Pod().link("sys/bus/pci/devices/0000:5e:00.0/net",
		"../net-of-node").file("sys/bus/pci/devices/net-of-node/ens1f0/address", "x").
		netdev("ens1f0", "02:00:00:00:00:ff", "100000")
	got := pod.observe().Devices["0000:5e:00.2"]
	want := card.Device{
		Address: "0000:5e:00.2", Driver: "mlx5_core", Vendor: "0x15b3", Model: "0x101e", NUMANode: 0,
		PhysicalFunction:  "0000:5e:00.0",
		PhysicalInterface: "ens1f0", Interfaces: []string{"west"}, SpeedMbps: 100_000,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestThisMachineCanBeObserved(t *testing.T) {
	o := Observe(rootOfThisMachine(t), nil, nil)
	if len(o.CPUs) == 0 || len(o.Interfaces) == 0 {
		t.Errorf("%d CPUs, %d interfaces", len(o.CPUs), len(o.Interfaces))
	}
}

func TestLists(t *testing.T) {
	for text, want := range map[string][]int{"0-3,8": {0, 1, 2, 3, 8}, "": nil, "x": nil, "5-4": nil, "-1": nil,
		"0-99999999": nil, "1,,2": {1, 2}} {
		if got := parseList(text); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzParseNetworkStatus(f *testing.F) {
	f.Add([]byte(`[{"name":"lab/west","interface":"west","mac":"02:00:00:00:00:01","device-info":{"type":"pci",` +
		`"version":"1.1.0","pci":{"pci-address":"0000:3b:02.0"}}}]`))
	f.Add([]byte(`[null,{}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		networks, err := ParseNetworkStatus(text)
		if err != nil && networks != nil {
			t.Error("both networks and an error")
		}
	})
}

func FuzzObserve(f *testing.F) {
	f.Add("4:memory:/a\n0::/", "36 35 0:30 / /sys/fs/cgroup ro - cgroup2 cgroup rw", "0-3", "max 5")
	f.Add("::", " - ", "1-", "0 0")
	f.Fuzz(func(t *testing.T, group, mounts, cpus, quota string) {
		pod := newPod().cgroupV2(cpus, quota, quota).file("proc/self/cgroup", group).file("proc/self/mountinfo",
			mounts).file("sys/fs/cgroup/cpu.max", quota)
		o := pod.observe()
		if o.MemoryLimit < 0 || o.MilliCPU < 0 {
			t.Errorf("negative limits: %d, %d", o.MemoryLimit, o.MilliCPU)
		}
	})
}
