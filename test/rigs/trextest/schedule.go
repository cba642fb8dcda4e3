package trextest

import "math"

// Recordings of a real server (testdata of internal/engine/trex: start-at, overrun) show about its schedule:
//
//   - A duration counts from the request, not from start_at_ts, so a common start in the future takes its lead
//     from the duration.
//   - The end is an entry of the schedule that the ports share. The entry of a port that is started while another
//     one sends comes later than it should.
//   - The schedule is never shortened. A server that is asked for more than it can send sends everything, late, and
//     its ends are as late.
const (
	minNotice    = 0.1   // seconds that start_at_ts must be ahead
	firstEndLate = 0.002 // seconds by which the end of the first port comes late
	nextEndLate  = 0.010 // and that of a port that is started while another one is in state TX
)

// schedule is the schedule that all ports share, and what they have sent by it.
type schedule struct {
	ports  map[int]*port
	events events
	// counted is the time of the clock up to when counters are, and position that of the schedule, which goes slower
	// than the clock while the schedule has more than the server can send.
	counted, position float64
}

// endsLate is how much later than its duration says the end of a port comes that is started now.
func (s *schedule) endsLate() float64 {
	for _, p := range s.ports {
		if p.state == stateTX {
			return nextEndLate
		}
	}
	return firstEndLate
}

// burst is how many frames the port's streams have. It is infinite where any of them has no end.
func (p *port) burst() (frames float64) {
	for _, s := range p.streams {
		if s.Mode.Type != "single_burst" {
			return math.Inf(1)
		}
		frames += float64(s.Mode.TotalPackets)
	}
	return frames
}

// isDue says whether the port's schedule has frames at this time of the schedule.
func (p *port) isDue(position float64) bool {
	return p.state == stateTX && position >= p.starts && position < p.ends && p.unsent > 0
}

// advance counts what was sent and returned since the last call, from one entry of the schedule to the next,
// and ends ports whose schedule is over.
//
//	the clock     ├──────────┼──────────────────────────────┤
//	the schedule  ├──────────┼──────────┤                     slower while its ports ask for more than Capacity
func (s *schedule) advance(clock, capacity float64) {
	for s.counted < clock {
		pace := s.pace(capacity)
		took := min(clock-s.counted, (s.nextEntry()-s.position)/pace)
		for _, p := range s.ports {
			if p.isDue(s.position) {
				s.count(p, took, pace)
			}
		}
		s.counted, s.position = s.counted+took, s.position+took*pace
		s.end()
		if clock-s.counted < sliver {
			break
		}
	}
}

// sliver is the rounding error of a time in seconds, fraction that of a number of frames.
const (
	sliver   = 1e-9
	fraction = 1e-3
)

// pace is how fast the schedule goes. 1 is the clock's pace.
func (s *schedule) pace(capacity float64) float64 {
	asked := 0.0
	for _, p := range s.ports {
		if p.isDue(s.position) {
			asked += p.rate
		}
	}
	if capacity == 0 || asked <= capacity {
		return 1
	}
	return capacity / asked
}

// nextEntry is the time of the schedule at which a port begins or ends next. It is infinite if none does.
func (s *schedule) nextEntry() float64 {
	next := math.Inf(1)
	for _, p := range s.ports {
		if p.state != stateTX {
			continue
		}
		entries := []float64{p.starts, p.ends}
		if p.isDue(s.position) {
			entries = append(entries, s.position+p.unsent/p.rate)
		}
		for _, entry := range entries {
			if entry > s.position {
				next = min(next, entry)
			}
		}
	}
	return next
}

// end ends the ports whose schedule is over. A server that doesn't send isn't late any more.
func (s *schedule) end() {
	for _, index := range sortedIndexes(s.ports) {
		if p := s.ports[index]; p.state == stateTX && (s.position >= p.ends-sliver || p.unsent < 0.5) {
			s.rest(p)
			s.events.addTraffic(trafficFinished, index)
		}
	}
}

// rest ends a port's traffic, which consisted of whole frames.
func (s *schedule) rest(p *port) {
	p.state = stateStreams
	p.sent, p.sentBytes = wholeFrames(p.sent+fraction, p.sentBytes+fraction*p.mean, p.mean)
	if target, ok := s.ports[p.ForwardsTo]; ok {
		target.received, target.receivedBytes = wholeFrames(target.received+fraction, target.receivedBytes+
			fraction*p.mean, p.mean)
	}
}

// wholeFrames leaves out the part of a frame that was sent, with its bytes.
func wholeFrames(packets, bytes, mean float64) (whole, ofThem float64) {
	whole = math.Floor(packets)
	return whole, bytes - (packets-whole)*mean
}

func (s *schedule) count(p *port, seconds, pace float64) {
	sent := min(p.rate*pace*seconds, p.unsent)
	p.unsent -= sent
	p.sending += seconds
	p.sent += sent
	p.sentBytes += sent * p.mean
	target, ok := s.ports[p.ForwardsTo]
	if !ok {
		return
	}
	returned := sent
	if p.Limit > 0 {
		returned = p.forwarded(sent, s.counted, seconds)
	}
	target.received += returned
	target.receivedBytes += returned * p.mean
	target.receivedMean = p.mean
}

// forwarded is what the device forwards of frames that are sent evenly from a time of the clock on.
func (p *port) forwarded(sent, begin, seconds float64) float64 {
	p.room = min(p.Holds, p.room+p.Limit*(begin-p.roomAt))
	forwarded := min(sent, p.room+p.Limit*seconds)
	p.room, p.roomAt = min(p.Holds, p.room+p.Limit*seconds-forwarded), begin+seconds
	return forwarded
}
