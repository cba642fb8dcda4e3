package pci

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/test/rigs/fabric/vf"
)

// config is the part of the SR-IOV network device plugin's configuration that docs/sriov.md uses.
type config struct {
	ResourceList []struct {
		ResourcePrefix string    `json:"resourcePrefix"`
		ResourceName   string    `json:"resourceName"`
		Selectors      selectors `json:"selectors"`
	} `json:"resourceList"`
}

// selectors choose functions. An empty list chooses all.
type selectors struct {
	Drivers []string `json:"drivers"`
	PFNames []string `json:"pfNames"`
}

// function is what the kernel says of a virtual function.
type function struct {
	address, port, portName, driver string
	numa                            int
}

// Inventory lists the machine's functions below its sysfs. A function is of the first resource that selects it, and
// resources without functions are left out.
func Inventory(sysfs string, text []byte) (vf.Inventory, error) {
	var c config
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields() // a selector that is ignored would choose too much
	if err := decoder.Decode(&c); err != nil {
		return vf.Inventory{}, fmt.Errorf("configuration of resources: %w", err)
	}
	functions, err := list(sysfs)
	if err != nil {
		return vf.Inventory{}, err
	}
	var inventory vf.Inventory
	for _, r := range c.ResourceList {
		resource := vf.Resource{Name: r.ResourcePrefix + "/" + r.ResourceName}
		functions = slices.DeleteFunc(functions, func(f function) bool {
			if !r.Selectors.choose(f) {
				return false
			}
			resource.Devices = append(resource.Devices, vf.Device{ID: f.address, PF: f.port, NUMA: f.numa})
			return true
		})
		if len(resource.Devices) > 0 {
			inventory.Resources = append(inventory.Resources, resource)
		}
	}
	return inventory, nil
}

func (s selectors) choose(f function) bool {
	return (len(s.Drivers) == 0 || slices.Contains(s.Drivers, f.driver)) &&
		(len(s.PFNames) == 0 || slices.Contains(s.PFNames, f.portName))
}

// list reads all virtual functions, by their addresses.
func list(sysfs string) ([]function, error) {
	ports, err := filepath.Glob(filepath.Join(sysfs, "bus/pci/devices/*/physfn"))
	if err != nil {
		return nil, err
	}
	functions := make([]function, 0, len(ports))
	for _, port := range ports {
		device := filepath.Dir(port)
		f := function{address: filepath.Base(device)}
		if f.port, err = target(port); err != nil {
			return nil, err
		}
		if f.driver, err = target(filepath.Join(device, "driver")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if interfaces, err := os.ReadDir(filepath.Join(port, "net")); err == nil && len(interfaces) > 0 {
			f.portName = interfaces[0].Name()
		}
		node, err := os.ReadFile(filepath.Join(device, "numa_node"))
		if err != nil {
			return nil, err
		}
		if f.numa, err = strconv.Atoi(strings.TrimSpace(string(node))); err != nil {
			return nil, fmt.Errorf("NUMA node of %s: %w", f.address, err)
		}
		functions = append(functions, f)
	}
	return functions, nil
}

// target is the name of what a link of sysfs leads to.
func target(link string) (string, error) {
	path, err := os.Readlink(link)
	return filepath.Base(path), err
}

// Files are what a container with the function needs of /dev: for one on vfio-pci its group.
func Files(sysfs, address string) ([]string, error) {
	device := filepath.Join(sysfs, "bus/pci/devices", address)
	if driver, err := target(filepath.Join(device, "driver")); err != nil || driver != "vfio-pci" {
		return nil, err
	}
	group, err := target(filepath.Join(device, "iommu_group"))
	return []string{"/dev/vfio/vfio", "/dev/vfio/" + group}, err
}
