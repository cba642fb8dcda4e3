package impaired

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Counts are what became of the frames that entered a port. Came is the sum of Chosen to Missed, and of Departed −
// Doubled + Inside.
type Counts struct {
	Came     int64 `json:"came"`     // by the device's kernel
	Chosen   int64 `json:"chosen"`   // lost, as the Nth
	Bent     int64 `json:"bent"`     // lost, by the knee
	Overload int64 `json:"overload"` // lost, above the limit
	NoRoom   int64 `json:"noRoom"`   // lost, as the queue for the processor was full
	// lost without an impairment, as the machine was too slow to receive or to send; any makes the device unfit
	// for a test
	Missed   int64 `json:"missed"`
	Doubled  int64 `json:"doubled"` // left once more
	Departed int64 `json:"left"`    // by the other port
	Inside   int64 `json:"inside"`
}

// Lost is how many frames the device kept for good.
func (c Counts) Lost() int64 { return c.Chosen + c.Bent + c.Overload + c.NoRoom + c.Missed }

// carrier carries what enters a port to the other one, on a thread of its own.
type carrier struct {
	line   *line
	ring   *ring
	outlet *outlet
	outbox outbox

	received, chosen, bent, overload, noRoom, refused, doubled, departed, accepted atomic.Int64
	idle                                                                           atomic.Bool

	came   []arrival // of the frames in the batch
	record *record   // nil if the device doesn't record

	slots        []int     // to give back when the batch has left
	leaving      []*parcel // likewise
	departures   []time.Duration
	lastReceived time.Duration // when the last frame was found
	served       int64         // frames of this busy period, with Work
	busySince    time.Duration
}

func newCarrier(i Impairment, source, target int, records bool) (*carrier, error) {
	r, err := openRing(source)
	if err != nil {
		return nil, err
	}
	o, err := openOutlet(target)
	if err != nil {
		return nil, err
	}
	c := &carrier{line: newLine(i), ring: r, outlet: o}
	if records {
		if c.record, err = newRecord(r, o); err != nil {
			return nil, err
		}
	}
	if i.Work > 0 {
		if c.departures = make([]time.Duration, defaultRoom); i.Room > 0 {
			c.departures = make([]time.Duration, i.Room)
		}
	}
	return c, nil
}

// threadPriority is the rank of a thread that carries frames. It comes before the generator's threads, which
// have 1, and before the threads that see how late the machine is (test/rigs/calm), as a device with processors
// of its own waits for neither.
const threadPriority = 3

// run carries frames until the process ends. It comes before all other threads, unless its work would take all
// of a processor.
func (c *carrier) run() {
	runtime.LockOSThread()
	if c.line.Work > 0 || unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO,
		Priority: threadPriority}, 0) != nil {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: -20}, 0)
	}
	for {
		received := c.receive()
		c.release()
		if !received {
			c.rest()
		}
	}
}

// While frames come, the carrier looks for more only every pollInterval, and takes those that came meanwhile together.
// If each frame woke it, it would have two processors to itself at some tens of thousands a second, for longer than
// the kernel lets such a thread run, and generator and device would take turns. A frame's fate depends on when the
// frame came, so only the time at which it leaves changes.
const (
	pollInterval = 100 * time.Microsecond
	idleAfter    = 5 * time.Millisecond // since the last frame
)

// rest waits for what comes, or leaves, next.
func (c *carrier) rest() {
	c.served = 0
	if c.line.Work == 0 && wallClock() < c.lastReceived+idleAfter {
		ts := unix.NsecToTimespec(int64(pollInterval))
		// a signal ends it early, and then it looks early
		_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
		return
	}
	next, ok := c.outbox.next()
	if !ok {
		c.idle.Store(true)
		c.ring.await(-1)
		c.idle.Store(false)
		return
	}
	if ahead := next - wallClock(); ahead > 0 {
		c.ring.await(ahead)
	}
}

// receive takes what came, half a batch at most, since frames may leave twice.
func (c *carrier) receive() (received bool) {
	for range batch / 2 {
		f, ok := c.ring.read()
		if !ok {
			break
		}
		received = true
		c.received.Add(1)
		c.slots = append(c.slots, f.slot)
		if c.line.Work > 0 {
			c.work(f)
			continue
		}
		c.decide(f)
	}
	if received {
		c.lastReceived = wallClock()
	}
	c.flush()
	return received
}

// work gives a frame its processor time, or drops the frame where it found no room. It found none if the frame that
// came Room frames before it hadn't left yet when it came.
func (c *carrier) work(f arrived) {
	n := c.accepted.Load()
	place := n % int64(len(c.departures))
	if n >= int64(len(c.departures)) && c.departures[place] > f.arrival {
		c.noRoom.Add(1)
		return
	}
	c.accepted.Add(1)
	if c.served == 0 {
		c.busySince = processorTime()
	}
	c.served++
	c.decide(f)
	c.flush()
	for processorTime() < c.busySince+time.Duration(c.served)*c.line.Work {
	}
	c.departures[place] = wallClock()
}

// decide carries out a frame's fate.
func (c *carrier) decide(f arrived) {
	var flow flow
	if c.line.ReorderOneIn > 0 {
		flow = flowOf(f.frame)
	}
	fate := c.line.decide(f.arrival, flow)
	switch fate.lost {
	case chosen:
		c.chosen.Add(1)
	case bent:
		c.bent.Add(1)
	case overload:
		c.overload.Add(1)
	case forwarded:
		c.doubled.Add(int64(fate.copies - 1))
		if c.line.ReorderOneIn > 0 || c.line.Delay > 0 || c.line.Queue > 0 {
			c.outbox.accept(f.frame, f.arrival, flow, fate)
			return
		}
		for range fate.copies {
			c.outlet.add(f.frame)
			c.came = append(c.came, arrival{f.arrival, len(f.frame)})
		}
	}
}

// release sends what is due by now.
func (c *carrier) release() {
	for clock := wallClock(); ; {
		p, ok := c.outbox.due(clock)
		if !ok {
			break
		}
		for range p.copies {
			if !c.outlet.add(p.frame) {
				c.flush()
				c.outlet.add(p.frame)
			}
			c.came = append(c.came, arrival{p.came, len(p.frame)})
		}
		c.flushIfFull(p)
	}
	c.flush()
}

// flushIfFull sends the batch when it is full, and then gives back the memory of what was in it.
func (c *carrier) flushIfFull(p *parcel) {
	c.leaving = append(c.leaving, p)
	if c.outlet.n >= batch-1 {
		c.flush()
	}
}

// flush sends the batch, and gives back the memory of its frames.
func (c *carrier) flush() {
	sent, refused := c.outlet.flush()
	if c.record != nil {
		c.record.note(c.came)
	}
	c.came = c.came[:0]
	c.departed.Add(sent)
	c.refused.Add(refused)
	for _, slot := range c.slots {
		c.ring.release(slot)
	}
	c.slots = c.slots[:0]
	for _, p := range c.leaving {
		c.outbox.reuse(p)
	}
	c.leaving = c.leaving[:0]
}

// residence implements port.
func (c *carrier) residence() (stayed map[int]map[int]uint64, unstamped int64) {
	if c.record == nil {
		return nil, 0
	}
	return c.record.counts.read(), c.record.unstamped.Load()
}

// empty says whether nothing is inside.
func (c *carrier) empty() bool { return c.idle.Load() }

// counts may be asked by one goroutine at a time.
func (c *carrier) counts() (Counts, error) {
	missed := c.ring.lost()
	n := Counts{Came: c.received.Load() + missed, Chosen: c.chosen.Load(), Bent: c.bent.Load(),
		Overload: c.overload.Load(), NoRoom: c.noRoom.Load(),
		Missed: missed + c.refused.Load(), Doubled: c.doubled.Load(), Departed: c.departed.Load()}
	if c.line.Work > 0 { // the ring is full only of frames that wait for the processor
		n.NoRoom, n.Missed = n.NoRoom+missed, n.Missed-missed
	}
	n.Inside = n.Came - n.Lost() - n.Departed + n.Doubled
	return n, nil
}

// wallClock is the time that frames in a ring have.
func wallClock() time.Duration { return clock(unix.CLOCK_REALTIME) }

// processorTime is what the calling thread has used.
func processorTime() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// clock asks past Go's scheduler, as does each call that a carrying thread makes while frames come. A call that the
// scheduler knows of may end while the scheduler's monitor, an ordinary thread, holds on to the caller. A real-time
// thread then spins until the kernel throttles it, for 950 ms.
func clock(clockID uintptr) time.Duration {
	var ts unix.Timespec
	// fails for no clock that exists
	_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, clockID, uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano())
}
