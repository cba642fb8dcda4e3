package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Device is the device under test as it runs in a pod: the evidence of what was measured, whatever its image's tag means by then.
type Device struct {
	Pod  string `json:"pod"`
	Node string `json:"node,omitempty"`
	// Machine is what that node is, as an init container of ours saw it; nil: the pod has none, or an older linerate's.
	Machine *Machine `json:"machine,omitempty"`
	// Containers are the pod's, the first of which forwards, and then its init containers: they may bring what is measured.
	Containers []Container `json:"containers"`
}

// Machine is what a node is, as far as figures depend on it. What its kernel doesn't tell is empty.
type Machine struct {
	CPUModel   string `json:"cpuModel,omitempty"`
	Processors int    `json:"processors,omitempty"`
	Kernel     string `json:"kernel,omitempty"`     // its release
	Hypervisor string `json:"hypervisor,omitempty"` // "none" on bare metal
	Tuning     string `json:"tuning,omitempty"`     // how it is set up: frequency governor, isolated processors, NUMA nodes, the kernel's command line
	Allowed    string `json:"allowed,omitempty"`    // the processors that the pod may run on
}

// Container is a container of a pod, and what runs in it.
type Container struct {
	Name string `json:"name"`
	// Image is what the pod asked for: "lab/vpp:25.10".
	Image string `json:"image"`
	// ImageID is what it was given, as the container runtime says: "docker.io/lab/vpp@sha256:…". Empty: it said nothing.
	ImageID string `json:"imageID,omitempty"`
}

// String is the image that was asked for and the one that ran.
func (c Container) String() string {
	return fmt.Sprintf("%s ran %s, %s", c.Name, c.Image, cmp.Or(c.ImageID, "whose digest the container runtime didn't tell"))
}

// ImageDifferences says where two devices ran other images, at most so many of them; of a device that isn't known it says nothing. Where both digests
// are known they decide: a tag may have been moved, and the same image may have come from a mirror.
func ImageDifferences(a, b *Device, most int) []string {
	if a == nil || b == nil {
		return nil
	}
	d := differ{most: most}
	for _, was := range a.Containers {
		is := b.container(was.Name)
		switch {
		case is == nil:
			d.tell(fmt.Sprintf("container %s is only in the one", was.Name))
		case !sameImage(was, *is):
			d.tell(fmt.Sprintf("container %s ran %s in the one and %s in the other", was.Name, was.Short(), is.Short()))
		}
	}
	for _, is := range b.Containers {
		if a.container(is.Name) == nil {
			d.tell(fmt.Sprintf("container %s is only in the other", is.Name))
		}
	}
	return d.all()
}

func (d *Device) container(name string) *Container {
	i := slices.IndexFunc(d.Containers, func(c Container) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &d.Containers[i]
}

func sameImage(a, b Container) bool {
	was, is := a.repositoryDigest(), b.repositoryDigest()
	if was != "" && is != "" {
		return was == is
	}
	if a.ImageID != "" && was == "" && b.ImageID != "" && is == "" {
		return a.ImageID == b.ImageID
	}
	return a.Image == b.Image // one digest is a registry's, the other that of what a node had loaded: they can't be held against each other
}

// repositoryDigest is the digest under which a registry has the image; empty: it isn't known.
func (c Container) repositoryDigest() string {
	_, digest, _ := strings.Cut(c.ImageID, "@")
	return digest
}

// Build is what tells the image from others: its digest where it is known, else what was asked for.
func (c Container) Build() string {
	return cmp.Or(c.ImageID[strings.LastIndex(c.ImageID, "@")+1:], c.Image)
}

// shownDigest is how much of a digest is told in a sentence.
const shownDigest = len("sha256:") + 12

// Short is the image in a sentence, with what of its digest tells it from others: "lab/vpp:25.10 (sha256:0123456789ab…)".
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
