package profile

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/trex/stream"
)

// TRex's limits.
const (
	maxStreams       = 20_000
	minPacketBytes   = 14   // of a template
	maxPacketBytes   = 9238 // of a template
	minWireBytes     = 60   // without FCS; a shorter template is padded with zeros
	maxLatencyIDs    = 128
	maxStatsIDs      = 1023 // most that a port has; many have 127
	latencyPayload   = 16   // bytes at the frame's end that a latency stream overwrites
	maxCache         = 10_000
	ruleStats        = "stats"
	ruleLatency      = "latency"
	modeContinuous   = "continuous"
	modeSingleBurst  = "single_burst"
	modeMultiBurst   = "multi_burst"
	flagSourceMAC    = 1
	flagDestMAC      = 2
	unlinkedStreamID = -1
)

// OwnMACs says which of a stream's MAC addresses are the template's, and not the port's.
func OwnMACs(s stream.Stream) (source, destination bool) {
	return s.Flags&flagSourceMAC != 0, s.Flags&flagDestMAC != 0
}

func rateTypes() []string { return []string{"pps", "bps_L1", "bps_L2", "percentage"} }

// CheckStreams refuses streams that a TRex server would refuse when they are added or started, or that would stop it. The error, Faults, names
// each stream's position in the list, from 0, and the member.
func CheckStreams(streams []stream.Stream) error {
	var found Faults
	for i, s := range streams {
		for _, check := range []func(stream.Stream) error{checkPlace, checkMode, checkFlowStats, checkProgram} {
			if err := check(s); err != nil {
				found = append(found, fmt.Errorf("streams[%d].%w", i, err))
			}
		}
	}
	for _, check := range []func([]stream.Stream) error{checkChains, checkFlowIDs} {
		if err := check(streams); err != nil && len(found) == 0 {
			return err
		}
	}
	return found.orNil()
}

// checkPlace checks what a stream says of itself but for when and what it sends. Its errors, like all of a stream's, begin with the member.
func checkPlace(s stream.Stream) error {
	n := len(s.Packet.Binary)
	switch {
	case n < minPacketBytes || n > maxPacketBytes:
		return fmt.Errorf("packet.binary: a frame of %d bytes (without FCS) is outside %d to %d", n, minPacketBytes, maxPacketBytes)
	case s.CoreID != -1:
		return fmt.Errorf("core_id: %d: a core that the port pair doesn't have stops the server: use -1 (any)", s.CoreID)
	case s.Flags&^(flagSourceMAC|flagDestMAC) != 0:
		return fmt.Errorf("flags: %d: use 0 (the port's MAC addresses), 1 (source from the packet), 2 (destination from the packet) or 3 (both)", s.Flags)
	case !(s.ISG >= 0) || math.IsInf(s.ISG, 0):
		return fmt.Errorf("isg: %v: a gap is 0 or more microseconds", s.ISG)
	}
	return nil
}

func checkMode(s stream.Stream) error {
	m := s.Mode
	if err := checkRate(m.Rate); err != nil {
		return err
	}
	burst := m.PacketsPerBurst != 0 || m.InterBurstGap != 0 || m.Count != 0
	switch m.Type {
	case modeContinuous:
		if burst || m.TotalPackets != 0 {
			return fmt.Errorf("mode: a %s stream has type and rate only", m.Type)
		}
	case modeSingleBurst:
		if burst || m.TotalPackets == 0 {
			return fmt.Errorf("mode: a %s stream has type, rate and total_pkts, at least 1, only", m.Type)
		}
	case modeMultiBurst:
		if m.TotalPackets != 0 || m.PacketsPerBurst == 0 || m.Count == 0 || !(m.InterBurstGap >= 0) {
			return fmt.Errorf("mode: a %s stream has type, rate, pkts_per_burst and count, both at least 1, and ibg, 0 or more microseconds", m.Type)
		}
	default:
		return fmt.Errorf("mode.type: %q is not known: use %s, %s or %s", m.Type, modeContinuous, modeSingleBurst, modeMultiBurst)
	}
	return nil
}

func checkRate(r stream.Rate) error {
	switch {
	case !slices.Contains(rateTypes(), r.Type):
		return fmt.Errorf("mode.rate.type: %q is not known: use %s", r.Type, quoted(rateTypes()))
	case !(r.Value > 0) || math.IsInf(r.Value, 0):
		return fmt.Errorf("mode.rate.value: %v: a rate must be above zero", r.Value)
	}
	return nil
}

func checkFlowStats(s stream.Stream) error {
	f := s.FlowStats
	switch {
	case !f.Enabled:
	case f.RuleType != ruleStats && f.RuleType != ruleLatency:
		return fmt.Errorf("flow_stats.rule_type: %q is not known: use %s or %s", f.RuleType, ruleStats, ruleLatency)
	case f.RuleType == ruleLatency && payloadOf(s.Packet.Binary) < latencyPayload:
		return fmt.Errorf("packet.binary: a latency stream overwrites the last %d bytes of the payload, and there are only %d: use a longer frame",
			latencyPayload, payloadOf(s.Packet.Binary))
	}
	return nil
}

// checkChains checks that every chain leads somewhere, and that every stream is reached.
func checkChains(streams []stream.Stream) error {
	reached := make([]bool, len(streams))
	for i, s := range streams {
		if s.Enabled && s.SelfStart {
			reached[i] = true
		}
		if s.NextStreamID == unlinkedStreamID {
			continue
		}
		next := s.NextStreamID - 1
		switch {
		case next < 0 || next >= len(streams):
			return fmt.Errorf("streams[%d].next_stream_id: %d leads nowhere: use 1 to %d (the position in the list), or -1 (none)", i, s.NextStreamID, len(streams))
		case s.Mode.Type == modeContinuous:
			return fmt.Errorf("streams[%d].next_stream_id: %d: a continuous stream never ends, so nothing can follow it: use -1", i, s.NextStreamID)
		case !streams[next].Enabled:
			return fmt.Errorf("streams[%d].next_stream_id: stream %d is not enabled", i, s.NextStreamID)
		case isLatency(s) != isLatency(streams[next]):
			return fmt.Errorf("streams[%d].next_stream_id: %d: a chain can't mix latency streams with others", i, s.NextStreamID)
		}
	}
	follow(streams, reached)
	for i, s := range streams {
		if s.Enabled && !reached[i] {
			return fmt.Errorf("streams[%d].self_start: false, and no chain from a stream that starts leads here: it would never be sent", i)
		}
	}
	return nil
}

// follow marks what the chains of reached streams lead to. Each chain is walked until it meets what is marked already.
func follow(streams []stream.Stream, reached []bool) {
	starts := slices.Clone(reached)
	for i, start := range starts {
		for at := streams[i].NextStreamID - 1; start && at >= 0 && !reached[at]; at = streams[at].NextStreamID - 1 {
			reached[at] = true
		}
	}
}

// checkFlowIDs checks that counters exist and can be told apart.
func checkFlowIDs(streams []stream.Stream) error {
	rules := map[uint32]string{}
	count := map[string]int{}
	for i, s := range streams {
		f := s.FlowStats
		if !f.Enabled {
			continue
		}
		before, seen := rules[f.StreamID]
		if seen && (before == ruleLatency || f.RuleType == ruleLatency) {
			return fmt.Errorf("streams[%d].flow_stats.stream_id: %d is another stream's too, and a latency stream's must be its own", i, f.StreamID)
		}
		rules[f.StreamID] = f.RuleType
		if !seen {
			count[f.RuleType]++
		}
	}
	if count[ruleLatency] > maxLatencyIDs || count[ruleStats] > maxStatsIDs {
		return fmt.Errorf("streams: %d latency and %d stats flow ids, where a server has room for %d and %d", count[ruleLatency], count[ruleStats], maxLatencyIDs, maxStatsIDs)
	}
	return nil
}
