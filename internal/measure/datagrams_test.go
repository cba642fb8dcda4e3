package measure

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// datagramSpan is a window of a second in which streams were sent so many datagrams of 1000 bytes, and of each came
// the others.
func datagramSpan(asked int64, sent []int64, overdue []int64, came []Arrivals) SessionSpan {
	s := SessionSpan{From: "west", To: "east", Asked: asked, Window: time.Second}
	n := len(sent)
	s.Sending = []Sending{{Connections: n, Datagrams: make([]int64, n)}, {At: time.Second, Connections: n, Datagrams: sent, Overdue: overdue}}
	s.Receiving = []Receiving{{Connections: n, Streams: make([]Arrivals, n)}, {At: time.Second, Connections: n, Streams: came, Jitter: 1500 * time.Microsecond}}
	for _, d := range sent {
		s.Sending[1].WrittenBytes, s.Sending[1].SentBytes = s.Sending[1].WrittenBytes+1000*d, s.Sending[1].SentBytes+1000*d
	}
	for _, c := range came {
		s.Receiving[1].Bytes += 1000 * c.Distinct
	}
	for _, link := range []string{"west", "east"} {
		counters := map[string]int64{"rx_dropped": 0, QueueDrops: 0}
		waits := &Waits{Program: "one"}
		s.Ends = append(s.Ends, EndSpan{Link: link, First: &Drops{Interface: link, Counters: counters}, Last: &Drops{Interface: link, Counters: counters}, WaitsFirst: waits, WaitsLast: waits})
	}
	return s
}

func TestWhatBecameOfDatagrams(t *testing.T) {
	const asked = 8_000_000 // 1000 datagrams in a second
	for name, c := range map[string]struct {
		span   SessionSpan
		lost   int64
		reason report.Reason
		says   string
	}{
		"all came":                               {datagramSpan(asked, []int64{1000}, []int64{500}, []Arrivals{{1000, 1000}}), 0, report.TargetReached, "all that was asked for came"},
		"the last ones are under way":            {datagramSpan(asked, []int64{1000}, []int64{500}, []Arrivals{{950, 950}}), 0, report.TargetReached, "0 of 950 datagrams were lost (0 %)"},
		"gaps":                                   {datagramSpan(asked, []int64{1000}, []int64{500}, []Arrivals{{1000, 990}}), 10, report.PathLimited, "10 of 1000 datagrams were lost (1 %), jitter 1.5 ms; 8.00 Mb/s was sent"},
		"nothing came any more":                  {datagramSpan(asked, []int64{1000}, []int64{500}, []Arrivals{{100, 100}}), 400, report.PathLimited, "400 of 500 datagrams were lost (80 %)"},
		"nothing came at all":                    {datagramSpan(asked, []int64{1000}, []int64{500}, []Arrivals{{}}), 500, report.PathLimited, "500 of 500 datagrams were lost (100 %)"},
		"one of two streams is blocked":          {datagramSpan(asked, []int64{500, 500}, []int64{250, 250}, []Arrivals{{500, 500}, {}}), 250, report.PathLimited, "250 of 750 datagrams were lost"},
		"the sender was too weak":                {datagramSpan(asked, []int64{800}, []int64{400}, []Arrivals{{800, 790}}), 10, report.GeneratorLimited, "the sender sent only 6.40 Mb/s of 8.00 Mb/s asked for"},
		"the driver has no older reading so far": {datagramSpan(asked, []int64{1000}, nil, []Arrivals{{1000, 990}}), 10, report.PathLimited, "10 of 1000"},
	} {
		m := Sessions(c.span)
		if m.Quality != report.Good || m.Sessions == nil || m.Sessions.Datagrams == nil {
			t.Errorf("%s: %+v", name, m)
			continue
		}
		d := *m.Sessions.Datagrams
		if d.Lost != c.lost || LimitOfSessions(*m.Sessions).Reason() != c.reason || !strings.Contains(m.Reason, c.says) {
			t.Errorf("%s: %+v, %s: %s; want %d lost, %s, %q", name, d, LimitOfSessions(*m.Sessions).Reason(), m.Reason, c.lost, c.reason, c.says)
		}
	}
}

// Counters go on from window to window: what came, was lost, doubled or late before a window is no part of it.
func TestWhatWasCountedBeforeAWindowIsNoPartOfIt(t *testing.T) {
	first := datagramSpan(8_000_000, []int64{1000}, []int64{500}, []Arrivals{{1000, 990}})
	last := &first.Receiving[1]
	last.OutOfOrder, last.Duplicates, last.Dropped = 3, 2, 1
	later := datagramSpan(8_000_000, []int64{6000}, []int64{5500}, []Arrivals{{6000, 5890}})
	from, to := &later.Receiving[0], &later.Receiving[1]
	later.Sending[0].Datagrams, later.Sending[0].WrittenBytes, later.Sending[0].SentBytes = []int64{5000}, 5_000_000, 5_000_000
	from.Streams, from.Bytes, from.OutOfOrder, from.Duplicates, from.Dropped = []Arrivals{{5000, 4900}}, 4_900_000, 40, 50, 60
	to.OutOfOrder, to.Duplicates, to.Dropped = 43, 52, 61
	if a, b := Sessions(first), Sessions(later); a.Sessions == nil || !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a.Sessions, b.Sessions)
	}
}

// What was sent long ago, and of which the receiver knows neither that it came nor that it is missing, isn't under
// way: so nothing is claimed of it.
func TestDatagramsThatNobodyKnowsOf(t *testing.T) {
	s := datagramSpan(800_000, []int64{1000}, nil, []Arrivals{{500, 500}})
	s.Window, s.Sending[1].At, s.Receiving[1].At = 10*time.Second, 10*time.Second, 10*time.Second
	m := Sessions(s)
	if l := LimitOfSessions(*m.Sessions); l.Reason() != report.Inconclusive || l.PathDoubt == "" || !strings.Contains(m.Reason, "1000 datagrams were sent, and the receiver knows of 500 only") {
		t.Errorf("%s: %s", l.Reason(), m.Reason)
	}
}

// What an end lost itself is never the device's: no share is told, and the figure is a lower bound.
func TestDatagramsThatEndsLost(t *testing.T) {
	lossy := func(change func(*SessionSpan)) SessionSpan {
		s := datagramSpan(8_000_000, []int64{1000}, []int64{500}, []Arrivals{{1000, 900}})
		change(&s)
		return s
	}
	for name, c := range map[string]struct {
		span   SessionSpan
		reason report.Reason
		says   string
	}{
		"the receiver's socket": {lossy(func(s *SessionSpan) { s.Receiving[1].Dropped = 3 }), report.GeneratorLimited, "the receiver's own sockets had no room for 3"},
		"an end's network card": {lossy(func(s *SessionSpan) {
			s.Ends[1].Last = &Drops{Interface: "east", Counters: map[string]int64{"rx_dropped": 7, QueueDrops: 0}}
		}), report.GeneratorLimited, "the end of link east itself dropped 7, where 100 of 1000 datagrams were lost"},
		"fragments, which the device may have lost others of": {lossy(func(s *SessionSpan) {
			s.Ends[1].Last = &Drops{Interface: "east", Counters: map[string]int64{"rx_dropped": 0, QueueDrops: 0, FragmentDrops: 7}}
		}), report.Inconclusive, "an end gave up 7 that arrived (ReasmFails)"},
		"nobody knows": {lossy(func(s *SessionSpan) { s.Ends[0].Last = nil }), report.Inconclusive, "how much the ends themselves lost or waited is not known"},
		"the machine": {lossy(func(s *SessionSpan) {
			s.Disturbance = &report.Disturbance{Over: 1e9, Waited: 3e8}
		}), report.MachineLimited, "lower bound"},
	} {
		m := Sessions(c.span)
		limit := LimitOfSessions(*m.Sessions)
		if limit.Reason() != c.reason || limit.PathDoubt == "" || !strings.Contains(m.Reason, c.says) || strings.Contains(m.Reason, "jitter") || strings.Contains(m.Reason, "(10 %)") {
			t.Errorf("%s: %s, %q: %s", name, limit.Reason(), limit.PathDoubt, m.Reason)
		}
	}
}

// A receiver that is silent where nothing comes any more, as iperf 2 is: what it doesn't tell of may be lost, and
// what it tells is a bound.
func TestDatagramsOfAReceiverThatDoesNotTellAll(t *testing.T) {
	const asked = 8_000_000 // 1000 datagrams in a second
	for name, c := range map[string]struct {
		came        Arrivals
		told        time.Duration // by the receiver's clock
		reason      report.Reason
		most        string
		goodput     int64
		path, bound bool
		says        string
	}{
		"all came":                      {Arrivals{1000, 1000}, time.Second, report.TargetReached, "0", asked, true, false, "0 of 1000 datagrams were lost (0 %)"},
		"the last ones aren't told of":  {Arrivals{995, 985}, time.Second, report.PathLimited, "0.015", 7_880_000, true, true, "10 of 995 datagrams were lost (1.005 % to 1.5 %)"},
		"the last tenth isn't told of":  {Arrivals{900, 900}, time.Second, report.Inconclusive, "0.1", 7_200_000, false, false, "1000 datagrams were sent, and the receiver knows of 900 only"},
		"it stopped telling in between": {Arrivals{500, 500}, time.Second / 2, report.Inconclusive, "0.5", 4_000_000, false, false, "the receiving program reported only 500ms of the 1s in which data was sent: a lower bound"},
	} {
		s := datagramSpan(asked, []int64{1000}, nil, []Arrivals{c.came})
		s.LostAtLeast, s.Receiving[1].At = true, c.told
		m := Sessions(s)
		limit, d := LimitOfSessions(*m.Sessions), *m.Sessions.Datagrams
		if limit.Reason() != c.reason || d.MostLossRatio().String() != c.most || m.Sessions.GoodputBitsPerSecond != c.goodput || (limit.PathDoubt == "") != c.path || limit.Carried && !c.bound || !strings.Contains(m.Reason, c.says) {
			t.Errorf("%s: %s, up to %s, %+v: %s", name, limit.Reason(), d.MostLossRatio(), limit, m.Reason)
		}
	}
}

// Jitter that may be waits of the ends' own threads is nobody's figure; what was lost stays one.
func TestJitterOfEndsThatWaited(t *testing.T) {
	for name, c := range map[string]struct {
		waited time.Duration
		told   bool
	}{
		"never":                             {0, true},
		"up to 0.7 ms of 1.5 ms are theirs": {350 * time.Millisecond, true}, // twice the wait, over 990 datagrams
		"up to 0.8 ms of 1.5 ms are theirs": {400 * time.Millisecond, false},
	} {
		s := datagramSpan(8_000_000, []int64{1000}, []int64{500}, []Arrivals{{1000, 990}})
		last := *s.Ends[0].WaitsLast
		last.Waited = c.waited
		for i := range s.Ends {
			s.Ends[i].WaitsLast = &last
		}
		m := Sessions(s)
		limit := LimitOfSessions(*m.Sessions)
		if (limit.JitterDoubt == "") != c.told || strings.Contains(m.Reason, "jitter 1.5 ms") != c.told || limit.PathDoubt != "" || !strings.Contains(m.Reason, "(1 %)") {
			t.Errorf("%s: %q: %s", name, limit.JitterDoubt, m.Reason)
		}
	}
}

func TestDatagramsTogether(t *testing.T) {
	window := func(lost int64) report.Direction {
		return Sessions(datagramSpan(8_000_000, []int64{1000}, []int64{500}, []Arrivals{{1000, 1000 - lost}}))
	}
	a, b := window(10), window(30)
	whole := CombineSessions([]*report.Sessions{a.Sessions, b.Sessions})
	if d := whole.Datagrams; d.Sent != 2000 || d.Received != 1960 || d.Lost != 40 || d.LossRatio.String() != "0.02" || whole.AskedBitsPerSecond != 8_000_000 || d.JitterMicroseconds != 1500 {
		t.Errorf("two windows: %+v of %d bit/s", d, whole.AskedBitsPerSecond)
	}
	var windows []*report.Sessions
	for range 60 {
		w := *a.Sessions
		d := *w.Datagrams
		d.JitterMicroseconds = 25
		w.Datagrams = &d
		windows = append(windows, &w)
	}
	if d := CombineSessions(windows).Datagrams; d.JitterMicroseconds != 25 {
		t.Errorf("60 windows of 25 µs have a jitter of %d µs", d.JitterMicroseconds)
	}
	sum := SumSessions([]report.Direction{a, b})
	if d := sum.Datagrams; d.LossRatio.String() != "0.02" || sum.AskedBitsPerSecond != 16_000_000 || sum.GoodputBitsPerSecond != a.Sessions.GoodputBitsPerSecond+b.Sessions.GoodputBitsPerSecond {
		t.Errorf("two directions: %+v, %d of %d bit/s", d, sum.GoodputBitsPerSecond, sum.AskedBitsPerSecond)
	}
}

func TestAReceiverOfOtherStreamsIsNone(t *testing.T) {
	s := datagramSpan(8_000_000, []int64{500, 500}, nil, []Arrivals{{500, 500}, {500, 500}})
	s.Receiving[1].Streams = s.Receiving[1].Streams[:1]
	if m := Sessions(s); m.Quality != report.Invalid || !strings.Contains(m.Reason, "of 2 streams of datagrams west→east the receiver had 1") {
		t.Errorf("%s: %s", m.Quality, m.Reason)
	}
}

// A TCP connection that is asked for less than it carries is held back by nobody, and its round trip is a figure.
func TestTCPThatIsAskedForLess(t *testing.T) {
	for name, c := range map[string]struct {
		goodput int64
		want    Limiting
	}{"it came": {9_950_000, ByLoad}, "it did not": {9_000_000, ByEnds}} {
		s := report.Sessions{Connections: 1, AskedBitsPerSecond: 10_000_000, GoodputBitsPerSecond: c.goodput, Senders: report.SenderTime{Observed: 1e9, Busy: 1e8, Samples: 50}}
		if l := LimitOfSessions(s); l.Cause != c.want || l.PathDoubt != "" {
			t.Errorf("%s: %+v", name, l)
		}
	}
}
