package caches

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// MostDecoded is how many bytes of memory the documents take at most, all passes together, that were decoded and are still looked at. The largest Report that isn't
// refused takes a little less; the Reports of sixteen tests of a minute that end in one moment take a twentieth.
const MostDecoded = 260 << 20

// Decoded is how much memory is left for documents to be decoded into. Whoever may write a Report can make it as large as a reader takes, and sixteen passes may
// read one at a time. It is safe for concurrent use.
type Decoded struct{ room *semaphore.Weighted }

// NewDecoded has all of MostDecoded left.
func NewDecoded() *Decoded { return &Decoded{semaphore.NewWeighted(MostDecoded)} }

// Take waits until so many bytes are left, all of them where more are asked for, or until ctx ends. They are given back when the document isn't looked at any more.
// Nobody may take twice before giving back: two who do that would wait for each other.
func (d *Decoded) Take(ctx context.Context, bytes int64) (giveBack func(), err error) {
	bytes = min(bytes, MostDecoded)
	if err := d.room.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { d.room.Release(bytes) }, nil
}

// TryTake is Take for who doesn't wait; false: so many bytes aren't left now.
func (d *Decoded) TryTake(bytes int64) (giveBack func(), is bool) {
	bytes = min(bytes, MostDecoded)
	if !d.room.TryAcquire(bytes) {
		return nil, false
	}
	return func() { d.room.Release(bytes) }, true
}
