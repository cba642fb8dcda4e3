package cli

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/cli/exit"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/host/aside"
	"github.com/linerate-dev/linerate/internal/host/credential"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// What whoever calls may do where vital signs are served without a verifier, and how to keep others out.
const (
	openVitals   = "read how busy this machine is"
	closedVitals = "--verifier answers runners of an attempt alone"
)

func newVitals(s Streams) *cobra.Command {
	var address, terminationLog string
	var verifier credential.Verifier
	cmd := &cobra.Command{
		Use:     "vitals",
		Short:   "Serve vital signs of this machine, for observers of a device that runs here",
		Example: "  linerate vitals --vitals 192.0.2.7\n  curl http://192.0.2.7:" + strconv.Itoa(vitals.Port) + "/vitals",
		Long: "Answers GET /vitals with JSON, from /proc/stat, which it reads ten times a second at most, and only on requests; with\n" +
			"GET /vitals?signs=Memory,SoftIRQs also the named types of vital signs from /proc and /sys. It needs no\n" +
			"rights and changes nothing. Without --verifier it answers whoever calls. Clients whose answers would leave by another interface than the one that has the\n" +
			"address get none: they are on a link under test.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := listenVitals(cmd.Context(), address, nil)
			if err == nil {
				fmt.Fprintf(s.Err, "serving vital signs at %s\n", l.Addr())
				warnOpen(s.Err, verifier, l.Addr().String(), openVitals, closedVitals)
				err = serveVitals(cmd.Context(), l, &vitals.Server{Verifier: verifier})
			}
			return withTermination(terminationLog, err)
		},
	}
	vitalsFlag(cmd, &address, "nobody")
	verifierFlag(cmd.Flags(), &verifier)
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("vitals")
	return cmd
}

// vitalsFlag adds --vitals.
func vitalsFlag(cmd *cobra.Command, into *string, without string) {
	cmd.Flags().StringVar(into, "vitals", "", "this machine's address to serve vital signs at, in a network that is no link of the test, such as the pods' network; with or without a port (default port "+
		strconv.Itoa(vitals.Port)+"; none: to "+without+")")
}

// listenVitals listens at one address of this machine, and doesn't answer what comes in by the links.
func listenVitals(ctx context.Context, address string, links []string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host, address = address, net.JoinHostPort(address, strconv.Itoa(vitals.Port))
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return nil, exit.BadInput("--vitals %s: name one address of this machine, in a network that is no link of the test, such as --vitals 192.0.2.7", address)
	}
	l, err := aside.Listen(ctx, address, links)
	if err != nil {
		return nil, exit.NotMeasured("serve vital signs at %s: %w", address, err)
	}
	return l, nil
}

// serveVitals answers until ctx ends, except clients on a link under test.
func serveVitals(ctx context.Context, l net.Listener, server *vitals.Server) error {
	server.Refuse = vitals.FromLinkUnderTest
	if err := server.Serve(ctx, l); err != nil {
		return exit.NotMeasured("%w", err)
	}
	return nil
}

// deviceNode is the device's node, as the runner's pod polls it.
type deviceNode struct {
	name     string // empty: the device is on no node of the cluster
	missing  string // why the node can't be polled
	follower *vitals.Follower
	limited  []plan.Direction // the directions of a Reference's limit; nil: it has none
}

// followDevice begins to poll the device's node, where the Plan's observers need its vital signs.
func (j runnerJob) followDevice(ctx context.Context) deviceNode {
	node := deviceNode{missing: cmp.Or(j.sites.NoVitals, "no pod of linerate runs on the device's node")}
	if j.sites.Device != nil {
		node.name = j.sites.Device.Node
	}
	if j.sites.Vitals == "" || !j.plan.ObservesDevice() {
		return node
	}
	if r := j.plan.DUT.Reference; r != nil && r.Limit != nil {
		node.limited = j.plan.Directions
	}
	node.follower = vitals.Follow(ctx, j.sites.Vitals, j.sites.Key, j.wanted.OfDevice)
	return node
}

// latest returns the node's newest vital signs without waiting.
func (n deviceNode) latest() observe.MachineReading {
	if n.follower == nil {
		return observe.MachineReading{Missing: n.missing}
	}
	r, age, missing := n.follower.Newest()
	t := observe.MachineReading{Age: age, Clock: r.Clock, At: r.At, Processors: r.Processors, NoProcessors: r.NoProcessors, Signs: r.Signs, Asked: r.Asked, Missing: missing}
	t.Limited, t.NoLimited = n.limits(r)
	return t
}

// refresh polls the node now, and doesn't wait for a node that doesn't answer.
func (n deviceNode) refresh(ctx context.Context) {
	if n.follower == nil {
		return
	}
	if _, _, missing := n.follower.Newest(); missing == "" {
		n.follower.Refresh(ctx)
	}
}

// limits are what a Reference's limit counted, in the order of the Plan's directions; none says why there are no counters.
func (n deviceNode) limits(r vitals.Reading) (all []report.Limiter, none string) {
	if r.NoLimits != "" || len(r.Limits) != len(n.limited) {
		return nil, r.NoLimits
	}
	for i, l := range r.Limits {
		if d := n.limited[i]; l.From != d.From || l.To != d.To {
			return nil, fmt.Sprintf("the Reference reports a limit from %s to %s, and the Plan has %s→%s", l.From, l.To, d.From, d.To)
		}
		all = append(all, report.Limiter{Passed: l.Passed, Dropped: l.Dropped})
	}
	return all, ""
}

// stop ends the polling.
func (n deviceNode) stop() {
	if n.follower != nil {
		n.follower.Close()
	}
}

// whereabouts say which machines the generators and the device are on, as the operator found them.
func (j runnerJob) whereabouts() observe.Whereabouts {
	return observe.Whereabouts{Device: j.device.latest, Nodes: j.nodes(), DeviceNode: j.device.name, Wanted: j.wanted, Refresh: j.device.refresh, Collector: j.collector.latest()}
}

// nodes are the generators' nodes, by the generators' names, as the operator found them.
func (j runnerJob) nodes() map[string]string {
	all := map[string]string{}
	for _, s := range j.sites.Generators {
		all[s.Generator] = s.Node
	}
	return all
}
