package datapath

import (
	"math"
	"time"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

// arrivals is the state of the receiver of one latency stream. One goroutine uses it.
type arrivals struct {
	generation uint8
	started    bool
	expected   uint32

	latency    Latency
	transitSum time.Duration
	transit    time.Duration
	jitter     float64
	histogram  [histogramSize]int64
	transits   transit.Histogram
}

// maxSequenceJump is the largest distance of a late frame or a gap. A sequence number farther off means that
// the sender began again.
const maxSequenceJump = int32(countSharedFAR_OFF)

// record records one frame of the stream.
func (a *arrivals) record(s stamp, arrival time.Duration) {
	if !a.started || s.generation != a.generation {
		a.started, a.generation, a.expected, a.transit = true, s.generation, 0, -1
	}
	a.order(s.sequence)
	a.time(arrival - s.sent)
}

// order compares the sequence with the expected one. A late frame was counted as dropped before.
func (a *arrivals) order(sequence uint32) {
	l := &a.latency
	switch ahead := int32(sequence - a.expected); {
	case ahead == 0:
	case ahead > maxSequenceJump:
		l.SequenceTooHigh++
	case ahead > 0:
		l.Dropped += int64(ahead)
	case ahead == -1:
		l.Duplicate++
		return
	case ahead < -maxSequenceJump:
		l.SequenceTooLow++
	default:
		l.OutOfOrder++
		l.Dropped = max(l.Dropped-1, 0)
		return
	}
	a.expected = sequence + 1
}

// time adds a transit time. Jitter is RFC 3550's, section 6.4.1.
func (a *arrivals) time(took time.Duration) {
	took = max(took, 0)
	l := &a.latency
	if l.Received == 0 {
		l.Min = took
	}
	l.Received++
	l.Min, l.Max, l.Latest = min(l.Min, took), max(l.Max, took), took
	a.transitSum += took
	if a.transit >= 0 && l.Received > 1 {
		a.jitter += (math.Abs(float64(took-a.transit)) - a.jitter) / 16
	}
	a.transit = took
	a.histogram[bucket(took)]++
	a.transits.Record(took)
}

// snapshot returns the state as Port.Latency reports it.
func (a *arrivals) snapshot() Latency {
	l := a.latency
	if l.Received > 0 {
		l.Average = a.transitSum / time.Duration(l.Received)
	}
	l.Jitter = time.Duration(a.jitter)
	l.Histogram = map[time.Duration]int64{}
	for i, n := range a.histogram {
		if n > 0 {
			l.Histogram[bound(i)] = n
		}
	}
	return l
}

// The histogram has TRex's buckets. The first is under 10 µs, and then there are nine to the decade, up to 900
// 000 µs and above.
const (
	decades       = 5
	histogramSize = 1 + 9*decades
)

func bucket(d time.Duration) int {
	base := 10 * time.Microsecond
	if d < base {
		return 0
	}
	for decade := range decades {
		if d < 10*base {
			return 1 + 9*decade + int(d/base) - 1
		}
		base *= 10
	}
	return histogramSize - 1
}

// bound is a bucket's lower bound.
func bound(i int) time.Duration {
	if i == 0 {
		return 0
	}
	base := 10 * time.Microsecond
	for range (i - 1) / 9 {
		base *= 10
	}
	return time.Duration((i-1)%9+1) * base
}
