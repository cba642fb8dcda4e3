package measure

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Sending is what a direction's sender had done by a moment of its own clock, added up over its connections since
// they were made.
type Sending struct {
	At          time.Duration `json:"atNanoseconds"` // monotonic
	Connections int           `json:"connections"`
	// The kernel took WrittenBytes. The others are those of report.Sessions.
	WrittenBytes          int64 `json:"writtenBytes"`
	AcknowledgedBytes     int64 `json:"acknowledgedBytes"`
	SentBytes             int64 `json:"sentBytes"`
	RetransmittedBytes    int64 `json:"retransmittedBytes"`
	Segments              int64 `json:"segments"`
	RetransmittedSegments int64 `json:"retransmittedSegments"`
	// Busy, ReceiverLimited and BufferLimited are those of report.SenderTime.
	Busy            time.Duration `json:"busyNanoseconds"`
	ReceiverLimited time.Duration `json:"receiverLimitedNanoseconds"`
	BufferLimited   time.Duration `json:"bufferLimitedNanoseconds"`
	// Samples is how often a connection was looked at. RoundTrips adds up the smoothed round trips that were seen
	// then, RoundTripSamples of them.
	Samples          int64         `json:"samples"`
	HeldByPath       int64         `json:"heldByPath"`
	RoundTripSamples int64         `json:"roundTripSamples"`
	RoundTrips       time.Duration `json:"roundTripsNanoseconds"`
	// ShortestRoundTrip is the kernels' own minimum, or 0 where there is none yet. LongestRoundTrip is the longest
	// since the reading before.
	ShortestRoundTrip time.Duration `json:"shortestRoundTripNanoseconds"`
	LongestRoundTrip  time.Duration `json:"longestRoundTripNanoseconds"`
	// Datagrams is how many each stream of UDP has sent, whose bytes are WrittenBytes and SentBytes. It is nil for
	// TCP.
	Datagrams []int64 `json:"datagrams,omitempty"`
	// Overdue is, of each stream, how many had been sent so long before that they are lost unless they have come.
	// The driver fills it in.
	Overdue []int64 `json:"-"`
	// Each is what each connection has done, in the order in which they were made. It is nil where nobody can tell.
	Each []ConnectionSending `json:"each,omitempty"`
	// Broken is what became of the first connection that broke. It is empty where all stand.
	Broken string `json:"broken,omitempty"`
}

// ConnectionSending is one connection's part of Sending.
type ConnectionSending struct {
	SentBytes             int64 `json:"sentBytes,omitempty"`
	AcknowledgedBytes     int64 `json:"acknowledgedBytes,omitempty"`
	RetransmittedSegments int64 `json:"retransmittedSegments,omitempty"`
}

// Arrivals are those of one UDP stream, with the highest number that arrived, and how many did, each once.
type Arrivals struct {
	Highest  int64 `json:"highest"`
	Distinct int64 `json:"distinct"`
}

// Receiving is what a direction's receiver had read by a moment of its own clock, added up over its connections
// since they were made.
type Receiving struct {
	At          time.Duration `json:"atNanoseconds"` // monotonic
	Connections int           `json:"connections"`
	Bytes       int64         `json:"bytes"`
	// Streams are those of UDP. The others are report.Datagrams'.
	Streams    []Arrivals    `json:"streams,omitempty"`
	OutOfOrder int64         `json:"outOfOrder,omitempty"`
	Duplicates int64         `json:"duplicates,omitempty"`
	Dropped    int64         `json:"dropped,omitempty"`
	Jitter     time.Duration `json:"jitterNanoseconds,omitempty"`
	// Each is the bytes of each connection, in the order in which they were made. It is nil where nobody can tell.
	Each   []int64 `json:"each,omitempty"`
	Broken string  `json:"broken,omitempty"`
}

// SessionSpan is what both ends of a direction reported from a window's first edge to its last.
type SessionSpan struct {
	From, To string
	// Asked is the payload that was to be sent, in bits per second. It is 0 for all that the connections carry.
	Asked     int64
	Sending   []Sending
	Receiving []Receiving
	// FramesEach is in how many frames each datagram is sent.
	FramesEach int64
	// LostAtLeast says that the receivers tell nothing where nothing comes any more, so that data that they don't
	// tell of may be lost.
	LostAtLeast bool
	// Ends is what both ends threw away themselves. It is nil where nobody asked them. Device is the same of the
	// end that is the device's own, and nil where neither is.
	Ends   []EndSpan
	Device *EndSpan
	// Server is the program that is the device's end, where it isn't linerate's, such as "the iperf3 server at
	// 192.0.2.1:5201". It counts nothing that can be read while it runs, and is empty elsewhere.
	Server string
	// Window is how long the window lasted by the driver's clock, and Disturbance what kept threads from running,
	// or nil where nobody can tell. SharesKernel is Setup's.
	Window       time.Duration
	Disturbance  *report.Disturbance
	SharesKernel bool
}

// Sessions is the direction's part of a window, with evidence and judgement. A window whose connections broke, or
// whose counters contradict each other, is Invalid.
func Sessions(span SessionSpan) report.Direction {
	m := report.Direction{From: span.From, To: span.To, Quality: report.Good}
	if fault := span.fault(); fault != "" {
		m.Quality, m.Reason = report.Invalid, fault
	}
	if len(span.Sending) < 2 || len(span.Receiving) < 2 {
		return m
	}
	m.Sessions = span.evidence()
	if m.Quality != report.Invalid {
		limit := LimitOfSessions(*m.Sessions)
		m.Reason = SessionsSentence(*m.Sessions, limit) + "; " + limit.Sentence
	}
	return m
}

// evidence is the difference of the edges.
func (s SessionSpan) evidence() *report.Sessions {
	a, b := s.Sending[0], s.Sending[len(s.Sending)-1]
	start, end := s.Receiving[0], s.Receiving[len(s.Receiving)-1]
	e := &report.Sessions{
		Connections: b.Connections, AskedBitsPerSecond: s.Asked, Datagrams: s.datagrams(),
		WrittenBytes: b.WrittenBytes - a.WrittenBytes, AcknowledgedBytes: b.AcknowledgedBytes - a.AcknowledgedBytes,
		ReceivedBytes: end.Bytes - start.Bytes, ReceivedIn: plan.Duration(end.At - start.At),
		Segments: b.Segments - a.Segments, RetransmittedSegments: b.RetransmittedSegments - a.RetransmittedSegments,
		SentBytes: b.SentBytes - a.SentBytes, RetransmittedBytes: b.RetransmittedBytes - a.RetransmittedBytes,
		Senders: report.SenderTime{
			Observed: plan.Duration(b.At-a.At) * plan.Duration(b.Connections), Busy: plan.Duration(b.Busy - a.Busy),
			ReceiverLimited: plan.Duration(b.ReceiverLimited - a.ReceiverLimited),
			BufferLimited:   plan.Duration(b.BufferLimited - a.BufferLimited),
			Samples:         b.Samples - a.Samples, HeldByPath: b.HeldByPath - a.HeldByPath,
		},
	}
	if e.Datagrams != nil { // whose senders wait for nothing but the rate
		e.SentIn, e.Senders = plan.Duration(b.At-a.At), report.SenderTime{}
	} else if s.LostAtLeast {
		e.SentIn = plan.Duration(b.At - a.At)
	}
	if n := b.RoundTripSamples - a.RoundTripSamples; n > 0 {
		e.RoundTrip = &report.RoundTrip{MinMicroseconds: b.ShortestRoundTrip.Microseconds(),
			MeanMicroseconds: (b.RoundTrips - a.RoundTrips).Microseconds() / n}
		for _, r := range s.Sending[1:] {
			e.RoundTrip.MaxMicroseconds = max(e.RoundTrip.MaxMicroseconds, r.LongestRoundTrip.Microseconds())
		}
	}
	e.Each = s.each()
	e.Ends = droppedBetween(s.Ends)
	e.Device = s.device()
	e.EndsWaited = endsWaited(s.Ends)
	e.Disturbed, e.Disturbance = s.disturbed()
	rateSessions(e)
	return e
}

// device is what the device's own end did. It is nil where the device is between the ends.
func (s SessionSpan) device() *report.DeviceEnd {
	if s.Device == nil {
		return nil
	}
	d := &report.DeviceEnd{Role: report.Receiver, Server: s.Server}
	if s.Device.Link == s.From {
		d.Role = report.Sender
	}
	if dropped := droppedBetween([]EndSpan{*s.Device}); dropped != nil {
		d.Dropped = dropped.Dropped
	}
	return d
}

// each is what each connection carried. It is nil where an end doesn't tell its connections apart.
func (s SessionSpan) each() (rows []report.Connection) {
	a, b := s.Sending[0], s.Sending[len(s.Sending)-1]
	start, end := s.Receiving[0], s.Receiving[len(s.Receiving)-1]
	if n := len(end.Each); n == 0 || len(start.Each) != n || len(a.Each) != n || len(b.Each) != n {
		return nil
	}
	for i := range end.Each {
		row := report.Connection{ReceivedBytes: end.Each[i] - start.Each[i],
			SentBytes: b.Each[i].SentBytes - a.Each[i].SentBytes}
		switch {
		case len(end.Streams) == len(end.Each):
			earlier, later := start.Streams[i], end.Streams[i]
			row.Datagrams = &report.ConnectionDatagrams{Sent: b.Datagrams[i] - a.Datagrams[i],
				Received: later.Distinct - earlier.Distinct,
				Lost:     missingOf(b, i, later) - missingOf(a, i, earlier)}
		case s.Server == "" || s.Device.Link == s.To:
			row.Retransmits = new(b.Each[i].RetransmittedSegments - a.Each[i].RetransmittedSegments)
		}
		rows = append(rows, row)
	}
	return rows
}

// rateSessions fills in what follows from counters and times.
func rateSessions(e *report.Sessions) {
	duration := e.ReceivedIn
	// in the rest, if there is one, nothing came
	if e.Datagrams != nil && e.Datagrams.LostAtLeast || receiverFellSilent(*e) {
		duration = max(duration, e.SentIn)
	}
	e.GoodputBitsPerSecond = int64(units.BitRateOver(8*e.ReceivedBytes, int64(duration)))
	e.RetransmitRatio = units.RatioOf(e.RetransmittedSegments, e.Segments)
	if d := e.Datagrams; d != nil {
		d.LossRatio = units.RatioOf(d.Lost, d.Received+d.Lost)
	}
}

// OfSessions says that a window is of sessions, not frames, and has what all its directions did.
func OfSessions(w report.Window) bool {
	return len(w.Directions) > 0 && !slices.ContainsFunc(w.Directions,
		func(d report.Direction) bool { return d.Sessions == nil })
}
