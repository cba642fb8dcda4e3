package softgen

import (
	"time"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// vitals reads how the machine's processors spend their time, for observers, and how much of it the machine's host took.
//
//	get_global_stats                 theft: each 500 ms at most ─┐
//	get_global_stats {processors}    table: each 100 ms at most ─┴─▶ /proc/stat, once for both
type vitals struct {
	read  func() ([]machine.Processor, error)
	known bool
	// at is when they were read, by the server's clock.
	at  time.Duration
	all []machine.Processor
}

// vitalsEvery is how often /proc/stat is read at most: the kernel computes all of it each time, and readings come fifty times a second. It is often enough for the edges of short windows.
const vitalsEvery = 100 * time.Millisecond

// refresh reads them again if the last reading is older than vitalsEvery. Where the kernel doesn't report them, they stay unknown.
func (v *vitals) refresh(now time.Duration) {
	if v.known && now-v.at < vitalsEvery {
		return
	}
	all, err := v.read()
	v.known, v.at, v.all = err == nil, now, all
}

// table is a row for each processor: its number, and the seconds that it was busy, in softirqs, stolen and idle since the machine's start.
func (v *vitals) table() [][]real {
	rows := make([][]real, 0, len(v.all))
	for _, p := range v.all {
		rows = append(rows, []real{real(p.Number), real(p.Busy.Seconds()), real(p.SoftIRQ.Seconds()), real(p.Stolen.Seconds()), real(p.Idle.Seconds())})
	}
	return rows
}

// stolenEvery is how often stolen time is read at most: it is read without a request, so it must cost little.
const stolenEvery = 500 * time.Millisecond

// theft records how long a virtual machine's host ran others while one of this machine's processors was ready to run: frames that were sent late then, or lost, are the
// host's fault. Processors that aren't shared have none of it.
type theft struct {
	from  func([]machine.Processor) (time.Duration, error)
	known bool
	// at is when it was read, by the server's clock, and total is its value.
	at, total time.Duration
}

// refresh takes it from the vitals again if the last reading is older than stolenEvery. Where the kernel doesn't report it, it stays unknown.
func (t *theft) refresh(now time.Duration, v *vitals) {
	if t.known && now-t.at < stolenEvery {
		return
	}
	if v.refresh(now); !v.known {
		t.known = false
		return
	}
	total, err := t.from(v.all)
	t.known, t.at, t.total = err == nil, v.at, total
}

// stolen is the stolen time since the machine's start, averaged over the processors that this process may use (steal in /proc/stat).
func stolen(all []machine.Processor) (time.Duration, error) {
	mine, err := machine.OwnProcessors()
	if err != nil {
		return 0, err
	}
	return machine.Stolen(all, mine), nil
}
