package main

import (
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// kernelThread is PF_KTHREAD in a task's flags (kernel: include/linux/sched.h).
const kernelThread = 0x00200000

// ourTime is the processor time so far of this process, of the tools that it started and of theirs, and of the
// kernel's own threads, which carry frames. What else the processors did was others'.
func ourTime() (map[int]time.Duration, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	processes, err := fs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("list the processes of this machine: %w", err)
	}
	running := map[int]procfs.ProcStat{}
	for _, p := range processes {
		if s, err := p.Stat(); err == nil { // else it has ended meanwhile
			running[s.PID] = s
		}
	}
	spent := map[int]time.Duration{}
	for pid, s := range running {
		if s.Flags&kernelThread != 0 || descends(running, pid, os.Getpid()) {
			spent[pid] = time.Duration(s.UTime+s.STime) * machine.Tick
		}
	}
	return spent, nil
}

// descends says whether a process is the other one, or was started by it, or by one that it started.
func descends(running map[int]procfs.ProcStat, pid, ancestor int) bool {
	for pid != ancestor {
		s, running := running[pid]
		if !running {
			return false
		}
		pid = s.PPID
	}
	return true
}

// neighbourShare is the share of all processors' time that others had between two readings, each with its own
// moment: those of processes take some milliseconds.
func neighbourShare(start, end counts) float64 {
	seconds := end.whenTime.Sub(start.whenTime).Seconds()
	busy := 0.0
	for i, p := range end.processors {
		busy += (p.Busy - start.processors[i].Busy).Seconds()
	}
	for pid, spent := range end.ours {
		busy -= (spent - start.ours[pid]).Seconds()
	}
	return max(0, busy/seconds/float64(len(end.processors)))
}
