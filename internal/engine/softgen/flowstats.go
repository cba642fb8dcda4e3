package softgen

import (
	"strconv"
	"time"

	"github.com/linerate-dev/linerate/internal/engine/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/units/transit"
)

// getFlowStats is get_pgid_stats: per flow id and port what was sent and received, and per latency flow that
// has been sent what its receiver saw. A section without flows is null. With the parameter transits, which TRex doesn't
// know, the answer also has the latencies of the stamped frames of each flow id, in a section of that name, and what their numbers show, in a section "followed".
func (s *Server) getFlowStats(p *params) (any, error) {
	wanted := p.flag("transits")
	ids, err := s.wantedFlows(p)
	if err != nil {
		return nil, err
	}
	byPort := make([]map[uint32]datapath.FlowCounters, len(s.ports))
	delays := make([]map[uint32]datapath.Latency, len(s.ports))
	for i, at := range s.ports {
		byPort[i], delays[i] = at.path.Flows(), at.path.Latency()
	}
	counters, latency, versions := object{}, object{"g": nil}, object{}
	for _, id := range ids {
		key := strconv.FormatUint(uint64(id), 10)
		counters[key], versions[key] = s.flowCounters(id, byPort), s.flows.versions[id]
		if one := s.flows.active[id]; one.latency && one.started {
			latency[key] = received(one.slot, delays).report()
		}
	}
	stats := object{"flow_stats": counters, "latency": latency, "ver_id": versions}
	if len(ids) == 0 {
		stats = object{"flow_stats": nil, "latency": latency, "ver_id": nil}
	}
	if wanted {
		stats["transits"], stats["followed"] = s.transits(ids), s.followed(ids, delays)
	}
	return stats, nil
}

// followed is what the numbers of stamped frames show, by flow id: how many frames came and were timed, were lost, came twice, came late, came so late that they may be either, came in
// a buffer that the kernel had merged and so without a stamp, or were timed but are in no bucket; and the sum of the differences between
// successive frames' times in nanoseconds, with the number of differences. Flows without received frames have no entry.
func (s *Server) followed(ids []uint32, byPort []map[uint32]datapath.Latency) object {
	flows := object{}
	for _, id := range ids {
		one := s.flows.active[id]
		if !one.stamped {
			continue
		}
		seen := received(one.slot, byPort)
		flows[strconv.FormatUint(uint64(id), 10)] = object{"received": seen.Received, "lost": seen.Dropped, "duplicate": seen.Duplicate, "late": seen.OutOfOrder, "stale": seen.Stale,
			"merged": seen.Merged, "uncounted": seen.Uncounted, "varied": seen.Varied.Nanoseconds(), "changes": seen.Changes, "anew": seen.SequenceTooHigh + seen.SequenceTooLow}
	}
	return flows
}

// transits are the frames by flow id and by the shortest time of their bucket, in nanoseconds; the buckets are those of internal/units/transit, and empty ones are left out. Flows without
// stamps have no entry.
func (s *Server) transits(ids []uint32) object {
	bySlot := map[uint32]transit.Histogram{}
	for _, at := range s.ports {
		for slot, h := range at.path.Transits() {
			all := bySlot[slot]
			all.Merge(h)
			bySlot[slot] = all
		}
	}
	flows := object{}
	for _, id := range ids {
		h := bySlot[s.flows.active[id].slot]
		if h.Frames() == 0 {
			continue
		}
		buckets := object{}
		for i, frames := range h.All() {
			shortest, _ := transit.Bounds(i)
			buckets[strconv.FormatInt(shortest.Nanoseconds(), 10)] = frames
		}
		flows[strconv.FormatUint(uint64(id), 10)] = buckets
	}
	return flows
}

// flowCounters are a flow's packets, bytes and gauges, sent (t) and received (r), by port.
func (s *Server) flowCounters(id uint32, byPort []map[uint32]datapath.FlowCounters) object {
	member := map[string]object{}
	for _, name := range []string{"rp", "rb", "rps", "rbs", "tp", "tb", "tps", "tbs"} {
		member[name] = object{}
	}
	one := s.flows.active[id]
	for i := range s.ports {
		port, c := strconv.Itoa(i), byPort[i][one.slot]
		g, ok := one.gauges[i]
		if !ok {
			g = &flowGauges{}
			one.gauges[i] = g
		}
		g.sent.read(s.cfg.Now(), c.Sent)
		g.received.read(s.cfg.Now(), c.Received)
		member["tp"][port], member["tb"][port] = c.Sent.Packets, c.Sent.Bytes
		member["rp"][port], member["rb"][port] = c.Received.Packets, c.Received.Bytes
		member["tps"][port], member["tbs"][port] = real(g.sent.pps), real(g.sent.layer2)
		member["rps"][port], member["rbs"][port] = real(g.received.pps), real(g.received.layer2)
	}
	whole := object{}
	for name, ports := range member {
		whole[name] = ports
	}
	return whole
}

// delays is a latency flow's statistics as its receiver has them.
type delays datapath.Latency

// received is the statistics of the port that received the flow; empty where no port has.
func received(slot uint32, byPort []map[uint32]datapath.Latency) delays {
	var most datapath.Latency
	for _, port := range byPort {
		if seen, ok := port[slot]; ok && seen.Received >= most.Received {
			most = seen
		}
	}
	return delays(most)
}

// report writes microseconds; the members of "er", and "er" itself, come only where they aren't 0.
func (d delays) report() object {
	lat := object{
		"average": real(float64(d.Average) / float64(time.Microsecond)), "jit": d.Jitter.Microseconds(),
		"last_max": d.Last.Microseconds(), "total_max": d.Max.Microseconds(), "total_min": d.Min.Microseconds(),
	}
	if len(d.Histogram) > 0 {
		histogram := object{}
		for from, packets := range d.Histogram {
			histogram[strconv.FormatInt(from.Microseconds(), 10)] = packets
		}
		lat["histogram"] = histogram
	}
	whole, errors := object{"lat": lat}, object{}
	for name, count := range map[string]int64{
		"drp": d.Dropped, "ooo": d.OutOfOrder, "dup": d.Duplicate, "sth": d.SequenceTooHigh, "stl": d.SequenceTooLow,
	} {
		if count != 0 {
			errors[name] = count
		}
	}
	if len(errors) > 0 {
		whole["er"] = errors
	}
	return whole
}
