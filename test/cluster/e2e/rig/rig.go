package rig

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/host/netif"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/fabric/incluster"
)

// Options say what to bring up.
type Options struct {
	// Name is the cluster's and the fabric's: at most ten lower-case letters and digits. Rigs of different names
	// don't touch each other.
	Name string
	// Keep takes a cluster of that name that is up already, and Down leaves it there.
	Keep bool
	// Functions is how many virtual functions each node has on each wire.
	Functions int
	// Wires are the fabric's; each has a network of its name in the namespace default.
	Wires []string
	// Shared are further wires, whose functions say which physical port they are of: LoadTests keep off each
	// other there.
	Shared []string
	// Scarce are further wires, of which each node has one virtual function.
	Scarce []string
	// Talk is where progress goes.
	Talk io.Writer
}

// Rig is a cluster that is up.
type Rig struct {
	Options
	Cluster incluster.Cluster
	Fabric  fabric.Spec
	// Client is the administrator's.
	Client     client.WithWatch
	Kubeconfig string
	// Programs is where what was built is; Images knows what was packed.
	Programs string
	Images   Images
	// bench is beside the nodes: see Bench.
	bench *netif.Namespace
	// claim keeps other processes off clusters of this name; it ends with this one at the latest.
	claim *os.File
	// initial is what the machine had of interfaces and the like.
	initial footprint
}

// root is below what each cluster keeps its state; nodes have a /var/lib of their own, so programs are elsewhere.
const root = "/var/lib/linerate-e2e"

// BringUp brings everything up, and returns when the operator's pod is available.
func BringUp(ctx context.Context, o Options) (*Rig, error) {
	r := &Rig{Options: o, Programs: filepath.Join(os.TempDir(), "linerate-"+o.Name)}
	r.Cluster = incluster.Cluster{Program: filepath.Join(r.Programs, "cluster"), Name: o.Name, Dir: root}
	steps := []struct {
		title string
		run   func(context.Context) error
	}{
		{"check that no other rig has this name", r.claimName},
		{"build the programs", r.build},
		{"clear what is left of the last time", r.clear},
		{"bring up the cluster", r.bringUp},
		{"have its pods come first", r.outweigh},
		{"lay the fabric", r.lay},
		{"load the images", r.load},
		{"install the chart", r.install},
	}
	for _, s := range steps {
		_, _ = fmt.Fprintf(o.Talk, "%s: %s\n", o.Name, s.title)
		if err := s.run(ctx); err != nil {
			return r, fmt.Errorf("%s: %w", s.title, err)
		}
	}
	return r, nil
}

// claimName refuses a name that a living process has: to clear what is left of its rig would be to break it.
func (r *Rig) claimName(context.Context) error {
	if err := os.MkdirAll(root, 0o755); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(root, r.Name+".lock"), os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return errors.Join(fmt.Errorf("another process has the rig %s: wait for its end, or choose another name (-name): %w", r.Name, err), file.Close())
	}
	r.claim = file
	return nil
}

// clear removes what a crash left, and remembers how the machine looks without us.
func (r *Rig) clear(ctx context.Context) error {
	if r.Keep {
		return nil
	}
	if err := r.remove(ctx); err != nil {
		return err
	}
	var err error
	r.initial, err = readFootprint()
	return err
}

// TearDown takes everything down, and fails if anything is left. A kept rig stays.
func (r *Rig) TearDown(ctx context.Context) error {
	if r.claim == nil {
		return nil // nothing was begun
	}
	defer func() { _ = r.claim.Close() }()
	if r.Keep {
		_, _ = fmt.Fprintf(r.Talk, "e2e: the cluster stays up: KUBECONFIG=%s; take it down by %s down --name %s --dir %s\n", r.Kubeconfig, r.Cluster.Program, r.Name, root)
		return nil
	}
	err := errors.Join(r.remove(ctx), r.bench.Close(), os.RemoveAll(r.Programs))
	if err != nil || r.initial == nil {
		return err
	}
	return r.initial.awaitAgain(ctx, r.Name)
}

// remove ends the cluster first: its nodes' ends of the fabric go with it.
func (r *Rig) remove(ctx context.Context) error {
	_, err := r.Cluster.Run(ctx, "", "down")
	return errors.Join(err, fabric.Remove(r.Name))
}

func (r *Rig) bringUp(ctx context.Context) error {
	if _, err := r.Cluster.Run(ctx, "", "up"); err != nil {
		return err
	}
	r.Kubeconfig = filepath.Join(root, r.Name, "kubeconfig")
	var err error
	r.Client, err = newClient(r.Kubeconfig)
	return err
}
