package softgen

import (
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// stolenEvery is how often the kernel is asked at most: it makes up all of /proc/stat for an answer, and readings come fifty times a second.
const stolenEvery = 500 * time.Millisecond

// theft follows how long a virtual machine's host had others run when one of our processors wanted to: what was sent late then, or lost, is the
// host's doing. Processors that nobody shares have none of it.
type theft struct {
	read  func() (time.Duration, error)
	known bool
	// at is when it was read, on the server's clock, and total what it was.
	at, total time.Duration
}

// ask reads it again where the last time is long ago. Where the kernel doesn't say, nothing is known.
func (t *theft) ask(now time.Duration) {
	if t.known && now-t.at < stolenEvery {
		return
	}
	total, err := t.read()
	t.known, t.at, t.total = err == nil, now, total
}

// stolen is the time since the machine's start that its host gave to others, on average of the processors that this process may use (proc_stat(5), steal).
func stolen() (time.Duration, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return 0, err
	}
	stat, err := fs.Stat()
	if err != nil {
		return 0, err
	}
	var mine unix.CPUSet
	if err := unix.SchedGetaffinity(0, &mine); err != nil {
		return 0, err
	}
	seconds := 0.0
	for cpu, spent := range stat.CPU {
		if mine.IsSet(int(cpu)) {
			seconds += spent.Steal
		}
	}
	return time.Duration(seconds / float64(max(1, mine.Count())) * float64(time.Second)), nil
}
