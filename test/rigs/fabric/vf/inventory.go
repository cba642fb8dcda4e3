package vf

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// StateDir is where a node's Inventory (InventoryFile) and the CNI plugin's records are by default. It must be the
// node's alone, because several nodes on one machine share most of the file system.
const (
	StateDir      = "/var/lib/cni/linerate-vf"
	InventoryFile = "devices.json"
)

// Inventory is what one node has. Its device plugin and its CNI plugin read it.
type Inventory struct {
	Resources []Resource `json:"resources"`
}

// Resource is a pool of functions, under the name that pods request.
type Resource struct {
	Name    string   `json:"name"` // "linerate.dev/sriov-west"
	Devices []Device `json:"devices"`
}

// Device is a virtual function.
type Device struct {
	// ID looks like a PCI address, as the SR-IOV device plugin's IDs are.
	ID string `json:"id"`
	// Interface is its name in the node's namespace, and that of its end on the wire.
	Interface string `json:"interface"`
	// PF is the PCI address of the physical port. Functions of one port share its wire.
	PF string `json:"pf"`
	// SharesPort says that device-info has PF.
	SharesPort bool `json:"sharesPort,omitempty"`
	// NUMA is the NUMA node that the device is near, -1 if unknown.
	NUMA int    `json:"numa"`
	MAC  string `json:"mac"` // its own, which it has again when it comes home
	MTU  int    `json:"mtu"`
	Wire Wire   `json:"wire"`
}

// Wire is where the function's other end is.
type Wire struct {
	Bridge string `json:"bridge"`
	// Namespace is the number by which the node's namespace knows the wires'.
	Namespace int `json:"namespace"`
}

// Load reads an inventory and checks it.
func Load(file string) (Inventory, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Inventory{}, fmt.Errorf("read the inventory of virtual functions: %w", err)
	}
	return Parse(text)
}

// Parse reads an inventory from JSON and checks it.
func Parse(text []byte) (Inventory, error) {
	var i Inventory
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&i); err != nil {
		return Inventory{}, fmt.Errorf("inventory: %w", err)
	}
	return i, i.Check()
}

// Save writes an inventory so that no reader sees half of it.
func (i Inventory) Save(file string) error {
	text, err := json.MarshalIndent(i, "", "  ")
	if err != nil {
		return fmt.Errorf("inventory: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("save the inventory: %w", err)
	}
	return WriteFile(file, append(text, '\n'))
}

// WriteFile replaces a file as a whole.
func WriteFile(file string, content []byte) error {
	partial := file + ".partial"
	if err := os.WriteFile(partial, content, 0o644); err != nil {
		return fmt.Errorf("save %s: %w", file, err)
	}
	if err := os.Rename(partial, file); err != nil {
		return fmt.Errorf("save %s: %w", file, err)
	}
	return nil
}

// Find is the device with an ID.
func (i Inventory) Find(id string) (Device, bool) {
	for d := range i.Devices() {
		if d.ID == id {
			return d, true
		}
	}
	return Device{}, false
}

// Devices goes through the devices of all resources.
func (i Inventory) Devices() func(yield func(Device) bool) {
	return func(yield func(Device) bool) {
		for _, r := range i.Resources {
			for _, d := range r.Devices {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// Check names the first thing that can't be.
func (i Inventory) Check() error {
	if err := i.CheckResources(); err != nil {
		return err
	}
	owners := map[string]string{}
	for _, r := range i.Resources {
		for _, d := range r.Devices {
			if err := d.check(); err != nil {
				return fmt.Errorf("inventory: resource %s: device %q: %w", r.Name, d.ID, err)
			}
			for _, own := range []string{d.ID, d.Interface, d.MAC} {
				if owner := owners[own]; owner != "" {
					return fmt.Errorf("inventory: devices %s and %s both have %s", owner, d.ID, own)
				}
				owners[own] = d.ID
			}
		}
	}
	return nil
}

// CheckResources names the first resource that kubelet wouldn't take. It asks nothing of devices, which may be a real
// card's.
func (i Inventory) CheckResources() error {
	names := map[string]bool{}
	for _, r := range i.Resources {
		if names[r.Name] {
			return fmt.Errorf("inventory: resource %s is there twice: give all its devices in one", r.Name)
		}
		names[r.Name] = true
		if !resourceName.MatchString(r.Name) {
			return fmt.Errorf("inventory: resource %q: a name is VENDOR/RESOURCE, as in linerate.dev/sriov-west",
				r.Name)
		}
	}
	return nil
}

var (
	resourceName  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`)
	pciAddress    = regexp.MustCompile(`^[0-9a-f]{4}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]$`)
	interfaceName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,15}$`)
)

func (d Device) check() error {
	switch {
	case !pciAddress.MatchString(d.ID):
		return fmt.Errorf("id: it must look like a PCI address, as in 0000:03:02.0")
	case !pciAddress.MatchString(d.PF):
		return fmt.Errorf("pf %q: it must look like a PCI address, as in 0000:03:00.0", d.PF)
	case !interfaceName.MatchString(d.Interface):
		return fmt.Errorf("interface %q: Linux takes 1 to 15 letters, digits, - and _", d.Interface)
	case !interfaceName.MatchString(d.Wire.Bridge):
		return fmt.Errorf("wire.bridge %q: Linux takes 1 to 15 letters, digits, - and _", d.Wire.Bridge)
	case d.NUMA < -1:
		return fmt.Errorf("numa %d: it is a node's number, or -1 for unknown", d.NUMA)
	case d.MTU < 68 || d.MTU > 65535:
		return fmt.Errorf("mtu %d: it must be from 68 to 65535", d.MTU)
	case d.Wire.Namespace < 0:
		return fmt.Errorf("wire.namespace %d: it must not be negative", d.Wire.Namespace)
	}
	if mac, err := net.ParseMAC(d.MAC); err != nil || len(mac) != 6 || mac[0]&1 != 0 {
		return fmt.Errorf("mac %q: it must be a unicast MAC of 6 bytes, as in 02:00:00:00:00:01", d.MAC)
	}
	return nil
}
