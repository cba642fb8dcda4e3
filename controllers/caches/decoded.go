package caches

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// MostDecoded is how many bytes of memory decoded documents in use may take, of all passes together. The largest Report that isn't refused takes a little less; the
// Reports of sixteen one-minute tests that end at the same time take a twentieth.
const MostDecoded = 264 << 20

// Decoded is how much memory is left for decoded documents. Whoever may write a Report can make it as large as readers accept, and sixteen passes may read one at the
// same time. It is safe for concurrent use.
type Decoded struct{ room *semaphore.Weighted }

// NewDecoded returns a Decoded with all of MostDecoded left.
func NewDecoded() *Decoded { return &Decoded{semaphore.NewWeighted(MostDecoded)} }

// Take waits until so many bytes are left (all of them where more are asked for), or until ctx ends. The caller returns them when it no longer uses the document, and must
// not take more before that: two callers that did would wait for each other.
func (d *Decoded) Take(ctx context.Context, bytes int64) (giveBack func(), err error) {
	bytes = min(bytes, MostDecoded)
	if err := d.room.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { d.room.Release(bytes) }, nil
}

// TryTake is Take without waiting; false: so many bytes aren't left now.
func (d *Decoded) TryTake(bytes int64) (giveBack func(), is bool) {
	bytes = min(bytes, MostDecoded)
	if !d.room.TryAcquire(bytes) {
		return nil, false
	}
	return func() { d.room.Release(bytes) }, true
}
