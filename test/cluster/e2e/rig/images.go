package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/hack/image/pack"
	"github.com/linerate-dev/linerate/test/rigs/fabric/incluster"
)

// Repository is the project's image without its tag.
const Repository = "ghcr.io/linerate-dev/linerate"

// Images beside the project's.
const (
	// Router is a Linux router to be tested in a pod: examples/router.
	Router = "example.com/linerate/router:e2e"
	// TRex is an image of TRex without TRex: test/cluster/e2e/trex.
	TRex = "example.com/linerate/trex:e2e"
)

// Images is what was packed.
type Images struct {
	// Tag is the project's image's; it changes with the programs in it.
	Tag string
	// Programs are what is in it, by their path there, as files here.
	Programs map[string]string
}

// sources are the packages that are built beside the project's own, by their programs' names.
func sources() map[string]string {
	return map[string]string{"cluster": "./hack/cluster", "router": "./examples/router",
		"trex": "./test/cluster/e2e/trex"}
}

// build makes all programs of this tree that the rig needs, in a directory that the nodes see as we do.
func (r *Rig) build(ctx context.Context) error {
	if err := os.MkdirAll(r.Programs, 0o755); err != nil {
		return err
	}
	for name, source := range sources() {
		if err := Build(ctx, source, filepath.Join(r.Programs, name)); err != nil {
			return err
		}
	}
	if err := incluster.Build(ctx, r.Programs); err != nil {
		return err
	}
	var err error
	if r.Images.Programs, err = pack.Programs(r.Programs, "e2e"); err != nil {
		return err
	}
	r.Images.Tag, err = pack.Tag("e2e", r.Images.Programs)
	return err
}

// Build makes a static program of a package of this project, named from its root.
func Build(ctx context.Context, source, binary string) error {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", binary,
		strings.Replace(source, "./", "github.com/linerate-dev/linerate/", 1))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w: %s", source, err, strings.TrimSpace(string(output)))
	}
	return nil
}

// load gives the nodes the images.
func (r *Rig) load(ctx context.Context) error {
	if err := r.LoadProject(ctx, r.Images.Tag); err != nil {
		return err
	}
	router := map[string]string{"/router": filepath.Join(r.Programs, "router")}
	if err := r.Load(ctx, Router, router, pack.Config{Entrypoint: []string{"/router"}}); err != nil {
		return err
	}
	return r.Load(ctx, TRex, map[string]string{"/opt/trex/v3.08/_t-rex-64": filepath.Join(r.Programs, "trex")},
		pack.Config{})
}

// LoadProject gives the nodes the project's image under a tag: another one is as good as another version.
func (r *Rig) LoadProject(ctx context.Context, tag string) error {
	return r.Load(ctx, Repository+":"+tag, r.Images.Programs, pack.Project())
}

// Load packs an image and gives it to the nodes.
func (r *Rig) Load(ctx context.Context, image string, files map[string]string, config pack.Config) error {
	archive := filepath.Join(r.Programs, "image.tar")
	if err := pack.Pack(archive, image, files, config); err != nil {
		return err
	}
	defer func() { _ = os.Remove(archive) }()
	_, err := r.Cluster.Run(ctx, "", "load", archive)
	return err
}
