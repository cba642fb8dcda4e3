package compile

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/trex/stream"
)

// stamped says that each frame is to bear its number and when it was sent: where the test says so, and where it wants latency.
func (c *compiler) stamped() bool {
	return c.spec.Traffic.Stamps == v1alpha1.StampsEveryFrame || c.spec.Procedure.Latency != nil
}

// refuseStamps refuses stamps in the field that asks for them.
func (c *compiler) refuseStamps(why, instead string) {
	if c.spec.Traffic.Stamps == v1alpha1.StampsEveryFrame {
		c.refuse(specPath().Child("traffic", "stamps"), c.spec.Traffic.Stamps, why+": "+instead+", or leave stamps out")
		return
	}
	c.refuse(specPath().Child("procedure", "latency"), field.OmitValueType{}, why+": "+instead+", or leave latency out")
}

// checkStamps refuses stamps that one machine writes and another reads: their clocks differ.
func (c *compiler) checkStamps() {
	if c.stamped() && PerLink(c.spec) {
		c.refuseStamps("with layout PerLink one machine sends a frame and another receives it, and their clocks differ by more than latency", "use layout Paired")
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
				c.refuseStamps(fmt.Sprintf("stream %d is counted by a flow id of its own (flow_stats), and a frame has room for one", i+1), "take flow_stats out of it")
				return
			}
			if slices.ContainsFunc(s.VM.Instructions, func(i stream.Instruction) bool { return i.Type == "trim_pkt_size" }) {
				c.refuseStamps(fmt.Sprintf("stream %d has frames of varying length (trim_pkt_size), in which a stamp may find no room", i+1), "send a stream for each length")
				return
			}
			if id++; id > mostStamped {
				c.refuseStamps(fmt.Sprintf("a generator follows the stamps of %d streams at most", mostStamped), "use fewer streams")
				return
			}
			s.FlowStats.Enabled, s.FlowStats.RuleType, s.FlowStats.StreamID, s.FlowStats.Stamped = true, "stats", id, true
		}
	}
}
