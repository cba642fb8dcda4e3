package main

import (
	"context"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"time"

	"github.com/vishvananda/netlink"
)

// maxMachines bounds the machines that join one cluster, whose addresses follow those of its boxes.
const maxMachines = 16

var validNode = regexp.MustCompile(`^[a-z][a-z0-9-]{0,30}$`)

func joinCommand(_ context.Context, p place, args []string) error {
	return locked(p, func(c *cluster, _ cgroups) error {
		if err := c.prepareMachine(args[0]); err != nil {
			return err
		}
		return c.plugMachine(args[1])
	})
}

// machines are the nodes that are machines of their own beside the boxes.
func (c *cluster) machines() []node {
	var nodes []node
	for i, name := range c.Machines {
		nodes = append(nodes, node{
			name:    name,
			address: c.host(byte(21 + i)),
			pods:    netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 244, byte(11 + i), 0}), 24),
		})
	}
	return nodes
}

// prepareMachine writes what the machine finds when it becomes a node, and routes its pods. A machine that
// restarted joins again under what it had.
func (c *cluster) prepareMachine(name string) error {
	if _, err := c.box(name); err == nil || !validNode.MatchString(name) {
		return fmt.Errorf("node %q: choose a name of lower-case letters, digits and dashes that no box has", name)
	}
	if slices.Contains(c.Machines, name) {
		return nil
	}
	if len(c.Machines) == maxMachines {
		return fmt.Errorf("cluster %q has %d machines: there is no address for another", c.Name, maxMachines)
	}
	c.Machines = append(c.Machines, name)
	n := c.machines()[len(c.Machines)-1]
	ca, err := loadAuthority(c.dir)
	if err != nil {
		return err
	}
	if err := c.prepareNode(n, "", ca, time.Now()); err != nil {
		return fmt.Errorf("prepare %s: %w", n.name, err)
	}
	control, err := c.open("control")
	if err != nil {
		return err
	}
	defer control.close()
	if err := control.route(n.pods, n.address); err != nil {
		return err
	}
	return c.save()
}

// plugMachine moves an interface of the host, such as the tap of an emulated machine, to the cluster's bridge.
func (c *cluster) plugMachine(name string) error {
	control, err := c.open("control")
	if err != nil {
		return err
	}
	defer control.close()
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find the machine's interface %s on the host: %w", name, err)
	}
	if err := netlink.LinkSetNsFd(link, int(control.ns)); err != nil {
		return fmt.Errorf("move %s to the cluster's bridge: %w", name, err)
	}
	if link, err = control.LinkByName(name); err != nil {
		return err
	}
	bridge, err := control.LinkByName("br0")
	if err != nil {
		return err
	}
	if err := control.LinkSetMaster(link, bridge); err != nil {
		return fmt.Errorf("plug %s into the bridge: %w", name, err)
	}
	return control.setUp(name)
}
