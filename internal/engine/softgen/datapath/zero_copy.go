package datapath

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// completionRingSize is how many completions the ring holds, more than there can ever be.
	completionRingSize = 4 * xdpRingSize
	// cardTimeout bounds how long a card takes for a batch. If it takes longer, for example while its link is
	// down, nobody knows which frames it sends.
	cardTimeout = time.Second
)

// sendUncopied passes the batch to a card, which reads frames from the engine's memory when it sends them. A
// frame counts as sent when the card has completed it, and its memory must not change until then, so
// sendUncopied waits for all frames. Frames that the card hasn't begun when the interface goes down are
// refused. Frames that it has begun and not completed in time can't be counted, which is an error.
func (t *xdpTransmitter) sendUncopied(batch []piece, results []outcome) (retries int, err error) {
	for i := range batch {
		results[i] = refused
	}
	first, end := t.enqueue(batch)
	t.open = append(t.open[:0], batch...)
	deadline := t.clock() + cardTimeout
	for remaining := len(batch); remaining > 0; {
		errno := t.kick()
		settled := t.settle(t.open, results)
		remaining -= settled
		switch {
		case isDeviceGone(errno):
			return retries, sendError(t.iface, errno)
		case errno == unix.ENETDOWN:
			started := atomic.LoadUint32(t.ring.consumer)
			atomic.StoreUint32(t.ring.producer, started)
			remaining -= int(end - started)
			end = started
		case settled == 0:
			retries++
		}
		if remaining > 0 && t.clock() > deadline {
			return retries, fmt.Errorf("send on %s: the card has not completed %d of %d frames (%d begun) within "+
				"%v: it is unknown whether they left; use --path af_xdp",
				t.iface, remaining, len(batch), end-first, cardTimeout)
		}
	}
	return retries, nil
}

// settle marks the frames that the card has completed since the last call, and returns their number. A frame
// that is in the batch several times is completed as often.
func (t *xdpTransmitter) settle(open []piece, results []outcome) (settled int) {
	entries := (*[completionRingSize]uint64)(t.pool.completed.entries)
	first, end := atomic.LoadUint32(t.pool.completed.consumer), atomic.LoadUint32(t.pool.completed.producer)
	for ; first != end; first++ {
		address := entries[first%completionRingSize]
		i := slices.IndexFunc(open, func(p piece) bool { return p.length > 0 && p.offset == address })
		if i < 0 {
			continue // an earlier batch's frame, which was given up
		}
		open[i].length, results[i] = 0, accepted
		settled++
	}
	atomic.StoreUint32(t.pool.completed.consumer, end)
	return settled
}
