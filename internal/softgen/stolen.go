package softgen

import (
	"time"

	"github.com/linerate-dev/linerate/internal/processors"
)

// vitals follow how the machine's processors spend their time, for whoever wonders what a load costs, and for what its host took of them.
//
//	get_global_stats                 theft: each 500 ms at most ─┐
//	get_global_stats {processors}    table: each 100 ms at most ─┴─▶ /proc/stat, once for both
type vitals struct {
	read  func() ([]processors.Processor, error)
	known bool
	// at is when they were read, on the server's clock.
	at  time.Duration
	all []processors.Processor
}

// vitalsEvery is how often the kernel is asked at most: it makes up all of /proc/stat for an answer, and readings come fifty times a second. It is often enough for the edges of short windows.
const vitalsEvery = 100 * time.Millisecond

// ask reads them again where the last time is a while ago. Where the kernel doesn't say, nothing is known.
func (v *vitals) ask(now time.Duration) {
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

// stolenEvery is how often it is found out at most what the host took: nobody asks for that, so it has to cost little.
const stolenEvery = 500 * time.Millisecond

// theft follows how long a virtual machine's host had others run when one of our processors wanted to: what was sent late then, or lost, is the
// host's doing. Processors that nobody shares have none of it.
type theft struct {
	from  func([]processors.Processor) (time.Duration, error)
	known bool
	// at is when it was read, on the server's clock, and total what it was.
	at, total time.Duration
}

// ask takes it from the vitals again where the last time is long ago. Where the kernel doesn't say, nothing is known.
func (t *theft) ask(now time.Duration, v *vitals) {
	if t.known && now-t.at < stolenEvery {
		return
	}
	if v.ask(now); !v.known {
		t.known = false
		return
	}
	total, err := t.from(v.all)
	t.known, t.at, t.total = err == nil, v.at, total
}

// stolen is the time since the machine's start that its host gave to others, on average of the processors that this process may use (steal).
func stolen(all []processors.Processor) (time.Duration, error) {
	mine, err := processors.Mine()
	if err != nil {
		return 0, err
	}
	return processors.Stolen(all, mine), nil
}
