package compile

import (
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// directions answer between which links traffic flows.
type directions struct {
	*refusals
	spec   *v1alpha1.LoadTestSpec
	device *device
	links  *links
	// entries are the directions, once they were read.
	entries []v1alpha1.Direction
}

// read reads the directions, with their default, and checks that the device can carry them.
func (ds *directions) read() {
	ds.entries = directionsOf(ds.spec)
	if len(ds.errs) > 0 {
		return
	}
	for i, d := range ds.entries {
		if len(ds.errs) > 0 {
			return // one message is enough: the way back has the same fault
		}
		ds.check(i, d)
	}
}

// directionsOf are the directions of a test. By default traffic flows both ways between two links, or between a link
// and the device.
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

func (ds *directions) check(i int, d v1alpha1.Direction) {
	if ds.device.isEndpoint() {
		return // both ends are on the one link
	}
	path := specPath().Child("traffic", "directions").Index(i)
	source, destination := ds.links.named(d.From), ds.links.named(d.To)
	switch {
	case source.versions() != destination.versions() && !ds.device.translatesVersions():
		ds.refusef(path, string(d.From+" to "+d.To),
			"a frame can't change from IPv4 to IPv6 on its way: give links %s and %s the same families, %s and %s now, or "+
				"declare dut.changes: [Addresses, Length] of a device that does NAT64",
			d.From, d.To, source.versions(), destination.versions())
	case ds.device.joinsPairs() && !ds.isPaired(d):
		ds.refuse(path, string(d.From+" to "+d.To),
			"a bridge, a loopback or testpmd joins links in pairs: let traffic flow between the same two links only")
	case ds.device.forwarding() == plan.L2 && source.vlan != destination.vlan && !ds.device.retags():
		ds.refusef(destination.path.Child("vlan"), destination.vlan,
			"frames come back unchanged from %s, with VLAN %d (0: untagged): give both links the same "+
				"vlan", d.From, source.vlan)
	case ds.spec.DUT.Type == v1alpha1.DUTReference && ds.device.forwarding() != plan.L2 && source.vlan != 0:
		ds.refuse(source.path.Child("vlan"), source.vlan,
			"the built-in Reference has no VLAN interfaces: leave vlan out, or use dut.forwarding L2")
	}
}

// rates are those that directions have of their own, by the directions' names.
func (ds *directions) rates() map[string]units.Rate {
	rates := map[string]units.Rate{}
	for i, d := range ds.entries {
		if d.Rate == "" {
			continue
		}
		path := specPath().Child("traffic", "directions").Index(i).Child("rate")
		rate, err := units.ParseRate(string(d.Rate))
		if why := ds.device.traffic.whyNoDirectionRates(); err != nil || why != "" {
			if err != nil {
				why = err.Error()
			}
			ds.refuse(path, d.Rate, why)
			return nil
		}
		rates[nameOf(d)] = rate
	}
	return rates
}

func nameOf(d v1alpha1.Direction) string {
	return plan.Direction{From: string(d.From), To: string(d.To)}.Name()
}

// bothWays says that some two links exchange traffic.
func (ds *directions) bothWays() bool {
	return slices.ContainsFunc(ds.entries, func(d v1alpha1.Direction) bool {
		return slices.ContainsFunc(ds.entries, func(back v1alpha1.Direction) bool {
			return back.From == d.To && back.To == d.From
		})
	})
}

// retags says that the device may put on and take off VLAN tags, as a switch does between a trunk and an access port.
func (d *device) retags() bool {
	return d.spec.DUT.Type == v1alpha1.DUTDevice || d.spec.DUT.Type == v1alpha1.DUTPod
}

// isPaired says that no other direction joins one of d's links to a third one.
func (ds *directions) isPaired(d v1alpha1.Direction) bool {
	for _, o := range ds.entries {
		if (o.From == d.To) != (o.To == d.From) {
			return false
		}
	}
	return true
}

// named finds a link by its name. The schema's rule is that it exists.
func (ls *links) named(name v1alpha1.LinkName) link {
	for _, l := range ls.entries {
		if l.name == string(name) {
			return l
		}
	}
	return link{name: string(name)}
}
