package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// push pushes the image and the chart of a folder, each by its version, and writes down the digests. A tag that
// is there already stays: what was released isn't changed. Who may push stands where "docker login" and "cosign
// login" write it.
func push(ctx context.Context, folder, registry string) error {
	if registry == "" {
		return errors.New("-registry: say where to, as ghcr.io/linerate-dev")
	}
	text, err := os.ReadFile(filepath.Join(folder, versionFile))
	if err != nil {
		return fmt.Errorf("%w (make it: release build -o %s)", err, folder)
	}
	version := strings.TrimSpace(string(text))
	path, err := layout.FromPath(filepath.Join(folder, imageFolder))
	if err != nil {
		return err
	}
	index, err := path.ImageIndex()
	if err != nil {
		return err
	}
	chart, err := chartArtifact(filepath.Join(folder, chartName(version)))
	if err != nil {
		return err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	pushedImage, err := pushNew(registry+"/linerate:"+version, index,
		func(target name.Tag) error { return remote.WriteIndex(target, index, options...) }, options)
	if err != nil {
		return err
	}
	pushedChart, err := pushNew(registry+"/charts/linerate:"+strings.TrimPrefix(version, "v"), chart,
		func(target name.Tag) error { return remote.Write(target, chart, options...) }, options)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, pushedFile), []byte("image="+pushedImage+"\nchart="+pushedChart+"\n"),
		0o644)
}

// digested is an image, an index or an artifact.
type digested interface{ Digest() (v1.Hash, error) }

// isMissing says that a registry has no such tag. Every other answer leaves it open whether something was
// released under it.
func isMissing(err error) bool {
	answer, ok := errors.AsType[*transport.Error](err)
	return ok && answer.StatusCode == http.StatusNotFound
}

// pushNew pushes what isn't there, and returns it by its digest.
func pushNew(
	destination string, artifact digested, write func(name.Tag) error, options []remote.Option,
) (string, error) {
	tag, err := name.NewTag(destination, name.StrictValidation)
	if err != nil {
		return "", fmt.Errorf("%q: %w", destination, err)
	}
	digest, err := artifact.Digest()
	if err != nil {
		return "", err
	}
	switch descriptor, err := remote.Head(tag, options...); {
	case isMissing(err):
		if err := write(tag); err != nil {
			return "", fmt.Errorf("push %s: %w", destination, err)
		}
	case err != nil:
		return "", fmt.Errorf("ask for %s: %w", destination, err)
	case descriptor.Digest != digest:
		return "", fmt.Errorf("%s is there already, as %s, and this is %s: what was released stays as it is; make another version", destination, descriptor.Digest, digest)
	}
	return tag.Context().Name() + "@" + digest.String(), nil
}
