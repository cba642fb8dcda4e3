// Package pack makes container images of files, with nothing but Go: no base image, no registry, no daemon. The
// result is an archive as "docker save" writes it, which "ctr images import", "docker load" and "kind load
// image-archive" read. The same files give the same archive, byte by byte: owners, modes and times are fixed.
package pack

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Config is how a container of the image starts. The zero value needs a command when it is started, and runs as root.
type Config struct {
	// User is "uid:gid"; an image from nothing has no names for them. "": root.
	User       string
	Entrypoint []string
	// Environment is NAME=value each.
	Environment []string
	Labels      map[string]string
	// Architecture as Go spells it; "": this machine's.
	Architecture string
}

// Pack writes to out an archive with one image, named ref, of one layer. files are local files by their
// absolute paths in the image; folders above them are made. A local file that its owner may execute is
// executable by all. A failure leaves no archive behind that could be taken for a whole one.
func Pack(path, ref string, files map[string]string, config Config) error {
	tag, err := name.NewTag(ref, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("image name %q: %w (say it as registry/repository:tag)", ref, err)
	}
	if len(files) == 0 {
		return errors.New("pack an image: no files were given")
	}
	image, err := Image(files, config)
	if err != nil {
		return err
	}
	return replace(path, func(partial string) error { return tarball.WriteToFile(partial, tag, image) })
}

// Image is what Pack packs: an image of one layer with these files.
func Image(files map[string]string, config Config) (v1.Image, error) {
	content, err := layerOf(files)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(content.open, tarball.WithCompressedCaching,
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("compress the layer: %w", err)
	}
	base, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
		types.OCIConfigJSON), config.file())
	if err != nil {
		return nil, fmt.Errorf("configure the image: %w", err)
	}
	image, err := mutate.Append(base, mutate.Addendum{Layer: layer,
		History: v1.History{Created: v1.Time{Time: moment()}, CreatedBy: "hack/image"}})
	if err != nil {
		return nil, fmt.Errorf("add the layer: %w", err)
	}
	return image, nil
}

func (c Config) file() *v1.ConfigFile {
	arch := c.Architecture
	if arch == "" {
		arch = runtime.GOARCH
	}
	return &v1.ConfigFile{
		Architecture: arch,
		OS:           "linux",
		Created:      v1.Time{Time: moment()},
		RootFS:       v1.RootFS{Type: "layers"},
		Config:       v1.Config{User: c.User, Entrypoint: c.Entrypoint, Env: c.Environment, Labels: c.Labels},
	}
}

// moment is when everything in an image was made, so that it doesn't matter when it really was.
func moment() time.Time { return time.Unix(0, 0).UTC() }
