package main

import (
	"context"
	"path/filepath"
)

// install brings linerate in by its chart, or upgrades it, and waits until the operator is available. It asks
// for no part of a processor: on two processors the generator of a test of four links takes all of a node's.
func (l *demoCluster) install(ctx context.Context, tag string) error {
	_, err := output(l.program(ctx, "helm", "upgrade", "--install", "linerate",
		filepath.Join(l.project, "charts/linerate"),
		"--namespace", "linerate-system", "--create-namespace", "--set", "image.tag="+tag, "--set",
		"image.pullPolicy=Never", "--set", "resources.requests.cpu=0", "--wait", "--timeout", "3m"))
	return err
}

// furnish makes the namespace for tests, and a network of each wire in it.
func (l *demoCluster) furnish(ctx context.Context) error {
	if _, err := l.kubectl(ctx, "", "apply", "-f", l.example("namespace")); err != nil {
		return err
	}
	nodes, err := l.cluster.Nodes()
	if err != nil {
		return err
	}
	return l.cluster.Networks(ctx, namespace, wired(nodes))
}

// example is the file of that name.
func (l *demoCluster) example(name string) string {
	return filepath.Join(l.project, "examples", "cluster", name+".yaml")
}
