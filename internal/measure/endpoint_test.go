package measure

import (
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Where the device is an end itself, what that end costs is the device's, and what the generator's end costs stays
// the generator's.
func TestWhatTheDevicesOwnEndTakesIsTheDevices(t *testing.T) {
	second := plan.Duration(time.Second)
	sent := report.SenderTime{Observed: 10 * second, Busy: 10 * second, Samples: 100}
	with := func(change func(*report.SenderTime)) report.SenderTime {
		s := sent
		change(&s)
		return s
	}
	receiverFull, nothingToSend := with(func(s *report.SenderTime) { s.ReceiverLimited = 8 * second }), with(func(s *report.SenderTime) { s.Busy = 2 * second })
	bufferSmall, byCongestion := with(func(s *report.SenderTime) { s.BufferLimited = 8 * second }), with(func(s *report.SenderTime) { s.HeldByPath = 90 })
	for name, c := range map[string]struct {
		device  string
		senders report.SenderTime
		by      Limiting
		words   string
	}{
		"the device's window is full":       {report.Receiver, receiverFull, ByPath, "held back by the device, whose receive window was full for 80 % of the time"},
		"the generator's window is full":    {report.Sender, receiverFull, ByEnds, "the receiver was too slow, or its window too small, for 80 % of the time"},
		"the device has nothing to send":    {report.Sender, nothingToSend, ByPath, "held back by the device, which had nothing to send, or no buffer for it, for 80 % of the time"},
		"the generator has nothing to send": {report.Receiver, nothingToSend, ByEnds, "the sender had nothing to send for 80 % of the time"},
		"the device's buffer is too small":  {report.Sender, bufferSmall, ByPath, "held back by the device"},
		"the generator's is":                {report.Receiver, bufferSmall, ByEnds, "the sender's buffer was too small for 80 % of the time"},
		"neither":                           {report.Receiver, byCongestion, ByPath, "held back by the device, or what is between it and the generator"},
		"nobody knows":                      {report.Receiver, sent, ByUnknown, "congestion control held the connections back in only 0 % of the samples"},
		"no device at an end":               {"", receiverFull, ByEnds, "the receiver was too slow"},
	} {
		t.Run(name, func(t *testing.T) {
			s := report.Sessions{Connections: 10, Senders: c.senders, GoodputBitsPerSecond: 1}
			if c.device != "" {
				s.Device = &report.DeviceEnd{Role: c.device}
			}
			if l := LimitOfSessions(s); l.Cause != c.by || !strings.HasPrefix(l.Sentence, c.words) {
				t.Errorf("%s: %s", l.Cause, l.Sentence)
			}
		})
	}
}

func TestDatagramsOfADeviceThatIsAnEnd(t *testing.T) {
	for name, c := range map[string]struct {
		device  string
		sent    int64 // bytes, of a second at 8000 bits
		dropped int64
		waited  time.Duration // the generator's end for a processor
		by      Limiting
		words   string
	}{
		"its sockets have no room":             {report.Receiver, 1000, 5, 50 * time.Millisecond, ByPath, "8.00 kb/s was sent, as asked for, and the device (whose own sockets had no room for 5), or what is before it, lost the rest"},
		"the generator's sockets have no room": {report.Sender, 1000, 5, 0, ByEnds, "the receiver's own sockets had no room for 5 of the datagrams that came"},
		"it sends too little":                  {report.Sender, 500, 0, 0, ByPath, "the device sent only 4.00 kb/s of 8.00 kb/s asked for"},
		"the generator sends too little":       {report.Receiver, 500, 0, 0, ByEnds, "the sender sent only 4.00 kb/s of 8.00 kb/s asked for"},
		"its sockets have no room for bursts":  {report.Receiver, 1000, 5, 60 * time.Millisecond, ByEnds, "the ends' programs waited for processors for 6 % of the connections' time: a lower bound"},
		"it may wait for the generator":        {report.Sender, 500, 0, 60 * time.Millisecond, ByEnds, "the ends' programs waited for processors for 6 % of the connections' time: a lower bound"},
	} {
		t.Run(name, func(t *testing.T) {
			s := report.Sessions{Connections: 1, AskedBitsPerSecond: 8000, WrittenBytes: c.sent, SentIn: plan.Duration(time.Second), EndsWaited: plan.Duration(c.waited), Device: &report.DeviceEnd{Role: c.device},
				Datagrams: &report.Datagrams{Sent: 100, Received: 95, Lost: 5, DroppedByReceiver: c.dropped}}
			if l := LimitOfSessions(s); l.Cause != c.by || !strings.HasPrefix(l.Sentence, c.words) || c.waited > 50*time.Millisecond && l.PathDoubt == "" {
				t.Errorf("%s: %s; %q", l.Cause, l.Sentence, l.PathDoubt)
			}
		})
	}
}

// What the device's end dropped is told, and is none of the ends' faults; it is added up over windows.
func TestTheDevicesDropsAreItsOwn(t *testing.T) {
	counted := func(missed int64) *Drops {
		return &Drops{Interface: "eth1", Counters: map[string]int64{"rx_missed_errors": missed, QueueDrops: 0}}
	}
	same := &Waits{Program: "p"}
	s := span(func(s *SessionSpan) {
		s.To = plan.DeviceEnd
		s.Ends = []EndSpan{{Link: "west", First: counted(0), Last: counted(0), WaitsFirst: same, WaitsLast: same}}
		s.Device = &EndSpan{Link: plan.DeviceEnd, First: counted(1), Last: counted(8), WaitsFirst: same, WaitsLast: same}
	})
	one := Sessions(s).Sessions
	if one.Ends != nil || one.Device == nil || one.Device.Role != report.Receiver || len(one.Device.Dropped) != 1 || one.Device.Dropped[0].Packets != 7 {
		t.Fatalf("ends %+v, device %+v", one.Ends, one.Device)
	}
	if l := LimitOfSessions(*one); l.Cause != ByPath {
		t.Errorf("%s: %s", l.Cause, l.Sentence)
	}
	if both := CombineSessions([]*report.Sessions{one, one}); both.Device == nil || both.Device.Dropped[0].Packets != 14 {
		t.Errorf("two windows: %+v", both.Device)
	}
	sends := *one
	sends.Device = &report.DeviceEnd{Role: report.Sender}
	if all := SumSessions([]report.Direction{{Sessions: one}, {Sessions: &sends}}); all.Device != nil {
		t.Errorf("a device that sends and receives is %+v", all.Device)
	}
}
