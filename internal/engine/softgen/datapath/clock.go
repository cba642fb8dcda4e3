package datapath

import (
	"runtime"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sending threads make their system calls past Go's scheduler (unix.RawSyscall). The scheduler's monitor is an
// ordinary thread. Again and again it locks the state of each thread that is in a system call that the
// scheduler knows of. A real-time thread whose call ends in that moment, on the monitor's processor, spins
// until the monitor unlocks the state. The monitor can't unlock the state while the thread has its processor.
// Nothing is sent until the kernel throttles real-time threads, 950 ms later.
//
//	monitor    ──locks the thread's state┄┄┄┄┄┄┄┄ never runs ┄┄┄┄┄┄┄┄┄unlocks──▶
//	real time       └ call ends: spins ────────── 950 ms ────────────throttled
//
// So a sending thread's calls must be short. The scheduler counts the thread as running meanwhile and gets one
// more place for each sending thread (addSchedulerPlaces).

// Now is the kernel's monotonic clock, which Run.Start, Frame.Time and the stamps of latency
// streams are on. All processes of a machine and the programs in its kernel share that clock.
func Now() time.Duration {
	instant := clockOf(unix.CLOCK_MONOTONIC)
	return instant + instant*time.Duration(Drift)/1_000_000
}

// Drift is by how many parts per million Now runs fast, for tests of hosts whose clocks differ. It is 0 elsewhere, and
// set before anything reads Now. The programs in the kernel have no part in it.
var Drift int

// threadTime is the processor time that the calling thread has used, in user space and in the kernel.
func threadTime() time.Duration { return clockOf(unix.CLOCK_THREAD_CPUTIME_ID) }

// clockOf reads a clock. It returns 0 for a clock that doesn't exist.
func clockOf(clock uintptr) time.Duration {
	var ts unix.Timespec
	if _, _, errno := unix.RawSyscall(unix.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return 0
	}
	return time.Duration(ts.Nano())
}

// doze sleeps for at most d. A signal ends the sleep early, and Go's runtime sends signals, so the caller must
// read the clock again. Sending threads doze for some milliseconds at most, because the runtime's timers have a
// resolution of a millisecond.
func doze(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}

// sleep sleeps for at least d. Other threads may use this thread's place in the scheduler meanwhile.
func sleep(d time.Duration) {
	for end := Now() + d; d > 0; d = end - Now() {
		ts := unix.NsecToTimespec(int64(d))
		_ = unix.Nanosleep(&ts, nil)
	}
}

// schedulerPlaces guards the number of places that Go's scheduler has, and counts the places of sending threads.
var schedulerPlaces struct {
	sync.Mutex
	senders int
}

// addSchedulerPlaces gives Go's scheduler one more place for each sending thread until release is called. A
// sending thread keeps its place while it dozes. Both calls stop all goroutines for a moment, so a port makes
// them when it is opened and closed, and not for each run.
func addSchedulerPlaces(threads int) (release func()) {
	change := func(difference int) {
		schedulerPlaces.Lock()
		defer schedulerPlaces.Unlock()
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + difference)
		schedulerPlaces.senders += difference
	}
	change(threads)
	return func() { change(-threads) }
}

// senders is the number of threads that may send on all ports of this process.
func senders() int {
	schedulerPlaces.Lock()
	defer schedulerPlaces.Unlock()
	return schedulerPlaces.senders
}
