package softgen

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// At most maxFlows flow ids (TRex's pg_id) are counted at once, and at most maxLatencyFlows of them measure latency.
const (
	maxFlows        = 1023
	maxLatencyFlows = 128
)

// flows are the flow ids of all loaded streams.
type flows struct {
	active map[uint32]*flow
	// versions counts how often an id came into use. Counters of different versions can't be compared.
	versions map[uint32]int
}

// flow is a flow id in use. A flow id may be any number, while the data path
// counts under small numbers only. slot is the flow id's number there.
type flow struct {
	slot    uint32
	streams int
	latency bool
	stamped bool                // each frame has a stamp, as a latency flow's always have
	started bool                // a run has sent it since the id came into use
	gauges  map[int]*flowGauges // by port
}

type flowGauges struct{ sent, received gauge }

func newFlows() *flows { return &flows{active: map[uint32]*flow{}, versions: map[uint32]int{}} }

// add adds a stream's flow id.
func (f *flows) add(added stream.Flow) error {
	if !added.Enabled {
		return nil
	}
	latency := added.RuleType == "latency"
	stamped := latency || added.Stamped
	found, ok := f.active[added.StreamID]
	switch {
	case ok && (found.latency != latency || found.stamped != stamped):
		return refused("flow id %d is in use with another rule_type", added.StreamID)
	case ok:
		found.streams++
		return nil
	case len(f.active) >= maxFlows || latency && len(f.ids(true)) >= maxLatencyFlows:
		return refused("Failed allocating statistic counter. Probably all are used for this rule type.")
	}
	f.active[added.StreamID] = &flow{slot: f.free(added.StreamID), streams: 1, latency: latency, stamped: stamped,
		gauges: map[int]*flowGauges{}}
	f.versions[added.StreamID]++
	return nil
}

// free finds a slot. It prefers the id itself, so that captures show it, and else takes the highest free one.
func (f *flows) free(id uint32) uint32 {
	used := map[uint32]bool{}
	for _, active := range f.active {
		used[active.slot] = true
	}
	if id < maxFlows && !used[id] {
		return id
	}
	slot := uint32(maxFlows - 1)
	for used[slot] {
		slot--
	}
	return slot
}

// remove removes a stream's flow id. It reports whether no stream uses the id any more, so that its slot is free.
func (f *flows) remove(removed stream.Flow) (slot uint32, released bool) {
	if !removed.Enabled {
		return 0, false
	}
	found := f.active[removed.StreamID]
	if found.streams--; found.streams > 0 {
		return 0, false
	}
	delete(f.active, removed.StreamID)
	return found.slot, true
}

// start records that the profile's flows have been sent.
func (f *flows) start(p *profile) {
	for _, loaded := range p.streams {
		if flow := loaded.stream.FlowStats; flow.Enabled && loaded.stream.Enabled {
			f.active[flow.StreamID].started = true
		}
	}
}

// ids returns the flow ids that measure latency, or those that don't, in order.
func (f *flows) ids(latency bool) []uint32 {
	ids := []uint32{}
	for id, active := range f.active {
		if active.latency == latency {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (f *flows) anyLatency() bool { return len(f.ids(true)) > 0 }

// checkStamps refuses two streams with stamps of one flow id, whose sequence numbers would be mixed up.
func (f *flows) checkStamps() error {
	for _, active := range f.active {
		if active.stamped && active.streams > 1 {
			return refused("For payload rules: Can't have two streams with same pg_id, or same stream on more " +
				"than one port")
		}
	}
	return nil
}
