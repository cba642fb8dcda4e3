package observe

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
)

// interfaces are the counters of the interfaces on links by the kernels of the generators' machines. Generators
// send them with their own counters, so both are of the same moment, and cost nobody anything. A reader who doubts
// a generator's counters has the kernel's beside them.
type interfaces struct{}

func (interfaces) read(s Setup, _ string, m Moment) (values []value, missing string) {
	var lacking []string
	counted := false
	for g, r := range m.Readings {
		name := ""
		if len(m.Readings) > 1 {
			name = s.generator(g) + " "
		}
		for _, port := range slices.Sorted(maps.Keys(r.Ports)) {
			link, used := s.linkOf(g, port)
			if !used {
				continue
			}
			part, counters := name+link, r.Ports[port]
			reason := ""
			if !counters.HasKernel {
				reason = fmt.Sprintf("generator %s doesn't tell what its kernel counts: the software engine does",
					s.generator(g))
				if !slices.Contains(lacking, reason) {
					lacking = append(lacking, reason)
				}
			}
			counted = counted || counters.HasKernel
			for _, v := range ofInterface(part, m, g, r, counters.Kernel) {
				v.source, v.missing = part, reason
				values = append(values, v)
			}
		}
	}
	if !counted {
		return nil, strings.Join(lacking, "; ")
	}
	return values, ""
}

func ofInterface(part string, m Moment, g int, r engine.Reading, k engine.KernelCounters) []value {
	behind := m.behind[g]
	return []value{
		packets("received", part, r.Instant, behind, k.Received),
		packets("sent", part, r.Instant, behind, k.Sent),
		packets("dropped", part, r.Instant, behind, k.Dropped),
	}
}

// linkOf is the link that a generator's port is on. used says that it is on one.
func (s Setup) linkOf(g, port int) (link string, used bool) {
	if g >= len(s.Links) {
		return "", false
	}
	link, used = s.Links[g][port]
	return link, used
}

// ofTraffic says that nothing but traffic moves a series. Where the counters of a trial stand still at both of its
// edges, all that came between is the trial's.
func (b *book) ofTraffic(s *series) bool {
	return s.Kind == report.Counter && b.plan.Type == plan.ObserveInterfaces
}
