package compile

import "cmp"

// software is linerate's own engine, in pods of the test's own or on one machine.
type software struct{ inPods }

// check has nothing to refuse: what the schema lets through it can send, in pods too.
func (software) check(*compiler)     {}
func (software) checkPods(*compiler) {}

const (
	softwareMemory      = "512Mi" // unless the spec says otherwise
	leastSoftwareMemory = "128Mi"
)

// resources are the same on devices: the engine reaches them through the kernel. It has CPUs for itself where it is told how many to use.
func (software) resources(c *compiler) (devices, kernel Resources) {
	spec := c.spec.Generator
	memory := c.quantity(memoryPath(), cmp.Or(spec.Memory, softwareMemory), leastSoftwareMemory, "the software engine needs it for its queues")
	r := Resources{Cores: max(int(spec.CoresPerPortPair), 1), Memory: memory}
	if spec.CoresPerPortPair > 0 {
		r.CPUs = c.exclusive(r.Cores)
	}
	return r, r
}
