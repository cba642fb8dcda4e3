package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
	"github.com/linerate-dev/linerate/test/rigs/fabric/incluster"
)

const (
	module = "github.com/linerate-dev/linerate"
	// name is the cluster's and the fabric's.
	name = "demo"
	// namespace is where the LoadTests are.
	namespace = "lab"
	// functions is how many virtual functions each node has on a link's wire: one, so that a test takes both
	// nodes' on some wire, and the next one waits.
	functions = 1
	// onFar is how many it has on the wires of a test's second and fourth link: one more, for the end of sessions
	// that has to be beside the device, since it is apart from the end on the link before.
	//
	//	node-1   the device: west, east, north, south   ends on east, south
	//	node-2                                          ends on west, north
	onFar = 2
	// cable is the wire that generators are measured on by themselves, and that is between a tunnel's gateways;
	// onCable is how many ports a node has on it: those of a test with four links.
	cable, onCable = "cable", 4
)

// wires join the nodes; a network of each one's name is in the namespace. The demo's own tests have the first two.
func wires() []string { return []string{"west", "east", "north", "south", cable} }

// onWire is how many virtual functions each node has on a wire.
func onWire(wire string) int {
	switch wire {
	case "east", "south":
		return onFar
	case cable:
		return onCable
	}
	return functions
}

// wired is how the wires join the nodes.
func wired(nodes []fabric.Node) fabric.Spec {
	spec := fabric.Across(name, nodes, functions, wires()...)
	for _, w := range spec.Wires {
		for p := range w.Ports {
			w.Ports[p].Functions = onWire(w.Name)
		}
	}
	return spec
}

// demoCluster is the demo's cluster, and what it is made with.
type demoCluster struct {
	stderr io.Writer
	// project is the source tree, programs a directory that nodes see as we do, where what is built of it is kept.
	project, programs string
	cluster           incluster.Cluster
	// assets has kubectl and helm; kubeconfig is the administrator's. Both are known once the cluster is up.
	assets, kubeconfig string
	began              time.Time
}

func newDemoCluster(stderr io.Writer) (*demoCluster, error) {
	project, err := output(exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module))
	if err != nil {
		return nil, fmt.Errorf("find the project: %w (run it inside of its source tree)", err)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("find the cache directory: %w (set HOME or XDG_CACHE_HOME)", err)
	}
	programs := filepath.Join(cache, "linerate", "demo")
	return &demoCluster{
		stderr: stderr, project: project, programs: programs, began: time.Now(),
		cluster: incluster.Cluster{Program: filepath.Join(programs, "cluster"), Name: name},
	}, nil
}

// ensure brings everything up, or mends what is up already; done twice, the second time is quick.
func (l *demoCluster) ensure(ctx context.Context) error {
	var built image
	steps := []struct {
		title string
		run   func() error
	}{
		{"Debian's packages: runc, CNI plugins, nftables", func() error { return l.installPackages(ctx) }},
		{"programs of Kubernetes (built once, kept in the cache directory)",
			func() error { return l.buildKubernetes(ctx) }},
		{"programs of linerate", func() (err error) { built, err = l.build(ctx); return err }},
		{"a cluster of two nodes", func() error { return l.bringUp(ctx) }},
		{"wires between the nodes, with virtual functions at each end", func() error { return l.lay(ctx) }},
		{"linerate's image on both nodes", func() error { return l.load(ctx, built) }},
		{"linerate, by its Helm chart", func() error { return l.install(ctx, built.tag) }},
		{"the namespace " + namespace + ", with the wires' networks", func() error { return l.furnish(ctx) }},
	}
	for _, s := range steps {
		l.say("%s", s.title)
		if err := s.run(); err != nil {
			return fmt.Errorf("%s: %w", s.title, err)
		}
	}
	return nil
}

// say prints what is being done, and when it was begun.
func (l *demoCluster) say(format string, args ...any) {
	fmt.Fprintf(l.stderr, "demo %s  %s\n", clock(time.Since(l.began)), fmt.Sprintf(format, args...))
}

func (l *demoCluster) buildKubernetes(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "run", module+"/hack/kube", "cluster")
	cmd.Stderr = l.stderr
	output, err := cmd.Output()
	l.assets = strings.TrimSpace(string(output))
	return err
}

// bringUp passes on what the cluster says, because it may take a while.
func (l *demoCluster) bringUp(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, l.cluster.Program, "up", "--name", name)
	cmd.Stderr = l.stderr
	output, err := cmd.Output()
	l.kubeconfig = strings.TrimSpace(string(output))
	return err
}

// lay joins the nodes. A device plugin that runs is left alone: pods hold its devices.
func (l *demoCluster) lay(ctx context.Context) error {
	nodes, err := l.cluster.Nodes()
	if err != nil {
		return err
	}
	spec := wired(nodes)
	status, err := l.cluster.Run(ctx, "", "status")
	if err == nil && strings.Count(status, incluster.Daemon) == len(nodes) {
		return fabric.Lay(spec)
	}
	if err := l.cluster.Install(ctx, spec, l.programs); err != nil {
		return err
	}
	return l.awaitFunctions(ctx, spec)
}

// awaitFunctions waits until the nodes offer their virtual functions to pods.
func (l *demoCluster) awaitFunctions(ctx context.Context, spec fabric.Spec) error {
	for _, n := range spec.Nodes {
		for _, w := range wires() {
			resource := strings.ReplaceAll(fabric.ResourceOf(w), ".", `\.`)
			wanted := fmt.Sprintf("jsonpath={.status.allocatable.%s}=%d", resource, onWire(w))
			if _, err := l.kubectl(ctx, "", "wait", "node/"+n.Name, "--for="+wanted, "--timeout=1m"); err != nil {
				return err
			}
		}
	}
	return nil
}

// tearDown removes the cluster, or what is left of one; the nodes' ends of the wires go with them.
func (l *demoCluster) tearDown(ctx context.Context) error {
	if err := l.compile(ctx, "hack/cluster"); err != nil {
		return err
	}
	_, err := l.cluster.Run(ctx, "", "down")
	if err := errors.Join(err, fabric.Remove(name)); err != nil {
		return err
	}
	l.say("the cluster is gone; what was built stays in %s", filepath.Dir(l.programs))
	return nil
}
