package compile

import (
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Resources are what a generator pod requests.
type Resources struct {
	// Cores is how many threads send and receive per pair of ports.
	Cores int
	// CPUs is how many whole, exclusive CPUs the pod has, as requests and as limits. 0 means that it shares CPUs with
	// other pods, without a limit.
	CPUs   int64
	Memory resource.Quantity
	// HugepageSize is "1Gi" or "2Mi", and Hugepages how much of them. Empty means none.
	HugepageSize string
	Hugepages    resource.Quantity
}

// mostMemory is more than any machine has.
const mostMemory = "16Ti"

// exclusive is how many CPUs a pod has. It has its cores for each pair of its ports, and two more for everything but
// traffic, rounded up to an even number, so that no other pod runs on the second thread of one of its physical cores.
func (es *engineSpec) exclusive(cores int) int64 {
	ports := len(es.spec.Links)
	if PerLink(es.spec) {
		ports = 1
	}
	pairs := (ports + 1) / 2
	return int64(cores*pairs+2+1) / 2 * 2
}

func memoryPath() *field.Path { return specPath().Child("generator", "memory") }

// quantity reads an amount of memory between the least and what a machine can have.
func (r *refusals) quantity(path *field.Path, text v1alpha1.Quantity, minimum, reason string) resource.Quantity {
	q, err := resource.ParseQuantity(string(text))
	switch {
	case err != nil:
		r.refuse(path, text, "write an amount of memory with its unit, such as 512Mi or 4Gi")
	case q.Cmp(resource.MustParse(minimum)) < 0:
		r.refusef(path, text, "%s: set %s or more", reason, minimum)
	case q.Cmp(resource.MustParse(mostMemory)) > 0:
		r.refusef(path, text, "no machine has that much: set %s or less", mostMemory)
	}
	return q
}
