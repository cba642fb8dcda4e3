package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/wording"
)

// Sending is what a direction's sender had done by a moment of its own clock, added up over its connections since they were made.
type Sending struct {
	At          time.Duration `json:"atNanoseconds"` // monotonic
	Connections int           `json:"connections"`
	// WrittenBytes were taken by the kernel; the others are those of report.Sessions.
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
	// Samples is how often a connection was looked at; RoundTrips adds up the smoothed round trips that were seen then, RoundTripSamples of them.
	Samples          int64         `json:"samples"`
	HeldByPath       int64         `json:"heldByPath"`
	RoundTripSamples int64         `json:"roundTripSamples"`
	RoundTrips       time.Duration `json:"roundTripsNanoseconds"`
	// ShortestRoundTrip is the kernels' own minimum; 0: there is none yet. LongestRoundTrip is the longest since the reading before.
	ShortestRoundTrip time.Duration `json:"shortestRoundTripNanoseconds"`
	LongestRoundTrip  time.Duration `json:"longestRoundTripNanoseconds"`
	// Datagrams is how many each stream of UDP has sent, whose bytes are WrittenBytes and SentBytes; nil: it is TCP.
	Datagrams []int64 `json:"datagrams,omitempty"`
	// Overdue is, of each stream, how many had been sent so long before that they are lost unless they have come; the driver's to fill in.
	Overdue []int64 `json:"-"`
	// Broken is what became of the first connection that broke; empty: all stand.
	Broken string `json:"broken,omitempty"`
}

// Arrivals are those of one stream of UDP: the highest number that came, and how many did, each once.
type Arrivals struct {
	Highest  int64 `json:"highest"`
	Distinct int64 `json:"distinct"`
}

// Receiving is what a direction's receiver had read by a moment of its own clock, added up over its connections since they were made.
type Receiving struct {
	At          time.Duration `json:"atNanoseconds"` // monotonic
	Connections int           `json:"connections"`
	Bytes       int64         `json:"bytes"`
	// Streams are those of UDP; the others are report.Datagrams'.
	Streams    []Arrivals    `json:"streams,omitempty"`
	OutOfOrder int64         `json:"outOfOrder,omitempty"`
	Duplicates int64         `json:"duplicates,omitempty"`
	Dropped    int64         `json:"dropped,omitempty"`
	Jitter     time.Duration `json:"jitterNanoseconds,omitempty"`
	Broken     string        `json:"broken,omitempty"`
}

// SessionSpan is what both ends of a direction said from a window's first edge to its last.
type SessionSpan struct {
	From, To string
	// Asked is the payload that was to be sent, in bits per second; 0: all that the connections carry.
	Asked     int64
	Sending   []Sending
	Receiving []Receiving
	// FramesEach is in how many frames each datagram is sent.
	FramesEach int64
	// LostAtLeast: the receivers tell nothing where nothing comes any more, so that what isn't told of may be lost.
	LostAtLeast bool
	// Ends is what both ends threw away themselves; nil: nobody asked them. Device is the same of the end that is the device's own; nil: neither is.
	Ends   []EndSpan
	Device *EndSpan
	// Window is how long the window lasted by the driver's clock, and Disturbance what kept threads from running meanwhile; nil: nobody can tell. Ourselves is Setup's.
	Window      time.Duration
	Disturbance *report.Disturbance
	Ourselves   bool
}

// Sessions is the direction's part of a window: evidence and judgement. A window whose connections broke, or whose counters don't fit each other, is Invalid.
func Sessions(span SessionSpan) report.Measured {
	m := report.Measured{From: span.From, To: span.To, Quality: report.Good}
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
	from, to := s.Receiving[0], s.Receiving[len(s.Receiving)-1]
	e := &report.Sessions{
		Connections: b.Connections, AskedBitsPerSecond: s.Asked, Datagrams: s.datagrams(), WrittenBytes: b.WrittenBytes - a.WrittenBytes, AcknowledgedBytes: b.AcknowledgedBytes - a.AcknowledgedBytes,
		ReceivedBytes: to.Bytes - from.Bytes, ReceivedIn: plan.Duration(to.At - from.At),
		Segments: b.Segments - a.Segments, RetransmittedSegments: b.RetransmittedSegments - a.RetransmittedSegments,
		SentBytes: b.SentBytes - a.SentBytes, RetransmittedBytes: b.RetransmittedBytes - a.RetransmittedBytes,
		Senders: report.SenderTime{
			Observed: plan.Duration(b.At-a.At) * plan.Duration(b.Connections), Busy: plan.Duration(b.Busy - a.Busy),
			ReceiverLimited: plan.Duration(b.ReceiverLimited - a.ReceiverLimited), BufferLimited: plan.Duration(b.BufferLimited - a.BufferLimited),
			Samples: b.Samples - a.Samples, HeldByPath: b.HeldByPath - a.HeldByPath,
		},
	}
	if e.Datagrams != nil { // whose senders wait for nothing but the rate
		e.SentIn, e.Senders = plan.Duration(b.At-a.At), report.SenderTime{}
	} else if s.LostAtLeast {
		e.SentIn = plan.Duration(b.At - a.At)
	}
	if n := b.RoundTripSamples - a.RoundTripSamples; n > 0 {
		e.RoundTrip = &report.RoundTrip{MinMicroseconds: b.ShortestRoundTrip.Microseconds(), MeanMicroseconds: (b.RoundTrips - a.RoundTrips).Microseconds() / n}
		for _, r := range s.Sending[1:] {
			e.RoundTrip.MaxMicroseconds = max(e.RoundTrip.MaxMicroseconds, r.LongestRoundTrip.Microseconds())
		}
	}
	e.Ends = droppedBetween(s.Ends)
	e.Device = s.device()
	e.EndsWaited = endsWaited(s.Ends)
	e.Disturbed, e.Disturbance = s.disturbed()
	rateSessions(e)
	return e
}

// device is what the end did that is the device's own; nil: the device is between the ends.
func (s SessionSpan) device() *report.DeviceEnd {
	if s.Device == nil {
		return nil
	}
	d := &report.DeviceEnd{Is: report.Receiver}
	if s.Device.Link == s.From {
		d.Is = report.Sender
	}
	if dropped := droppedBetween([]EndSpan{*s.Device}); dropped != nil {
		d.Dropped = dropped.Dropped
	}
	return d
}

// rateSessions fills in what follows from counters and times.
func rateSessions(e *report.Sessions) {
	over := e.ReceivedIn
	if e.Datagrams != nil && e.Datagrams.LostAtLeast || untold(*e) { // in the rest, if there is one, nothing came that was told
		over = max(over, e.SentIn)
	}
	e.GoodputBitsPerSecond = int64(units.BitRateOver(8*e.ReceivedBytes, int64(over)))
	e.RetransmitRatio = units.RatioOf(e.RetransmittedSegments, e.Segments)
	if d := e.Datagrams; d != nil {
		d.LossRatio = units.RatioOf(d.Lost, d.Received+d.Lost)
	}
}

// fault is why the readings say nothing of the device; empty: they are sound.
func (s SessionSpan) fault() string {
	if len(s.Sending) < 2 || len(s.Receiving) < 2 {
		return fmt.Sprintf("%s: the connections' counters could not be read at both edges of the window", wording.Direction(s.From, s.To))
	}
	if wrong := cmp.Or(s.broken(), s.unequal()); wrong != "" {
		return wrong
	}
	a, b := s.Sending[0], s.Sending[len(s.Sending)-1]
	from, to := s.Receiving[0], s.Receiving[len(s.Receiving)-1]
	switch {
	case b.At <= a.At || to.At <= from.At:
		return fmt.Sprintf("an end's clock stood still between the window's edges: %s passed at %s and %s at %s", b.At-a.At, s.From, to.At-from.At, s.To)
	case to.Bytes < from.Bytes || b.SentBytes < a.SentBytes || b.AcknowledgedBytes < a.AcknowledgedBytes || b.Segments < a.Segments || b.Busy < a.Busy:
		return fmt.Sprintf("counters of the connections %s went back: an end was restarted, or its kernel counts otherwise than TCP_INFO says", wording.Direction(s.From, s.To))
	}
	return ""
}

// unequal is how many connections or streams one end has and the other hasn't; empty: both have the same, all the time.
func (s SessionSpan) unequal() string {
	a, b := s.Sending[0], s.Sending[len(s.Sending)-1]
	from, to := s.Receiving[0], s.Receiving[len(s.Receiving)-1]
	switch {
	case a.Connections != b.Connections || from.Connections != to.Connections || a.Connections != to.Connections || a.Connections == 0:
		return fmt.Sprintf("of %d connections %s the receiver had %d", a.Connections, wording.Direction(s.From, s.To), to.Connections)
	case len(a.Datagrams) != len(b.Datagrams) || len(b.Datagrams) != len(to.Streams) || len(from.Streams) != len(to.Streams):
		return fmt.Sprintf("of %d streams of datagrams %s the receiver had %d", len(b.Datagrams), wording.Direction(s.From, s.To), len(to.Streams))
	}
	return ""
}

// broken is what became of the first connection that broke; empty: all stand.
func (s SessionSpan) broken() string {
	for _, r := range s.Sending {
		if r.Broken != "" {
			return fmt.Sprintf("a connection %s broke: %s", wording.Direction(s.From, s.To), r.Broken)
		}
	}
	for _, r := range s.Receiving {
		if r.Broken != "" {
			return fmt.Sprintf("a connection %s broke at its receiver: %s", wording.Direction(s.From, s.To), r.Broken)
		}
	}
	return ""
}

// Limiting is what kept sessions from more.
type Limiting string

// What can.
const (
	ByEnds    Limiting = "Ends"    // receiver or sender: the figure is a lower bound of what the device can do
	ByMachine Limiting = "Machine" // others had the processors that those needed who carry frames: a lower bound, too
	ByPath    Limiting = "Path"    // what is between the ends: the device, as far as a lab's cables lose nothing
	ByLoad    Limiting = "Load"    // all that was asked for came: a lower bound of what the device can do
	ByUnknown Limiting = "Unknown" // neither can be shown, as where the ends' processors are too slow
)

// The shares that tell what limited sessions.
const (
	// mostHeldByEnds is the share of the connections' time in which receivers or senders may have kept them from sending, and the figure still is that of the path: of
	// connections that the path holds back the kernel counts single milliseconds of that, as where a sender is woken late. What more might have been carried is in the
	// figure's interval.
	mostHeldByEnds = units.One / 20
	// mostEndsWaited is the share of the connections' time in which threads of the ends may have waited for processors, all together, and the figure still is that of the path.
	// A thread that is put aside in the middle of a call keeps its connection's segments and acknowledgements waiting (the kernel's socket backlog), and TCP_INFO counts that
	// as any other time. Measured through a device of 50 Mb/s: 1 to 3 % on a machine with nothing else to do, and 6 to 40 % in windows in which 5 to 50 % too little came
	// through, with nothing in TCP_INFO to show for it.
	mostEndsWaited = units.One / 20
	// leastHeldByPath is in how many of the samples congestion control must have held connections back, for the path to be what limited them. Where the ends' processors
	// can't do more, nobody waits for anything that TCP_INFO counts, and the congestion window grows until it is seldom full. Measured through a device of 50 Mb/s: 85 to 100 % with cubic, 42 to 80 % with bbr, which paces; with ends that
	// computed all they could: 13 to 30 % with bbr, and with cubic senders that had nothing to send for 15 % of the time or more.
	leastHeldByPath = units.One / 3
)

// SessionLimit is what kept sessions from more, and how that is known.
type SessionLimit struct {
	By Limiting
	// HeldByEnds is the share of the connections' time in which an end was what they waited for.
	HeldByEnds units.Ratio
	// Sentence is the reason, for people.
	Sentence string
	// NotThePaths says why what was sent again, and how long answers took, may be the ends' or the machine's doing, in whole or in part; empty: it is the path's.
	NotThePaths string
	// JitterNotThePaths says the same of the jitter of datagrams, which is the ends' own also where they waited for processors, and nothing was lost for it.
	JitterNotThePaths string
	// Carried: what was asked for came through, though some was lost on the path, or the receiver didn't tell of all, so that the goodput is a lower bound.
	Carried bool
}

// Reason is why a figure of such sessions is what it is.
func (l SessionLimit) Reason() report.Reason {
	switch l.By {
	case ByEnds:
		return report.GeneratorLimited
	case ByMachine:
		return report.MachineLimited
	case ByPath:
		return report.PathLimited
	case ByLoad:
		return report.ReachedTarget
	default:
		return report.Inconclusive
	}
}

// LimitOfSessions says what kept sessions from more. It is the one place where that is decided.
//
//	held by ends  = (receiver's window full + sender's buffer too small + nothing to send) ÷ observed
//	ends waited   = time in which threads of the ends' programs waited for processors ÷ observed
//	held by path  = samples with a full congestion window, or in recovery ÷ samples, and the time that the end took which is the device's
//	dropped       = what the ends' own network cards and kernels threw away, which reads as loss on the path
//	disturbed     = the time in which those who carry frames waited for processors that others had
func LimitOfSessions(s report.Sessions) SessionLimit {
	if s.Datagrams != nil {
		return limitOfDatagrams(s)
	}
	t := s.Senders
	generators, devices := timesOfEnds(s)
	l := SessionLimit{By: ByUnknown, HeldByEnds: min(timeShare(t, generators), units.One), NotThePaths: notThePaths(s)}
	path := units.RatioOf(t.HeldByPath, t.Samples) + timeShare(t, devices)
	switch {
	case t.Observed <= 0 || t.Samples <= 0:
		l.Sentence = "nobody saw what the connections waited for: a lower bound"
	case untold(s):
		l.Sentence = untoldSentence(s)
	case reached(s.GoodputBitsPerSecond, s.AskedBitsPerSecond):
		l.By, l.HeldByEnds, l.Sentence = ByLoad, 0, "all that was asked for came: a lower bound"
	case l.HeldByEnds > mostHeldByEnds:
		l.By, l.Sentence = ByEnds, heldByEndsSentence(s)
	case s.Disturbed > 0:
		l.By, l.Sentence = ByMachine, disturbedSessionsSentence(s)
	case waitedShare(s) > mostEndsWaited:
		l.By, l.Sentence = ByEnds, waitedSentence(s)
	case droppedByEnds(s):
		l.By, l.Sentence = ByEnds, dropSentence(s)
	case s.Ends != nil && s.Ends.Unknown != "":
		l.Sentence = fmt.Sprintf("what the ends themselves cost is not known (%s): a lower bound", s.Ends.Unknown)
	case path < leastHeldByPath:
		l.Sentence = fmt.Sprintf("congestion control held the connections back in only %s of the samples, so the ends' own speed may be the limit: a lower bound", Percent(path))
	default:
		l.By, l.Sentence = ByPath, heldByPathSentence(s, devices)
	}
	if l.By == ByEnds || l.By == ByUnknown {
		l.Sentence += endsLateSentence(s.Disturbance)
	}
	return l
}

// timesOfEnds are the times in which connections waited for an end: for a generator's, and for the device's own.
func timesOfEnds(s report.Sessions) (generators, devices plan.Duration) {
	receivers, senders := s.Senders.ReceiverLimited, s.Senders.BufferLimited+idleTime(s.Senders)
	switch {
	case s.Device == nil:
		return receivers + senders, 0
	case s.Device.Is == report.Receiver:
		return senders, receivers
	default:
		return receivers, senders
	}
}

// heldByPathSentence says what held the connections back; where the device is an end, how much of that was its end.
func heldByPathSentence(s report.Sessions, devices plan.Duration) string {
	switch {
	case s.Device == nil:
		return "held back by what is between the ends"
	case timeShare(s.Senders, devices) <= mostHeldByEnds:
		return "held back by the device, or what is between it and the generator"
	case s.Device.Is == report.Receiver:
		return fmt.Sprintf("held back by the device, whose receive window was full for %s of the time", Percent(timeShare(s.Senders, devices)))
	default:
		return fmt.Sprintf("held back by the device, which had nothing to send, or no buffer for it, for %s of the time", Percent(timeShare(s.Senders, devices)))
	}
}

// heldByEndsSentence says which end was what the connections waited for most, and the way out. The device's own end is none of these.
func heldByEndsSentence(s report.Sessions) string {
	t, idle := s.Senders, idleTime(s.Senders)
	if s.Device != nil && s.Device.Is == report.Receiver {
		t.ReceiverLimited = 0
	} else if s.Device != nil {
		t.BufferLimited, idle = 0, 0
	}
	switch {
	case t.ReceiverLimited >= max(t.BufferLimited, idle):
		return fmt.Sprintf("the receiver was too slow, or its window too small, for %s of the time: a lower bound (give traffic.sessions.window more, or the receiver more CPU)", Percent(timeShare(t, t.ReceiverLimited)))
	case t.BufferLimited >= idle:
		return fmt.Sprintf("the sender's buffer was too small for %s of the time: a lower bound (give traffic.sessions.window more)", Percent(timeShare(t, t.BufferLimited)))
	default:
		return fmt.Sprintf("the sender had nothing to send for %s of the time: a lower bound (give the senders more CPU, or traffic.sessions.window more)", Percent(timeShare(t, idle)))
	}
}

// mostUntold is how much of the time in which was sent a receiver that is silent where nothing comes may not have told of, and its goodput still is that of the time that it told of: iperf 2 tells each half
// second, and of TCP its sender has another clock.
const mostUntold = plan.Duration(750 * time.Millisecond)

// untold says that a receiver of TCP fell silent: its own clock, by which goodput is, stood still.
func untold(s report.Sessions) bool { return s.Datagrams == nil && s.SentIn-s.ReceivedIn > mostUntold }

func untoldSentence(s report.Sessions) string {
	return fmt.Sprintf("the receiving program told of %s of the %s in which was sent: a lower bound (it is silent where nothing comes any more, as where the device stops forwarding)",
		s.ReceivedIn.Std().Round(time.Millisecond), s.SentIn.Std().Round(time.Millisecond))
}

// reached says that 99 % of a load that was asked for was had, as of a load of frames; of all that can be had it never is.
func reached(bitsPerSecond, asked int64) bool { return asked > 0 && 100*bitsPerSecond >= 99*asked }

// notThePaths is SessionLimit.NotThePaths.
func notThePaths(s report.Sessions) string {
	switch {
	case s.Disturbed > 0:
		return "those who carry frames waited for processors"
	case waitedShare(s) > mostEndsWaited:
		return endsWaitedWhy
	case droppedByEnds(s):
		return "an end itself dropped what may have been the connections'"
	case s.Ends != nil && s.Ends.Unknown != "":
		return "what the ends themselves cost is not known"
	}
	return ""
}

// idleTime is the time in which senders had nothing to send, timeShare a time's share of the connections' time, and waitedShare that in which ends waited.
func idleTime(t report.SenderTime) plan.Duration { return max(0, t.Observed-t.Busy) }

func timeShare(t report.SenderTime, d plan.Duration) units.Ratio {
	return units.RatioOf(int64(d), int64(t.Observed))
}

func waitedShare(s report.Sessions) units.Ratio {
	t := s.Senders
	if s.Datagrams != nil { // whose senders' times nobody looks at
		t.Observed = s.SentIn * plan.Duration(s.Connections)
	}
	return min(timeShare(t, s.EndsWaited), units.One)
}

// endsWaitedWhy is why no figure is the path's where the ends waited for more than mostEndsWaited.
const endsWaitedWhy = "the ends' programs waited for processors"

func waitedSentence(s report.Sessions) string {
	return fmt.Sprintf("the ends' programs waited for processors for %s of the connections' time: a lower bound (give the ends processors that nothing else uses)", Percent(waitedShare(s)))
}

// SessionsSentence says what the sessions did: "48.20 Mbps goodput, 12 retransmits, rtt 1.9 ms". Retransmits are printed as counted, whoever lost the segments.
// A round trip time is printed only where limit, which says what limited these sessions, shows that it is the path's.
func SessionsSentence(s report.Sessions, limit SessionLimit) string {
	if s.Datagrams != nil {
		return datagramsSentence(s, limit)
	}
	said := wording.BitRate(s.GoodputBitsPerSecond) + " goodput, " + wording.Counted(int(s.RetransmittedSegments), "retransmit")
	if s.RoundTrip != nil && limit.NotThePaths == "" {
		said += ", rtt " + wording.Microseconds(s.RoundTrip.MeanMicroseconds)
	}
	return said
}

// OfSessions says that a window is of sessions, and not of frames, and has what all its directions did.
func OfSessions(w report.Window) bool {
	return len(w.Directions) > 0 && !slices.ContainsFunc(w.Directions, func(d report.Measured) bool { return d.Sessions == nil })
}

// SessionsTogether is the sessions of one direction in several windows: counters and times are added up, so that goodput is all that was received in all the time; nil
// where one of them has none.
func SessionsTogether(parts []*report.Sessions) *report.Sessions {
	whole := addSessions(parts, false)
	if whole == nil {
		return nil
	}
	for _, p := range parts {
		whole.Connections, whole.AskedBitsPerSecond = max(whole.Connections, p.Connections), max(whole.AskedBitsPerSecond, p.AskedBitsPerSecond)
		whole.ReceivedIn, whole.SentIn = whole.ReceivedIn+p.ReceivedIn, whole.SentIn+p.SentIn
	}
	rateSessions(whole)
	return whole
}

// SessionsSum is the sessions of all directions of one moment: counters, rates and connections are added up; nil where one of them has none.
func SessionsSum(directions []report.Measured) *report.Sessions {
	var parts []*report.Sessions
	for _, d := range directions {
		parts = append(parts, d.Sessions)
	}
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

// addSessions adds up all but connections, the receivers' time and what follows from it; nil where there is nothing to add, or one part is missing. Parts of one moment
// are directions, whose ends are the same.
func addSessions(parts []*report.Sessions, atOneMoment bool) *report.Sessions {
	if len(parts) == 0 || slices.Contains(parts, nil) {
		return nil
	}
	sum := &report.Sessions{}
	var means, samples int64
	var ends []*report.SessionEnds
	var disturbances []*report.Disturbance
	sum.Device = deviceTogether(parts)
	for _, p := range parts {
		ends, disturbances = append(ends, p.Ends), append(disturbances, p.Disturbance)
		if sum.Disturbed += p.Disturbed; atOneMoment {
			sum.Disturbed = max(sum.Disturbed-p.Disturbed, p.Disturbed) // it is the same machine's
		}
		sum.EndsWaited += p.EndsWaited
		sum.WrittenBytes, sum.AcknowledgedBytes, sum.ReceivedBytes = sum.WrittenBytes+p.WrittenBytes, sum.AcknowledgedBytes+p.AcknowledgedBytes, sum.ReceivedBytes+p.ReceivedBytes
		sum.Segments, sum.RetransmittedSegments = sum.Segments+p.Segments, sum.RetransmittedSegments+p.RetransmittedSegments
		sum.SentBytes, sum.RetransmittedBytes = sum.SentBytes+p.SentBytes, sum.RetransmittedBytes+p.RetransmittedBytes
		sum.Datagrams = addDatagrams(sum.Datagrams, p.Datagrams)
		a, b := &sum.Senders, p.Senders
		a.Observed, a.Busy, a.ReceiverLimited, a.BufferLimited = a.Observed+b.Observed, a.Busy+b.Busy, a.ReceiverLimited+b.ReceiverLimited, a.BufferLimited+b.BufferLimited
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

// deviceTogether is what the device's own end did in several windows; nil: it is none, or sends in some of them and receives in others.
func deviceTogether(parts []*report.Sessions) *report.DeviceEnd {
	if slices.ContainsFunc(parts, func(p *report.Sessions) bool {
		return p.Device == nil || parts[0].Device == nil || p.Device.Is != parts[0].Device.Is
	}) {
		return nil
	}
	var dropped []*report.SessionEnds
	for _, p := range parts {
		dropped = append(dropped, &report.SessionEnds{Dropped: p.Device.Dropped})
	}
	d := &report.DeviceEnd{Is: parts[0].Device.Is}
	if all := endsTogether(dropped, false); all != nil {
		d.Dropped = all.Dropped
	}
	return d
}
