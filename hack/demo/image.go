package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/hack/image/pack"
	"github.com/linerate-dev/linerate/test/rigs/fabric/incluster"
)

const (
	repository = "ghcr.io/linerate-dev/linerate"
	// router is the image of examples/router that examples/cluster/router.yaml names.
	router = "example.com/linerate/router:demo"
)

// image is linerate's, by its tag, which changes with the programs in it.
type image struct {
	tag      string
	programs map[string]string
}

// build makes all programs of this source tree that are needed.
func (l *demoCluster) build(ctx context.Context) (image, error) {
	if err := os.MkdirAll(l.programs, 0o755); err != nil {
		return image{}, err
	}
	for _, source := range []string{"hack/cluster", "examples/router"} {
		if err := l.compile(ctx, source); err != nil {
			return image{}, err
		}
	}
	if err := incluster.Build(ctx, l.programs); err != nil {
		return image{}, err
	}
	programs, err := pack.Programs(l.programs, name)
	if err != nil {
		return image{}, err
	}
	if err := l.plugIn(); err != nil {
		return image{}, err
	}
	tag, err := pack.Tag(name, programs)
	return image{tag, programs}, err
}

// plugIn lets kubectl find linerate by the name that its plugins have.
func (l *demoCluster) plugIn() error {
	err := os.Symlink("linerate", filepath.Join(l.programs, "kubectl-linerate"))
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	return err
}

// load gives both nodes linerate's image, unless they have it, and the router's.
func (l *demoCluster) load(ctx context.Context, i image) error {
	program := map[string]string{"/router": filepath.Join(l.programs, "router")}
	if err := l.loadOne(ctx, router, program, pack.Config{Entrypoint: []string{"/router"}}); err != nil {
		return err
	}
	if l.loaded(ctx, repository+":"+i.tag) {
		return nil
	}
	return l.loadOne(ctx, repository+":"+i.tag, i.programs, pack.Project())
}

func (l *demoCluster) loadOne(ctx context.Context, image string, files map[string]string, config pack.Config) error {
	archive := filepath.Join(l.programs, "image.tar")
	defer func() { _ = os.Remove(archive) }()
	if err := pack.Pack(archive, image, files, config); err != nil {
		return err
	}
	_, err := l.cluster.Run(ctx, "", "load", archive)
	return err
}

func (l *demoCluster) loaded(ctx context.Context, image string) bool {
	nodes, err := l.cluster.Nodes()
	if err != nil {
		return false
	}
	for _, n := range nodes {
		list, err := l.cluster.Run(ctx, "", "exec", n.Name, "--", "ctr", "--namespace", "k8s.io", "images", "list",
			"--quiet")
		if err != nil || !slices.Contains(strings.Fields(list), image) {
			return false
		}
	}
	return true
}
