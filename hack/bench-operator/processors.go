package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// Where all programs share a machine, each makes the others slower, above all the one that plays nodes and
// people. So the results say how much processor time each used of the processors while LoadTests were carried,
// and how long its threads were ready to run and had no processor.

// usage is what a program used of the processors, and how long its threads waited for one, all of them together.
type usage struct{ used, waited time.Duration }

// usages are the programs' by their names.
type usages map[string]usage

// minus is what was used after an earlier look.
func (u usages) minus(earlier usages) usages {
	difference := usages{}
	for name, used := range u {
		difference[name] = usage{used.used - earlier[name].used, used.waited - earlier[name].waited}
	}
	return difference
}

// players is what this program is called in the results.
const players = "bench: scheduler, kubelets, runners"

// programs looks at this process and at those that it started.
func programs() (usages, error) {
	kernel, err := procfs.NewDefaultFS()
	if err != nil {
		return nil, err
	}
	return programsOf(kernel)
}

func programsOf(kernel procfs.FS) (usages, error) {
	found := usages{}
	processes, err := kernel.AllProcs()
	if err != nil {
		return nil, err
	}
	for _, p := range processes {
		s, err := p.Stat()
		if vanished(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("process %d: %w", p.PID, err)
		}
		name := players
		switch os.Getpid() {
		case p.PID:
		case s.PPID:
			name = programOf(p, s.Comm)
		default:
			continue
		}
		waited, err := waitedFor(kernel, p)
		if err != nil {
			return nil, err
		}
		found[name] = usage{used: time.Duration(s.UTime+s.STime) * machine.Tick, waited: waited}
	}
	return found, nil
}

// vanished says that a process or thread ended while it was looked at.
func vanished(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) }

// programOf is the name of the file that a process runs; what the kernel calls it, its first 15 bytes, where
// that can't be read.
func programOf(p procfs.Proc, short string) string {
	line, err := p.CmdLine()
	if err != nil || len(line) == 0 {
		return short
	}
	return filepath.Base(line[0])
}

// waitedFor sums up how long a process' threads were ready to run and didn't.
func waitedFor(kernel procfs.FS, p procfs.Proc) (sum time.Duration, err error) {
	threads, err := kernel.AllThreads(p.PID)
	if vanished(err) {
		return 0, nil
	}
	for _, thread := range threads {
		s, err := thread.Schedstat()
		if vanished(err) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("thread %d of process %d: %w", thread.PID, p.PID, err)
		}
		sum += time.Duration(s.WaitingNanoseconds)
	}
	return sum, err
}
