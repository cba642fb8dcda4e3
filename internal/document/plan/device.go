package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Device is the device under test as it ran in a pod, which is evidence of what was measured, even if its image's
// tag is moved later.
type Device struct {
	Pod  string `json:"pod"`
	Node string `json:"node,omitempty"`
	// Machine describes that node, as an init container of ours saw it. It is nil where the pod has no such
	// container.
	Machine *Machine `json:"machine,omitempty"`
	// Containers are the pod's containers, of which the first forwards, and then its init containers, which may
	// install what is measured.
	Containers []Container `json:"containers"`
}

// Machine describes a node, as far as figures depend on it. What its kernel doesn't report is empty.
type Machine struct {
	CPUModel   string `json:"cpuModel,omitempty"`
	Processors int    `json:"processors,omitempty"`
	Kernel     string `json:"kernel,omitempty"`     // its release
	Hypervisor string `json:"hypervisor,omitempty"` // "none" on bare metal
	// how it is set up, with frequency governor, isolated processors, NUMA nodes, and the kernel's command line
	Tuning  string `json:"tuning,omitempty"`
	Allowed string `json:"allowed,omitempty"` // the processors that the pod may run on
}

// Container is a container of a pod, and what runs in it.
type Container struct {
	Name string `json:"name"`
	// Image is what the pod asked for, such as "lab/vpp:25.10".
	Image string `json:"image"`
	// ImageID is the image that ran, by the container runtime, such as "docker.io/lab/vpp@sha256:…". It is empty
	// where the runtime didn't say.
	ImageID string `json:"imageID,omitempty"`
}

// String is the image that was asked for and the one that ran.
func (c Container) String() string {
	return fmt.Sprintf("%s ran %s, %s", c.Name, c.Image,
		cmp.Or(c.ImageID, "whose digest the container runtime didn't report"))
}

// ImageDifferences says where two devices ran different images, at most so many differences, and none where either
// device is unknown. If both digests are known, they decide, because a tag may have been moved, and the same image
// may have come from a mirror.
func ImageDifferences(a, b *Device, limit int) []string {
	if a == nil || b == nil {
		return nil
	}
	d := differ{limit: limit}
	for _, first := range a.Containers {
		second := b.container(first.Name)
		switch {
		case second == nil:
			d.add(fmt.Sprintf("container %s is only in the one", first.Name))
		case !sameImage(first, *second):
			d.add(fmt.Sprintf("container %s ran %s in the one and %s in the other", first.Name, first.Short(),
				second.Short()))
		}
	}
	for _, second := range b.Containers {
		if a.container(second.Name) == nil {
			d.add(fmt.Sprintf("container %s is only in the other", second.Name))
		}
	}
	return d.lines()
}

func (d *Device) container(name string) *Container {
	i := slices.IndexFunc(d.Containers, func(c Container) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Containers[i]
}

func sameImage(a, b Container) bool {
	digestA, digestB := a.repositoryDigest(), b.repositoryDigest()
	if digestA != "" && digestB != "" {
		return digestA == digestB
	}
	if a.ImageID != "" && digestA == "" && b.ImageID != "" && digestB == "" {
		return a.ImageID == b.ImageID
	}
	// one digest is a registry's, the other that of an image that the node had loaded, and the two can't be
	// compared
	return a.Image == b.Image
}

// repositoryDigest is the image's digest in its registry, or empty where it isn't known.
func (c Container) repositoryDigest() string {
	_, digest, _ := strings.Cut(c.ImageID, "@")
	return digest
}

// Build identifies the image by its digest where that is known, else by the name that was asked for.
func (c Container) Build() string {
	return cmp.Or(c.ImageID[strings.LastIndex(c.ImageID, "@")+1:], c.Image)
}

// shownDigest is how many characters of a digest a sentence shows.
const shownDigest = len("sha256:") + 12

// Short is the image for a sentence, with the beginning of its digest, such as "lab/vpp:25.10
// (sha256:0123456789ab…)".
func (c Container) Short() string {
	digest := c.ImageID[strings.LastIndex(c.ImageID, "@")+1:]
	switch {
	case digest == "":
		return c.Image
	case len(digest) > shownDigest:
		digest = digest[:shownDigest] + "…"
	}
	return c.Image + " (" + digest + ")"
}
