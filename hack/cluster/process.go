package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// process names one process for good: its number may be given to another one, but not with the same start.
type process struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since the machine's boot
}

// identify reads when a process that is known to live was started.
func identify(pid int) (process, error) {
	stat, err := stateOf(pid)
	return process{PID: pid, Start: stat.Starttime}, err
}

// alive is whether exactly this process runs. One that only waits to be reaped doesn't.
func (p process) alive() bool {
	stat, err := stateOf(p.PID)
	return p.PID > 0 && err == nil && stat.Starttime == p.Start && lives(stat)
}

// stateOf is what the kernel says of a process (proc_pid_stat(5)).
func stateOf(pid int) (procfs.ProcStat, error) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	return p.Stat()
}

// lives is whether a process was not ended.
func lives(stat procfs.ProcStat) bool { return stat.State != "Z" && stat.State != "X" }

// kill ends exactly this process and waits until it is gone. It is no error that it was gone already.
func (p process) kill(ctx context.Context) error {
	if !p.alive() {
		return nil
	}
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open process %d: %w", p.PID, err)
	}
	defer func() { _ = unix.Close(fd) }()
	if !p.alive() { // the number may have been given away before we held it
		return nil
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("kill process %d: %w", p.PID, err)
	}
	return await(ctx, fmt.Sprintf("the end of process %d", p.PID), func() bool { return !p.alive() })
}

// await waits for what can only be seen by looking again. The context bounds it.
func await(ctx context.Context, subject string, condition func() bool) error {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w", subject, context.Cause(ctx))
		case <-tick.C:
		}
	}
	return nil
}
