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

// doze gives the processor away for d at most: a signal ends it early, and the Go runtime sends some. Whoever dozes looks at the clock again. It is the
// sender's own: the runtime's timers are a millisecond coarse.
func doze(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&ts, nil)
}

// sleep gives the processor away for d at least.
func sleep(d time.Duration) {
	for until := Now() + d; d > 0; d = until - Now() {
		doze(d)
	}
}

// threadTime is the processor time that the calling thread has used, kernel's part included.
func threadTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
