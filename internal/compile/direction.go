package compile

import (
	"fmt"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// readDirections reads the directions, with their default, and checks that the device can carry them.
func (c *compiler) readDirections() {
	c.directions = directionsOf(c.spec)
	if len(c.errs) > 0 {
		return
	}
	for i, d := range c.directions {
		if len(c.errs) > 0 {
			return // one message is enough: the way back has the same fault
		}
		c.checkDirection(i, d)
	}
}

// directionsOf are the directions of a test. Default: both ways between two links, or between a link and the device.
func directionsOf(spec *v1alpha1.LoadTestSpec) []v1alpha1.Direction {
	if len(spec.Traffic.Directions) == 0 && len(spec.Links) <= 2 {
		west, east := spec.Links[0].Name, v1alpha1.LinkName(plan.DeviceEnd)
		if len(spec.Links) == 2 {
			east = spec.Links[1].Name
		}
		return []v1alpha1.Direction{{From: west, To: east}, {From: east, To: west}}
	}
	return spec.Traffic.Directions
}

func (c *compiler) checkDirection(i int, d v1alpha1.Direction) {
	if c.endpoint() {
		return // both ends are on the one link
	}
	path := specPath().Child("traffic", "directions").Index(i)
	from, to := c.link(d.From), c.link(d.To)
	switch {
	case from.is6() != to.is6():
		c.refuse(path, string(d.From+" to "+d.To), fmt.Sprintf("a frame can't change from IPv4 to IPv6 on its way: give links %s and %s addresses of one kind", d.From, d.To))
	case c.inPairs() && !c.paired(d):
		c.refuse(path, string(d.From+" to "+d.To), "a bridge, a loopback or testpmd joins links in pairs: let traffic flow between the same two links only")
	case c.forwarding() == plan.L2 && from.vlan != to.vlan && !c.retags():
		c.refuse(to.path.Child("vlan"), to.vlan, fmt.Sprintf("frames come back unchanged from %s, with VLAN %d (0: untagged): give both links the same vlan", d.From, from.vlan))
	case c.spec.DUT.Type == v1alpha1.DUTReference && c.forwarding() != plan.L2 && from.vlan != 0:
		c.refuse(from.path.Child("vlan"), from.vlan, "the built-in Reference has no VLAN interfaces: leave vlan out, or use dut.forwarding L2")
	}
}

// retags says that the device may put on and take off VLAN tags, as a switch does between a trunk and an access port.
func (c *compiler) retags() bool {
	return c.spec.DUT.Type == v1alpha1.DUTDevice || c.spec.DUT.Type == v1alpha1.DUTPod
}

// paired says that no other direction joins one of d's links to a third one.
func (c *compiler) paired(d v1alpha1.Direction) bool {
	for _, o := range c.directions {
		if (o.From == d.To) != (o.To == d.From) {
			return false
		}
	}
	return true
}

// link finds a link by its name; that it exists is the schema's rule.
func (c *compiler) link(name v1alpha1.LinkName) link {
	for _, l := range c.links {
		if l.name == string(name) {
			return l
		}
	}
	return link{name: string(name)}
}
