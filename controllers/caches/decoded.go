package caches

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// MaxDecoded is how many bytes of memory the decoded documents of all passes may take together. The largest
// Report that is accepted takes a little less. The Reports of sixteen one-minute tests that end at the same
// time take a twentieth.
const MaxDecoded = 296 << 20

// Decoded is how much memory is left for decoded documents. Anyone who may write a Report can make it as large
// as readers accept, and sixteen passes may read one at the same time. It is safe for concurrent use.
type Decoded struct{ room *semaphore.Weighted }

// NewDecoded returns a Decoded with all of MaxDecoded left.
func NewDecoded() *Decoded { return &Decoded{semaphore.NewWeighted(MaxDecoded)} }

// Take waits until so many bytes are left, or all if more are requested, or until ctx ends. The caller calls
// giveBack when it no longer uses the document, and must not take more before that, since two such callers
// would wait for each other.
func (d *Decoded) Take(ctx context.Context, bytes int64) (giveBack func(), err error) {
	bytes = min(bytes, MaxDecoded)
	if err := d.room.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { d.room.Release(bytes) }, nil
}

// TryTake is Take without waiting. It is false if too few bytes are left.
func (d *Decoded) TryTake(bytes int64) (giveBack func(), ok bool) {
	bytes = min(bytes, MaxDecoded)
	if !d.room.TryAcquire(bytes) {
		return nil, false
	}
	return func() { d.room.Release(bytes) }, true
}
