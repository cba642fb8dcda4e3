package measure

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// span is a second of 4 connections that the path held back: 6 MB were received, and 12 of 4200 segments were sent
// again.
func span(options ...func(*SessionSpan)) SessionSpan {
	s := SessionSpan{From: "west", To: "east",
		Sending: []Sending{
			{At: 10 * time.Second, Connections: 4, WrittenBytes: 1_000_000, AcknowledgedBytes: 900_000, SentBytes: 950_000, Segments: 700, RetransmittedSegments: 3, Busy: 4 * time.Second,
				Samples: 40, HeldByPath: 40, RoundTripSamples: 40, RoundTrips: 40 * time.Millisecond, ShortestRoundTrip: 90 * time.Microsecond, LongestRoundTrip: time.Second},
			{At: 11 * time.Second, Connections: 4, WrittenBytes: 7_100_000, AcknowledgedBytes: 6_910_000, SentBytes: 6_970_000, RetransmittedBytes: 17_376, Segments: 4900, RetransmittedSegments: 15, Busy: 8 * time.Second,
				Samples: 240, HeldByPath: 230, RoundTripSamples: 240, RoundTrips: 420 * time.Millisecond, ShortestRoundTrip: 90 * time.Microsecond, LongestRoundTrip: 4 * time.Millisecond},
		},
		Receiving: []Receiving{{At: time.Second, Connections: 4, Bytes: 900_000}, {At: 2 * time.Second, Connections: 4, Bytes: 6_900_000}},
	}
	for _, o := range options {
		o(&s)
	}
	return s
}

func TestSessionsAreCountedBetweenTheEdges(t *testing.T) {
	m := Sessions(span())
	want := report.Sessions{Connections: 4, WrittenBytes: 6_100_000, AcknowledgedBytes: 6_010_000, ReceivedBytes: 6_000_000, ReceivedIn: plan.Duration(time.Second), GoodputBitsPerSecond: 48_000_000,
		Segments: 4200, RetransmittedSegments: 12, SentBytes: 6_020_000, RetransmittedBytes: 17_376, RetransmitRatio: units.RatioOf(12, 4200),
		Senders: report.SenderTime{Observed: plan.Duration(4 * time.Second), Busy: plan.Duration(4 * time.Second), Samples: 200, HeldByPath: 190}}
	rtt := *m.Sessions.RoundTrip
	m.Sessions.RoundTrip = nil
	if !reflect.DeepEqual(*m.Sessions, want) || rtt != (report.RoundTrip{MinMicroseconds: 90, MeanMicroseconds: 1900, MaxMicroseconds: 4000}) {
		t.Errorf("%+v, %+v\nwant %+v", *m.Sessions, rtt, want)
	}
	if m.Quality != report.Good || m.Reason != "48.00 Mb/s goodput, 12 retransmits, rtt 1.9 ms; held back by what is between the ends" {
		t.Errorf("%s: %s", m.Quality, m.Reason)
	}
	if m.Sent != (units.Traffic{}) || m.Offered != (report.Flow{}) || m.Received != (report.Flow{}) {
		t.Errorf("they pretend to be frames: %+v", m)
	}
}

// Goodput is by the receiver's clock alone: the ends' clocks have nothing to do with each other, and their readings
// are never taken at the same moment.
func TestGoodputIsByTheReceiversClock(t *testing.T) {
	s := span(func(s *SessionSpan) { s.Receiving[1].At = 3 * time.Second })
	if got := Sessions(s).Sessions.GoodputBitsPerSecond; got != 24_000_000 {
		t.Errorf("%d bit/s in two of the receiver's seconds, want 24000000", got)
	}
}

func TestSessionsThatSayNothingAreInvalid(t *testing.T) {
	last := func(change func(*Sending, *Receiving)) func(*SessionSpan) {
		return func(s *SessionSpan) { change(&s.Sending[1], &s.Receiving[1]) }
	}
	for name, c := range map[string]struct {
		change func(*SessionSpan)
		says   string
	}{
		"a sender's connection broke":            {last(func(s *Sending, _ *Receiving) { s.Broken = "connection reset by peer" }), "a connection west→east broke: connection reset by peer"},
		"a receiver's connection broke":          {last(func(_ *Sending, r *Receiving) { r.Broken = "EOF" }), "a connection west→east broke at its receiver: EOF"},
		"the sender could not be read":           {func(s *SessionSpan) { s.Sending = s.Sending[:1] }, "could not be read at both edges"},
		"the receiver could not be read":         {func(s *SessionSpan) { s.Receiving = nil }, "could not be read at both edges"},
		"a connection is missing":                {last(func(_ *Sending, r *Receiving) { r.Connections = 3 }), "of 4 connections west→east the receiver had 3"},
		"the receiver's clock stood still":       {last(func(_ *Sending, r *Receiving) { r.At = time.Second }), "an end's clock stood still"},
		"counters went back, at the sender":      {last(func(s *Sending, _ *Receiving) { s.SentBytes = 0 }), "went back"},
		"counters went back, at the receiver":    {last(func(_ *Sending, r *Receiving) { r.Bytes = 0 }), "went back"},
		"the sender was restarted in the middle": {last(func(s *Sending, _ *Receiving) { s.Segments = 0 }), "an end was restarted"},
	} {
		if m := Sessions(span(c.change)); m.Quality != report.Invalid || !strings.Contains(m.Reason, c.says) {
			t.Errorf("%s: %s, %s; want …%s…", name, m.Quality, m.Reason, c.says)
		}
	}
}

// iperf 2 tells nothing where nothing comes: the clock that goodput is by stands still, and what came before would
// be the goodput of all.
func TestGoodputOfAReceiverThatFellSilent(t *testing.T) {
	for name, c := range map[string]struct {
		told    time.Duration
		goodput int64
		reason  report.Reason
	}{
		"it told of all":                {4 * time.Second, 12_000_000, report.PathLimited},
		"its last row is still to come": {3500 * time.Millisecond, 13_714_286, report.PathLimited},
		"it is silent for a second":     {3 * time.Second, 12_000_000, report.Inconclusive},
	} {
		m := Sessions(span(func(s *SessionSpan) {
			s.LostAtLeast, s.Sending[1].At, s.Sending[1].Busy = true, s.Sending[0].At+4*time.Second, s.Sending[0].Busy+16*time.Second
			s.Receiving[1].At = s.Receiving[0].At + c.told
		}))
		if limit := LimitOfSessions(*m.Sessions); m.Sessions.GoodputBitsPerSecond != c.goodput || limit.Reason() != c.reason {
			t.Errorf("%s: %d bit/s, %s: %s", name, m.Sessions.GoodputBitsPerSecond, limit.Reason(), m.Reason)
		}
	}
}

func TestWhatLimitsSessions(t *testing.T) {
	second := func(share float64) plan.Duration { return plan.Duration(share * float64(time.Second)) }
	for name, c := range map[string]struct {
		time   report.SenderTime
		by     Limiting
		reason report.Reason
		says   string
	}{
		"the path":                          {report.SenderTime{Busy: second(1), Samples: 100, HeldByPath: 90}, ByPath, report.PathLimited, "held back by what is between the ends"},
		"the path, with a little of an end": {report.SenderTime{Busy: second(.99), ReceiverLimited: second(.03), Samples: 100, HeldByPath: 90}, ByPath, report.PathLimited, "between the ends"},
		"the receiver":                      {report.SenderTime{Busy: second(1), ReceiverLimited: second(.8), Samples: 100, HeldByPath: 10}, ByEnds, report.GeneratorLimited, "the receiver was too slow, or its window too small, for 80 %"},
		"the receiver for a small part":     {report.SenderTime{Busy: second(1), ReceiverLimited: second(.06), Samples: 100, HeldByPath: 90}, ByEnds, report.GeneratorLimited, "for 6 %"},
		"the sender's buffer":               {report.SenderTime{Busy: second(1), BufferLimited: second(.5), ReceiverLimited: second(.1), Samples: 100}, ByEnds, report.GeneratorLimited, "the sender's buffer was too small for 50 %"},
		"the sender, which had nothing":     {report.SenderTime{Busy: second(.7), BufferLimited: second(.1), Samples: 100, HeldByPath: 90}, ByEnds, report.GeneratorLimited, "the sender had nothing to send for 30 %"},
		"all three a little":                {report.SenderTime{Busy: second(.98), BufferLimited: second(.02), ReceiverLimited: second(.02), Samples: 100, HeldByPath: 90}, ByEnds, report.GeneratorLimited, "a lower bound"},
		"nothing that shows":                {report.SenderTime{Busy: second(1), Samples: 100, HeldByPath: 20}, ByUnknown, report.Inconclusive, "in only 20 % of the samples"},
		"nothing that anybody saw":          {report.SenderTime{Busy: second(1)}, ByUnknown, report.Inconclusive, "what the connections waited for was not measured"},
	} {
		c.time.Observed = second(1)
		got := LimitOfSessions(report.Sessions{Senders: c.time})
		if got.Cause != c.by || got.Reason() != c.reason || !strings.Contains(got.Sentence, c.says) {
			t.Errorf("%s: %s, %s: %s", name, got.Cause, got.Reason(), got.Sentence)
		}
	}
	if got := LimitOfSessions(report.Sessions{}); got.Cause != ByUnknown {
		t.Errorf("of no time it says %s", got.Sentence)
	}
}

// TestPropertySessionsTogether: windows side by side are the window from the first edge to the last, but for what
// only a window's own samples show.
func TestPropertySessionsTogether(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		s := SessionSpan{From: "west", To: "east", Sending: []Sending{{Connections: 2}}, Receiving: []Receiving{{Connections: 2}}}
		for range 2 + rnd.IntN(5) {
			a, r := s.Sending[len(s.Sending)-1], s.Receiving[len(s.Receiving)-1]
			took := time.Duration(1+rnd.IntN(5_000)) * time.Millisecond
			a.At, r.At = a.At+took, r.At+took+time.Duration(rnd.IntN(1000))*time.Microsecond
			n := rnd.Int64N(1e7)
			a.WrittenBytes, a.SentBytes, a.AcknowledgedBytes, r.Bytes = a.WrittenBytes+n+9, a.SentBytes+n+5, a.AcknowledgedBytes+n, r.Bytes+n
			a.Segments, a.RetransmittedSegments, a.Busy = a.Segments+n/1448+1, a.RetransmittedSegments+rnd.Int64N(3), a.Busy+2*took-time.Duration(rnd.IntN(1000))
			a.Samples, a.HeldByPath = a.Samples+100, a.HeldByPath+rnd.Int64N(100)
			s.Sending, s.Receiving = append(s.Sending, a), append(s.Receiving, r)
		}
		var parts []*report.Sessions
		for i := range len(s.Sending) - 1 {
			parts = append(parts, Sessions(SessionSpan{From: s.From, To: s.To, Sending: s.Sending[i : i+2], Receiving: s.Receiving[i : i+2]}).Sessions)
		}
		whole, together := Sessions(s).Sessions, CombineSessions(parts)
		if !reflect.DeepEqual(whole, together) {
			t.Fatalf("together\n%+v\nthe whole\n%+v", *together, *whole)
		}
		slices.Reverse(parts)
		if again := CombineSessions(parts); !reflect.DeepEqual(again, together) {
			t.Fatalf("in another order %+v", *again)
		}
	}
	if CombineSessions(nil) != nil || CombineSessions([]*report.Sessions{{}, nil}) != nil {
		t.Error("something is said of nothing")
	}
}

func TestSessionsOfAllDirections(t *testing.T) {
	a, b := Sessions(span()), Sessions(span(func(s *SessionSpan) { s.Receiving[1].Bytes, s.Receiving[1].At = 3_900_000, 1500*time.Millisecond }))
	sum := Sum([]report.Direction{a, b}, nil).Sessions
	if sum.GoodputBitsPerSecond != 96_000_000 || sum.Connections != 8 || sum.RetransmittedSegments != 24 || sum.RetransmitRatio != units.RatioOf(24, 8400) || sum.RoundTrip.MeanMicroseconds != 1900 {
		t.Errorf("%+v", sum)
	}
	if Sum([]report.Direction{{}}, nil).Sessions != nil {
		t.Error("frames have sessions")
	}
}

func TestAWindowIsOfSessionsWhereAllItsDirectionsSayWhatTheyDid(t *testing.T) {
	whole, half := report.Window{Directions: []report.Direction{Sessions(span()), Sessions(span())}}, report.Window{Directions: []report.Direction{Sessions(span()), {From: "east", To: "west"}}}
	if !OfSessions(whole) || OfSessions(half) || OfSessions(report.Window{}) {
		t.Errorf("a whole window %v, one that lacks a direction's evidence %v, one of no direction %v", OfSessions(whole), OfSessions(half), OfSessions(report.Window{}))
	}
}
