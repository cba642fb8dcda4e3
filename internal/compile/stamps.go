package compile

import (
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/stream"
)

// stamps answer which frames carry their number and sending time.
type stamps struct {
	*refusals
	spec   *v1alpha1.LoadTestSpec
	engine engine
	device *device
}

// stamped reports whether each frame is to carry its number and sending time, because the test asks for that, or for
// latency from an engine that times every frame.
func (st *stamps) stamped() bool {
	return st.spec.Traffic.Stamps == v1alpha1.StampsEveryFrame || st.spec.Procedure.Latency != nil && !st.sampled()
}

// sampled says that latency is to be measured by latency streams beside the load, because the engine times no
// other frames.
func (st *stamps) sampled() bool {
	return st.spec.Procedure.Latency != nil && st.spec.Traffic.Stamps != v1alpha1.StampsEveryFrame &&
		st.engine != nil &&
		st.engine.timesSamplesOnly()
}

// refuseStamps refuses stamps, at the field that asks for them.
func (st *stamps) refuseStamps(reason, instead string) {
	if st.spec.Traffic.Stamps == v1alpha1.StampsEveryFrame {
		st.refuse(specPath().Child("traffic", "stamps"), st.spec.Traffic.Stamps, reason+": "+instead+
			", or leave stamps out")
		return
	}
	st.refuse(specPath().Child("procedure", "latency"), noValue, reason+": "+instead+
		", or leave latency out")
}

// check refuses stamps that are written on one machine and read on another, whose clock differs.
func (st *stamps) check() {
	if reason := st.device.hidesMarks(); reason != "" && (st.stamped() || st.sampled()) {
		st.refuseStamps(reason+", so its frames aren't recognized", "leave latency to a test of a device that doesn't")
		return
	}
	if (st.stamped() || st.sampled()) && PerLink(st.spec) {
		instead := "use layout Paired"
		if len(st.spec.Generator.Servers()) > 0 {
			instead = "use servers with a port on each link"
		}
		st.refuseStamps("with a generator on each link one machine sends a frame and another receives it, and nothing "+
			"proves that both have one clock", instead)
	}
}

// mostStamped is how many flow ids a generator has to count each stream's received frames by.
const mostStamped = 1000

// stamp has all frames of a generator's streams carry stamps. Each stream gets a flow id that is unique in the
// generator, by which its received frames are counted.
func (st *stamps) stamp(ports []plan.GeneratorPort) {
	id := uint32(0)
	for _, p := range ports {
		for i := range p.Streams {
			s := &p.Streams[i]
			if s.FlowStats.Enabled {
				st.refuseStamps(fmt.Sprintf("stream %d is counted by a flow id of its own (flow_stats), and a frame "+
					"has room for one", i+1), "take flow_stats out of it")
				return
			}
			if slices.ContainsFunc(s.VM.Instructions,
				func(i stream.Instruction) bool { return i.Type == "trim_pkt_size" }) {
				st.refuseStamps(fmt.Sprintf("stream %d has frames of varying length (trim_pkt_size), in which a "+
					"stamp may find no room", i+1), "send a stream for each length")
				return
			}
			if id++; id > mostStamped {
				st.refuseStamps(fmt.Sprintf("a generator follows the stamps of %d streams at most", mostStamped),
					"use fewer streams")
				return
			}
			s.FlowStats.Enabled, s.FlowStats.RuleType, s.FlowStats.StreamID, s.FlowStats.Stamped = true, "stats", id,
				true
		}
	}
}

// samplePerSecond is how many frames per second each latency stream sends, enough for p99.9 in a trial of 10 s.
const samplePerSecond = 1000

// mostSamples is how many latency streams a TRex has.
const mostSamples = 128

// sample adds to each sending port a latency stream for each frame size, which is one flow at a rate of its own. A
// profile that already has latency streams stays as it is, and these are the sample.
func (st *stamps) sample(ports []plan.GeneratorPort) {
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
				sample, err := profile.LatencyStream(s, id, samplePerSecond)
				if err != nil {
					st.refusef(specPath().Child("procedure", "latency"), noValue,
						"a latency stream ends with a stamp, and %v: use larger frames, or leave latency out", err)
					return
				}
				ports[i].Streams = append(ports[i].Streams, sample)
			}
		}
	}
	if int(id) > mostSamples {
		st.refusef(specPath().Child("procedure", "latency"), noValue,
			"%d frame sizes and directions are as many latency streams, and TRex has %d: use fewer sizes",
			id, mostSamples)
	}
}
