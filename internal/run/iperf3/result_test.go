package iperf3

import (
	"errors"
	"net"
	"testing"
	"time"
)

// The lost datagrams are those that the receiver misses, without the omitted ones.
func TestAReceiversCountersOfDatagrams(t *testing.T) {
	for name, c := range map[string]struct {
		sent                                           int64
		packets, errors, omittedPackets, omittedErrors number
		lost                                           int64
		want                                           error
	}{
		"nothing is lost": {sent: 100, packets: 100, omittedPackets: 40},
		"one before, and one after": {sent: 100, packets: 100, errors: 2, omittedPackets: 40,
			omittedErrors: 1, lost: 1},
		"the last ones":                         {sent: 100, packets: 98, omittedPackets: 40, lost: 2},
		"late over the end of the omitted time": {sent: 100, packets: 100, omittedPackets: 40, omittedErrors: 3},
		"more packets than were sent":           {sent: 100, packets: 101, omittedPackets: 40, want: ErrProtocol},
		"more lost than were sent after what was omitted": {sent: 100, packets: 100, errors: 61, omittedPackets: 40,
			want: ErrProtocol},
	} {
		t.Run(name, func(t *testing.T) {
			var d Datagrams
			jitter := 0.0
			err := d.addReported(tally{total: counts{datagrams: c.sent}}, streamResult{Packets: &c.packets,
				Errors: &c.errors, OmittedPackets: &c.omittedPackets, OmittedErrors: &c.omittedErrors, Jitter: &jitter},
				true)
			sent := c.sent - int64(c.omittedPackets)
			if !errors.Is(err, c.want) || err == nil &&
				d != (Datagrams{Sent: sent, Received: sent - c.lost, Lost: c.lost}) {
				t.Errorf("%+v, %v", d, err)
			}
		})
	}
}

// Datagrams that are late over the omitted time belong to the omitted time. No more are received after it than were
// sent.
func TestDatagramsThatAreLateOverTheOmittedTime(t *testing.T) {
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	s := &stream{id: 1, conn: conn}
	transfer := newTransfer(Test{Protocol: UDP, Flow: Forward, Omit: time.Second, Duration: time.Second}, []*stream{s},
		time.Second)
	transfer.began = time.Now()
	take := func(numbers ...uint64) {
		for _, n := range numbers {
			s.arrivals.count(n)
		}
	}
	take(1, 2, 6) // 3, 4 and 5 are missing when the omitted time ends
	transfer.mark(true)
	take(7, 4, 3, 8, 10)
	transfer.mark(false)
	none, zero, second := number(0), 0.0, 1.0
	for sent, want := range map[number]Datagrams{
		10: {Sent: 4, Received: 3, Lost: 1, Reordered: 2},
		13: {Sent: 7, Received: 3, Lost: 4, Reordered: 2},
	} {
		reported := map[int]streamResult{1: {Bytes: &sent, Packets: &sent, Errors: &none, Jitter: &zero,
			StartTime: &zero, EndTime: &second}}
		var d Direction
		if err := transfer.joinReceived(&d, 2*time.Second, reported, results{}); err != nil || *d.Datagrams != want {
			t.Errorf("%v: %+v, want %+v", err, d.Datagrams, want)
		}
		r := transfer.results(2*time.Second, reported).Streams[0]
		local := tally{total: counts{datagrams: int64(sent)}}
		d = Direction{Datagrams: &Datagrams{}}
		if err := d.Datagrams.addReported(local, r, true); err != nil || d.Datagrams.Sent != want.Sent ||
			d.Datagrams.Lost != want.Lost {
			t.Errorf("%v: the sender reads %+v of what it is told, want %+v", err, d.Datagrams, want)
		}
	}
}

// Bytes of the omitted time count neither in this side's own figures, nor in those for the other side.
func TestBytesOfTheOmittedTimeCountNowhere(t *testing.T) {
	for name, c := range map[string]struct {
		flow  Flow
		sends bool
	}{"sent": {Forward, true}, "received": {Reverse, false}} {
		t.Run(name, func(t *testing.T) {
			s := &stream{id: 1, sends: c.sends}
			transfer := newTransfer(Test{Protocol: TCP, Flow: c.flow, Omit: time.Second, Duration: time.Second},
				[]*stream{s}, time.Second)
			transfer.began, transfer.sentUntil = time.Now(), 2*time.Second
			transfer.sent.omitting, transfer.received.omitting = true, true
			s.bytes.Add(7000)
			transfer.mark(true)
			s.bytes.Add(300)
			transfer.mark(false)
			if reported := transfer.results(2*time.Second, nil).Streams[0].Bytes; *reported != 300 {
				t.Errorf("the other side is told of %d bytes, want the 300 after the omitted second", *reported)
			}
			none, theirs, zero, second := number(0), number(300), 0.0, 1.0
			r, err := transfer.result(false, 2*time.Second, map[int]streamResult{1: {Bytes: &theirs, Packets: &none,
				Errors: &none, Jitter: &zero, StartTime: &zero, EndTime: &second}}, results{})
			if err != nil {
				t.Fatal(err)
			}
			if d := r.Directions[0]; d.Sent.Bytes != 300 || d.Received.Bytes != 300 {
				t.Errorf("%d bytes sent, %d received, want 300 of each", d.Sent.Bytes, d.Received.Bytes)
			}
		})
	}
}
