package compile

import (
	"cmp"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// software is linerate's own engine, in pods of the test's own or on one machine.
type software struct{ inPods }

// check has nothing to refuse. The engine can send what the schema lets through, in pods too.
func (software) check(*engineSpec)     {}
func (software) checkPods(*engineSpec) {}

const (
	softwareMemory      = "512Mi" // unless the spec says otherwise
	leastSoftwareMemory = "128Mi"
)

// resources are the same on devices, which the engine reaches through the kernel. It has CPUs for itself where the spec
// says how many to use.
func (software) resources(es *engineSpec) (devices, kernel Resources) {
	spec := es.spec.Generator
	memory := es.quantity(memoryPath(), cmp.Or(spec.Memory, softwareMemory), leastSoftwareMemory,
		"the software engine needs it for its queues")
	r := Resources{Cores: max(int(spec.CoresPerPortPair), 1), Memory: memory}
	if spec.CoresPerPortPair > 0 {
		r.CPUs = es.exclusive(r.Cores)
	}
	return r, r
}

// paths are what linerate generator --path calls the ways to send.
var paths = map[v1alpha1.SendingPath]string{v1alpha1.PathLive: plan.PathLive, v1alpha1.PathAFXDP: plan.PathAFXDP,
	v1alpha1.PathAFPacket: plan.PathAFPacket}

// sending is what a test says of threads and path.
func (software) sending(spec *v1alpha1.GeneratorSpec) *plan.Sending {
	s := plan.Sending{Cores: int(spec.CoresPerPortPair)}
	if spec.Software != nil {
		s.Path = paths[spec.Software.Path]
	}
	if s == (plan.Sending{}) {
		return nil
	}
	return &s
}

func (software) whyNoInterfaceCounters() string { return "" }
