package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

const dialTimeout = time.Second

// bringUp brings the cluster to where everything runs and both nodes are Ready, from wherever it is: from
// nothing, with a component killed, or half made by an up that died (which is removed first).
func bringUp(ctx context.Context, p place, stderr io.Writer) (*cluster, error) {
	assets, err := findAssets(ctx, stderr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 5*time.Minute, errors.New("five minutes went by"))
	defer cancel()
	lock, err := p.lock()
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Close() }()
	c, found, err := p.load()
	if err != nil {
		return nil, err
	}
	groups, err := findCgroups(p.name)
	if err != nil {
		return nil, err
	}
	if found && c.whole() {
		if err := c.check(p); err != nil {
			return nil, err
		}
	}
	if !found || !c.whole() || c.Assets != assets {
		if err := remove(ctx, p, stderr); err != nil {
			return nil, fmt.Errorf("remove what is left of an earlier cluster: %w", err)
		}
		if c, err = create(p, assets, groups); err != nil {
			return nil, err
		}
	}
	return c, c.run(ctx, groups, stderr)
}

// check refuses a cluster that is up and isn't what is asked for.
func (c *cluster) check(p place) error {
	if c.ExclusiveCPUs != p.exclusiveCPUs {
		return fmt.Errorf("cluster %q was brought up with --exclusive-cpus=%v: take it down first", p.name,
			c.ExclusiveCPUs)
	}
	allowed, err := allowedCPUs()
	if err != nil {
		return err
	}
	return c.checkCPUs(allowed)
}

// findAssets builds the programs if they aren't built yet. That takes minutes, so it checks for other
// requirements first.
func findAssets(ctx context.Context, stderr io.Writer) (string, error) {
	for _, program := range []string{"runc", "nft"} {
		if _, err := exec.LookPath(program); err != nil {
			return "", fmt.Errorf("%w: hack/ci-packages installs what is missing", err)
		}
	}
	cmd := exec.CommandContext(ctx, "go", "run", "github.com/linerate-dev/linerate/hack/kube", "cluster")
	cmd.Stderr = stderr
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build the programs of Kubernetes: %w", err)
	}
	return strings.TrimSpace(string(output)), nil
}

// whole is whether all boxes are there and connected.
func (c *cluster) whole() bool {
	for _, b := range c.Boxes {
		if !b.Init.alive() {
			return false
		}
	}
	boxes := 3
	if c.Machine != "" {
		boxes = 1
	}
	return len(c.Boxes) == boxes && len(c.Components) > 0
}

// create makes the boxes, joins them and writes what is to run in them.
func create(p place, assets string, groups cgroups) (*cluster, error) {
	if err := roomToWatch(inotifyInstances, openInotify); err != nil {
		return nil, err
	}
	choosing, err := lockDir("/run") // from the choice of addresses until they can be seen
	if err != nil {
		return nil, err
	}
	defer func() { _ = choosing.Close() }()
	subnet, err := freeSubnet()
	if err != nil {
		return nil, err
	}
	cpus, err := ownCPUs()
	if err != nil {
		return nil, err
	}
	c := &cluster{Name: p.name, Assets: assets, Subnet: subnet, ExclusiveCPUs: p.exclusiveCPUs, CPUs: cpus,
		dir: p.dir()}
	reserved, err := c.reservedCPUs()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return nil, err
	}
	ca, err := newAuthority(time.Now())
	if err != nil {
		return nil, err
	}
	if err := ca.save(c.dir); err != nil {
		return nil, err
	}
	if err := c.prepareControl(ca, time.Now()); err != nil {
		return nil, err
	}
	boxes, components := []string{"control"}, c.controlComponents()
	for i, n := range c.nodes() {
		if err := c.prepareNode(n, reserved[i], ca, time.Now()); err != nil {
			return nil, fmt.Errorf("prepare %s: %w", n.name, err)
		}
		boxes, components = append(boxes, n.name), append(components, nodeComponents(n)...)
	}
	if err := groups.create(c.CPUs, boxes[1:]...); err != nil {
		return nil, err
	}
	for _, name := range boxes {
		if err := openBox(c, name, groups, func(b box) error {
			c.Boxes = append(c.Boxes,
				b)
			return c.save()
		}); err != nil {
			return nil, err
		}
	}
	if err := c.connect(); err != nil {
		return nil, err
	}
	c.Components = components // from here on the boxes are complete
	return c, c.save()
}

// run starts what doesn't run, and waits until all is ready.
func (c *cluster) run(ctx context.Context, groups cgroups, stderr io.Writer) error {
	for _, n := range c.nodes() {
		if err := c.startAll(n.name, groups, "containerd"); err != nil {
			return err
		}
	}
	if err := c.startAll("control", groups, "etcd", "kube-apiserver"); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "cluster: control plane and containerd started")
	pause, err := c.packPause(ctx)
	if err != nil {
		return err
	}
	errs := make([]error, 3)
	var group sync.WaitGroup
	for i, n := range c.nodes() {
		group.Go(func() { errs[i] = c.importPause(ctx, n.name, pause) })
	}
	group.Go(func() { errs[2] = c.awaitAPI(ctx) })
	group.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if err := c.startAll("control", groups, "kube-controller-manager", "kube-scheduler"); err != nil {
		return err
	}
	for _, n := range c.nodes() {
		if err := c.startAll(n.name, groups, "kubelet", "kube-proxy"); err != nil {
			return err
		}
	}
	fmt.Fprintln(stderr, "cluster: API server ready, nodes started")
	if err := c.kubectl(ctx, bytes.NewReader(networks), "apply", "--server-side", "-f", "-"); err != nil {
		return err
	}
	if err := c.awaitNodes(ctx); err != nil {
		return err
	}
	return c.startDaemons(groups)
}

func (c *cluster) packPause(ctx context.Context) ([]byte, error) {
	binary, err := buildPause(ctx, c.dir)
	if err != nil {
		return nil, err
	}
	return packImage(pauseImage, "pause", binary)
}

// importPause waits for containerd, and gives it the image that every pod begins with.
func (c *cluster) importPause(ctx context.Context, node string, image []byte) error {
	b, err := c.box(node)
	if err != nil {
		return err
	}
	runtime, err := c.component(node, "containerd")
	if err != nil {
		return err
	}
	var lastErr error
	err = await(ctx, "containerd on "+node, func() bool {
		lastErr = b.run(ctx, nil, io.Discard, io.Discard, "ctr", "version")
		return lastErr == nil || !runtime.Process.alive()
	})
	if err != nil || lastErr != nil {
		return fmt.Errorf("%w (see %s)", errors.Join(err, lastErr), filepath.Join(c.dir, node, "log", "containerd.log"))
	}
	return importImage(ctx, b, bytes.NewReader(image))
}
