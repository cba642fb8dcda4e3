package links

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"

	"github.com/linerate-dev/linerate/internal/document/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/pod"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// Ports is what reports a pod's physical ports.
type Ports struct {
	// Links are NAME=NETWORK, or NAME alone, which is the interface's name.
	Links          []string
	Networks       launch.NetworkStatus
	TerminationLog string
}

// Report finds the ports by the annotation of Multus and by sysfs, without the annotation by sysfs alone, and
// prints them as JSON. root is the pod's "/".
func (o Ports) Report(ctx context.Context, stdout, stderr io.Writer, root fs.FS) error {
	links, err := launch.ParseLinkFlags(o.Links)
	if err != nil {
		return exit.BadInput("--links: %w", err)
	}
	networks, err := o.Networks.Await(ctx, root)
	if err != nil {
		fmt.Fprintf(stderr, "note: %v\n", err)
	}
	message, err := json.Marshal(podPorts(root, networks, links))
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	leaveMessage(stderr, o.TerminationLog, message)
	_, err = fmt.Fprintf(stdout, "%s\n", message)
	return err
}

// podPorts is what a pod's init container reports, which is the physical ports behind the links, and the
// machine that the pod is on.
func podPorts(root fs.FS, networks []launch.Network, links []launch.Link) plan.Ports {
	ports, m := portsOf(root, networks, links), machine.Local()
	ports.Machine = &plan.Machine{CPUModel: m.CPUModel, Processors: m.Processors, Kernel: m.Kernel,
		Hypervisor: m.Hypervisor, Tuning: m.Tuning, Allowed: m.Allowed}
	return ports
}

// portsOf are the physical ports behind the links.
func portsOf(root fs.FS, networks []launch.Network, links []launch.Link) plan.Ports {
	ports := plan.Ports{Version: plan.PortsVersion, Links: []plan.LinkPort{}}
	for i, p := range launch.FindPorts(root, networks, links) {
		ports.Links = append(ports.Links, plan.LinkPort{Link: links[i].Name, Device: p.Device, Port: p.Name,
			Shared: p.Shared})
	}
	return ports
}

// leaveMessage writes the container's termination message, from which the operator reads the ports.
func leaveMessage(stderr io.Writer, file string, message []byte) {
	if err := pod.WriteTerminationMessage(file, message); err != nil {
		fmt.Fprintf(stderr, "note: %v\n", err)
	}
}
