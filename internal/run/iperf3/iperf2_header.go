package iperf3

import (
	"encoding/binary"
	"time"
)

// The header of a test, as iperf 2.1 sends it. Servers of iperf 2.0 know its first 24 bytes, and only where
// flagDual is set. Flags are in the first 4 bytes.
const (
	iperf2Header = 60
	iperf2Head   = 16 // of a datagram: number, time, and the number's upper half

	flagDual     = 0x80000001 // the server sends at once, over connections that it makes
	flagExtended = 0x40000000
	flagUDPTest  = 0x20000000
	flagNumber64 = 0x08000000 // datagrams have numbers of 64 bits
	flagReverse  = 0x04000000
	flagLength   = 0x00010000 // the low bits are twice the header's length
	upperReverse = 0x04000000
	versionUpper = 0x00020001 // 2.1.8, for servers that ask
	versionLower = 0x00080003
)

// iperf2Header is what the server is told. port is where it connects to, and 0 where it doesn't.
func (t Test) iperf2Header(port int) []byte {
	h := make([]byte, iperf2Header)
	flags, upper, length := uint32(flagExtended|flagLength), uint32(0), uint32(2*iperf2Header)
	if t.Protocol == UDP {
		flags, length = flags|flagNumber64, 2*(iperf2Head+iperf2Header)
	}
	switch t.Flow {
	case Forward:
	case Bidirectional:
		flags |= flagDual
	case Reverse:
		flags, upper = flags|flagReverse, upperReverse
		if t.Protocol == UDP {
			flags |= flagUDPTest
		}
	}
	window := uint32(min(t.WindowBytes, maxWindow))
	if t.Protocol == UDP {
		window = uint32(min(t.BitsPerSecond, 1<<32-1))
		binary.BigEndian.PutUint32(h[12:], uint32(t.MessageBytes))
	}
	binary.BigEndian.PutUint32(h, flags|length)
	binary.BigEndian.PutUint32(h[4:], uint32(t.Parallel))
	binary.BigEndian.PutUint32(h[8:], uint32(port))
	binary.BigEndian.PutUint32(h[16:], window)
	binary.BigEndian.PutUint32(h[20:], uint32(-int32(t.Duration/(10*time.Millisecond)))) // negative: a time
	binary.BigEndian.PutUint32(h[32:], upper)
	binary.BigEndian.PutUint32(h[36:], versionUpper)
	binary.BigEndian.PutUint32(h[40:], versionLower)
	binary.BigEndian.PutUint32(h[48:], uint32(t.BitsPerSecond))
	binary.BigEndian.PutUint32(h[52:], uint32(t.BitsPerSecond>>32)<<8)
	return h
}

// head writes what each message begins with, behind the number of a datagram.
func (t Test) head(message []byte) {
	if t.iperf2 && t.Protocol == UDP {
		copy(message[iperf2Head:], t.iperf2Header(t.back))
	}
}
