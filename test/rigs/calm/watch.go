package calm

import (
	"context"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// beat is how often a real-time thread wakes on each processor.
const beat = 25 * time.Millisecond

// Watch keeps what the machine took in each second since the watch began. It is safe for concurrent use.
type Watch struct {
	begin      time.Time
	processors int
	realTime   bool // beats are of threads that everything else has to let through
	mutex      sync.Mutex
	seconds    []second
}

// second is what a machine took away in a second.
type second struct {
	stolen time.Duration // of all processors' time, by the host, as steal in proc(5)
	latest time.Duration // the latest beat's lateness
}

// Begin watches the processors that this process may use, until the context ends.
func Begin(ctx context.Context) (*Watch, error) {
	processors, err := machine.OwnProcessors()
	if err != nil {
		return nil, err
	}
	stolen, err := readStolen(processors)
	if err != nil {
		return nil, err
	}
	w := &Watch{begin: time.Now(), processors: processors.Count()}
	realTimeThreads := make(chan bool)
	for _, cpu := range machine.ListProcessors(processors) {
		go w.measureBeats(ctx, cpu, realTimeThreads)
	}
	w.realTime = true
	for range w.processors {
		w.realTime = <-realTimeThreads && w.realTime
	}
	go w.readSteal(ctx, processors, stolen)
	return w, nil
}

// measureBeats is a processor's metronome, a thread that comes before all others there, sleeps, and measures
// how late it wakes.
func (w *Watch) measureBeats(ctx context.Context, cpu int, ranked chan<- bool) {
	runtime.LockOSThread()
	var affinity unix.CPUSet
	affinity.Set(cpu)
	pinned := unix.SchedSetaffinity(0, &affinity) == nil
	// The software engine has priority 1. With priority 2 a beat waits for the machine, never for the engine.
	first := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 2},
		0) == nil
	ranked <- pinned && first
	for due := monotonic() + beat; ctx.Err() == nil; due = monotonic() + beat {
		sleepUntil(due)
		w.note(second{latest: monotonic() - due})
	}
}

// monotonic is the clock that sleepUntil knows.
func monotonic() time.Duration {
	var clock unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &clock) // fails for no clock that exists
	return time.Duration(clock.Nano())
}

// sleepUntil lets the thread itself sleep, not only its goroutine.
func sleepUntil(due time.Duration) {
	deadline := unix.NsecToTimespec(int64(due))
	for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &deadline, nil) == unix.EINTR {
	}
}

// readSteal reads each quarter of a second what the host took.
func (w *Watch) readSteal(ctx context.Context, processors *unix.CPUSet, earlier time.Duration) {
	tick := time.NewTicker(time.Second / 4)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if stolen, err := readStolen(processors); err == nil {
			w.note(second{stolen: stolen - earlier})
			earlier = stolen
		}
	}
}

// note adds to the present second.
func (w *Watch) note(s second) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	index := int(time.Since(w.begin) / time.Second)
	for len(w.seconds) <= index {
		w.seconds = append(w.seconds, second{})
	}
	second := &w.seconds[index]
	second.stolen, second.latest = second.stolen+s.stolen, max(second.latest, s.latest)
}

// Since is what the machine took from a time until now.
func (w *Watch) Since(begin time.Time) LostTime { return w.Between(begin, time.Now()) }

// Between is what the machine took from one time to another.
func (w *Watch) Between(begin, end time.Time) LostTime {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	first := min(max(0, int(begin.Sub(w.begin)/time.Second)), len(w.seconds))
	beyond := min(max(first, int(end.Sub(w.begin)/time.Second)+1), len(w.seconds))
	return sum(w.seconds[first:beyond], w.processors, w.realTime)
}

// readStolen is the time that the host had these processors, since the machine started.
func readStolen(processors *unix.CPUSet) (time.Duration, error) {
	spent, err := machine.Spent(processors)
	return time.Duration(spent.Steal * float64(time.Second)), err
}
