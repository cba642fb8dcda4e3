package pci

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// sysfsOf makes a machine with two ports, 3b:00.0 and 3b:00.1, each with two functions, the first on vfio-pci.
func sysfsOf(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	devices := filepath.Join(root, "bus/pci/devices")
	link := func(to, from string) {
		if err := os.Symlink(to, filepath.Join(devices, from)); err != nil {
			t.Fatal(err)
		}
	}
	for port, name := range map[string]string{"0000:3b:00.0": "ens1f0", "0000:3b:00.1": "ens1f1"} {
		if err := os.MkdirAll(filepath.Join(devices, port, "net", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for address, driver := range map[string]string{"0000:3b:10.0": "vfio-pci", "0000:3b:10.2": "igbvf", "0000:3b:10.1": "vfio-pci", "0000:3b:10.3": ""} {
		if err := os.MkdirAll(filepath.Join(devices, address), 0o755); err != nil {
			t.Fatal(err)
		}
		port := "0000:3b:00.0"
		if address[len(address)-1]%2 == 1 {
			port = "0000:3b:00.1"
		}
		link("../"+port, address+"/physfn")
		link("../../../kernel/iommu_groups/12", address+"/iommu_group")
		if driver != "" {
			link("../../../bus/pci/drivers/"+driver, address+"/driver")
		}
		if err := os.WriteFile(filepath.Join(devices, address, "numa_node"), []byte("1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestAFunctionIsOfTheFirstResourceThatItFits(t *testing.T) {
	got, err := Inventory(sysfsOf(t), []byte(`{"resourceList": [
		{"resourcePrefix": "intel.com", "resourceName": "sriov_west", "selectors": {"drivers": ["vfio-pci"], "pfNames": ["ens1f0"]}},
		{"resourcePrefix": "intel.com", "resourceName": "netdev_west", "selectors": {"pfNames": ["ens1f0"]}},
		{"resourcePrefix": "intel.com", "resourceName": "other", "selectors": {"drivers": ["mlx5_core"]}},
		{"resourcePrefix": "intel.com", "resourceName": "east", "selectors": {"pfNames": ["ens1f1"]}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	device := func(address, port string) vf.Device { return vf.Device{ID: address, PF: port, NUMA: 1} }
	want := vf.Inventory{Resources: []vf.Resource{
		{Name: "intel.com/sriov_west", Devices: []vf.Device{device("0000:3b:10.0", "0000:3b:00.0")}},
		{Name: "intel.com/netdev_west", Devices: []vf.Device{device("0000:3b:10.2", "0000:3b:00.0")}},
		{Name: "intel.com/east", Devices: []vf.Device{device("0000:3b:10.1", "0000:3b:00.1"), device("0000:3b:10.3", "0000:3b:00.1")}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestASelectorThatItDoesNotKnowIsRefused(t *testing.T) {
	for _, text := range []string{`{"resourceList": [{"selectors": {"vendors": ["8086"]}}]}`, `{`} {
		if got, err := Inventory(sysfsOf(t), []byte(text)); err == nil {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestAContainerNeedsTheGroupOfAFunctionOnVFIO(t *testing.T) {
	root := sysfsOf(t)
	got, err := Files(root, "0000:3b:10.0")
	if want := []string{"/dev/vfio/vfio", "/dev/vfio/12"}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("vfio: %v, %v, want %v", got, err, want)
	}
	if got, err := Files(root, "0000:3b:10.2"); err != nil || got != nil {
		t.Errorf("igbvf: %v, %v, want none", got, err)
	}
}
