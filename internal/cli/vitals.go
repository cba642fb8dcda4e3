package cli

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/linerate-dev/linerate/internal/aside"
	"github.com/linerate-dev/linerate/internal/exit"
	"github.com/linerate-dev/linerate/internal/observe"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/vitals"
)

func newVitals(s Streams) *cobra.Command {
	var address, terminationLog string
	cmd := &cobra.Command{
		Use:     "vitals",
		Short:   "Tell how this machine fares, for observers of a device that runs here",
		Example: "  linerate vitals --vitals 192.0.2.7\n  curl http://192.0.2.7:" + strconv.Itoa(vitals.Port) + "/vitals",
		Long: "Answers GET /vitals with JSON, from /proc/stat, which it looks at ten times a second at most, and only when it is asked; with\n" +
			"GET /vitals?signs=Memory,SoftIRQs also what else /proc and /sys tell of the machine, of the types named. It needs no\n" +
			"rights, changes nothing and knows no authentication. Callers whose answers would leave by another interface than the one that has the\n" +
			"address aren't answered: they are on a link under test.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := listenVitals(cmd.Context(), address, nil)
			if err == nil {
				fmt.Fprintf(s.Err, "vital signs are told at %s\n", l.Addr())
				err = serveVitals(cmd.Context(), l, &vitals.Server{})
			}
			return withTermination(terminationLog, err)
		},
	}
	vitalsFlag(cmd, &address, "nobody")
	terminationFlag(cmd, &terminationLog, "for what went wrong")
	_ = cmd.MarkFlagRequired("vitals")
	return cmd
}

// vitalsFlag adds --vitals.
func vitalsFlag(cmd *cobra.Command, into *string, without string) {
	cmd.Flags().StringVar(into, "vitals", "", "this machine's address that vital signs are told at, of a network that is no link of the test, such as a pod's own; with or without a port (default port "+
		strconv.Itoa(vitals.Port)+"; none: to "+without+")")
}

// listenVitals listens at an address of this machine's, and at no others, and not for what comes by links of its own.
func listenVitals(ctx context.Context, address string, links []string) (net.Listener, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host, address = address, net.JoinHostPort(address, strconv.Itoa(vitals.Port))
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return nil, exit.BadInput("--vitals %s: name one address of this machine's, of a network that is no link of the test, such as --vitals 192.0.2.7", address)
	}
	l, err := aside.Listen(ctx, address, links)
	if err != nil {
		return nil, exit.NotMeasured("tell vital signs at %s: %w", address, err)
	}
	return l, nil
}

// serveVitals answers until ctx ends, those who don't ask by a link.
func serveVitals(ctx context.Context, l net.Listener, server *vitals.Server) error {
	server.Refuse = vitals.FromLinkUnderTest
	if err := server.Serve(ctx, l); err != nil {
		return exit.NotMeasured("%w", err)
	}
	return nil
}

// deviceNode is the device's node, as the runner's pod hears of it.
type deviceNode struct {
	name     string // empty: it is none of the cluster's
	missing  string // why nobody asks it
	follower *vitals.Follower
	limited  []plan.Direction // the directions of a Reference's limit; nil: it has none
}

// askDevice begins to ask the device's node, where the Plan's observers want to know of it.
func (j runnerJob) askDevice(ctx context.Context) deviceNode {
	node := deviceNode{missing: cmp.Or(j.sites.NoVitals, "nobody of linerate's is on the device's node")}
	if j.sites.Device != nil {
		node.name = j.sites.Device.Node
	}
	if j.sites.Vitals == "" || !j.plan.ObservesDevice() {
		return node
	}
	if r := j.plan.DUT.Reference; r != nil && r.Limit != nil {
		node.limited = j.plan.Directions
	}
	node.follower = vitals.Follow(ctx, j.sites.Vitals, j.wanted.OfDevice)
	return node
}

// told is what it told last; it returns at once.
func (n deviceNode) told() observe.MachineReading {
	if n.follower == nil {
		return observe.MachineReading{Missing: n.missing}
	}
	r, age, missing := n.follower.Newest()
	t := observe.MachineReading{Age: age, Clock: r.Clock, At: r.At, Processors: r.Processors, NoProcessors: r.NoProcessors, Signs: r.Signs, Missing: missing}
	t.Limited, t.NoLimited = n.limits(r)
	return t
}

// refresh asks it at once; one that doesn't answer isn't waited for.
func (n deviceNode) refresh(ctx context.Context) {
	if n.follower == nil {
		return
	}
	if _, _, missing := n.follower.Newest(); missing == "" {
		n.follower.Refresh(ctx)
	}
}

// limits are what a Reference's limit counted, in the order of the Plan's directions; none says why they can't be told.
func (n deviceNode) limits(r vitals.Reading) (all []report.Limiter, none string) {
	if r.NoLimits != "" || len(r.Limits) != len(n.limited) {
		return nil, r.NoLimits
	}
	for i, l := range r.Limits {
		if d := n.limited[i]; l.From != d.From || l.To != d.To {
			return nil, fmt.Sprintf("the Reference tells of a limit from %s to %s, and %s→%s is the Plan's", l.From, l.To, d.From, d.To)
		}
		all = append(all, report.Limiter{Passed: l.Passed, Dropped: l.Dropped})
	}
	return all, ""
}

// leave ends the asking.
func (n deviceNode) leave() {
	if n.follower != nil {
		n.follower.Close()
	}
}

// whereabouts are those of generators and device, as the operator found them.
func (j runnerJob) whereabouts() observe.Whereabouts {
	return observe.Whereabouts{Device: j.device.told, Nodes: j.nodes(), DeviceNode: j.device.name, Wanted: j.wanted, Refresh: j.device.refresh, Collector: j.collector.told()}
}

// nodes are those that the generators run on, by their names, as the operator found them.
func (j runnerJob) nodes() map[string]string {
	all := map[string]string{}
	for _, s := range j.sites.Generators {
		all[s.Generator] = s.Node
	}
	return all
}
