package sessions

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// addressing is the addresses, routes and neighbours that the Plan gives the ends. It asks nobody.
type addressing struct{ plan *plan.Plan }

// network is what the end of a place needs to reach the links that it has a direction with, which is routes by the
// device if that routes, else addresses on the link itself. mac returns the MAC of another link's end.
func (a addressing) network(place Place, mac func(link string) string) (Network, error) {
	address, err := a.address(place.Link)
	n := Network{Address: address, AsItIs: place.Link == plan.DeviceEnd && a.plan.DUT.Type == "Pod"}
	routed, device := a.plan.DUT.Forwarding == plan.L3, a.device(place.Link)
	if routed {
		if !device.IsValid() {
			err = errors.Join(err, fmt.Errorf("link %s: the device's address is not known: set dut.address of the link",
				place.Link))
		}
		i := slices.IndexFunc(a.plan.Links, func(l plan.Link) bool { return l.Name == place.Link })
		if deviceMAC := cmp.Or(place.DUTMAC, a.plan.Links[i].DUT.MAC); deviceMAC != "" {
			n.Neighbours = append(n.Neighbours, Neighbour{Address: device, MAC: deviceMAC})
		}
	}
	for _, far := range a.farLinks(place.Link) {
		address, farErr := a.address(far)
		err = errors.Join(err, farErr)
		if routed {
			destination := address.Masked()
			if reached := a.reached(far, address); reached != address.Addr() {
				destination = netip.PrefixFrom(reached, reached.BitLen())
			}
			n.Routes = append(n.Routes, Route{Destination: destination, Via: device})
			continue
		}
		n.Routes = append(n.Routes, Route{Destination: netip.PrefixFrom(address.Addr(), address.Addr().BitLen())})
		n.Neighbours = append(n.Neighbours, Neighbour{Address: address.Addr(), MAC: mac(far)})
	}
	return n, err
}

// farLinks are the links that have a direction from or to this one, each once.
func (a addressing) farLinks(link string) (links []string) {
	for _, d := range a.plan.Directions {
		far := ""
		switch link {
		case d.From:
			far = d.To
		case d.To:
			far = d.From
		}
		if far != "" && !slices.Contains(links, far) {
			links = append(links, far)
		}
	}
	return links
}

// address is the end's on a link, or that of the device's own end.
func (a addressing) address(link string) (netip.Prefix, error) {
	if addresses := a.plan.Links[0].DUT.Addresses; link == plan.DeviceEnd && len(addresses) > 0 {
		return addresses[0], nil
	}
	for _, g := range a.plan.Generators {
		if port, ok := g.PortOn(link); ok && len(port.Addresses) > 0 {
			return port.Addresses[0], nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("link %s: the plan has no address for its end", link)
}

// reached is the address by which others reach a link's end. It differs from the end's own address where the device
// translates addresses.
func (a addressing) reached(link string, address netip.Prefix) netip.Addr {
	return a.plan.DUT.ReachedAt(link, address.Addr())
}

// device is the device's address on a link, of the end's IP version, or the zero Addr if there is none.
func (a addressing) device(link string) netip.Addr {
	end, _ := a.address(link)
	for _, l := range a.plan.Links {
		for _, address := range l.DUT.Addresses {
			if l.Name == link && address.Addr().Is4() == end.Addr().Is4() {
				return address.Addr()
			}
		}
	}
	return netip.Addr{}
}
