package impaired

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Counts are what became of the frames that entered a port. Came is the sum of Chosen to Missed, and of what left or is still inside: Left − Doubled + Inside.
type Counts struct {
	Came     int64 `json:"came"`     // by the device's kernel
	Chosen   int64 `json:"chosen"`   // lost, as the Nth
	Bent     int64 `json:"bent"`     // lost, by the knee
	Overload int64 `json:"overload"` // lost, above the limit
	NoRoom   int64 `json:"noRoom"`   // lost, while so many waited for the processor
	Missed   int64 `json:"missed"`   // lost, and no impairment did it: the machine was too slow to receive or to send it. 0, or the device isn't what it claims to be
	Doubled  int64 `json:"doubled"`  // left once more
	Left     int64 `json:"left"`     // by the other port
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

	taken, chosen, bent, overload, noRoom, refused, doubled, left, accepted atomic.Int64
	idle                                                                    atomic.Bool

	came   []arrival // of the frames in the batch
	record *record   // nil: nobody asked for one

	slots    []int     // to give back when the batch has left
	leaving  []*parcel // likewise
	departed []time.Duration
	last     time.Duration // when the last frame was found
	served   int64         // with work: in this busy period
	begun    time.Duration
}

func newCarrier(i Impairment, from, to int, records bool) (*carrier, error) {
	r, err := openRing(from)
	if err != nil {
		return nil, err
	}
	o, err := openOutlet(to)
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
		if c.departed = make([]time.Duration, defaultRoom); i.Room > 0 {
			c.departed = make([]time.Duration, i.Room)
		}
	}
	return c, nil
}

// first is the rank of a thread that carries frames: before the generator's, which have 1, and before those who see how late the machine is (test/rigs/calm), as a device with
// processors of its own waits for neither.
const first = 3

// run carries frames until the process ends. It comes before all other threads, unless its work would take all of a processor.
func (c *carrier) run() {
	runtime.LockOSThread()
	if c.line.Work > 0 || unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: first}, 0) != nil {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: -20}, 0)
	}
	for {
		some := c.receive()
		c.release()
		if !some {
			c.rest()
		}
	}
}

// While frames come, the carrier looks for more only so often, and takes those that came meanwhile together. Woken by each it would have two processors to itself at some tens of thousands a
// second, for longer than the kernel lets such a thread run, and generator and device would take turns. What becomes of a frame is reckoned from when it came, so nothing changes by that but when it leaves.
const (
	lookEvery = 100 * time.Microsecond
	flowing   = 5 * time.Millisecond // since the last frame
)

// rest waits for what comes, or leaves, next.
func (c *carrier) rest() {
	c.served = 0
	if c.line.Work == 0 && wallClock() < c.last+flowing {
		ts := unix.NsecToTimespec(int64(lookEvery))
		_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0) // a signal ends it early, and then it looks early
		return
	}
	next, there := c.outbox.next()
	if !there {
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
func (c *carrier) receive() (some bool) {
	for range batch / 2 {
		f, there := c.ring.read()
		if !there {
			break
		}
		some = true
		c.taken.Add(1)
		c.slots = append(c.slots, f.slot)
		if c.line.Work > 0 {
			c.work(f)
			continue
		}
		c.decide(f)
	}
	if some {
		c.last = wallClock()
	}
	c.flush()
	return some
}

// work gives a frame its processor time, or drops it where it found no room: where the frame that came so many before it hadn't left yet when it came.
func (c *carrier) work(f came) {
	n := c.accepted.Load()
	place := n % int64(len(c.departed))
	if n >= int64(len(c.departed)) && c.departed[place] > f.at {
		c.noRoom.Add(1)
		return
	}
	c.accepted.Add(1)
	if c.served == 0 {
		c.begun = processorTime()
	}
	c.served++
	c.decide(f)
	c.flush()
	for processorTime() < c.begun+time.Duration(c.served)*c.line.Work {
	}
	c.departed[place] = wallClock()
}

// decide carries out a frame's fate.
func (c *carrier) decide(f came) {
	var of flow
	if c.line.ReorderOneIn > 0 {
		of = flowOf(f.frame)
	}
	what := c.line.take(f.at, of)
	switch what.lost {
	case chosen:
		c.chosen.Add(1)
	case bent:
		c.bent.Add(1)
	case overload:
		c.overload.Add(1)
	case forwarded:
		c.doubled.Add(int64(what.copies - 1))
		if c.line.ReorderOneIn > 0 || c.line.Delay > 0 || c.line.Queue > 0 {
			c.outbox.accept(f.frame, f.at, of, what)
			return
		}
		for range what.copies {
			c.outlet.add(f.frame)
			c.came = append(c.came, arrival{f.at, len(f.frame)})
		}
	}
}

// release sends what is due by now.
func (c *carrier) release() {
	for now := wallClock(); ; {
		p, there := c.outbox.due(now)
		if !there {
			break
		}
		for range p.copies {
			if !c.outlet.add(p.frame) {
				c.flush()
				c.outlet.add(p.frame)
			}
			c.came = append(c.came, arrival{p.came, len(p.frame)})
		}
		c.flushSoon(p)
	}
	c.flush()
}

// flushSoon sends the batch when it is full, and then gives back the memory of what was in it.
func (c *carrier) flushSoon(p *parcel) {
	c.leaving = append(c.leaving, p)
	if c.outlet.n >= batch-1 {
		c.flush()
	}
}

// flush sends the batch, and gives back the memory of its frames.
func (c *carrier) flush() {
	left, refused := c.outlet.flush()
	if c.record != nil {
		c.record.note(c.came)
	}
	c.came = c.came[:0]
	c.left.Add(left)
	c.refused.Add(refused)
	for _, slot := range c.slots {
		c.ring.giveBack(slot)
	}
	c.slots = c.slots[:0]
	for _, p := range c.leaving {
		c.outbox.reuse(p)
	}
	c.leaving = c.leaving[:0]
}

// held implements port.
func (c *carrier) held() (stayed map[int]map[int]uint64, without int64) {
	if c.record == nil {
		return nil, 0
	}
	return c.record.stayed.read(), c.record.without.Load()
}

// atRest says whether nothing is inside.
func (c *carrier) atRest() bool { return c.idle.Load() }

// counts may be asked by one goroutine at a time.
func (c *carrier) counts() (Counts, error) {
	missed := c.ring.lost()
	n := Counts{Came: c.taken.Load() + missed, Chosen: c.chosen.Load(), Bent: c.bent.Load(), Overload: c.overload.Load(), NoRoom: c.noRoom.Load(),
		Missed: missed + c.refused.Load(), Doubled: c.doubled.Load(), Left: c.left.Load()}
	if c.line.Work > 0 { // the ring is full only of frames that wait for the processor
		n.NoRoom, n.Missed = n.NoRoom+missed, n.Missed-missed
	}
	n.Inside = n.Came - n.Lost() - n.Left + n.Doubled
	return n, nil
}

// wallClock is the time that frames in a ring have.
func wallClock() time.Duration { return clock(unix.CLOCK_REALTIME) }

// processorTime is what the calling thread has used.
func processorTime() time.Duration { return clock(unix.CLOCK_THREAD_CPUTIME_ID) }

// clock asks past Go's scheduler, as all calls of a thread that carries frames are made while frames come: one that the scheduler hears of may end while its monitor, an ordinary thread, holds on to the
// caller, and a real-time thread then spins until the kernel throttles it, for 950 ms.
func clock(which uintptr) time.Duration {
	var ts unix.Timespec
	_, _, _ = unix.RawSyscall(unix.SYS_CLOCK_GETTIME, which, uintptr(unsafe.Pointer(&ts)), 0) // fails for no clock that exists
	return time.Duration(ts.Nano())
}
