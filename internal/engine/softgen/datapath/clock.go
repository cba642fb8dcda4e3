package datapath

import (
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sending threads make their system calls past Go's scheduler (unix.RawSyscall). The scheduler knows of every other call, and its monitor, an ordinary thread, again and again locks the state of a thread that is in one
// for a moment. A real-time thread whose call ends in that moment, on the monitor's processor, spins until the monitor unlocks it, which the monitor can't do while the thread has its processor: until the kernel
// throttles real-time threads, for 950 ms, nothing is sent.
//
//	monitor    ──locks the thread's state┄┄┄┄┄┄┄┄ never runs ┄┄┄┄┄┄┄┄┄unlocks──▶
//	real time       └ call ends: spins ────────── 950 ms ────────────throttled
//
// So their calls must be short: the scheduler counts these threads as running meanwhile, and gets one more place for each (atWork).

// Now is the clock that Run.Start, Frame.At and the stamps of latency streams are on: the kernel's monotonic clock, the same for every
// process of a machine and for programs that run in its kernel.
func Now() time.Duration { return clockOf(unix.CLOCK_MONOTONIC) }

// threadTime is the processor time that the calling thread has used, kernel's part included.
func threadTime() time.Duration { return clockOf(unix.CLOCK_THREAD_CPUTIME_ID) }

// clockOf is 0 for a clock that doesn't exist.
func clockOf(which uintptr) time.Duration {
	var ts unix.Timespec
	if _, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, which, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}

// doze sleeps for d at most: a signal ends it early, and the Go runtime sends some, so the caller must read the clock again. It is for
// sending threads, and for some milliseconds at most: the runtime's timers have a resolution of a millisecond.
func doze(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// sleep sleeps for d at least; other threads may use this one's place in the scheduler meanwhile.
func sleep(d time.Duration) {
	for until := Now() + d; d > 0; d = until - Now() {
		ts := unix.NsecToTimespec(int64(d))
		_ = unix.Nanosleep(&ts, nil)
	}
}

// places guards the number of places that Go's scheduler has, and counts those of sending threads.
var places struct {
	sync.Mutex
	senders int
}

// atWork gives Go's scheduler one more place for each sending thread, which keeps its place while it dozes, until done is called. Both calls stop all goroutines for a moment, so ports call them when they
// are opened and closed, and not for each run.
func atWork(threads int) (done func()) {
	change := func(by int) {
		places.Lock()
		defer places.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + by)
		places.senders += by
	}
	change(threads)
	return func() { change(-threads) }
}

// senders are the threads that may send on all ports of this process together.
func senders() int {
	places.Lock()
	defer places.Unlock()
	return places.senders
}
