package main

import (
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"

	"github.com/linerate-dev/linerate/internal/processors"
)

// kernelThread is PF_KTHREAD in a task's flags (kernel: include/linux/sched.h).
const kernelThread = 0x00200000

// ourTime is the processor time of this process, of the tools that it started, and of the kernel's own threads, which carry frames: of each process so far. What else the processors did was others'.
func ourTime() (map[int]time.Duration, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	all, err := fs.AllProcs()
	if err != nil {
		return nil, fmt.Errorf("who runs on this machine: %w", err)
	}
	spent := map[int]time.Duration{}
	for _, p := range all {
		s, err := p.Stat()
		if err != nil {
			continue // it has ended meanwhile
		}
		if s.PID == os.Getpid() || s.PPID == os.Getpid() || s.Flags&kernelThread != 0 {
			spent[s.PID] = time.Duration(s.UTime+s.STime) * processors.Tick
		}
	}
	return spent, nil
}

// others is the share of all processors' time that others had between two readings, each with its own moment: those of processes take some milliseconds.
func others(before, after counts) float64 {
	seconds := after.at.Sub(before.at).Seconds()
	busy := 0.0
	for i, p := range after.processors {
		busy += (p.Busy - before.processors[i].Busy).Seconds()
	}
	for pid, spent := range after.ours {
		busy -= (spent - before.ours[pid]).Seconds()
	}
	return max(0, busy/seconds/float64(len(after.processors)))
}
