package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// machineRoot is where a machine that is a node keeps its own part of the cluster: a cluster of one box, which
// is the machine. There "cluster --dir /linerate-node" kills and starts what runs on the machine.
const machineRoot = "/linerate-node"

// nodeCommand makes this machine a node of the cluster that p names. The machine sees the files of the host on
// which the cluster is up.
func nodeCommand(ctx context.Context, p place, args []string) error {
	host, err := p.running()
	if err != nil {
		return err
	}
	nodes := host.machines()
	i := slices.IndexFunc(nodes, func(n node) bool { return n.name == args[0] })
	if i < 0 {
		return fmt.Errorf("cluster %q knows no machine %q: type \"cluster join %s INTERFACE\" on the host first",
			p.name, args[0], args[0])
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("five minutes went by"))
	defer cancel()
	pause, err := os.ReadFile(filepath.Join(host.dir, "pause"))
	if err != nil {
		return err
	}
	c, err := host.copyToMachine(nodes[i])
	if err != nil {
		return err
	}
	if err := setUp(boxSpec{Hostname: nodes[i].name, Dir: filepath.Join(c.dir, nodes[i].name),
		Bin: host.Assets, Machine: true}); err != nil {
		return err
	}
	if err := c.connectMachine(nodes[i], args[1]); err != nil {
		return err
	}
	return c.runMachine(ctx, nodes[i], pause)
}

// copyToMachine copies what the host has prepared for the node to a tmpfs: containerd's snapshots can't lie on
// the overlay that a machine's root may be.
func (c *cluster) copyToMachine(n node) (*cluster, error) {
	if err := os.MkdirAll(machineRoot, 0o755); err != nil {
		return nil, err
	}
	if err := unix.Mount("linerate", machineRoot, "tmpfs", 0, "size=75%"); err != nil {
		return nil, fmt.Errorf("mount a tmpfs on %s: %w", machineRoot, err)
	}
	machine := &cluster{Name: c.Name, Assets: c.Assets, Subnet: c.Subnet, Machines: c.Machines, Machine: n.name,
		dir: filepath.Join(machineRoot, c.Name)}
	target := filepath.Join(machine.dir, n.name)
	if err := os.CopyFS(target, os.DirFS(filepath.Join(c.dir, n.name))); err != nil {
		return nil, fmt.Errorf("copy what the host prepared for %s: %w", n.name, err)
	}
	return machine, makeBoxDirs(target)
}

// connectMachine gives the machine its address. The control plane's box routes to all other nodes.
func (c *cluster) connectMachine(n node, link string) error {
	s, err := openHost()
	if err != nil {
		return err
	}
	defer s.close()
	return errors.Join(s.setUp("lo"), s.setUp(link), s.address(link, c.subnet(n.address)),
		s.route(netip.MustParsePrefix("0.0.0.0/0"), c.controlAddress()))
}

// runMachine starts the node's programs. Its box's first process is the machine's own.
func (c *cluster) runMachine(ctx context.Context, n node, pause []byte) error {
	groups, err := findCgroups(c.Name)
	if err != nil {
		return err
	}
	if err := groups.create(nil, n.name); err != nil {
		return err
	}
	init, err := identify(1)
	if err != nil {
		return err
	}
	c.Boxes, c.Components = []box{{Name: n.name, Init: init}}, nodeComponents(n)
	if err := c.save(); err != nil {
		return err
	}
	if err := c.startAll(n.name, groups, "containerd"); err != nil {
		return err
	}
	image, err := packImage(pauseImage, "pause", pause)
	if err != nil {
		return err
	}
	if err := c.importPause(ctx, n.name, image); err != nil {
		return err
	}
	return c.startAll(n.name, groups, "kubelet", "kube-proxy")
}
