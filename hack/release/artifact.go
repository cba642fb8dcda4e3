package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// What Helm calls the parts of a chart in a registry.
const (
	helmConfig types.MediaType = "application/vnd.cncf.helm.config.v1+json"
	helmChart  types.MediaType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// artifact is a manifest whose configuration isn't an image's: Helm's is the chart's description.
type artifact struct {
	configuration, manifest []byte
	layer                   v1.Layer
}

func (a *artifact) RawConfigFile() ([]byte, error)    { return a.configuration, nil }
func (a *artifact) RawManifest() ([]byte, error)      { return a.manifest, nil }
func (*artifact) MediaType() (types.MediaType, error) { return types.OCIManifestSchema1, nil }
func (a *artifact) LayerByDigest(h v1.Hash) (partial.CompressedLayer, error) {
	digest, err := a.layer.Digest()
	if err == nil && h != digest {
		err = fmt.Errorf("the only layer is %s, not %s", digest, h)
	}
	return a.layer, err
}

// chartArtifact is a packed chart as Helm expects one in a registry.
func chartArtifact(archive string) (v1.Image, error) {
	data, err := os.ReadFile(archive)
	if err != nil {
		return nil, err
	}
	text, err := fileOf(data, "linerate/Chart.yaml")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	description, err := chartDescription(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", archive, err)
	}
	return helmArtifact(description, static.NewLayer(data, helmChart))
}

func helmArtifact(description []byte, chart v1.Layer) (v1.Image, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(description))
	if err != nil {
		return nil, err
	}
	layer, err := partial.Descriptor(chart)
	if err != nil {
		return nil, err
	}
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1,
		Config: v1.Descriptor{MediaType: helmConfig, Digest: digest, Size: size},
		Layers: []v1.Descriptor{*layer},
	})
	if err != nil {
		return nil, err
	}
	return partial.CompressedToImage(&artifact{description, manifest, chart})
}

// fileOf is a file of a tar.gz.
func fileOf(data []byte, want string) ([]byte, error) {
	compressed, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", want, err)
		}
		if header.Name == want {
			return io.ReadAll(archive)
		}
	}
}
