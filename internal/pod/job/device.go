package job

import (
	"cmp"
	"context"
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/observe"
	"github.com/linerate-dev/linerate/internal/pod/reset"
	"github.com/linerate-dev/linerate/internal/pod/vitals"
)

// deviceNode is the device's node, as the runner's pod polls it.
type deviceNode struct {
	name     string // empty if the device is on no node of the cluster
	missing  string // why the node can't be polled
	follower *vitals.Follower
	limited  []plan.Direction // the directions of a Reference's limit, nil if it has none
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
	t := observe.MachineReading{Age: age, Clock: r.Clock, At: r.At, Processors: r.Processors,
		NoProcessors: r.NoProcessors, Signs: r.Signs, Asked: r.Asked, Missing: missing}
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

// limits are what a Reference's limit counted, in the order of the Plan's directions. missing says why there
// are no counters.
func (n deviceNode) limits(r vitals.Reading) (limiters []report.Limiter, missing string) {
	if r.NoLimits != "" || len(r.Limits) != len(n.limited) {
		return nil, r.NoLimits
	}
	for i, l := range r.Limits {
		if d := n.limited[i]; l.From != d.From || l.To != d.To {
			return nil, fmt.Sprintf("the Reference reports a limit from %s to %s, and the Plan has %s→%s", l.From, l.To,
				d.From, d.To)
		}
		limiters = append(limiters, report.Limiter{Passed: l.Passed, Dropped: l.Dropped})
	}
	return limiters, ""
}

// stop ends the polling.
func (n deviceNode) stop() {
	if n.follower != nil {
		n.follower.Close()
	}
}

// whereabouts say which machines the generators and the device are on, as the operator found them.
func (j runnerJob) whereabouts() observe.Whereabouts {
	return observe.Whereabouts{Device: j.device.latest, Nodes: j.nodes(), DeviceNode: j.device.name, Wanted: j.wanted,
		Refresh: j.device.refresh, Collector: j.collector.latest()}
}

// nodes are the generators' nodes, by the generators' names, as the operator found them.
func (j runnerJob) nodes() map[string]string {
	nodes := map[string]string{}
	for _, s := range j.sites.Generators {
		nodes[s.Generator] = s.Node
	}
	return nodes
}

// reset is the function by which the runner has the device reset. It is nil where no server in the cluster can
// reset it.
func (j runnerJob) reset() func(context.Context) (string, error) {
	address := j.sites.Reset
	if address == "" {
		return nil
	}
	return func(ctx context.Context) (string, error) {
		result, err := reset.Ask(ctx, address, j.sites.Key)
		return result.Report, err
	}
}
