package compile

import (
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/internal/document/plan"
)

// checkAddresses refuses a link whose addresses stand in the wrong member, or have no next hop in their network, or
// with a network outside the lab.
func (ls *links) checkAddresses(l link) {
	for i, f := range l.families() {
		generator := l.path.Child("generator", f.member)
		if l.second != nil && f.is6() != (i == 1) {
			ls.refuse(generator, f.addresses[0].String(), "a link of both families has its IPv4 address in address, and "+
				"its IPv6 address in ipv6Address")
			return
		}
		ls.checkFamily(l, f)
	}
}

func (ls *links) checkFamily(l link, f family) {
	generator, networks, dut := l.path.Child("generator", f.member), l.path.Child("generator",
		"networks"), l.path.Child("dut", f.member)
	ls.allow(generator, f.addresses[0].Masked())
	ls.checkHost(generator, f.addresses[0])
	for _, network := range f.networks {
		if network.Addr().Is6() != f.is6() && !ls.device.translatesVersions() {
			ls.refusef(networks, network.String(),
				"generator.address is %s, and this network of the other family: write both of one family, or, for IPv4 and "+
					"IPv6 in one test, an IPv4 address and generator.ipv6Address", f.addresses[0])
			return
		}
		ls.allow(networks, network)
	}
	if ls.device.forwarding() == plan.L2 || !f.dut.IsValid() {
		return // no next hop
	}
	ls.allow(dut, f.dut.Masked())
	ls.checkHost(dut, f.dut)
	if f.dut.Addr().Is6() != f.is6() || f.dut.Masked() != f.addresses[0].Masked() {
		ls.refusef(dut, f.dut.String(), "the next hop must be in generator.%[1]s' network %[2]s: set dut.%[1]s to "+
			"an address in it", f.member, f.addresses[0].Masked())
	}
	if slices.Contains(f.addresses, f.dut) {
		ls.refusef(dut, f.dut.String(), "generators have %s to %s, so the device needs another address",
			f.addresses[0].Addr(), f.addresses[len(f.addresses)-1].Addr())
	}
}

// checkHost refuses the first and the last address of a network, which no machine can have.
func (ls *links) checkHost(path *field.Path, a netip.Prefix) {
	if isNetwork(a) || isBroadcast(a) {
		ls.refusef(path, a.String(), "the first and the last address of a network can't be one machine's: use "+
			"another, such as %s", netip.PrefixFrom(a.Masked().Addr().Next(), a.Bits()))
	}
}

// checkApart refuses two links whose networks overlap, since a router couldn't tell which link an address belongs to.
func (ls *links) checkApart(l, earlier link) {
	for _, f := range l.families() {
		for _, g := range earlier.families() {
			ls.checkFamiliesApart(l, f, earlier, g)
		}
	}
}

func (ls *links) checkFamiliesApart(l link, f family, earlier link, g family) {
	for _, a := range f.networks {
		for _, b := range g.networks {
			if a.Overlaps(b) {
				ls.refusef(l.path.Child("generator", "networks"), a.String(),
					"overlaps %s of link %s: flows could belong to either; use networks apart from each "+
						"other", b, earlier.name)
				return
			}
		}
	}
	if a, b := f.addresses[0].Masked(), g.addresses[0].Masked(); ls.device.forwarding() == plan.L3 &&
		a.Overlaps(b) {
		ls.refusef(l.path.Child("generator", f.member), f.addresses[0].String(),
			"network %s overlaps %s of link %s: a router needs a network of its own on each link", a, b, earlier.name)
	}
}

// allow refuses a network that isn't made for measuring, unless the test allows it, so that a typing error sends no
// load out of the lab.
func (ls *links) allow(path *field.Path, network netip.Prefix) {
	if !ls.allowed(network) {
		ls.refuse(path, network.String(), outside(network))
	}
}

// outside says what is wrong with a network that isn't allowed, and the way out. A network so wide that no lab has
// it is a mistake, and allowing it would switch the check off.
func outside(network netip.Prefix) string {
	const widest4, widest6 = 8, 32
	text := "outside the networks made for measuring (198.18.0.0/15, 16.0.0.0/8, 48.0.0.0/8, 2001:2::/48): "
	if widest := map[bool]int{true: widest4, false: widest6}[network.Addr().Is4()]; network.Bits() < widest {
		return text + "give fewer bits to what varies, or bounds (min_value, max_value) that stay within one of them"
	}
	return text + "if it is your lab's, add it to spec.traffic.allowedPrefixes"
}

func (ls *links) allowed(network netip.Prefix) bool {
	networks := benchmarking()
	for _, text := range ls.allowedPrefixes {
		if p, err := netip.ParsePrefix(string(text)); err == nil {
			networks = append(networks, p)
		}
	}
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return contains(p, network) })
}
