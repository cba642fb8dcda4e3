package measure

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// CombineSessions is the sessions of one direction in several windows. It adds up counters and times, so goodput is
// all that was received in all the time. It is nil where some window has none.
func CombineSessions(parts []*report.Sessions) *report.Sessions {
	whole := addSessions(parts, false)
	if whole == nil {
		return nil
	}
	for _, p := range parts {
		whole.Connections, whole.AskedBitsPerSecond = max(whole.Connections, p.Connections),
			max(whole.AskedBitsPerSecond, p.AskedBitsPerSecond)
		whole.ReceivedIn, whole.SentIn = whole.ReceivedIn+p.ReceivedIn, whole.SentIn+p.SentIn
	}
	rateSessions(whole)
	return whole
}

// SumSessions is the sessions of all directions of one moment. It adds up counters, rates and connections. It is
// nil where some direction has none.
func SumSessions(directions []report.Direction) *report.Sessions {
	parts := sessionsOf(directions)
	sum := addSessions(parts, true)
	if sum == nil {
		return nil
	}
	goodput := int64(0)
	for _, p := range parts {
		sum.AskedBitsPerSecond += p.AskedBitsPerSecond
		sum.Connections += p.Connections
		sum.ReceivedIn, sum.SentIn = max(sum.ReceivedIn, p.ReceivedIn), max(sum.SentIn, p.SentIn)
		goodput += p.GoodputBitsPerSecond
	}
	rateSessions(sum)
	sum.GoodputBitsPerSecond = goodput
	return sum
}

// addSessions adds up everything except connections, the receivers' time and what follows from it. It is nil where
// there is nothing to add, or a part is missing. Parts of one moment are directions that share their ends.
func addSessions(parts []*report.Sessions, atOneMoment bool) *report.Sessions {
	if len(parts) == 0 || slices.Contains(parts, nil) {
		return nil
	}
	sum := &report.Sessions{}
	var means, samples int64
	var ends []*report.SessionEnds
	var disturbances []*report.Disturbance
	sum.Device = deviceTogether(parts)
	if !atOneMoment {
		sum.Each = eachTogether(parts)
	}
	for _, p := range parts {
		ends, disturbances = append(ends, p.Ends), append(disturbances, p.Disturbance)
		if atOneMoment {
			sum.Disturbed = max(sum.Disturbed, p.Disturbed) // it is the same machine's
		} else {
			sum.Disturbed += p.Disturbed
		}
		sum.EndsWaited += p.EndsWaited
		sum.WrittenBytes, sum.AcknowledgedBytes, sum.ReceivedBytes = sum.WrittenBytes+p.WrittenBytes,
			sum.AcknowledgedBytes+p.AcknowledgedBytes, sum.ReceivedBytes+p.ReceivedBytes
		sum.Segments, sum.RetransmittedSegments = sum.Segments+p.Segments, sum.RetransmittedSegments+
			p.RetransmittedSegments
		sum.SentBytes, sum.RetransmittedBytes = sum.SentBytes+p.SentBytes, sum.RetransmittedBytes+p.RetransmittedBytes
		sum.Datagrams = addDatagrams(sum.Datagrams, p.Datagrams)
		a, b := &sum.Senders, p.Senders
		a.Observed, a.Busy, a.ReceiverLimited, a.BufferLimited = a.Observed+b.Observed, a.Busy+b.Busy,
			a.ReceiverLimited+b.ReceiverLimited, a.BufferLimited+b.BufferLimited
		a.Samples, a.HeldByPath = a.Samples+b.Samples, a.HeldByPath+b.HeldByPath
		if r := p.RoundTrip; r != nil {
			if sum.RoundTrip == nil {
				sum.RoundTrip = &report.RoundTrip{MinMicroseconds: r.MinMicroseconds}
			}
			sum.RoundTrip.MinMicroseconds = min(sum.RoundTrip.MinMicroseconds, r.MinMicroseconds)
			sum.RoundTrip.MaxMicroseconds = max(sum.RoundTrip.MaxMicroseconds, r.MaxMicroseconds)
			weight := max(1, b.Samples)
			means, samples = means+r.MeanMicroseconds*weight, samples+weight
		}
	}
	if samples > 0 {
		sum.RoundTrip.MeanMicroseconds = means / samples
	}
	if n := int64(len(parts)); sum.Datagrams != nil {
		sum.Datagrams.JitterMicroseconds = (sum.Datagrams.JitterMicroseconds + n/2) / n
	}
	sum.Ends, sum.Disturbance = endsTogether(ends, atOneMoment), disturbancesTogether(disturbances, atOneMoment)
	return sum
}

// eachTogether adds up what each connection carried in several windows. It is nil where a window doesn't tell.
func eachTogether(parts []*report.Sessions) []report.Connection {
	sum := make([]report.Connection, len(parts[0].Each))
	for _, p := range parts {
		if len(p.Each) != len(sum) {
			return nil
		}
		for i, c := range p.Each {
			s := &sum[i]
			s.ReceivedBytes, s.SentBytes = s.ReceivedBytes+c.ReceivedBytes, s.SentBytes+c.SentBytes
			if c.Retransmits != nil {
				if s.Retransmits == nil {
					s.Retransmits = new(int64(0))
				}
				*s.Retransmits += *c.Retransmits
			}
			if d := c.Datagrams; d != nil {
				if s.Datagrams == nil {
					s.Datagrams = &report.ConnectionDatagrams{}
				}
				s.Datagrams.Sent, s.Datagrams.Received, s.Datagrams.Lost = s.Datagrams.Sent+d.Sent,
					s.Datagrams.Received+d.Received, s.Datagrams.Lost+d.Lost
			}
		}
	}
	if len(sum) == 0 {
		return nil
	}
	return sum
}

// deviceTogether is what the device's own end did in several windows. It is nil where the device is no end, or
// sends in some and receives in others.
func deviceTogether(parts []*report.Sessions) *report.DeviceEnd {
	if slices.ContainsFunc(parts, func(p *report.Sessions) bool {
		return p.Device == nil || parts[0].Device == nil || p.Device.Role != parts[0].Device.Role
	}) {
		return nil
	}
	var dropped []*report.SessionEnds
	for _, p := range parts {
		dropped = append(dropped, &report.SessionEnds{Dropped: p.Device.Dropped})
	}
	d := &report.DeviceEnd{Role: parts[0].Device.Role, Server: parts[0].Device.Server}
	if ends := endsTogether(dropped, false); ends != nil {
		d.Dropped = ends.Dropped
	}
	return d
}
