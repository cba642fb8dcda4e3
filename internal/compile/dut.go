package compile

import (
	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
)

func (c *compiler) dut() plan.DUT {
	d := plan.DUT{Type: string(c.spec.DUT.Type), Forwarding: c.forwarding()}
	if c.spec.DUT.Type == v1alpha1.DUTReference {
		d.Reference = &plan.Reference{Limit: c.limit()}
		c.checkRewriting()
	}
	return d
}

// checkRewriting: who only rewrites MAC addresses knows one address per link, and that is one generator's.
func (c *compiler) checkRewriting() {
	if c.forwarding() == plan.MACRewrite && c.replicas() > 1 {
		c.refuse(specPath().Child("generator", "replicas"), c.replicas(),
			"with forwarding MACRewrite the built-in Reference sends all of a link's frames to one generator: use 1, or dut.forwarding L3")
	}
}

// forwarding is how the device forwards: a Loopback as a bridge does, everything else as a router unless it is said.
func (c *compiler) forwarding() plan.Forwarding {
	switch {
	case c.spec.DUT.Type == v1alpha1.DUTLoopback:
		return plan.L2
	case c.spec.DUT.Forwarding == "":
		return plan.L3
	}
	return plan.Forwarding(c.spec.DUT.Forwarding)
}

func (c *compiler) limit() *plan.Limit {
	if c.spec.DUT.Reference == nil || c.spec.DUT.Reference.Limit == nil {
		return nil
	}
	limit := c.spec.DUT.Reference.Limit
	out := &plan.Limit{
		PacketsPerSecond:    limit.PacketsPerSecond,
		Layer2BitsPerSecond: limit.Layer2BitsPerSecond,
		Burst:               plan.Duration(c.duration(specPath().Child("dut", "reference", "limit", "burst"), limit.Burst)),
	}
	if limit.Queue == "" {
		return out
	}
	path := specPath().Child("dut", "reference", "limit", "queue")
	out.Queue = plan.Duration(c.duration(path, limit.Queue))
	switch {
	case !c.traffic.queues():
		c.refuse(path, limit.Queue, "what waits in a queue is neither lost nor back when a window of frames ends, and that isn't reckoned with yet: remove queue, or use traffic.type Sessions")
	case limit.Layer2BitsPerSecond == 0:
		c.refuse(path, limit.Queue, "a limit in packets has no queue: give the limit in layer2BitsPerSecond, or remove queue")
	}
	return out
}

// inPairs says that the device joins links two by two, as wires and bridges do.
func (c *compiler) inPairs() bool {
	return c.spec.DUT.Type == v1alpha1.DUTLoopback || c.spec.DUT.Type == v1alpha1.DUTReference && c.forwarding() == plan.L2
}
