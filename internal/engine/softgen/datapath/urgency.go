package datapath

import (
	"sync"

	"golang.org/x/sys/unix"
)

// urgency decides whether a sending thread runs as a real-time thread. Other work on the machine should not
// change the pace. On a busy machine an ordinary thread is delayed for milliseconds at a time, even at nice
// −20, and a real-time thread is not. But a real-time thread that never sleeps would keep its processor from
// all other threads, those of the device included. So a thread that needs most of a processor is an ordinary
// one, at nice −20.
//
//	busy  ── over highLoad for a while ──▶ ordinary, nice −20 ── under lowLoad for longer ──▶ real time again
type urgency struct {
	ordinary bool
	streak   int // consecutive accounts that call for a change
}

const (
	highLoad         = 0.7
	highLoadAccounts = 3 // accounts
	lowLoad          = 0.55
	lowLoadAccounts  = 50
)

// judge takes the share of a processor that the thread used since the last account, and says whether to change
// the thread's class.
func (u *urgency) judge(busy float64) (change bool) {
	counts, needed := busy > highLoad, highLoadAccounts
	if u.ordinary {
		counts, needed = busy < lowLoad, lowLoadAccounts
	}
	if !counts {
		u.streak = 0
		return false
	}
	if u.streak++; u.streak < needed {
		return false
	}
	u.ordinary, u.streak = !u.ordinary, 0
	return true
}

// apply gives the calling thread its class. Without the right to do so, the thread stays as it is.
func (u *urgency) apply() {
	attr := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	if u.ordinary || unix.SchedSetAttr(0, attr, 0) != nil {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: -20}, 0)
	}
}

// boundThreads counts this process's sending threads by the processor that they are bound to. Threads that share a
// processor need most of it together, though each needs but its part.
var boundThreads = threadCounts{count: map[int]int{}}

type threadCounts struct {
	mutex sync.Mutex // guards count
	count map[int]int
}

// add counts a thread until release is called.
func (c *threadCounts) add(processor int) (release func()) {
	change := func(difference int) {
		c.mutex.Lock()
		defer c.mutex.Unlock()
		c.count[processor] += difference
	}
	change(1)
	return func() { change(-1) }
}

// noProcessor is that of a thread that the kernel's scheduler places.
const noProcessor = -1

// sharing is how many threads share a thread's processor, itself included.
func (c *threadCounts) sharing(processor int) int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return max(1, c.count[processor])
}
