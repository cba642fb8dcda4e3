package main

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

// writeImage writes the image for all architectures as an OCI layout. It has no base: what runs in it is what
// was built from the tree.
func writeImage(folder string, programs programsOf) error {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range architectures {
		config := pack.Project()
		config.Architecture = architecture
		config.Labels = map[string]string{"org.opencontainers.image.source": "https://github.com/linerate-dev/linerate",
			"org.opencontainers.image.licenses": "Apache-2.0"}
		image, err := pack.Image(programs[architecture], config)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}})
	}
	_, err := layout.Write(folder, index)
	return err
}
