package datapath

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// completionRingSize is how many completions the ring holds: more than there can ever be.
	completionRingSize = 4 * xdpRingSize
	// cardPatience is how long a card may take for a batch. If it takes longer, for example while its link is down, it is unknown what it sends.
	cardPatience = time.Second
)

// sendUncopied passes the batch to a card that reads frames from the engine's memory at a time of its own. A frame counts as sent when the card has completed it, and its memory must not change until then, so
// this waits for all of them. Frames that the card hasn't begun when the interface goes down are refused. Frames that it has begun and not completed in time can't be counted, which is an error.
func (t *xdpTransmitter) sendUncopied(batch []piece, results []outcome) (retries int, err error) {
	for i := range batch {
		results[i] = refused
	}
	first, last := t.put(batch)
	t.open = append(t.open[:0], batch...)
	until := t.clock() + cardPatience
	for left := len(batch); left > 0; {
		errno := t.kick()
		settled := t.settle(t.open, results)
		left -= settled
		switch {
		case gone(errno):
			return retries, closed(t.iface, errno)
		case errno == unix.ENETDOWN:
			begun := atomic.LoadUint32(t.ring.consumer)
			atomic.StoreUint32(t.ring.producer, begun)
			left -= int(last - begun)
			last = begun
		case settled == 0:
			retries++
		}
		if left > 0 && t.clock() > until {
			return retries, fmt.Errorf("send on %s: the card has not completed %d of %d frames (%d begun) within %v: it is unknown whether they left; use --path af_xdp", t.iface, left, len(batch), last-first, cardPatience)
		}
	}
	return retries, nil
}

// settle marks the frames that the card has completed since the last call, and returns how many these are. A frame that is in the batch several times is completed as often.
func (t *xdpTransmitter) settle(open []piece, results []outcome) (settled int) {
	entries := (*[completionRingSize]uint64)(t.pool.completed.entries)
	from, to := atomic.LoadUint32(t.pool.completed.consumer), atomic.LoadUint32(t.pool.completed.producer)
	for ; from != to; from++ {
		address := entries[from%completionRingSize]
		i := slices.IndexFunc(open, func(p piece) bool { return p.length > 0 && p.offset == address })
		if i < 0 {
			continue // it belongs to a batch that was given up
		}
		open[i].length, results[i] = 0, accepted
		settled++
	}
	atomic.StoreUint32(t.pool.completed.consumer, to)
	return settled
}
