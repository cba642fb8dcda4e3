package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

// Bench is the fabric's name of a place outside the cluster, with the same cards as a node: where a device is
// that Kubernetes knows nothing of. It goes with this process.
const Bench = "bench"

// lay joins the nodes and the bench by wires, and makes the networks that LoadTests name.
func (r *Rig) lay(ctx context.Context) error {
	nodes, err := r.Cluster.Nodes()
	if err != nil {
		return err
	}
	if r.bench, err = netif.NewNamespace(); err != nil {
		return err
	}
	// The kernel there says nothing by itself, as little as a switch.
	if err := r.bench.Do(func() error {
		return os.WriteFile("/proc/sys/net/ipv6/conf/default/disable_ipv6", []byte("1"),
			0)
	}); err != nil {
		return fmt.Errorf("silence the bench: %w", err)
	}
	bench := fabric.Node{Name: Bench, Namespace: fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), r.bench.Fd())}
	r.Fabric = fabric.Across(r.Name, append(nodes, bench), r.Functions, slices.Concat(r.Wires, r.Shared, r.Scarce)...)
	for w, wire := range r.Fabric.Wires {
		for p := range wire.Ports {
			port := &r.Fabric.Wires[w].Ports[p]
			port.Shared = slices.Contains(r.Shared, wire.Name)
			if slices.Contains(r.Scarce, wire.Name) {
				port.Functions = 1
			}
		}
	}
	if err := r.Cluster.Install(ctx, r.Fabric, r.Programs); err != nil {
		return err
	}
	return r.Cluster.Networks(ctx, "default", r.Fabric)
}

// OnBench starts a command there, which ends with this process at the latest. Who starts it ends it and waits for it.
func (r *Rig) OnBench(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return r.bench.Do(cmd.Start)
}

// BenchInterface is the name of the bench's first function on a wire.
func (r *Rig) BenchInterface(wire string) string {
	return fmt.Sprintf("%sp%dv0", wire, len(r.Fabric.Nodes)-1)
}

// Cables joins node-1 and node-2 by cables without a device behind them. Each cable is a host-device network of its
// name in the namespace default, as in a lab without a device plugin. One pod of a node may have it at a time.
func (r *Rig) Cables(ctx context.Context, names ...string) error {
	for _, name := range names {
		if _, err := r.Cluster.Run(ctx, "", "cable", name); err != nil {
			return err
		}
		manifest := fmt.Sprintf(`{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "NetworkAttachmentDefinition", "metadata": {"name": %[1]q, "namespace": "default"},
			"spec": {"config": "{\"cniVersion\": \"1.0.0\", \"name\": \"%[1]s\", \"type\": \"host-device\", \"device\": \"%[1]s\"}"}}`, name)
		if _, err := r.Cluster.Run(ctx, manifest, "kubectl", "--", "apply", "-f", "-"); err != nil {
			return err
		}
	}
	return nil
}
