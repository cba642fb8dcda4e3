package iperf3

import (
	"math"
	"testing"
	"time"
)

// A sender that always sends as soon as a message is due sends the rate, to a message.
func TestPaceIsExact(t *testing.T) {
	for _, c := range []struct {
		bitsPerSecond int64
		message       int
	}{{1 << 20, 1460}, {100_000_000, 1472}, {999_999_937, 1200}, {50_000_000, 128 << 10}, {3, 1}} {
		p := newPacer(c.bitsPerSecond, c.message)
		const span = 100 * time.Second
		sent := int64(0)
		for elapsed := time.Duration(0); elapsed < span; {
			if wait := p.wait(elapsed); wait > 0 {
				elapsed += wait
				continue
			}
			sent++
		}
		want := float64(c.bitsPerSecond) / 8 * span.Seconds() / float64(c.message)
		if math.Abs(float64(sent)-want) > 1 {
			t.Errorf("%d messages of %d bytes at %d bit/s, want %.1f", sent, c.message, c.bitsPerSecond, want)
		}
	}
}

// A delayed sender doesn't send at once the messages that it couldn't send in a second.
func TestADelayedSenderMakesNoLongBurst(t *testing.T) {
	for name, c := range map[string]struct {
		bitsPerSecond int64
		message       int
		limit         int
	}{
		"slow: 10 ms of messages":   {10_000_000, 1250, 11},
		"fast: 64 KiB of messages":  {10_000_000_000, 1250, 53},
		"large ones: one at a time": {10_000_000, 128 << 10, 2},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPacer(c.bitsPerSecond, c.message)
			p.wait(0)
			burst := 0
			for p.wait(time.Second) == 0 {
				burst++
			}
			if burst > c.limit || burst < 1 {
				t.Errorf("%d messages at once, want at most %d", burst, c.limit)
			}
		})
	}
}

func TestWithoutARateNoMessageIsEarly(t *testing.T) {
	p := newPacer(0, 1460)
	for range 2 {
		if p.wait(0) != 0 {
			t.Error("a stream without a rate waits")
		}
	}
}

func TestAMessageIsNoBurstOfASmallRate(t *testing.T) {
	for _, c := range []struct {
		test Test
		want int
	}{
		{Test{Protocol: TCP, MessageBytes: 128 << 10}, 128 << 10},
		{Test{Protocol: TCP, MessageBytes: 128 << 10, BitsPerSecond: 1_000_000}, 1250},
		{Test{Protocol: TCP, MessageBytes: 100, BitsPerSecond: 1_000_000}, 100},
		{Test{Protocol: TCP, MessageBytes: 128 << 10, BitsPerSecond: 1_000_000_000}, 128 << 10},
		{Test{Protocol: TCP, MessageBytes: 128 << 10, BitsPerSecond: 1}, 1},
		{Test{Protocol: UDP, MessageBytes: 1460, BitsPerSecond: 1000}, 1460}, // a datagram keeps its size
	} {
		if got := c.test.message(); got != c.want {
			t.Errorf("%s, %d bytes at %d bit/s: %d at a time, want %d", c.test.Protocol, c.test.MessageBytes,
				c.test.BitsPerSecond, got, c.want)
		}
	}
}

func TestTCPAtASmallRateIsWrittenInSmallMessages(t *testing.T) {
	address, _ := serve(t, Server{})
	s, err := Client{Server: address}.Connect(t.Context(), Test{Duration: time.Second, BitsPerSecond: 1_000_000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Carry(t.Context()); err != nil {
		t.Fatal(err)
	}
	stream := s.test.streams[0]
	if writes, bytes := stream.packets.Load(), stream.bytes.Load(); writes == 0 || bytes > 1250*writes {
		t.Errorf("%d bytes in %d writes: more than 10 ms of the rate at a time", bytes, writes)
	}
}
