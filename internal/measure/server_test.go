package measure

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

const box = "the iperf3 server at 192.0.2.1:5201"

// toServer is a second of two TCP connections to a server, and fromServer one of connections from it.
func toServer(changes ...func(*report.Sessions)) report.Sessions {
	s := report.Sessions{Connections: 2, GoodputBitsPerSecond: 50e6, ReceivedIn: plan.Duration(time.Second),
		Senders: report.SenderTime{Observed: plan.Duration(2 * time.Second), Busy: plan.Duration(2 * time.Second),
			Samples: 100, HeldByPath: 90},
		Device: &report.DeviceEnd{Role: report.Receiver, Server: box}}
	for _, change := range changes {
		change(&s)
	}
	return s
}

func fromServer(s *report.Sessions) {
	s.Device, s.Senders = &report.DeviceEnd{Role: report.Sender, Server: box},
		report.SenderTime{Observed: plan.Duration(2 * time.Second)}
}

func overUDP(s *report.Sessions) {
	s.SentIn, s.AskedBitsPerSecond, s.WrittenBytes = plan.Duration(time.Second), 80e6, 10e6
	s.Datagrams = &report.Datagrams{Sent: 10_000, Received: 6_000, Lost: 3_990, LostAtLeast: true}
}

func TestWhoLimitsSessionsWithAServer(t *testing.T) {
	asked := func(bits int64) func(*report.Sessions) {
		return func(s *report.Sessions) { s.AskedBitsPerSecond = bits }
	}
	for name, c := range map[string]struct {
		sessions report.Sessions
		want     Limiting
		words    string
	}{
		"congestion control held it back": {toServer(), ByPath, "between the generator and the server's program"},
		"its window was full": {toServer(func(s *report.Sessions) {
			s.Senders.ReceiverLimited = plan.Duration(time.Second / 2)
		}), ByServer, box + " was full for 25 % of the time"},
		"nothing held it back": {toServer(func(s *report.Sessions) {
			s.Senders.HeldByPath = 10
		}), ByUnknown, "a lower bound"},
		"this end had nothing to send": {toServer(func(s *report.Sessions) {
			s.Senders.Busy = plan.Duration(time.Second)
		}), ByEnds, "a lower bound"},
		"all came":    {toServer(asked(50e6)), ByLoad, "all that was asked for came"},
		"it sent":     {toServer(fromServer), ByServer, "reports nothing of what its connections waited for"},
		"it sent all": {toServer(fromServer, asked(50e6)), ByLoad, "all that was asked for came"},
		"this machine waited": {toServer(fromServer, func(s *report.Sessions) {
			s.EndsWaited = s.Senders.Observed / 2
		}), ByEnds, "waited for processors"},
		"others were disturbed": {toServer(fromServer, func(s *report.Sessions) {
			s.Disturbed = plan.Duration(time.Second)
		}), ByMachine, ""},
		"datagrams were lost": {toServer(overUDP), ByServer, "UdpRcvbufErrors"},
		"it sent few datagrams": {toServer(fromServer, overUDP, func(s *report.Sessions) {
			s.WrittenBytes, s.Datagrams.LostAtLeast, s.Datagrams.Lost = 5e6, false, 4_000
		}), ByServer, box + " sent only 40.00 Mb/s of 80.00 Mb/s"},
	} {
		limit := LimitOfSessions(c.sessions)
		if limit.Cause != c.want || !strings.Contains(limit.Sentence, c.words) {
			t.Errorf("%s: %s, %s", name, limit.Cause, limit.Sentence)
		}
		bound := c.want != ByPath && c.want != ByServer
		if limit.ByDevice() == bound || (limit.Reason() == report.EndpointLimited) != (c.want == ByServer) {
			t.Errorf("%s: a lower bound: %v, %s", name, !limit.ByDevice(), limit.Reason())
		}
	}
	if text := SessionsSentence(toServer(fromServer), SessionLimit{}); strings.Contains(text, "retransmit") {
		t.Errorf("what a server sent again: %s", text)
	}
}

// Each connection's part is the difference of its own counters, in a window and in several.
func TestThePartOfEachConnection(t *testing.T) {
	edge := func(at time.Duration, first, second int64) (Sending, Receiving) {
		return Sending{At: at, Connections: 2, Each: []ConnectionSending{{AcknowledgedBytes: first,
				RetransmittedSegments: first / 10}, {AcknowledgedBytes: second}}},
			Receiving{At: at, Connections: 2, Bytes: first + second, Each: []int64{first, second}}
	}
	span := SessionSpan{From: "west", To: plan.DeviceEnd, Server: box, Device: &EndSpan{Link: plan.DeviceEnd}}
	for i, bytes := range []int64{1000, 4000} {
		s, r := edge(time.Duration(i+1)*time.Second, bytes, 2*bytes)
		span.Sending, span.Receiving = append(span.Sending, s), append(span.Receiving, r)
	}
	window := Sessions(span).Sessions
	whole := CombineSessions([]*report.Sessions{window, window})
	if len(whole.Each) != 2 || whole.Each[0].ReceivedBytes != 6000 || whole.Each[1].ReceivedBytes != 12000 ||
		*whole.Each[0].Retransmits != 600 || whole.ReceivedBytes != 18000 {
		t.Errorf("%+v of %d bytes", whole.Each, whole.ReceivedBytes)
	}
	span.From, span.To = plan.DeviceEnd, "west"
	if Sessions(span).Sessions.Each[0].Retransmits != nil {
		t.Error("what a server sends again is known to nobody else")
	}
}
