package softgen

import (
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// vitals reads how the machine's processors spend their time, and how much of it the machine's host took.
//
//	get_global_stats                 theft: each 500 ms at most ─┐
//	get_global_stats {processors}    table: each 100 ms at most ─┴─▶ /proc/stat, once for both
type vitals struct {
	read      func() ([]machine.Processor, error)
	available bool
	// readAt is when processors were read, by the server's clock.
	readAt     time.Duration
	processors []machine.Processor
}

// vitalsEvery is how often /proc/stat is read at most. The kernel computes the whole file each time, and
// observers ask fifty times a second. The interval is short enough for the edges of short windows.
const vitalsEvery = 100 * time.Millisecond

// refresh reads the processors again if the last reading is older than vitalsEvery. If the kernel doesn't
// report them, they stay unavailable.
func (v *vitals) refresh(instant time.Duration) {
	if v.available && instant-v.readAt < vitalsEvery {
		return
	}
	processors, err := v.read()
	v.available, v.readAt, v.processors = err == nil, instant, processors
}

// table returns a row for each processor. A row has its number, and the seconds that it was busy, in softirqs,
// stolen and idle since the machine's start.
func (v *vitals) table() [][]real {
	rows := make([][]real, 0, len(v.processors))
	for _, p := range v.processors {
		rows = append(rows, []real{real(p.Number), real(p.Busy.Seconds()), real(p.SoftIRQ.Seconds()),
			real(p.Stolen.Seconds()), real(p.Idle.Seconds())})
	}
	return rows
}

// stolenEvery is how often stolen time is read at most. It is read without a request, so it must cost little.
const stolenEvery = 500 * time.Millisecond

// theft records how long a virtual machine's host ran others while one of this machine's processors was ready to run.
// Frames that were sent late then, or lost, are the host's fault. Processors that aren't shared lose no time.
type theft struct {
	read      func([]machine.Processor) (time.Duration, error)
	available bool
	// readAt is when total was read, by the server's clock.
	readAt, total time.Duration
}

// refresh reads the stolen time again, from the vitals, if the last reading is older than stolenEvery. If the
// kernel doesn't report it, it stays unavailable.
func (t *theft) refresh(instant time.Duration, v *vitals) {
	if t.available && instant-t.readAt < stolenEvery {
		return
	}
	if v.refresh(instant); !v.available {
		t.available = false
		return
	}
	total, err := t.read(v.processors)
	t.available, t.readAt, t.total = err == nil, v.readAt, total
}

// stolen is the stolen time since the machine's start, averaged over the processors that this process may use
// (steal in /proc/stat).
func stolen(processors []machine.Processor) (time.Duration, error) {
	allowed, err := machine.OwnProcessors()
	if err != nil {
		return 0, err
	}
	return machine.Stolen(processors, allowed), nil
}
