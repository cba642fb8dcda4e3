package softgen

import (
	"maps"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// How many flow ids (TRex's pg_id) can be counted at once, and how many of them may measure latency.
const (
	maxFlows        = 1023
	maxLatencyFlows = 128
)

// flows are the flow ids of all loaded streams.
type flows struct {
	active map[uint32]*flow
	// versions says how often an id has been used anew: counters of different versions can't be compared.
	versions map[uint32]int
}

// flow is a flow id in use: by how many streams, and whether it measures latency. A flow id may be any number, while the data path
// counts under small ones only; slot is the one that stands for it there.
type flow struct {
	slot    uint32
	streams int
	latency bool
	stamped bool                // each frame has a stamp; a latency flow's always has
	started bool                // a run has sent it since the id is in use
	gauges  map[int]*flowGauges // by port
}

type flowGauges struct{ sent, received gauge }

func newFlows() *flows { return &flows{active: map[uint32]*flow{}, versions: map[uint32]int{}} }

// add adds a stream's flow id.
func (f *flows) add(of stream.Flow) error {
	if !of.Enabled {
		return nil
	}
	latency := of.RuleType == "latency"
	stamped := latency || of.Stamped
	known, ok := f.active[of.StreamID]
	switch {
	case ok && (known.latency != latency || known.stamped != stamped):
		return refused("flow id %d is in use with another rule_type", of.StreamID)
	case ok:
		known.streams++
		return nil
	case len(f.active) >= maxFlows || latency && len(f.ids(true)) >= maxLatencyFlows:
		return refused("Failed allocating statistic counter. Probably all are used for this rule type.")
	}
	f.active[of.StreamID] = &flow{slot: f.free(of.StreamID), streams: 1, latency: latency, stamped: stamped, gauges: map[int]*flowGauges{}}
	f.versions[of.StreamID]++
	return nil
}

// free finds a slot: the id itself if possible, so that captures show it, else the highest free one.
func (f *flows) free(id uint32) uint32 {
	taken := map[uint32]bool{}
	for _, one := range f.active {
		taken[one.slot] = true
	}
	if id < maxFlows && !taken[id] {
		return id
	}
	slot := uint32(maxFlows - 1)
	for taken[slot] {
		slot--
	}
	return slot
}

// remove removes a stream's flow id; last says whether it was the last stream with that id, so that its slot is free.
func (f *flows) remove(of stream.Flow) (slot uint32, last bool) {
	if !of.Enabled {
		return 0, false
	}
	known := f.active[of.StreamID]
	if known.streams--; known.streams > 0 {
		return 0, false
	}
	delete(f.active, of.StreamID)
	return known.slot, true
}

// start records that the profile's flows have been sent.
func (f *flows) start(p *profile) {
	for _, one := range p.streams {
		if flow := one.stream.FlowStats; flow.Enabled && one.stream.Enabled {
			f.active[flow.StreamID].started = true
		}
	}
}

// ids are the flow ids that measure latency, or those that don't, in order.
func (f *flows) ids(latency bool) []uint32 {
	ids := []uint32{}
	for id, one := range f.active {
		if one.latency == latency {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (f *flows) anyLatency() bool { return len(f.ids(true)) > 0 }

// checkStampedIDs refuses two streams with stamps of one flow id: their sequence numbers would be mixed up.
func (s *Server) checkStampedIDs() error {
	for _, known := range s.flows.active {
		if known.stamped && known.streams > 1 {
			return refused("For payload rules: Can't have two streams with same pg_id, or same stream on more than one port")
		}
	}
	return nil
}

// removeReceiveFilters is remove_rx_filters: there are none to remove, but clients must ask at the right moment.
func (s *Server) removeReceiveFilters(p *params) (any, error) {
	_, f, err := s.ownedProfile(p)
	if err != nil {
		return nil, err
	}
	return object{}, f.must("remove_rx_filters", loaded)
}

// getActiveFlows is get_active_pgids.
func (s *Server) getActiveFlows(*params) (any, error) {
	return object{"ids": object{"flow_stats": s.flows.ids(false), "latency": s.flows.ids(true)}}, nil
}

// wantedFlows reads "pgids"; an empty list wants all. Ids that no stream has are left out.
func (s *Server) wantedFlows(p *params) ([]uint32, error) {
	wanted := map[uint32]bool{}
	for _, text := range p.list("pgids") {
		id, negative, whole := wholeNumber(text)
		if !whole || negative || id > 1<<32-1 {
			p.fail("'pgids' must hold flow ids, not %s", text)
		}
		wanted[uint32(id)] = true
	}
	known := slices.Sorted(maps.Keys(s.flows.active))
	if len(wanted) > 0 {
		known = slices.DeleteFunc(known, func(id uint32) bool { return !wanted[id] })
	}
	return known, p.failed()
}
