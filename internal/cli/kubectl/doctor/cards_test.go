package doctor

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/linerate-dev/linerate/internal/host/card"
	"github.com/linerate-dev/linerate/test/rigs/cards"
)

// soundAnswers are what the kernel says of two ports whose functions are ready for a software engine.
func soundAnswers() map[string]card.Answer {
	port := func(first, second string) card.Answer {
		return card.Answer{State: card.State{Stamps: card.PTPStamps}, Functions: map[int]card.Settings{
			0: {MAC: first, SpoofCheck: true, Trust: true}, 1: {MAC: second, SpoofCheck: true, Trust: true}}}
	}
	return map[string]card.Answer{"eth1": port("02:00:00:00:aa:01", "02:00:00:00:aa:02"),
		"eth0": port("02:00:00:00:aa:03", "02:00:00:00:aa:04")}
}

// brokenLab lacks one thing that a sound one has.
type brokenLab struct {
	name    string
	harm    func(tree fstest.MapFS, asked map[string]card.Answer)
	need    CardNeed
	want    string // the finding
	fix     string
	isFatal bool
}

func setFunction(asked map[string]card.Answer, port string, index int, change func(s *card.Settings)) {
	s := asked[port].Functions[index]
	change(&s)
	asked[port].Functions[index] = s
}

func brokenLabs() []brokenLab {
	type tree = fstest.MapFS
	type answers = map[string]card.Answer
	trex := CardNeed{TRex: true}
	state := func(s card.State) func(tree, answers) {
		return func(_ tree, asked answers) { asked["eth4"] = card.Answer{State: s} }
	}
	return []brokenLab{
		{"no IOMMU", func(t tree, _ answers) { cards.Remove(t, "iommu_groups") }, trex,
			"IOMMU: it is off", "intel_iommu=on", true},
		{"vfio-pci isn't loaded", func(t tree, _ answers) { cards.Remove(t, "vfio-pci") }, trex,
			"IOMMU: it is on, and the driver vfio-pci isn't loaded", "modprobe vfio-pci", true},
		{"no hugepages on the port's NUMA node", func(t tree, _ answers) {
			for _, file := range []string{"nr_hugepages", "free_hugepages"} {
				name := "sys/devices/system/node/node0/hugepages/hugepages-2048kB/" + file
				t[name] = &fstest.MapFile{Data: []byte("1024")}
			}
		}, trex, "hugepages of NUMA node 1: it has 420 MiB, and a TRex on port eth0 of that node needs 1024",
			"echo 512 > /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages", true},
		{"wrong driver for TRex", func(tree, answers) {}, trex,
			"functions of eth1: they are bound to igbvf, and TRex needs vfio-pci",
			"echo vfio-pci > /sys/bus/pci/devices/0000:21:10.0/driver_override; " +
				"echo 0000:21:10.0 > /sys/bus/pci/devices/0000:21:10.0/driver/unbind", true},
		{"wrong driver for the software engine", func(t tree, _ answers) {
			for _, address := range []string{"0000:21:10.0", "0000:21:10.2"} {
				cards.Set(t, address, "driver", "../../../../bus/pci/drivers/vfio-pci")
				cards.Remove(t, map[string]string{"0000:21:10.0": "eth4", "0000:21:10.2": "eth5"}[address])
			}
		}, CardNeed{}, "functions of eth1: they are bound to vfio-pci, and the software engine needs their kernel driver",
			"driver/unbind", true},
		{"no driver", func(t tree, _ answers) {
			for _, address := range []string{"0000:21:10.0", "0000:21:10.2"} {
				delete(t, "sys/devices/pci0000:20/0000:20:00.0/"+address+"/driver")
			}
		}, CardNeed{}, "functions of eth1: they are bound to no driver", "modprobe", true},
		{"no functions", func(t tree, _ answers) { cards.Set(t, "0000:21:00.0", "sriov_numvfs", "0") }, CardNeed{},
			"port eth1: it has none of the 7 virtual functions", "echo 4 > /sys/class/net/eth1/device/sriov_numvfs", false},
		{"ports on two NUMA nodes", func(tree, answers) {}, CardNeed{},
			"NUMA nodes: eth0 is on node 1, eth1 is on node 0", "use ports of one node", false},
		{"a port that is down", func(t tree, _ answers) {
			cards.Set(t, "eth1", "flags", "0x1002")
			cards.Set(t, "eth1", "carrier", "")
		}, CardNeed{}, "port eth1: it is down, and a virtual function has no link", "ip link set eth1 up", true},
		{"a port without a carrier", func(t tree, _ answers) { cards.Set(t, "eth1", "carrier", "0") }, CardNeed{},
			"port eth1: it is up and has no carrier", "connect its cable", true},
		{"a function without a carrier", func(t tree, _ answers) { cards.Set(t, "eth5", "carrier", "0") }, CardNeed{},
			"functions of eth1: vf 1 (eth5): they are up and have no carrier, though their port has one",
			"ip link set eth5 down; ip link set eth5 up", true},
		{"too small an MTU", func(tree, answers) {}, CardNeed{FrameBytes: 9018},
			"port eth1: its MTU of 1500 lets frames of 1518 bytes pass at most, its functions' too, and the test has 9018",
			"ip link set eth1 mtu 9000", true},
		{"a function's MTU beyond the port's", func(t tree, _ answers) { cards.Set(t, "eth5", "mtu", "9000") }, CardNeed{},
			"functions of eth1: vf 1 (eth5): their MTU is larger than the port's", "ip link set eth1 mtu 9000", true},
		{"a function's MTU behind the port's", func(t tree, _ answers) { cards.Set(t, "eth1", "mtu", "9000") },
			CardNeed{FrameBytes: 9018}, "functions of eth1: vf 0 (eth4), vf 1 (eth5): their MTU is too small for the test's frames",
			"ip link set eth4 mtu 9000; ip link set eth5 mtu 9000", true},
		{"the spoof check under a bridge", func(tree, answers) {}, CardNeed{Bridge: true},
			"functions of eth1: vf 0 (eth4), vf 1 (eth5): the spoof check is on, and drops what a bridge forwards",
			"ip link set eth1 vf 0 spoofchk off", true},
		{"no trust for TRex", func(_ tree, asked answers) {
			setFunction(asked, "eth1", 0, func(s *card.Settings) { s.Trust = false })
		}, trex, "functions of eth1: vf 0 (eth4): they aren't trusted", "ip link set eth1 vf 0 trust on", false},
		{"a VLAN that the port sets", func(_ tree, asked answers) {
			setFunction(asked, "eth1", 1, func(s *card.Settings) { s.VLAN = 100 })
		}, CardNeed{}, "functions of eth1: vf 1 (eth5): the port puts them into a VLAN", "ip link set eth1 vf 1 vlan 0", false},
		{"a rate that the port limits", func(_ tree, asked answers) {
			setFunction(asked, "eth1", 1, func(s *card.Settings) { s.MaxMbps = 100 })
		}, CardNeed{}, "the port limits what they send", "ip link set eth1 vf 1 max_tx_rate 0", false},
		{"a link that the port disabled", func(_ tree, asked answers) {
			setFunction(asked, "eth1", 1, func(s *card.Settings) { s.Disabled = true })
		}, CardNeed{}, "their link is disabled by the port", "ip link set eth1 vf 1 state auto", true},
		{"one MAC twice", func(_ tree, asked answers) {
			setFunction(asked, "eth1", 1, func(s *card.Settings) { s.MAC = "02:00:00:00:aa:01" })
		}, CardNeed{}, "functions of eth1: vf 0 (eth4), vf 1 (eth5): another function of the port, or the port, has the same MAC",
			"ip link set eth1 vf 0 mac", true},
		{"another MAC than the port set", func(t tree, _ answers) {
			cards.Set(t, "eth5", "address", "02:00:00:00:bb:bb")
		}, CardNeed{}, "vf 1 (eth5): their interface has another MAC than the port set",
			"ip link set eth1 vf 1 mac 02:00:00:00:bb:bb", true},
		{"pause frames", func(_ tree, asked answers) {
			a := asked["eth1"]
			a.Pause = true
			asked["eth1"] = a
		}, CardNeed{}, "port eth1: pause frames are on", "ethtool -A eth1 rx off tx off", false},
		{"an XDP program of another pod", state(card.State{XDP: 17}), CardNeed{}, "vf 0 (eth4): an XDP program",
			"ip link set eth4 xdp off", false},
		{"filters of another pod", state(card.State{Filters: 2}), CardNeed{}, "vf 0 (eth4): filters of tc",
			"tc qdisc del dev eth4 clsact", false},
		{"promiscuous mode of another pod", state(card.State{Promiscuous: true}), CardNeed{}, "vf 0 (eth4): they are promiscuous",
			"ip link set eth4 promisc off", false},
		{"addresses of another pod", state(card.State{Addresses: []string{"10.0.0.1/24"}}), CardNeed{},
			"vf 0 (eth4): they have addresses", "ip address flush dev eth4", false},
		{"a short receive ring", state(card.State{Ring: 512, MostRing: 4096}), CardNeed{},
			"vf 0 (eth4): their receive rings are short", "ethtool -G eth4 rx 4096", false},
		{"interrupts on processors of another NUMA node", func(t tree, _ answers) {
			const device = "sys/devices/pci0000:20/0000:20:00.0/0000:21:10.0/"
			for file, text := range map[string]string{device + "local_cpulist": "0", device + "msi_irqs/43": "msix",
				"proc/irq/43/effective_affinity_list": "1"} {
				t[file] = &fstest.MapFile{Data: []byte(text)}
			}
		}, CardNeed{}, "vf 0 (eth4): processors of another NUMA node handle their interrupts",
			"cat /sys/bus/pci/devices/0000:21:10.0/local_cpulist > /proc/irq/$i/smp_affinity_list", false},
		{"a bridge of the machine", state(card.State{Master: "br0"}), CardNeed{}, "vf 0 (eth4): they are in a bridge",
			"ip link set eth4 nomaster", false},
		{"a port that isn't there", func(tree, answers) {}, CardNeed{Ports: []string{"ens1f0"}},
			"port ens1f0: this machine has no such port of a card, but eth0, eth1", "ip link", true},
		{"no card", func(t tree, _ answers) { cards.Remove(t, "net") }, CardNeed{},
			"ports: no card here can make virtual functions", "firmware", true},
	}
}

func TestDoctorNamesWhatAMachineLacks(t *testing.T) {
	for _, lab := range brokenLabs() {
		t.Run(lab.name, func(t *testing.T) {
			tree, asked := cards.IGB(), soundAnswers()
			lab.harm(tree, asked)
			findings := DiagnoseCards(card.Read(tree, asked), lab.need)
			for _, f := range findings {
				if strings.Contains(f.Check+": "+f.Message, lab.want) {
					if (f.Level == Fail) != lab.isFatal || !strings.Contains(f.Fix, lab.fix) {
						t.Errorf("got %s, fix %s", f.Level, f.Fix)
					}
					return
				}
			}
			t.Errorf("no finding %q in %+v", lab.want, findings)
		})
	}
}

// TestDoctorHasNothingToSayOfASoundMachine: what isn't broken has one line.
func TestDoctorHasNothingToSayOfASoundMachine(t *testing.T) {
	findings := DiagnoseCards(card.Read(cards.IGB(), soundAnswers()), CardNeed{Ports: []string{"eth1"}, FrameBytes: 1518})
	want := []Finding{
		{OK, "IOMMU", "on, with 15 groups", ""},
		{OK, "port eth1", "igb, NUMA node 0, MTU 1500, 2 of 7 virtual functions; its clock stamps PTP frames, and latency " +
			"is by the machine's clock", ""},
	}
	if len(findings) != len(want) || findings[0] != want[0] || findings[1] != want[1] {
		t.Errorf("got %+v", findings)
	}
}
