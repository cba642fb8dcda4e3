package datapath

import (
	"time"

	"golang.org/x/sys/unix"
)

// Now is the clock that Run.Start, Frame.At and the stamps of latency streams are on: the kernel's monotonic clock, the same for every
// process of a machine and for programs that run in its kernel.
func Now() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// sleep gives the processor away for about d. It is the sender's own: the Go runtime's timers are a millisecond coarse.
func sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil) // woken early by a signal: the caller looks at the clock anyway
}

// threadTime is the processor time that the calling thread has used, kernel's part included.
func threadTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
