package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// NetworkStatusAnnotation is where Multus writes what it attached to a pod. The pod mounts it as a downward-API
// file. An environment variable would be empty, since containers' environments are rendered before the network
// plugins run.
const NetworkStatusAnnotation = "k8s.v1.cni.cncf.io/network-status"

// statusPoll is the time between two readings of the file, which kubelet rewrites about a second after the annotation.
const statusPoll = 200 * time.Millisecond

// Network is one attachment of the pod (Network Plumbing Working Group's de-facto standard, with its device-info).
type Network struct {
	Name      string // "namespace/name"
	Interface string // in the pod, "" where the plugin reported none
	MAC       string
	Default   bool
	// DeviceType is device-info's "pci", "vdpa", "memif" or "vhost-user", empty without device-info.
	DeviceType string
	// DeviceVersion is device-info's own version.
	DeviceVersion string
	PCIAddress    string
	// PhysicalFunction is the PCI address of the port that the device is a virtual function of, where the plugin
	// reports it (pf-pci-address).
	PhysicalFunction string
}

// ParseNetworkStatus reads the annotation.
func ParseNetworkStatus(text []byte) ([]Network, error) {
	var entries []struct {
		Name      string `json:"name"`
		Interface string `json:"interface"`
		MAC       string `json:"mac"`
		Default   bool   `json:"default"`
		Device    struct {
			Type    string `json:"type"`
			Version string `json:"version"`
			PCI     struct {
				Address          string `json:"pci-address"`
				PhysicalFunction string `json:"pf-pci-address"`
			} `json:"pci"`
		} `json:"device-info"`
	}
	if err := intake.JSON(text, &entries, intake.Small); err != nil {
		return nil, fmt.Errorf("network-status: %w", err)
	}
	networks := make([]Network, len(entries))
	for i, e := range entries {
		networks[i] = Network{
			Name: e.Name, Interface: e.Interface, MAC: e.MAC, Default: e.Default,
			DeviceType: e.Device.Type, DeviceVersion: e.Device.Version, PCIAddress: e.Device.PCI.Address,
			PhysicalFunction: e.Device.PCI.PhysicalFunction,
		}
	}
	return networks, nil
}

// NetworkStatus is the downward-API file of NetworkStatusAnnotation.
type NetworkStatus struct {
	File string
	Wait time.Duration // for Multus to fill the file
}

// Await reads the file as soon as it holds something. A file that never came, or stayed empty, is a Fault.
func (n NetworkStatus) Await(ctx context.Context, root fs.FS) ([]Network, error) {
	bounded, cancel := context.WithTimeout(ctx, n.Wait)
	defer cancel()
	ticker := time.NewTicker(statusPoll)
	defer ticker.Stop()
	for {
		text, err := intake.TextFileOf(root, inside(n.File), intake.Small.Bytes)
		if err == nil && strings.TrimSpace(string(text)) != "" {
			return ParseNetworkStatus(text)
		}
		select {
		case <-ticker.C:
		case <-bounded.Done():
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, networksNeverCame(n.File, n.Wait, err)
		}
	}
}

func networksNeverCame(file string, limit time.Duration, err error) Fault {
	if errors.Is(err, fs.ErrNotExist) {
		return Fault{NoNetworkStatus, fmt.Sprintf("%s doesn't exist", file),
			"mount the annotation " + NetworkStatusAnnotation +
				" there as a downward-API volume, or name the file with --network-status"}
	}
	return Fault{NoNetworkStatus, fmt.Sprintf("%s stayed empty for %v", file, limit),
		"Multus attached nothing to this pod: look for its pods in kube-system, and for its log on this node"}
}

// devicePools reads the variables PCIDEVICE_VENDOR_IO_NAME=ADDRESS,ADDRESS that device plugins set. Their
// companions with _INFO hold JSON.
func devicePools(environment []string) map[string][]string {
	pools := map[string][]string{}
	for _, setting := range environment {
		name, value, _ := strings.Cut(setting, "=")
		if !strings.HasPrefix(name, poolPrefix) || strings.HasSuffix(name, "_INFO") || value == "" {
			continue
		}
		pools[name] = strings.Split(value, ",")
	}
	return pools
}

const poolPrefix = "PCIDEVICE_"

// poolOf is the devices that the pod has of a resource, whichever way the plugin spells the variable.
func (o Observed) poolOf(resource string) []string {
	spelt := strings.NewReplacer(".", "_", "/", "_", "-", "_")
	for name, addresses := range o.Pools {
		if strings.EqualFold(spelt.Replace(name), poolPrefix+spelt.Replace(resource)) {
			return addresses
		}
	}
	return nil
}
