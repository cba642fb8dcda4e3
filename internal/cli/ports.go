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

	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/launch"
	"github.com/linerate-dev/linerate/internal/machine"
	"github.com/linerate-dev/linerate/internal/plan"
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
		Short:   "Tell which physical ports are behind a pod's interfaces: virtual functions of one port share its bandwidth",
		Example: "  linerate ports --links west=lab/sriov-west,east=lab/sriov-east --network-status /etc/podinfo/network-status",
		Long: "Prints the ports as JSON, and leaves them as the container's termination message, where the operator reads them. What can't be found\n" +
			"out is left out: it is no fault.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tellPorts(cmd.Context(), s, os.DirFS("/"), o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.links, "links", nil, "the links as NAME=NETWORK, or NAME alone: the interface's name, separated by commas")
	o.networks.flags(cmd, 30*time.Second)
	terminationFlag(cmd, &o.terminationLog, "that the ports are left in")
	_ = cmd.MarkFlagRequired("links")
	return cmd
}

// tellPorts finds the ports, in what Multus told and in sysfs. Without Multus' words sysfs alone has to do.
func tellPorts(ctx context.Context, s Streams, root fs.FS, o portsOptions) error {
	links, err := parseLinks(o.links)
	if err != nil {
		return exit.BadInput("--links: %w", err)
	}
	networks, err := o.networks.read(ctx, root)
	if err != nil {
		fmt.Fprintf(s.Err, "note: %v\n", err)
	}
	message, err := json.Marshal(lastWords(root, networks, links))
	if err != nil {
		return exit.NotMeasured("%w", err)
	}
	leave(s.Err, o.terminationLog, message)
	_, err = fmt.Fprintf(s.Out, "%s\n", message)
	return err
}

// lastWords are what a pod's init container leaves: the physical ports behind the links, and the node that the pod is on.
func lastWords(root fs.FS, networks []launch.Network, links []launch.Link) plan.Ports {
	ports, m := portsOf(root, networks, links), machine.This()
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

// leave writes a container's last words, where there is a file for them: outside of a pod there is none.
func leave(talk io.Writer, file string, message []byte) {
	if _, missing := os.Stat(file); missing != nil {
		return
	}
	if err := os.WriteFile(file, message, 0o600); err != nil {
		fmt.Fprintf(talk, "note: %v\n", err)
	}
}
