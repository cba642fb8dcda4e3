package profile

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// TRex's limits.
const (
	maxStreams       = 20_000
	minPacketBytes   = 14   // of a template
	maxPacketBytes   = 9238 // of a template
	minWireBytes     = 60   // without FCS, where a shorter template is padded with zeros
	maxLatencyIDs    = 128
	maxStatsIDs      = 1023 // most that a port has, as many have 127
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

// CheckStreams refuses streams that a TRex server would refuse when they are added or started, or that would stop
// it. The error, Faults, names each stream's position in the list, from 0, and the member.
func CheckStreams(streams []stream.Stream) error {
	var found Faults
	for i, s := range streams {
		found = append(found, checkStream(placeOf(i), s, nil)...)
	}
	if len(found) > 0 {
		return found
	}
	return checkTogether(streams).orNil()
}

// checkStream are the faults of a stream's values, but for members that are known to be wrong, whose meaning isn't
// known.
func checkStream(path string, s stream.Stream, listed Faults) (found Faults) {
	if !listed.touch(path, "packet") {
		found = checkTemplate(path, s)
	}
	listed = slices.Concat(listed, found)
	for _, c := range []struct {
		check func(stream.Stream) Faults
		reads []string
	}{
		{checkCore, []string{"core_id"}},
		{checkFlags, []string{"flags"}},
		{checkGap, []string{"isg"}},
		{checkRate, []string{"mode"}},
		{checkMode, []string{"mode"}},
		{checkFlowStats, []string{"packet", "flow_stats"}},
		{checkProgram, []string{"packet", "vm"}},
	} {
		if slices.ContainsFunc(c.reads, func(member string) bool { return listed.touch(path, member) }) {
			continue
		}
		for _, err := range c.check(s) {
			found = append(found, fmt.Errorf("%s.%w", path, err))
		}
	}
	return found
}

// touch says that a fault is known of a stream's member, of what is in it, or of the stream as a whole.
func (f Faults) touch(stream, member string) bool {
	return slices.ContainsFunc(f, func(err error) bool {
		rest, inMember := strings.CutPrefix(err.Error(), stream+"."+member)
		return strings.HasPrefix(err.Error(), stream+": ") || inMember && strings.ContainsAny(rest[:1], ".[:")
	})
}

// checkTogether are the faults of what streams are to each other.
func checkTogether(streams []stream.Stream) Faults {
	return append(checkChains(streams), checkFlowIDs(streams)...)
}

// checkTemplate checks the frame's length, on which other checks rely.
func checkTemplate(path string, s stream.Stream) Faults {
	if n := len(s.Packet.Binary); n < minPacketBytes || n > maxPacketBytes {
		return Faults{fmt.Errorf("%s.packet.binary: a frame of %d bytes (without FCS) is outside %d to %d", path, n,
			minPacketBytes, maxPacketBytes)}
	}
	return nil
}

// checkCore refuses a core of its own. Its faults, and those of the checks below, begin with the member.
func checkCore(s stream.Stream) Faults {
	if s.CoreID == -1 {
		return nil
	}
	return Faults{fmt.Errorf("core_id: %d: a core that the port pair doesn't have stops the server: use -1 (any)",
		s.CoreID)}
}

func checkFlags(s stream.Stream) Faults {
	if s.Flags&^(flagSourceMAC|flagDestMAC) == 0 {
		return nil
	}
	return Faults{fmt.Errorf("flags: %d: use 0 (the port's MAC addresses), 1 (source from the packet), 2 (destination from the packet) or 3 (both)", s.Flags)}
}

func checkGap(s stream.Stream) Faults {
	if s.ISG >= 0 && !math.IsInf(s.ISG, 0) {
		return nil
	}
	return Faults{fmt.Errorf("isg: %v: a gap is 0 or more microseconds", s.ISG)}
}

func checkMode(s stream.Stream) Faults {
	m := s.Mode
	burst := m.PacketsPerBurst != 0 || m.InterBurstGap != 0 || m.Count != 0
	switch m.Type {
	case modeContinuous:
		if burst || m.TotalPackets != 0 {
			return Faults{fmt.Errorf("mode: a %s stream has type and rate only", m.Type)}
		}
	case modeSingleBurst:
		if burst || m.TotalPackets == 0 {
			return Faults{fmt.Errorf("mode: a %s stream has type, rate and total_pkts, at least 1, only", m.Type)}
		}
	case modeMultiBurst:
		if m.TotalPackets != 0 || m.PacketsPerBurst == 0 || m.Count == 0 || !(m.InterBurstGap >= 0) {
			return Faults{fmt.Errorf("mode: a %s stream has type, rate, pkts_per_burst and count, both at least 1, and ibg, 0 or more microseconds", m.Type)}
		}
	default:
		return Faults{fmt.Errorf("mode.type: %q is not known: use %s, %s or %s", m.Type, modeContinuous,
			modeSingleBurst, modeMultiBurst)}
	}
	return nil
}

func checkRate(s stream.Stream) (found Faults) {
	r := s.Mode.Rate
	if !slices.Contains(rateTypes(), r.Type) {
		found = append(found, fmt.Errorf("mode.rate.type: %q is not known: use %s", r.Type, quoted(rateTypes())))
	}
	if !(r.Value > 0) || math.IsInf(r.Value, 0) {
		found = append(found, fmt.Errorf("mode.rate.value: %v: a rate must be above zero", r.Value))
	}
	return found
}

func checkFlowStats(s stream.Stream) Faults {
	f := s.FlowStats
	switch {
	case !f.Enabled:
	case f.RuleType != ruleStats && f.RuleType != ruleLatency:
		return Faults{fmt.Errorf("flow_stats.rule_type: %q is not known: use %s or %s", f.RuleType, ruleStats,
			ruleLatency)}
	case f.RuleType == ruleLatency && payloadOf(s.Packet.Binary) < latencyPayload:
		return Faults{fmt.Errorf("packet.binary: a latency stream overwrites the last %d bytes of the payload, and there are only %d: use a longer frame",
			latencyPayload, payloadOf(s.Packet.Binary))}
	}
	return nil
}

// checkChains checks that every chain leads somewhere, and that every stream is reached.
func checkChains(streams []stream.Stream) (found Faults) {
	reached := make([]bool, len(streams))
	for i, s := range streams {
		if s.Enabled && s.SelfStart {
			reached[i] = true
		}
		if s.NextStreamID == unlinkedStreamID {
			continue
		}
		place := placeOf(i)
		next := s.NextStreamID - 1
		switch {
		case next < 0 || next >= len(streams):
			found = append(found, fmt.Errorf("%s.next_stream_id: %d leads nowhere: use 1 to %d (the position in the list), or -1 (none)", place, s.NextStreamID, len(streams)))
		case s.Mode.Type == modeContinuous:
			found = append(found, fmt.Errorf("%s.next_stream_id: %d: a continuous stream never ends, so nothing can follow it: use -1", place, s.NextStreamID))
		case !streams[next].Enabled:
			found = append(found, fmt.Errorf("%s.next_stream_id: stream %d is not enabled", place, s.NextStreamID))
		case isLatency(s) != isLatency(streams[next]):
			found = append(found, fmt.Errorf("%s.next_stream_id: %d: a chain can't mix latency streams with others",
				place, s.NextStreamID))
		}
	}
	if len(found) > 0 {
		return found
	}
	follow(streams, reached)
	for i, s := range streams {
		if s.Enabled && !reached[i] {
			found = append(found, fmt.Errorf("%s.self_start: false, and no chain from a stream that starts leads here: it would never be sent", placeOf(i)))
		}
	}
	return found
}

// follow marks what the chains of reached streams lead to. Each chain is walked until it meets what is marked already.
func follow(streams []stream.Stream, reached []bool) {
	starts := slices.Clone(reached)
	for i, start := range starts {
		for next := streams[i].NextStreamID - 1; start && next >= 0 &&
			!reached[next]; next = streams[next].NextStreamID - 1 {
			reached[next] = true
		}
	}
}

// checkFlowIDs checks that counters exist and can be told apart.
func checkFlowIDs(streams []stream.Stream) (found Faults) {
	rules := map[uint32]string{}
	count := map[string]int{}
	for i, s := range streams {
		f := s.FlowStats
		if !f.Enabled {
			continue
		}
		earlier, ok := rules[f.StreamID]
		if ok && (earlier == ruleLatency || f.RuleType == ruleLatency) {
			found = append(found, fmt.Errorf("%s.flow_stats.stream_id: %d is another stream's too, and a latency stream's must be its own", placeOf(i), f.StreamID))
		}
		rules[f.StreamID] = f.RuleType
		if !ok {
			count[f.RuleType]++
		}
	}
	if count[ruleLatency] > maxLatencyIDs || count[ruleStats] > maxStatsIDs {
		found = append(found, fmt.Errorf("streams: %d latency and %d stats flow ids, where a server has room for %d and %d", count[ruleLatency], count[ruleStats], maxLatencyIDs, maxStatsIDs))
	}
	return found
}
