package compile

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/trex/stream"
)

// stamped says that each frame is to bear its number and when it was sent.
func (c *compiler) stamped() bool { return c.spec.Traffic.Stamps == v1alpha1.StampsEveryFrame }

func stampsPath() *field.Path { return specPath().Child("traffic", "stamps") }

// checkStamps refuses stamps that one machine writes and another reads: their clocks differ.
func (c *compiler) checkStamps() {
	if c.stamped() && PerLink(c.spec) {
		c.refuse(stampsPath(), c.spec.Traffic.Stamps, "with layout PerLink one machine sends a frame and another receives it, and their clocks differ by more than latency: use layout Paired, or leave stamps out")
	}
}

// mostStamped is how many flow ids a generator has, which count what comes back of each stream by itself.
const mostStamped = 1000

// stamp has all frames of a generator's streams bear stamps. Each stream has a flow id of its own, of all that the generator sends: its frames are told apart by it when they come back.
func (c *compiler) stamp(ports []plan.GeneratorPort) {
	id := uint32(0)
	for _, p := range ports {
		for i := range p.Streams {
			s := &p.Streams[i]
			if s.FlowStats.Enabled {
				c.refuse(stampsPath(), c.spec.Traffic.Stamps, fmt.Sprintf("stream %d is counted by a flow id of its own (flow_stats), and a frame has room for one: take flow_stats out of it, or leave stamps out", i+1))
				return
			}
			if slices.ContainsFunc(s.VM.Instructions, func(i stream.Instruction) bool { return i.Type == "trim_pkt_size" }) {
				c.refuse(stampsPath(), c.spec.Traffic.Stamps, fmt.Sprintf("stream %d has frames of varying length (trim_pkt_size), in which a stamp may find no room: send a stream for each length, or leave stamps out", i+1))
				return
			}
			if id++; id > mostStamped {
				c.refuse(stampsPath(), c.spec.Traffic.Stamps, fmt.Sprintf("a generator follows the stamps of %d streams at most: use fewer streams, or leave stamps out", mostStamped))
				return
			}
			s.FlowStats.Enabled, s.FlowStats.RuleType, s.FlowStats.StreamID, s.FlowStats.Stamped = true, "stats", id, true
		}
	}
}
