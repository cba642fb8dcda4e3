package compile

import (
	"cmp"
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Resources are what a generator pod requests.
type Resources struct {
	// Cores is how many threads send and receive per pair of ports.
	Cores int
	// CPUs are the pod's, whole and exclusive: limits are equal to requests. 0: it shares CPUs with others, without a limit.
	CPUs   int64
	Memory resource.Quantity
	// HugepageSize is "1Gi" or "2Mi", and Hugepages how much of them; empty: none.
	HugepageSize string
	Hugepages    resource.Quantity
}

// What TRex has on devices unless the spec says otherwise: what its own guide starts from.
const (
	trexCores        = 4
	trexMemory       = "4Gi"
	softwareMemory   = "512Mi"
	trexHugepageSize = "1Gi"
	trexHugepages    = "4Gi"
)

// The least that an engine starts with, and more than any machine has.
const (
	leastTRexMemory     = "1Gi"
	leastSoftwareMemory = "128Mi"
	leastHugepages      = "1Gi"
	mostMemory          = "16Ti"
)

// resources are what generator pods request on devices, and on kernel interfaces. An engine that is told how many cores to use has them for
// itself; and so has TRex on devices, whose threads never rest.
func (c *compiler) resources() (devices, kernel Resources) {
	spec, trex := c.spec.Generator, c.spec.Generator.Engine == v1alpha1.EngineTRex
	if !c.hasGenerators() {
		return Resources{}, Resources{}
	}
	memory := c.memory(trex)
	kernel = Resources{Cores: max(int(spec.CoresPerPortPair), 1), Memory: memory}
	if trex {
		kernel.Cores = 1 // AF_PACKET gives it one queue
	}
	if spec.CoresPerPortPair > 0 {
		kernel.CPUs = c.exclusive(kernel.Cores)
	}
	if !trex {
		return kernel, kernel
	}
	devices = Resources{Cores: cmp.Or(int(spec.CoresPerPortPair), trexCores), Memory: memory}
	devices.CPUs = c.exclusive(devices.Cores)
	devices.HugepageSize, devices.Hugepages = c.hugepages()
	return devices, kernel
}

// exclusive is how many CPUs a pod has: its cores for each pair of its ports, two more for what isn't traffic, and an even number, so that
// nobody else runs on the other half of one of its physical cores.
func (c *compiler) exclusive(cores int) int64 {
	ports := len(c.spec.Links)
	if c.spec.Generator.Layout == v1alpha1.LayoutPerLink {
		ports = 1
	}
	pairs := (ports + 1) / 2
	return int64(cores*pairs+2+1) / 2 * 2
}

func (c *compiler) memory(trex bool) resource.Quantity {
	path := specPath().Child("generator", "memory")
	if trex {
		return c.quantity(path, cmp.Or(c.spec.Generator.Memory, trexMemory), leastTRexMemory, "TRex doesn't start with less")
	}
	return c.quantity(path, cmp.Or(c.spec.Generator.Memory, softwareMemory), leastSoftwareMemory, "the software engine needs it for its queues")
}

func (c *compiler) hugepages() (size string, total resource.Quantity) {
	spec := c.spec.Generator.Hugepages
	if spec == nil {
		return trexHugepageSize, resource.MustParse(trexHugepages)
	}
	path := specPath().Child("generator", "hugepages", "total")
	before := len(c.errs)
	total = c.quantity(path, spec.Total, leastHugepages, "TRex doesn't start with less")
	page, err := resource.ParseQuantity(string(spec.PageSize))
	if len(c.errs) == before && err == nil && page.Value() > 0 && total.Value()%page.Value() != 0 {
		up := resource.NewQuantity((total.Value()/page.Value()+1)*page.Value(), resource.BinarySI)
		c.refuse(path, spec.Total, fmt.Sprintf("pages of %s can't be divided: ask for a multiple of it, such as %s", spec.PageSize, up))
	}
	return string(spec.PageSize), total
}

// quantity reads an amount of memory between the least and what a machine can have.
func (c *compiler) quantity(path *field.Path, text v1alpha1.Quantity, least, why string) resource.Quantity {
	q, err := resource.ParseQuantity(string(text))
	switch {
	case err != nil:
		c.refuse(path, text, "write an amount of memory with its unit, such as 512Mi or 4Gi")
	case q.Cmp(resource.MustParse(least)) < 0:
		c.refuse(path, text, fmt.Sprintf("%s: set %s or more", why, least))
	case q.Cmp(resource.MustParse(mostMemory)) > 0:
		c.refuse(path, text, fmt.Sprintf("no machine has that much: set %s or less", mostMemory))
	}
	return q
}
