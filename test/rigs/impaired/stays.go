package impaired

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/units/transit"
)

// record holds the frames' residence times, by the kernel's own stamps of each frame. A residence lasts from when the
// kernel had received the frame on one port until it gave the frame to the driver of the other. So it includes
// neither the time of the carrier's calls around that, nor what follows on the cable.
//
//	cable ─▶ stamp ─▶ ring ─▶ carrier ─▶ call ─▶ stamp ─▶ driver ─▶ cable
//	           └──────────── recorded ─────────────┘
//
// Send stamps come by the outlet's error queue (the kernel's timestamping.rst), each with the number of its frame.
type record struct {
	fd        int
	next      uint32 // the number of the first frame that is handed on next
	headers   [batch]messageHeader
	controls  [batch][controlBytes]byte
	counts    residenceCounts
	unstamped atomic.Int64 // frames without a send stamp
}

// controlBytes has room for three times and a sock_extended_err, each with its header and an address.
const controlBytes = 256

// newRecord has the kernel stamp what comes into the ring, and leaves by the outlet. The kernel takes a moment to
// begin, and the first frames have the time at which they got into the ring.
func newRecord(r *ring, o *outlet) (*record, error) {
	const received = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE
	const sent = unix.SOF_TIMESTAMPING_TX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE |
		unix.SOF_TIMESTAMPING_OPT_ID | unix.SOF_TIMESTAMPING_OPT_TSONLY
	if err := unix.SetsockoptInt(r.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, received); err != nil {
		return nil, fmt.Errorf("have the kernel stamp what comes: %w", err)
	}
	if err := unix.SetsockoptInt(o.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPING, sent); err != nil {
		return nil, fmt.Errorf("have the kernel stamp what leaves: %w", err)
	}
	k := &record{fd: o.fd}
	for i := range k.headers {
		k.headers[i].header.Control = &k.controls[i][0]
	}
	return k, nil
}

// note records the frames that were just handed on, in their order. A virtual cable's driver has stamped each by
// then, and frames without a stamp are counted.
func (k *record) note(handed []arrival) {
	noted := 0
	for noted < len(handed) {
		for i := range k.headers {
			k.headers[i].header.SetControllen(controlBytes)
		}
		n, _, errno := unix.RawSyscall6(unix.SYS_RECVMMSG, uintptr(k.fd), uintptr(unsafe.Pointer(&k.headers[0])),
			uintptr(min(batch, len(handed)-noted)), unix.MSG_ERRQUEUE|unix.MSG_DONTWAIT, 0, 0)
		if errno == unix.EINTR {
			continue
		}
		if errno != 0 || n == 0 {
			break
		}
		for i := range n {
			number, departure := sendStamp(k.controls[i][:k.headers[i].header.Controllen])
			if place := number - k.next; departure > 0 && place < uint32(len(handed)) {
				k.counts.note(handed[place].bytes, departure-handed[place].instant)
				noted++
			}
		}
	}
	k.next += uint32(len(handed))
	k.unstamped.Add(int64(len(handed) - noted))
}

// sendStamp reads from a message of the error queue when its frame left, and the frame's number. The time is 0 if the
// message doesn't have it.
func sendStamp(control []byte) (number uint32, departure time.Duration) {
	for len(control) > 0 {
		header, data, rest, err := unix.ParseOneSocketControlMessage(control)
		if err != nil {
			return 0, 0
		}
		switch {
		case header.Level == unix.SOL_SOCKET && header.Type == unix.SCM_TIMESTAMPING &&
			len(data) >= int(unsafe.Sizeof(unix.Timespec{})):
			departure = time.Duration((*unix.Timespec)(unsafe.Pointer(&data[0])).Nano())
		case header.Level == unix.SOL_PACKET && header.Type == unix.PACKET_TX_TIMESTAMP &&
			len(data) >= int(unsafe.Sizeof(unix.SockExtendedErr{})):
			number = (*unix.SockExtendedErr)(unsafe.Pointer(&data[0])).Data
		}
		control = rest
	}
	return number, departure
}

// longestFrame is the longest that a port takes, without its check sequence.
const longestFrame = 1 << 14

// residenceCounts count residence times by the frames' length. One thread counts, any may read.
type residenceCounts [longestFrame]atomic.Pointer[[transit.Buckets]atomic.Uint64]

// arrival is when a frame came, and its length.
type arrival struct {
	instant time.Duration
	bytes   int
}

func (s *residenceCounts) note(bytes int, stayed time.Duration) {
	buckets := s[min(bytes, longestFrame-1)].Load()
	if buckets == nil {
		buckets = new([transit.Buckets]atomic.Uint64)
		s[min(bytes, longestFrame-1)].Store(buckets)
	}
	buckets[transit.Index(stayed)].Add(1)
}

// read is how many frames there were by their length, and by their bucket in package transit.
func (s *residenceCounts) read() map[int]map[int]uint64 {
	residence := map[int]map[int]uint64{}
	for bytes := range s {
		buckets := s[bytes].Load()
		if buckets == nil {
			continue
		}
		residence[bytes] = map[int]uint64{}
		for bucket := range buckets {
			if frames := buckets[bucket].Load(); frames > 0 {
				residence[bytes][bucket] = frames
			}
		}
	}
	return residence
}
