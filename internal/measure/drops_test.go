package measure

import (
	"reflect"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// ended is what both ends of span's direction said: nothing was dropped, but for what a change adds to what east
// said last.
func ended(change func(east *EndSpan)) func(*SessionSpan) {
	counters := func() map[string]int64 {
		return map[string]int64{"rx_dropped": 7, "rx_missed_errors": 0, "TCPRcvQDrop": 3, "TCPBacklogDrop": 0, QueueDrops: 2}
	}
	return func(s *SessionSpan) {
		for _, link := range []string{"west", "east"} {
			s.Ends = append(s.Ends, EndSpan{Link: link, First: &Drops{Interface: link + "0", Counters: counters()}, Last: &Drops{Interface: link + "0", Counters: counters()},
				WaitsFirst: &Waits{Program: link}, WaitsLast: &Waits{Program: link}})
		}
		change(&s.Ends[1])
	}
}

func TestWhatAnEndDropsIsNoPathsLoss(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*EndSpan)
		want   *report.SessionEnds
		reason report.Reason
		says   string
	}{
		"ends that dropped something before, and nothing meanwhile": {func(*EndSpan) {}, nil, report.PathLimited, "between the ends"},
		"a single frame, in the backlog of the end's processor": {
			func(e *EndSpan) { e.Last.Counters["rx_dropped"]++ },
			&report.SessionEnds{Dropped: []report.EndDrop{{Link: "east", Interface: "east0", Counter: "rx_dropped", Packets: 1}}}, report.GeneratorLimited,
			"the end of link east itself dropped 1, where 12 segments were sent again (rx_dropped of east0: the kernel had no room for what came (softnet backlog), or nobody there speaks its protocol), and TCP slows down for each: a lower bound (give the end more CPU",
		},
		"frames in the ring, and segments in a socket: the most is named": {
			func(e *EndSpan) { e.Last.Counters["rx_missed_errors"], e.Last.Counters["TCPRcvQDrop"] = 12, 5 },
			&report.SessionEnds{Dropped: []report.EndDrop{{Link: "east", Interface: "east0", Counter: "TCPRcvQDrop", Packets: 2}, {Link: "east", Interface: "east0", Counter: "rx_missed_errors", Packets: 12}}},
			report.GeneratorLimited, "dropped 12, where 12 segments were sent again (rx_missed_errors of east0: the network card had no free buffer), and TCP slows down for each: a lower bound (enlarge its receive ring with ethtool -G",
		},
		"a single segment, in the queue before the interface": {
			func(e *EndSpan) { e.Last.Counters[QueueDrops]++ },
			&report.SessionEnds{Dropped: []report.EndDrop{{Link: "east", Interface: "east0", Counter: QueueDrops, Packets: 1}}}, report.GeneratorLimited,
			"dropped 1, where 12 segments were sent again (qdisc_drops of east0: its queueing discipline dropped what was to be sent, before the device saw any of it)",
		},
		"an end of a linerate that doesn't look into the queue": {
			func(e *EndSpan) { delete(e.First.Counters, QueueDrops) },
			&report.SessionEnds{Unknown: "link east: its end does not report what its queueing discipline drops; use the same linerate for both ends"}, report.Inconclusive, "use the same linerate for both",
		},
		"counters that could not be read": {
			func(e *EndSpan) { e.Last = &Drops{Unread: "what TCP dropped: no such file"} },
			&report.SessionEnds{Unknown: "link east: what TCP dropped: no such file"}, report.Inconclusive, "how much the ends themselves lost or waited is not known (link east: what TCP dropped: no such file): a lower bound",
		},
		"an end of a linerate that doesn't tell": {
			func(e *EndSpan) { e.First, e.Last = nil, nil },
			&report.SessionEnds{Unknown: "link east: its end does not report what it drops; use the same linerate for both ends"}, report.Inconclusive, "use the same linerate for both",
		},
		"a counter that went back": {
			func(e *EndSpan) { e.Last.Counters["rx_dropped"] = 0 },
			&report.SessionEnds{Unknown: "link east: rx_dropped of interface east0 went back: it was cleared, or the interface made anew"}, report.Inconclusive, "went back",
		},
		"a counter that is gone": {
			func(e *EndSpan) { delete(e.Last.Counters, "TCPRcvQDrop") },
			&report.SessionEnds{Unknown: "link east: TCPRcvQDrop of interface east0 went back: it was cleared, or the interface made anew"}, report.Inconclusive, "went back",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := Sessions(span(ended(c.change)))
			limit := LimitOfSessions(*m.Sessions)
			if told := strings.Contains(m.Reason, "12 retransmits, rtt "); told != (limit.PathDoubt == "") || !strings.Contains(m.Reason, "12 retransmits") {
				t.Errorf("a round trip is told: %t, and is not the path's for %q: %s", told, limit.PathDoubt, m.Reason)
			}
			if !reflect.DeepEqual(m.Sessions.Ends, c.want) || limit.Reason() != c.reason || !strings.Contains(m.Reason, c.says) {
				t.Errorf("%+v, %s: %s\nwant %+v, %s: …%s…", m.Sessions.Ends, limit.Reason(), m.Reason, c.want, c.reason, c.says)
			}
		})
	}
}

// TestFramesOfNobodysConnectionMakeNoBoundWhereNothingWasSentAgain: what a switch sends of its own reaches an
// interface, too. Where something was sent again nobody can tell it from the connections' own, and a single drop of
// these may cost as much as a burst on the path.
func TestFramesOfNobodysConnectionMakeNoBoundWhereNothingWasSentAgain(t *testing.T) {
	for name, c := range map[string]struct {
		again, dropped int64
		counter        string
		want           report.Reason
	}{
		"nothing was sent again":             {0, 5, notOurs, report.PathLimited},
		"a hundredth of what was sent again": {100, 1, notOurs, report.GeneratorLimited},
		"more than was sent again":           {3, 5, notOurs, report.GeneratorLimited},
		"one for which there was no buffer":  {100, 1, "rx_missed_errors", report.GeneratorLimited},
		"one, and nothing was sent again":    {0, 1, "TCPRcvQDrop", report.GeneratorLimited},
		"none":                               {100, 0, notOurs, report.PathLimited},
	} {
		t.Run(name, func(t *testing.T) {
			s := span(ended(func(e *EndSpan) { e.Last.Counters[c.counter] += c.dropped }))
			s.Sending[1].RetransmittedSegments = s.Sending[0].RetransmittedSegments + c.again
			got := LimitOfSessions(*Sessions(s).Sessions)
			if got.Reason() != c.want || (got.PathDoubt != "") != (c.want != report.PathLimited) {
				t.Errorf("%+v, want %+v", got, c)
			}
		})
	}
}

// TestWhatWasNobodysConnectionsIsNotNamed: what a switch sent is more than what a socket dropped, and explains
// nothing where nothing was sent again.
func TestWhatWasNobodysConnectionsIsNotNamed(t *testing.T) {
	s := span(ended(func(e *EndSpan) { e.Last.Counters[notOurs] += 5; e.Last.Counters["TCPRcvQDrop"] += 2 }))
	s.Sending[1].RetransmittedSegments = s.Sending[0].RetransmittedSegments
	const want = "the end of link east itself dropped 2, where 0 segments were sent again (TCPRcvQDrop of east0"
	if got := LimitOfSessions(*Sessions(s).Sessions); !strings.Contains(got.Sentence, want) {
		t.Errorf("%s\nwant …%s…", got.Sentence, want)
	}
}

// TestOneWindowsDropsMakeABoundOfAll: what was sent again in other windows hides none of them.
func TestOneWindowsDropsMakeABoundOfAll(t *testing.T) {
	lossy := span(ended(func(*EndSpan) {}))
	lossy.Sending[1].RetransmittedSegments = lossy.Sending[0].RetransmittedSegments + 1000
	parts := []*report.Sessions{Sessions(span(ended(func(e *EndSpan) { e.Last.Counters[notOurs] += 5 }))).Sessions, Sessions(lossy).Sessions}
	if got := LimitOfSessions(*CombineSessions(parts)); got.Reason() != report.GeneratorLimited {
		t.Errorf("%s: %s", got.Reason(), got.Sentence)
	}
}

// Where an end was too slow besides, that is what is said: it explains more than a segment does.
func TestASlowEndThatDropsIsSlow(t *testing.T) {
	s := span(ended(func(e *EndSpan) { e.Last.Counters["TCPRcvQDrop"] = 90 }))
	s.Sending[1].ReceiverLimited = s.Sending[0].ReceiverLimited + 2e9
	if m := Sessions(s); !strings.Contains(m.Reason, "the receiver was too slow") || LimitOfSessions(*m.Sessions).Cause != ByEnds {
		t.Errorf("%s", m.Reason)
	}
}

func TestDropsOfSeveralWindowsAndDirections(t *testing.T) {
	drop := func(link string, n int64) report.EndDrop {
		return report.EndDrop{Link: link, Interface: link, Counter: "rx_dropped", Packets: n}
	}
	part := func(drops ...report.EndDrop) *report.Sessions {
		return &report.Sessions{Ends: &report.SessionEnds{Dropped: drops}}
	}
	parts := []*report.Sessions{part(drop("west", 2), drop("east", 1)), {}, part(drop("west", 3))}
	if got := CombineSessions(parts).Ends; !reflect.DeepEqual(got, &report.SessionEnds{Dropped: []report.EndDrop{drop("east", 1), drop("west", 5)}}) {
		t.Errorf("in windows together %+v, want them added up", got)
	}
	var directions []report.Direction
	for _, p := range parts {
		directions = append(directions, report.Direction{Sessions: p})
	}
	if got := SumSessions(directions).Ends; !reflect.DeepEqual(got, &report.SessionEnds{Dropped: []report.EndDrop{drop("east", 1), drop("west", 3)}}) {
		t.Errorf("in directions together %+v, want each end's once", got)
	}
	parts[1].Ends = &report.SessionEnds{Unknown: "link east: it is silent"}
	if got := CombineSessions(parts); got.Ends.Unknown == "" || LimitOfSessions(report.Sessions{Senders: parts[1].Senders, Ends: got.Ends}).Cause == ByPath {
		t.Errorf("what is not known of one window is not known of all: %+v", got.Ends)
	}
}
