package launch

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/units"
)

var update = flag.Bool("update", false, "write the golden files anew")

// addressed gives the links their addresses on the test's usual networks.
func addressed(links []Link) []Link {
	for i := range links {
		links[i].Address = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(i), 2}), 24)
		links[i].Gateway = netip.AddrFrom4([4]byte{198, 18, byte(i), 1})
	}
	return links
}

func TestConfigurations(t *testing.T) {
	for _, c := range []struct {
		name string
		pod  *fakePod
		opts Options
	}{
		{"intel", intelPod(), Options{Links: addressed(links(t, "west=lab/sriov-west", "east=lab/sriov-east")),
			Cores: 4}},
		{"mlx5", mlx5Pod(), Options{Links: addressed(links(t, "west=mlx-west", "east=mlx-east")), Namespace: "lab"}},
		{"kernel", kernelPod(), Options{Links: []Link{
			{Name: "west", Network: "lab/bridge-west", DestinationMAC: "02:00:00:00:00:20", LineRate: 25_000_000_000},
			{Name: "east", Network: "lab/bridge-east", DestinationMAC: "02:00:00:00:00:21"},
		}}},
		{"kernel-one-cpu", kernelPod().cgroupV2("5", "1073741824", "0"),
			Options{Links: links(t, "west=bridge-west", "east=bridge-east")}},
		{"three-links", intelPod().vfio("0000:3b:12.0", "0000:5e:00.0", "83", 0).attached(onPCI("lab/sriov-north",
			"north", "0000:3b:12.0")),
			Options{Links: links(t, "west=lab/sriov-west", "east=lab/sriov-east", "north=lab/sriov-north"), Cores: 2}},
		{"extra", intelPod(), Options{
			Links: links(t, "west=sriov-west", "east=sriov-east"), Cores: 1, MTU: 9216,
			PortSpeed: units.BitRate(25_000_000_000),
			Extra: map[string]any{"limit_memory": "2048", "zmq_rpc_port": 5501,
				"platform": map[string]any{"latency_thread_id": 13}, "tx_desc": 2048},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			config, faults := Decide(c.pod.observe(), c.opts)
			if len(faults) > 0 {
				t.Fatalf("refused: %v", faults)
			}
			text, err := Render(config)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, c.name+".yaml", string(text)+"# "+strings.Join(config.CommandLine("trex_cfg.yaml"), " ")+"\n"+
				notices(config))
		})
	}
}

func notices(c Config) string {
	var b strings.Builder
	for _, n := range c.Notices {
		b.WriteString("# " + string(n.Code) + ": " + n.Notable + "\n")
	}
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", file, got, want)
	}
}

func TestLinksFindTheirDevicesByName(t *testing.T) {
	config, faults := Decide(intelPod().observe(),
		Options{Links: links(t, "west=lab/sriov-west", "east=lab/sriov-east")})
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if got := config.Interfaces; !slices.Equal(got, []string{"0000:3b:0a.0", "0000:3b:02.0"}) {
		t.Errorf("ports are %v, in the order of handing out instead of the links'", got)
	}
	west := config.Devices[0]
	if west.PhysicalPort != "0000:3b:00.1" || west.NUMANode != 1 || west.Driver != "vfio-pci" || !west.VirtualFunction {
		t.Errorf("west is told as %+v", west)
	}
}

func TestOneNetworkForBothLinks(t *testing.T) {
	pod := intelPod()
	pod.networks = []Network{onPCI("lab/sriov", "east", "0000:3b:02.0"), onPCI("lab/sriov", "west", "0000:3b:0a.0")}
	t.Run("interface names tell the attachments apart", func(t *testing.T) {
		config, faults := Decide(pod.observe(), Options{Links: links(t, "west=sriov", "east=sriov")})
		if len(faults) > 0 || config.Interfaces[0] != "0000:3b:0a.0" {
			t.Errorf("ports %v, faults %v", config.Interfaces, faults)
		}
	})
	t.Run("without them nothing is guessed", func(t *testing.T) {
		pod.networks[0].Interface, pod.networks[1].Interface = "net1", "net2"
		if _, faults := Decide(pod.observe(),
			Options{Links: links(t, "west=sriov", "east=sriov")}); !slices.Equal(codes(faults),
			[]Code{AmbiguousLink, AmbiguousLink}) {
			t.Errorf("faults %v", faults)
		}
	})
}

func TestResourceVariablesServeWhereThereIsOneDevice(t *testing.T) {
	pod := intelPod()
	pod.networks = []Network{{Name: "lab/sriov-west", Interface: "west"}, {Name: "lab/sriov-east", Interface: "east"}}
	pod.environment = []string{"PCIDEVICE_INTEL_COM_WEST=0000:3b:0a.0", "PCIDEVICE_INTEL_COM_EAST=0000:3b:02.0",
		`PCIDEVICE_INTEL_COM_EAST_INFO={"0000:3b:02.0":{}}`, "HOME=/"}
	wanted := links(t, "west=lab/sriov-west", "east=lab/sriov-east")
	wanted[0].Resource, wanted[1].Resource = "intel.com/west", "intel.com/east"
	t.Run("one device of each", func(t *testing.T) {
		config, faults := Decide(pod.observe(), Options{Links: wanted})
		if len(faults) > 0 || !slices.Equal(config.Interfaces, []string{"0000:3b:0a.0", "0000:3b:02.0"}) {
			t.Errorf("ports %v, faults %v", config.Interfaces, faults)
		}
	})
	t.Run("network-status lacks networks whose plugin returned no interface", func(t *testing.T) {
		pod.networks = nil
		config, faults := Decide(pod.observe(), Options{Links: wanted})
		if len(faults) > 0 || !slices.Equal(config.Interfaces, []string{"0000:3b:0a.0", "0000:3b:02.0"}) {
			t.Errorf("ports %v, faults %v", config.Interfaces, faults)
		}
	})
	t.Run("two of one resource are not told apart by order", func(t *testing.T) {
		pod.environment = []string{"PCIDEVICE_INTEL_COM_NIC=0000:3b:0a.0,0000:3b:02.0"}
		wanted[0].Resource, wanted[1].Resource = "intel.com/nic", "intel.com/nic"
		if _, faults := Decide(pod.observe(), Options{Links: wanted}); !slices.Equal(codes(faults),
			[]Code{AmbiguousLink, AmbiguousLink}) {
			t.Errorf("faults %v", faults)
		}
	})
}

func TestSharedPort(t *testing.T) {
	pod := newPod().cgroupV2("0-7", "4294967296", "4294967296").nodeHugepages(8, 8).
		vfio("0000:3b:02.0", "0000:3b:00.0", "81", 0).vfio("0000:3b:02.1", "0000:3b:00.0", "82", 0).
		attached(onPCI("lab/a", "west", "0000:3b:02.0"), onPCI("lab/b", "east", "0000:3b:02.1"))
	opts := Options{Links: links(t, "west=lab/a", "east=lab/b"), Cores: 2}
	if _, faults := Decide(pod.observe(), opts); !slices.Equal(codes(faults), []Code{SharedPort}) {
		t.Errorf("two virtual functions of one port: faults %v", faults)
	}
	opts.SharedPort = true
	config, faults := Decide(pod.observe(), opts)
	if len(faults) > 0 || len(config.Notices) != 1 || config.Notices[0].Code != SharedPort ||
		!config.Devices[0].SharesPort || !config.Devices[1].SharesPort {
		t.Errorf("allowed: faults %v, notices %v, devices %+v", faults, config.Notices, config.Devices)
	}
}

// A port that says less than its line rate would refuse to be driven at it.
func TestAPortIsNoSlowerThanItsLine(t *testing.T) {
	for bits, want := range map[int64]int64{25_000_000_000: 25_000, 25_000_000_001: 25_001, 25_000_999_999: 25_001,
		1: 1} {
		if got := megabits(bits); got != want {
			t.Errorf("%d bit/s are %d Mbit/s, want %d", bits, got, want)
		}
	}
}
