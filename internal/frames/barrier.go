package frames

import "sync"

// barrier lets nobody pass before all have come.
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
