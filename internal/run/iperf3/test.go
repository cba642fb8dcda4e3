package iperf3

import (
	"fmt"
	"slices"
	"time"
)

// Port is where iperf3 listens, with TCP and UDP.
const Port = 5201

// Protocol is what carries the payload.
type Protocol string

// The protocols.
const (
	TCP Protocol = "TCP"
	UDP Protocol = "UDP"
)

// Flow is which way the payload goes.
type Flow string

// The flows.
const (
	Forward       Flow = "Forward" // the client sends
	Reverse       Flow = "Reverse" // the server sends (-R)
	Bidirectional Flow = "Both"    // at the same time (--bidir)
)

// Test is what a client asks of a server.
type Test struct {
	Protocol Protocol // TCP where empty
	Flow     Flow     // Forward where empty
	// Duration is how long payload is counted, Omit how long it is sent before that (-O). Both are whole seconds, as
	// the protocol has no fractions.
	Duration, Omit time.Duration
	// Parallel is the number of streams in each direction (-P), and 1 where 0.
	Parallel int
	// MessageBytes is the size of each write, and with UDP a datagram's payload (-l). 0 means 128 KiB with TCP and
	// 1460 bytes with UDP. With a rate, a write to TCP is at most 10 ms of it.
	MessageBytes int
	// WindowBytes is the size of each socket's buffers at both ends (-w). 0 means the kernels' own.
	WindowBytes int
	// CongestionControl is its name in the kernels, at both ends (-C). Empty means their own choice.
	CongestionControl string
	// BitsPerSecond is the rate of payload of each stream (-b). 0 means as fast as the sockets accept it.
	BitsPerSecond int64
	// SegmentBytes is the largest TCP segment (-M). 0 means the path's.
	SegmentBytes int
	// NoDelay sends small segments at once (-N), TOS is the type of service of each packet (-S).
	NoDelay bool
	TOS     int
	// short is for clients that count datagrams in 32 bits, as iperf3 does by default.
	short bool
	// endless is for clients that end a test by bytes or blocks, and not by time (-n, -k).
	endless bool
	// pacing is the kernel's own limit for each stream, in bits per second (--fq-rate). 0 means none.
	pacing int64
	// iperf2 is for tests by iperf 2's protocol. back is the port to which its server connects, or 0.
	iperf2 bool
	back   int
}

// The bounds of a test, which are iperf3's. linerate's server also refuses tests that need more memory than it allows.
const (
	maxDuration      = 24 * time.Hour
	maxParallel      = 128
	maxMessage       = 1 << 20
	maxDatagram      = 65535 - 8 - 20
	minDatagram      = 16 // a time and a number of 64 bits
	maxWindow        = 512 << 20
	maxSegment       = 9 << 10
	maxTOS           = 255
	maxBitsPerSecond = int64(1e15)
	defaultMessage   = 128 << 10
	defaultDatagram  = 1460
)

// longestMessage is the largest write to TCP, as time at the rate. A larger one would be a burst, followed by
// silence.
const longestMessage = 10 * time.Millisecond

// Paced is the size of each write to TCP at a rate, at most messageBytes. A rate of 0 has no bound. It isn't for
// datagrams, whose size is fixed.
func Paced(messageBytes, bitsPerSecond int64) int64 {
	if bitsPerSecond <= 0 {
		return messageBytes
	}
	return min(messageBytes, max(1, bitsPerSecond/8/int64(time.Second/longestMessage)))
}

// message is the size of each write.
func (t Test) message() int {
	if t.Protocol == UDP {
		return t.MessageBytes
	}
	return int(Paced(int64(t.MessageBytes), t.BitsPerSecond))
}

// withDefaults fills in what isn't set.
func (t Test) withDefaults() Test {
	if t.Protocol == "" {
		t.Protocol = TCP
	}
	if t.Flow == "" {
		t.Flow = Forward
	}
	if t.Parallel == 0 {
		t.Parallel = 1
	}
	if t.MessageBytes == 0 {
		if t.MessageBytes = defaultMessage; t.Protocol == UDP {
			t.MessageBytes = defaultDatagram
		}
	}
	return t
}

// check refuses tests that the protocol or the kernel can't make, with iperf3's own error numbers.
func (t Test) check() error {
	shortest, longest := 1, maxMessage
	if t.Protocol == UDP {
		if shortest, longest = minDatagram, maxDatagram; t.short {
			shortest -= 4
		}
	}
	for _, rule := range []struct {
		holds  bool
		number int
		words  string
	}{
		{slices.Contains([]Protocol{TCP, UDP}, t.Protocol), 131, fmt.Sprintf("protocol %s: use %s or %s", t.Protocol,
			TCP, UDP)},
		{slices.Contains([]Flow{Forward, Reverse, Bidirectional}, t.Flow), 25, fmt.Sprintf("flow %s: use %s, %s or %s",
			t.Flow, Forward, Reverse, Bidirectional)},
		{t.endless || wholeSeconds(t.Duration, time.Second), 5,
			fmt.Sprintf("a duration of %s: use whole seconds, 1s to %s", t.Duration, maxDuration)},
		{wholeSeconds(t.Omit, 0), 12, fmt.Sprintf("omit %s: use whole seconds, 0s to %s", t.Omit, maxDuration)},
		{inRange(t.Parallel, 1, maxParallel), 6, fmt.Sprintf("%d parallel streams: use 1 to %d", t.Parallel,
			maxParallel)},
		{inRange(t.MessageBytes, shortest, longest), 7, fmt.Sprintf("messages of %d bytes: %s takes %d to %d",
			t.MessageBytes, t.Protocol, shortest, longest)},
		{inRange(t.WindowBytes, 0, maxWindow), 8, fmt.Sprintf("a window of %d bytes: use up to %d", t.WindowBytes,
			maxWindow)},
		{inRange(t.SegmentBytes, 0, maxSegment), 10, fmt.Sprintf("segments of %d bytes: use up to %d", t.SegmentBytes,
			maxSegment)},
		{inRange(t.TOS, 0, maxTOS), 21, fmt.Sprintf("type of service %d: use 0 to %d", t.TOS, maxTOS)},
		{inRange(t.BitsPerSecond, 0, maxBitsPerSecond), 27,
			fmt.Sprintf("%d bits per second: use up to %d, 0 for no limit", t.BitsPerSecond, maxBitsPerSecond)},
		{inRange(t.pacing, 0, maxBitsPerSecond), 27,
			fmt.Sprintf("a pacing rate of %d bits per second: use up to %d, 0 for no limit", t.pacing,
				maxBitsPerSecond)},
	} {
		if !rule.holds {
			return &refusal{rule.number, rule.words}
		}
	}
	return nil
}

func inRange[T int | int64 | time.Duration](v, minimum, maximum T) bool {
	return v >= minimum && v <= maximum
}

func wholeSeconds(d, minimum time.Duration) bool {
	return inRange(d, minimum, maxDuration) && d%time.Second == 0
}

// refusal is why a test is impossible, with iperf3's error number, by which a client knows it.
type refusal struct {
	number int
	words  string
}

func (r *refusal) Error() string { return r.words }

// sends and receives say what the client, or the server, does in a flow.
func (f Flow) sends(server bool) bool    { return f == Bidirectional || (f == Reverse) == server }
func (f Flow) receives(server bool) bool { return f.sends(!server) }
