package main

import (
	"fmt"
	"net"
	"net/netip"
	"slices"

	"github.com/vishvananda/netlink"
)

// Only the subnet of the machines is visible on the host. Pods' and services' addresses exist in the boxes alone.
//
//	10.99.N.0/24    .1 control plane, .11 and .12 nodes, .21 to .36 machines that joined, .254 the host
//	10.244.N.0/24   pods of node N; from N = 11 on of machines
//	10.96.0.0/16    services
const (
	podNetwork     = "10.244.0.0/16"
	serviceNetwork = "10.96.0.0/16"
	apiService     = "10.96.0.1"
)

// candidates are the subnets that a cluster may take, in order of preference.
func candidates() []netip.Prefix {
	var prefixes []netip.Prefix
	for i := range 16 {
		prefixes = append(prefixes, netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 99, byte(i), 0}), 24))
	}
	return prefixes
}

// freeSubnet takes the first candidate that nothing on the host uses.
func freeSubnet() (netip.Prefix, error) {
	used, err := usedSubnets()
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("see which addresses are in use: %w", err)
	}
	return firstFree(candidates(), used)
}

func firstFree(candidates, used []netip.Prefix) (netip.Prefix, error) {
	for _, candidate := range candidates {
		free := true
		for _, u := range used {
			free = free && !candidate.Overlaps(u)
		}
		if free {
			return candidate, nil
		}
	}
	return netip.Prefix{}, fmt.Errorf("all of %s to %s is in use on this machine: remove a cluster or the route",
		candidates[0], candidates[len(candidates)-1])
}

// usedSubnets are those of the host's addresses and routes, but for the default route.
func usedSubnets() ([]netip.Prefix, error) {
	var used []netip.Prefix
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, err
	}
	for _, a := range addresses {
		used = append(used, prefixOf(a.IPNet))
	}
	routes, err := netlink.RouteList(nil, netlink.FAMILY_V4)
	if err != nil {
		return nil, err
	}
	for _, r := range routes {
		if r.Dst != nil && prefixOf(r.Dst).Bits() > 0 {
			used = append(used, prefixOf(r.Dst))
		}
	}
	return used, nil
}

func prefixOf(n *net.IPNet) netip.Prefix {
	address, _ := netip.AddrFromSlice(n.IP)
	bits, _ := n.Mask.Size()
	return netip.PrefixFrom(address.Unmap(), bits)
}

// ipNet is a prefix as netlink wants it.
func ipNet(p netip.Prefix) *net.IPNet {
	return &net.IPNet{IP: p.Addr().AsSlice(), Mask: net.CIDRMask(p.Bits(), p.Addr().BitLen())}
}

// host is the nth address of the cluster's subnet.
func (c *cluster) host(n byte) netip.Addr {
	bytes := c.Subnet.Addr().As4()
	bytes[3] = n
	return netip.AddrFrom4(bytes)
}

func (c *cluster) controlAddress() netip.Addr { return c.host(1) }
func (c *cluster) outsideAddress() netip.Addr { return c.host(254) }
func (c *cluster) server() string             { return "https://" + c.controlAddress().String() + ":6443" }

// node is a machine for pods.
type node struct {
	name    string
	address netip.Addr
	pods    netip.Prefix
}

// nodes are those that this machine runs: on the host the two boxes, in a machine that joined the machine itself.
func (c *cluster) nodes() []node {
	var nodes []node
	if c.Machine != "" {
		return slices.DeleteFunc(c.machines(), func(n node) bool { return n.name != c.Machine })
	}
	for i := byte(1); i <= 2; i++ {
		nodes = append(nodes, node{
			name:    fmt.Sprintf("node-%d", i),
			address: c.host(10 + i),
			pods:    netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, i, 0}), 24),
		})
	}
	return nodes
}
