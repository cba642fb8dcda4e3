package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/launch"
	"github.com/linerate-dev/linerate/internal/plan"
)

// portsOptions are the flags of ports.
type portsOptions struct {
	links                         []string
	networkStatus, terminationLog string
	wait                          time.Duration
}

func newPorts(s Streams) *cobra.Command {
	var o portsOptions
	cmd := &cobra.Command{
		Use:     "ports",
		Short:   "Tell which physical ports are behind a pod's interfaces: virtual functions of one port share its bandwidth",
		GroupID: podVerbs,
		Example: "  linerate ports --links west,east --network-status /etc/podinfo/network-status",
		Long: "Prints the ports as JSON, and leaves them as the container's termination message, where the operator reads them. What can't be found\n" +
			"out is left out: it is no fault.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tellPorts(cmd.Context(), s, os.DirFS("/"), o)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.links, "links", nil, "the links, which are the names of the interfaces")
	f.StringVar(&o.networkStatus, "network-status", "/etc/podinfo/network-status", "downward-API file of the annotation "+launch.NetworkStatusAnnotation)
	f.DurationVar(&o.wait, "wait", 30*time.Second, "how long to wait for --network-status to be filled")
	f.StringVar(&o.terminationLog, "termination-log", terminationLog, "file that the ports are left in")
	_ = cmd.MarkFlagRequired("links")
	return cmd
}

// tellPorts finds the ports, in what Multus told and in sysfs. Without Multus' words sysfs alone has to do.
func tellPorts(ctx context.Context, s Streams, root fs.FS, o portsOptions) error {
	networks, err := launch.AwaitNetworks(ctx, root, o.networkStatus, o.wait)
	if err != nil {
		fmt.Fprintf(s.Err, "note: %v\n", err)
	}
	message, err := json.Marshal(portsOf(root, networks, o.links))
	if err != nil {
		return notMeasured("%w", err)
	}
	leave(s.Err, o.terminationLog, message)
	_, err = fmt.Fprintf(s.Out, "%s\n", message)
	return err
}

// portsOf are the physical ports behind the interfaces that bear the links' names.
func portsOf(root fs.FS, networks []launch.Network, links []string) plan.Ports {
	ports := plan.Ports{Version: plan.PortsVersion, Links: []plan.LinkPort{}}
	for _, link := range links {
		var network launch.Network
		if i := slices.IndexFunc(networks, func(n launch.Network) bool { return n.Interface == link && !n.Default }); i >= 0 {
			network = networks[i]
		}
		p := launch.FindPort(root, network, link)
		ports.Links = append(ports.Links, plan.LinkPort{Link: link, Device: p.Device, Port: p.Name, Shared: p.Shared})
	}
	slices.SortFunc(ports.Links, func(a, b plan.LinkPort) int { return cmp.Compare(a.Link, b.Link) })
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
