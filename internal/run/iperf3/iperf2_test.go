package iperf3

import (
	"encoding/binary"
	"testing"
	"time"
)

// iperf2Words are numbers of 32 bits, as iperf 2 writes them.
func iperf2Words(words ...uint32) (b []byte) {
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

// The report is that of iperf 2.1.8, of which 2.0.5 leaves out the fourth number.
func TestTheReportOfAnIperf2Server(t *testing.T) {
	counted := []uint32{0x88000000, 1, 85200, 1, 76189, 7, 0, 213, 0, 6514}
	for head, b := range map[string][]byte{
		"2.1.8": iperf2Words(append([]uint32{0, 0, 0, 0}, counted...)...),
		"2.0.5": iperf2Words(append([]uint32{0, 0, 0}, counted...)...),
	} {
		r, ok := parseIperf2Report(b)
		if !ok || r.Bytes != 1<<32+85200 || r.Datagrams != 213 || r.Missing != 7 ||
			r.Lasted != 1076189*time.Microsecond ||
			r.Jitter != 6514*time.Microsecond {
			t.Errorf("%s: %+v, %v", head, r, ok)
		}
	}
	for name, b := range map[string][]byte{"nothing": nil, "a datagram": make([]byte, 128),
		"more lost than sent": iperf2Words(0, 0, 0, 0, 0x88000000, 0, 1, 1, 1, 9, 0, 8, 0, 0)} {
		if r, ok := parseIperf2Report(b); ok {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// Numbers count on past 32 bits, whatever the server writes into the upper half, and the last one is negative.
func TestTheNumbersOfIperf2Datagrams(t *testing.T) {
	a := &arrivals{}
	now := time.Now()
	for _, c := range []struct {
		low, high uint32
		last      bool
		highest   uint64
		distinct  int64
	}{
		{1, 0, false, 1, 1}, {2, 0x36373839, false, 2, 2}, {5, 0, false, 5, 3}, {4, 0, false, 5, 4},
		{4, 0, false, 5, 4},
		{1<<32 - 6, 1<<32 - 1, true, 6, 5},
	} {
		last := a.add(iperf2Words(c.low, uint32(now.Unix()), 0, c.high), Test{iperf2: true}, now, false)
		if last != c.last || a.highest != c.highest || a.distinct != c.distinct {
			t.Errorf("%d, %d: last %v, highest %d, %d came", c.low, c.high, last, a.highest, a.distinct)
		}
	}
	if last := a.add(iperf2Words(1<<32-7, 0, 0, 1<<32-1), Test{iperf2: true}, now, true); !last || a.distinct != 5 {
		t.Errorf("sent again it counts: %d came", a.distinct)
	}
	s, test, b := &stream{}, Test{iperf2: true, Protocol: UDP}, make([]byte, 100)
	s.packets.Store(1 << 32)
	if s.number(b, test); binary.BigEndian.Uint32(b) != 1 || binary.BigEndian.Uint32(b[12:]) != 1 {
		t.Errorf("number %x", b[:16])
	}
}

// The first bytes are those that iperf 2.1.8 sends with the same arguments.
func TestTheHeaderOfAnIperf2Test(t *testing.T) {
	for name, c := range map[string]struct {
		test Test
		port int
		want []uint32
	}{
		"-d -L 5309 -t 1 -P 2": {Test{Protocol: TCP, Flow: Bidirectional, Parallel: 2, Duration: time.Second}, 5309,
			[]uint32{0xc0010079, 2, 5309, 0, 0, 0xffffff9c, 0, 0, 0}},
		"-R -t 1": {Test{Protocol: TCP, Flow: Reverse, Parallel: 1, Duration: time.Second}, 0,
			[]uint32{0x44010078, 1, 0, 0, 0, 0xffffff9c, 0, 0, 0x04000000}},
		"-u -R -l 400": {Test{Protocol: UDP, Flow: Reverse, Parallel: 1, Duration: time.Second, MessageBytes: 400}, 0,
			[]uint32{0x6c010098, 1, 0, 400, 0, 0xffffff9c, 0, 0, 0x04000000}},
		"-u -d": {Test{Protocol: UDP, Flow: Bidirectional, Parallel: 1, Duration: time.Second, MessageBytes: 400,
			BitsPerSecond: 1 << 20}, 5309, []uint32{0xc8010099, 1, 5309, 400, 1 << 20, 0xffffff9c, 0, 0, 0, 0x00020001,
			0x00080003, 0, 1 << 20}},
	} {
		b := c.test.iperf2Header(c.port)
		for i, want := range c.want {
			if got := binary.BigEndian.Uint32(b[4*i:]); got != want {
				t.Errorf("%s: word %d is %#x, want %#x", name, i, got, want)
			}
		}
	}
}
