package iperf3

import (
	"encoding/binary"
	"time"
)

// arrivals counts one UDP stream's datagrams by their numbers, which begin with 1. It counts each datagram
// once, however late it arrives.
//
//	        highest − memory              highest
//	──────────────┼──────────────────────────┼──────────▶ numbers
//	 too late to  │ came already: duplicate  │ ahead: those
//	 be told apart│ did not: reordered       │ between are lost for now
type arrivals struct {
	highest    uint64
	distinct   int64
	reordered  int64
	duplicates int64
	tooLate    int64  // so late that they may be duplicates, and not counted as received
	foreign    int64  // no datagrams of a test, or with an impossible number
	omitted    uint64 // the highest number when the omitted time was over
	overdue    int64  // how many numbers up to omitted arrived later
	jitter     float64
	transit    time.Duration
	numbers    [memory / 64]uint64
}

const (
	// memory is how many numbers back a late datagram can be distinguished from a duplicate.
	memory = 1 << 16
	// farthest is how many numbers ahead the next datagram may be. No device loses that many in a row.
	farthest = 1 << 32
)

// read returns the sequence number and sending time of a datagram, or false if it isn't a datagram of a test.
func (a *arrivals) read(datagram []byte, short bool) (number uint64, sent time.Time, ok bool) {
	shortest := minDatagram
	if short {
		shortest -= 4
	}
	if len(datagram) < shortest {
		return 0, sent, false
	}
	sent = time.Unix(int64(binary.BigEndian.Uint32(datagram)), int64(binary.BigEndian.Uint32(datagram[4:]))*1000)
	if !short {
		return binary.BigEndian.Uint64(datagram[8:]), sent, true
	}
	return unwrap(a.highest, binary.BigEndian.Uint32(datagram[8:])), sent, true
}

// unwrap is the number nearest to near whose low 32 bits are low.
func unwrap(reference uint64, low uint32) uint64 {
	return reference + uint64(int64(int32(low-uint32(reference))))
}

// add counts a datagram that arrived at a moment, and says whether it is the last one of an iperf 2 stream. That one
// counts unless it is over, as it is sent again, with other numbers, until there is an answer.
func (a *arrivals) add(datagram []byte, test Test, arrival time.Time, over bool) (last bool) {
	var number uint64
	var sent time.Time
	var ok bool
	if test.iperf2 {
		number, sent, last, ok = a.readIperf2(datagram)
	} else {
		number, sent, ok = a.read(datagram, test.short)
	}
	switch {
	case !ok || number == 0 || number > a.highest+farthest:
		a.foreign++
	case last && over:
	case a.count(number):
		a.delay(arrival.Sub(sent))
	}
	return last
}

// count says whether the number is new.
func (a *arrivals) count(number uint64) bool {
	switch {
	case number > a.highest:
		a.forget(number)
	case a.highest-number >= memory:
		a.tooLate++
		return false
	case a.arrived(number):
		a.duplicates++
		return false
	default:
		a.reordered++
	}
	if number <= a.omitted {
		a.overdue++
	}
	a.numbers[number%memory/64] |= 1 << (number % 64)
	a.distinct++
	return true
}

// forget clears the memory for the numbers up to a new highest.
func (a *arrivals) forget(highest uint64) {
	if highest-a.highest >= memory {
		clear(a.numbers[:])
	} else {
		for n := a.highest + 1; n <= highest; n++ {
			a.numbers[n%memory/64] &^= 1 << (n % 64)
		}
	}
	a.highest = highest
}

func (a *arrivals) arrived(number uint64) bool {
	return a.numbers[number%memory/64]&(1<<(number%64)) != 0
}

// delay adds to the jitter (RFC 1889, A.8), for which the clocks of the two sides needn't agree.
func (a *arrivals) delay(transit time.Duration) {
	if a.distinct > 1 {
		a.jitter += (float64((transit - a.transit).Abs()) - a.jitter) / 16
	}
	a.transit = transit
}

// missing is how many numbers up to the highest have not arrived.
func (a *arrivals) missing() int64 { return int64(a.highest) - a.distinct }
