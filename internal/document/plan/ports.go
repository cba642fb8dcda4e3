package plan

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/intake"
)

// PortsVersion is the kind and version of the document Ports. A reader refuses others.
const PortsVersion = "linerate.dev/ports.v1alpha1"

// Ports is a pod's report of the physical ports behind its ends of the links, and of its node. The pod reads them
// from sysfs, but has no credentials for the API. An init container leaves this as its termination message, which
// Kubernetes copies into the pod's status (4096 bytes at most).
//
//	init container ── /dev/termination-log ──▶ kubelet ──▶ status.initContainerStatuses[].state.terminated.message ──▶ operator
type Ports struct {
	Version string     `json:"version"`
	Links   []LinkPort `json:"links"`
	// Machine describes the pod's node.
	Machine *Machine `json:"machine,omitempty"`
}

// LinkPort is the physical port behind an end of a link.
type LinkPort struct {
	Link string `json:"link"`
	// Device is the PCI address of the pod's interface. It is empty where the interface isn't on PCI.
	Device string `json:"device,omitempty"`
	// Port is the physical port's name on its node, which is the PCI address of the physical function, or of a
	// switch's port "SWITCH/PORT". It is empty where there is none, or it can't be seen.
	Port string `json:"port,omitempty"`
	// Shared says that the pod's interface is one of several on this port, which share its bandwidth, as virtual
	// functions do.
	Shared bool `json:"shared,omitempty"`
}

// ReadPorts reads Ports from a termination message.
func ReadPorts(message string) (Ports, error) {
	var p Ports
	if err := intake.JSON([]byte(message), &p, intake.Small); err != nil {
		return Ports{}, fmt.Errorf("physical ports: %w", err)
	}
	if p.Version != PortsVersion {
		return Ports{}, fmt.Errorf("physical ports: version is %q, and this linerate reads %q", p.Version, PortsVersion)
	}
	return p, nil
}
