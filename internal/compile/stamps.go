package compile

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/stream"
)

// stamped says that each frame is to carry its number and sending time: because the test asks for that, or for latency from an engine that times every frame.
func (c *compiler) stamped() bool {
	return c.spec.Traffic.Stamps == v1alpha1.StampsEveryFrame || c.spec.Procedure.Latency != nil && !c.sampled()
}

// sampled says that latency is to be measured by latency streams beside the load, because the engine times no other frames.
func (c *compiler) sampled() bool {
	return c.spec.Procedure.Latency != nil && c.spec.Traffic.Stamps != v1alpha1.StampsEveryFrame && c.engine != nil && c.engine.timesSamplesOnly()
}

// refuseStamps refuses stamps, at the field that asks for them.
func (c *compiler) refuseStamps(why, instead string) {
	if c.spec.Traffic.Stamps == v1alpha1.StampsEveryFrame {
		c.refuse(specPath().Child("traffic", "stamps"), c.spec.Traffic.Stamps, why+": "+instead+", or leave stamps out")
		return
	}
	c.refuse(specPath().Child("procedure", "latency"), field.OmitValueType{}, why+": "+instead+", or leave latency out")
}

// checkStamps refuses stamps that are written on one machine and read on another, whose clock differs.
func (c *compiler) checkStamps() {
	if (c.stamped() || c.sampled()) && PerLink(c.spec) {
		c.refuseStamps("with layout PerLink one machine sends a frame and another receives it, and their clocks differ by more than latency", "use layout Paired")
	}
}

// mostStamped is how many flow ids a generator has to count each stream's received frames by.
const mostStamped = 1000

// stamp has all frames of a generator's streams carry stamps. Each stream gets a flow id that is unique in the generator, by which its received frames are told apart.
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

// samplePerSecond is how many frames per second each latency stream sends: enough for p99.9 in a trial of 10 s.
const samplePerSecond = 1000

// mostSamples is how many latency streams a TRex has.
const mostSamples = 128

// sample adds to each sending port a latency stream for each frame size: one flow at a rate of its own. A profile that already has latency streams stays as it is, and these are the sample.
func (c *compiler) sample(ports []plan.GeneratorPort) {
	var used []uint32
	for _, p := range ports {
		for _, s := range p.Streams {
			if s.FlowStats.Enabled && s.FlowStats.RuleType == "latency" {
				return
			}
			used = append(used, s.FlowStats.StreamID)
		}
	}
	id := uint32(0)
	for i := range ports {
		var sizes []int
		for _, s := range slices.Clone(ports[i].Streams) {
			if size := len(s.Packet.Binary); s.Enabled && !slices.Contains(sizes, size) {
				sizes = append(sizes, size)
				for id++; slices.Contains(used, id); id++ {
				}
				one, err := profile.LatencyStream(s, id, samplePerSecond)
				if err != nil {
					c.refuse(specPath().Child("procedure", "latency"), field.OmitValueType{}, fmt.Sprintf("a latency stream ends with a stamp, and %v: use larger frames, or leave latency out", err))
					return
				}
				ports[i].Streams = append(ports[i].Streams, one)
			}
		}
	}
	if int(id) > mostSamples {
		c.refuse(specPath().Child("procedure", "latency"), field.OmitValueType{}, fmt.Sprintf("%d frame sizes and directions are as many latency streams, and TRex has %d: use fewer sizes", id, mostSamples))
	}
}
