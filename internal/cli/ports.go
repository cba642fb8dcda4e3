package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/host/machine"
	"github.com/linerate-dev/linerate/internal/pod/launch"
)

// portsOptions are the flags of ports.
type portsOptions struct {
	links          []string
	networks       podNetworks
	terminationLog string
}

func newPorts(s Streams) *cobra.Command {
	var o portsOptions
	cmd := &cobra.Command{
		Use:     "ports",
		Short:   "Report which physical ports are behind a pod's interfaces: virtual functions of one port share its bandwidth",
		Example: "  linerate ports --links west=lab/sriov-west,east=lab/sriov-east --network-status /etc/podinfo/network-status",
		Long: "Prints the ports as JSON, and writes them to the container's termination message, where the operator reads them. A port that can't be\n" +
			"found is left out, and is no error.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return reportPorts(cmd.Context(), s, os.DirFS("/"), o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.links, "links", nil, "the links as NAME=NETWORK, or NAME alone: the interface's name, separated by commas")
	o.networks.flags(cmd, 30*time.Second)
	terminationFlag(cmd, &o.terminationLog, "that gets the ports")
	_ = cmd.MarkFlagRequired("links")
	return cmd
}

// reportPorts finds the ports by the annotation of Multus and by sysfs; without the annotation, by sysfs alone.
func reportPorts(ctx context.Context, s Streams, root fs.FS, o portsOptions) error {
	links, err := parseLinks(o.links)
	if err != nil {
		return exit.BadInput("--links: %w", err)
	}
	networks, err := o.networks.read(ctx, root)
	if err != nil {
		fmt.Fprintf(s.Err, "note: %v\n", err)
	}
	message, err := json.Marshal(podPorts(root, networks, links))
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	writeTerminationMessage(s.Err, o.terminationLog, message)
	_, err = fmt.Fprintf(s.Out, "%s\n", message)
	return err
}

// podPorts is what a pod's init container reports: the physical ports behind the links, and the machine that the pod is on.
func podPorts(root fs.FS, networks []launch.Network, links []launch.Link) plan.Ports {
	ports, m := portsOf(root, networks, links), machine.Local()
	ports.Machine = &plan.Machine{CPUModel: m.CPUModel, Processors: m.Processors, Kernel: m.Kernel, Hypervisor: m.Hypervisor, Tuning: m.Tuning, Allowed: m.Allowed}
	return ports
}

// portsOf are the physical ports behind the links.
func portsOf(root fs.FS, networks []launch.Network, links []launch.Link) plan.Ports {
	ports := plan.Ports{Version: plan.PortsVersion, Links: []plan.LinkPort{}}
	for i, p := range launch.FindPorts(root, networks, links) {
		ports.Links = append(ports.Links, plan.LinkPort{Link: links[i].Name, Device: p.Device, Port: p.Name, Shared: p.Shared})
	}
	return ports
}

// writeTerminationMessage writes a container's termination message. Outside of a pod there is no file for it, and nothing is written.
func writeTerminationMessage(stderr io.Writer, file string, message []byte) {
	if _, missing := os.Stat(file); missing != nil {
		return
	}
	if err := writeInPlace(file, message); err != nil {
		fmt.Fprintf(stderr, "note: %v\n", err)
	}
}
