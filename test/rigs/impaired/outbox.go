package impaired

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"time"
)

// outbox keeps frames that leave later, by the time at which they leave. Frames of the same time leave in the order
// in which they were added. It is pure.
type outbox struct {
	waiting waiting
	order   int64
	spare   [][]byte
	// delayed are frames that leave behind the next one of their flow.
	delayed map[flow]*parcel
}

// parcel is a frame that waits.
type parcel struct {
	frame  []byte
	came   time.Duration
	leaves time.Duration
	order  int64
	place  int // in waiting
	copies int
}

// add keeps a copy of the frame until it leaves.
func (b *outbox) add(frame []byte, came, leaves time.Duration, copies int) *parcel {
	p := &parcel{frame: append(b.buffer(), frame...), came: came, leaves: leaves, order: b.order, copies: copies}
	b.order++
	heap.Push(&b.waiting, p)
	return p
}

// accept puts a frame by its fate. What its flow held back leaves right behind it.
func (b *outbox) accept(frame []byte, came time.Duration, f flow, fate fate) {
	predecessor := b.delayed[f]
	delete(b.delayed, f)
	leaves := fate.leaves
	if fate.behind {
		leaves += reorderTimeout
	}
	p := b.add(frame, came, leaves, fate.copies)
	if predecessor != nil && predecessor.place >= 0 {
		predecessor.leaves, predecessor.order = fate.leaves, b.order
		b.order++
		heap.Fix(&b.waiting, predecessor.place)
	}
	if fate.behind {
		b.hold(f, p)
	}
}

func (b *outbox) hold(f flow, p *parcel) {
	if b.delayed == nil {
		b.delayed = map[flow]*parcel{}
	}
	b.delayed[f] = p
}

// due takes out the first frame that leaves by then.
func (b *outbox) due(clock time.Duration) (p *parcel, ok bool) {
	if len(b.waiting) == 0 || b.waiting[0].leaves > clock {
		return nil, false
	}
	return heap.Pop(&b.waiting).(*parcel), true
}

// next is when the first frame leaves.
func (b *outbox) next() (departure time.Duration, ok bool) {
	if len(b.waiting) == 0 {
		return 0, false
	}
	return b.waiting[0].leaves, true
}

// reuse takes back the memory of a frame that has left.
func (b *outbox) reuse(p *parcel) { b.spare = append(b.spare, p.frame[:0]) }

func (b *outbox) buffer() []byte {
	if n := len(b.spare); n > 0 {
		buffer := b.spare[n-1]
		b.spare = b.spare[:n-1]
		return buffer
	}
	return make([]byte, 0, slotBytes)
}

// waiting is a heap of parcels.
type waiting []*parcel

// Len is sort.Interface's.
func (w waiting) Len() int { return len(w) }

// Less is sort.Interface's.
func (w waiting) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(w[i].leaves, w[j].leaves), cmp.Compare(w[i].order, w[j].order)) < 0
}

// Swap is sort.Interface's.
func (w waiting) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].place, w[j].place = i, j
}

// Push is heap.Interface's.
func (w *waiting) Push(p any) {
	p.(*parcel).place = len(*w)
	*w = append(*w, p.(*parcel))
}

// Pop is heap.Interface's.
func (w *waiting) Pop() any {
	parcel := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	parcel.place = -1
	return parcel
}

// flow names frames that must stay in order, by addresses, protocol and ports of IPv4. All other frames are one flow.
type flow [13]byte

const (
	etherTypeAt  = 12
	ipv4At       = 14
	protocolAt   = ipv4At + 9
	addressesAt  = ipv4At + 12
	etherIPv4    = 0x0800
	smallestIPv4 = 20
)

func flowOf(frame []byte) (f flow) {
	if len(frame) < ipv4At+smallestIPv4 || binary.BigEndian.Uint16(frame[etherTypeAt:]) != etherIPv4 {
		return f
	}
	f[0] = frame[protocolAt]
	copy(f[1:9], frame[addressesAt:])
	if ports := ipv4At + 4*int(frame[ipv4At]&0xf); len(frame) >= ports+4 {
		copy(f[9:], frame[ports:ports+4])
	}
	return f
}
