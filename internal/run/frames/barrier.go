package frames

import "sync"

// barrier holds its goroutines back until all of them have arrived.
type barrier struct{ group sync.WaitGroup }

func newBarrier(n int) *barrier {
	b := &barrier{}
	b.group.Add(n)
	return b
}

func (b *barrier) wait() {
	b.group.Done()
	b.group.Wait()
}
