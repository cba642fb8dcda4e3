package datapath

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// processorWaits adds up for how long the threads that send on a port waited for processors, as the kernel
// counts it. Without the kernel's count there are no waits.
type processorWaits struct {
	mutex   sync.Mutex // guards ended and threads
	ended   time.Duration
	threads map[int]*threadWaits // sending threads by the kernel's number
}

// threadWaits is how long a thread had waited when it began to send on the port, and at its last reading.
type threadWaits struct{ start, latest time.Duration }

func (w *threadWaits) sum() time.Duration { return max(0, w.latest-w.start) }

// begin adds a thread that is about to send.
func (w *processorWaits) begin(thread int) {
	waited, err := machine.WaitedBy(thread)
	if err != nil {
		return
	}
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.threads == nil {
		w.threads = map[int]*threadWaits{}
	}
	w.threads[thread] = &threadWaits{waited, waited}
}

// end removes a thread that has stopped sending. uncounted is how long it has waited without the kernel's count.
func (w *processorWaits) end(thread int, uncounted time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	t := w.threads[thread]
	if t == nil {
		return
	}
	t.read(thread)
	w.ended += t.sum() + uncounted
	delete(w.threads, thread)
}

// read reads the thread's waits, if it still runs.
func (w *threadWaits) read(thread int) {
	if waited, err := machine.WaitedBy(thread); err == nil {
		w.latest = waited
	}
}

// total is how long all threads have waited while they sent. It never decreases.
func (w *processorWaits) total() time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	sum := w.ended
	for id, t := range w.threads {
		t.read(id)
		sum += t.sum()
	}
	return sum
}

// overdue is for how long all sending threads together should have read the clock and have not. Such threads
// wait, and the kernel hasn't counted the wait yet.
func (p *port) overdue() time.Duration {
	if l := p.live.Load(); l != nil {
		return l.overdue()
	}
	pl := p.running()
	if pl == nil {
		return 0
	}
	sum := time.Duration(0)
	for _, t := range pl.threads {
		if next := time.Duration(t.next.Load()); next > 0 {
			sum += max(0, Now()-next)
		}
	}
	return sum
}

// overdue is how long the run's threads are overdue.
func (l *liveRun) overdue() (sum time.Duration) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for _, part := range l.parts {
		if !l.closed {
			sum += part.overdue()
		}
	}
	return sum
}

func (p *livePart) overdue() time.Duration {
	lastRun := time.Duration(atomic.LoadUint64(&p.memory.LastRun))
	if lastRun == 0 {
		return 0
	}
	return max(0, Now()-lastRun)
}
