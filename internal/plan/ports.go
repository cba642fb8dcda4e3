package plan

import (
	"encoding/json"
	"fmt"
)

// PortsVersion is the kind and version of the document Ports; a reader refuses others.
const PortsVersion = "linerate.dev/ports.v1alpha1"

// Ports is what a pod says of the physical ports behind its ends of the links, and of its node. Pods know them, from sysfs, and have no token to tell anybody: an
// init container leaves this as its termination message, which Kubernetes copies into the pod's status (4096 bytes at most).
//
//	init container ── /dev/termination-log ──▶ kubelet ──▶ status.initContainerStatuses[].state.terminated.message ──▶ operator
type Ports struct {
	Version string     `json:"version"`
	Links   []LinkPort `json:"links"`
	// Machine is the node that the pod is on; nil: an older linerate's init container.
	Machine *Machine `json:"machine,omitempty"`
}

// LinkPort is the physical port behind an end of a link.
type LinkPort struct {
	Link string `json:"link"`
	// Device is the PCI address of what the pod has; empty where it isn't on PCI.
	Device string `json:"device,omitempty"`
	// Port is the physical port's name on its node: the PCI address of the physical function, or of a switch's port "SWITCH/PORT". Empty:
	// there is none, or it can't be seen.
	Port string `json:"port,omitempty"`
	// Shared: what the pod has is one of several devices on this port, which share its bandwidth, as virtual functions do.
	Shared bool `json:"shared,omitempty"`
}

// ReadPorts reads what a container left at its end. What isn't this document is an error.
func ReadPorts(message string) (Ports, error) {
	var p Ports
	if err := json.Unmarshal([]byte(message), &p); err != nil {
		return Ports{}, fmt.Errorf("physical ports: %w", err)
	}
	if p.Version != PortsVersion {
		return Ports{}, fmt.Errorf("physical ports: version is %q, and this linerate reads %q", p.Version, PortsVersion)
	}
	return p, nil
}
