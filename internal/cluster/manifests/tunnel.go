package manifests

import (
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// Each of a tunnel's two gateways is a pod. Each has the links behind it, and an end of the cable between the
// two, which isn't a link.
//
//	generator ── west ── NAME-A-dut ══ dut.reference.mode.tunnel.network ══ NAME-A-dut-far ── east ── generator
//
// Each gateway makes its key in its pod, and the two exchange public keys over the cable (tunnel.GatewayInPod.Meet). No
// object of the cluster ever holds a key.

// tunnelOf is the device's tunnel mode. Nil means that the device isn't a tunnel.
func tunnelOf(input Input) *plan.TunnelMode {
	if m := input.Compiled.Plan.DUT.Mode(); m != nil {
		return m.Tunnel
	}
	return nil
}

// farEnd is the second gateway's pod. Nil means that the device isn't a tunnel.
func farEnd(input Input) *corev1.Pod {
	if tunnelOf(input) == nil {
		return nil
	}
	pod := reference(input, gatewayPod(input, 1))
	queueInKueue(input, pod)
	return pod
}

// gatewayPod is the pod of one of the gateways. The names of their containers tell the two apart in a Report.
func gatewayPod(input Input, gateway int) referencePod {
	links := linksOfGateway(input, gateway)
	spec := referencePod{name: DUTPodName(input.Test.Name, input.Attempt), container: "gateway", file: keyForwarder,
		servesVitals: true}
	if gateway == 1 {
		spec = referencePod{name: FarEndPodName(input.Test.Name, input.Attempt), container: "far-gateway",
			file: keyFarEnd}
	}
	spec.interfaces = append(links, plan.TunnelCable)
	spec.attached = attachmentsOn(input, links)
	if n, ok := dutNetwork(input, plan.TunnelCable); ok {
		owner := fmt.Sprintf("%s-%d", roleDUT, gateway)
		spec.attached = append(spec.attached, attach(input, n, owner, plan.TunnelCable,
			[]netip.Prefix{plan.OnTunnelCable(gateway)}))
	}
	return spec
}

// linksOfGateway are the links behind a gateway.
func linksOfGateway(input Input, gateway int) []string {
	return slices.DeleteFunc(linkNames(input),
		func(link string) bool { return tunnelOf(input).Gateway(link) != gateway })
}

// gatewayOf is the spec of one gateway, with the links behind it, and how it reaches the other gateway.
func gatewayOf(input Input, gateway int) forwarderSpec {
	const ethernet, leastMTU = 14, 1280 // of IPv6
	t, p := tunnelOf(input), input.Compiled.Plan
	spec := forwarderSpec{Forwarding: p.DUT.Forwarding, Directions: []forwarderDirection{}, Tunnel: &plan.TunnelGateway{
		Kind: t.Kind, Cipher: t.Cipher, Local: plan.OnTunnelCable(gateway),
		Peer: plan.OnTunnelCable(1 - gateway).Addr(), Connects: gateway == 1,
		MTU: max(leastMTU, p.LargestFrame()-ethernet),
	}}
	if t.Kind == plan.TunnelIPsec {
		spec.Tunnel.MTU = plan.LargestOfIPsec
	}
	for _, l := range p.Links {
		link := forwarderLinkOf(input, l)
		networks := slices.Concat(link.Networks, l.DUT.Addresses)
		if t.Gateway(l.Name) == gateway {
			spec.Links = append(spec.Links, link)
			spec.Tunnel.LocalNetworks = append(spec.Tunnel.LocalNetworks, networks...)
		} else {
			spec.Tunnel.PeerNetworks = append(spec.Tunnel.PeerNetworks, networks...)
		}
	}
	return spec
}

// checkTunnel refuses a cable that is also a link's network. Generators would receive encrypted packets, and send into
// the cable.
func checkTunnel(input Input) (errs []error) {
	cable, ok := dutNetwork(input, plan.TunnelCable)
	// Devices of one resource may be on one physical port, for which the lifecycle has rules.
	if !ok || cable.Resource != "" {
		return nil
	}
	for _, l := range input.Compiled.Networks {
		if l.Link != plan.TunnelCable && slices.Contains([]compile.NetworkKey{l.Generator, l.DUT}, cable.Key) {
			errs = append(errs, fmt.Errorf("dut.reference.mode.tunnel.network: %s is link %s's network, too, and the "+
				"cable between the gateways must not be a link: give it a network of its own", cable.Key, l.Link))
		}
	}
	return errs
}
