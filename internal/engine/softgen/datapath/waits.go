package datapath

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// waits adds up for how long the threads that send on a port waited for processors, as the kernel counts it. Where that counts no waits, there are none.
type waits struct {
	mutex   sync.Mutex // guards what follows
	over    time.Duration
	threads map[int]*threadWaits // those that send, by the kernel's number
}

// threadWaits is how long a thread had waited when it began to send on the port, and when it was read last.
type threadWaits struct{ before, now time.Duration }

func (w *threadWaits) sum() time.Duration { return max(0, w.now-w.before) }

// begin takes in a thread that is about to send.
func (w *waits) begin(thread int) {
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

// end has a thread go that sends no more, and has waited for so long without the kernel having counted it yet.
func (w *waits) end(thread int, uncounted time.Duration) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	t := w.threads[thread]
	if t == nil {
		return
	}
	t.read(thread)
	w.over += t.sum() + uncounted
	delete(w.threads, thread)
}

// read reads the thread, if it still runs.
func (w *threadWaits) read(thread int) {
	if waited, err := machine.WaitedBy(thread); err == nil {
		w.now = waited
	}
}

// total is how long all threads waited until now, while they sent. It never decreases.
func (w *waits) total() time.Duration {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	sum := w.over
	for id, t := range w.threads {
		t.read(id)
		sum += t.sum()
	}
	return sum
}

// overdue is for how long sending threads have not looked at the clock that should have by now, all together: they wait, and the kernel hasn't counted it yet.
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

// overdue is that of the run's threads.
func (l *live) overdue() (sum time.Duration) {
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
	last := time.Duration(atomic.LoadUint64(&p.memory.LastRun))
	if last == 0 {
		return 0
	}
	return max(0, Now()-last)
}
