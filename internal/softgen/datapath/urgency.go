package datapath

import "golang.org/x/sys/unix"

// urgency decides whether a sending thread runs as a real-time thread. Whatever else the machine does should not be seen in the pace: an
// ordinary thread, even the first in line, is held up for milliseconds at a time on a busy machine, a real-time one is not. But one that
// never sleeps would take its processor from all others, the device's own threads among them; so a thread that needs most of a
// processor is an ordinary one, first in line.
//
//	busy  ── over tooBusy for a while ──▶ ordinary, nice −20 ── under idleEnough for longer ──▶ real time again
type urgency struct {
	ordinary bool
	streak   int // accounts in a row that speak for a change
}

const (
	tooBusy       = 0.7
	tooBusyFor    = 3 // accounts
	idleEnough    = 0.55
	idleEnoughFor = 50
)

// judge takes the share of a processor that the thread used since the last account, and says whether its class is to change.
func (u *urgency) judge(busy float64) (change bool) {
	against, enough := busy > tooBusy, tooBusyFor
	if u.ordinary {
		against, enough = busy < idleEnough, idleEnoughFor
	}
	if !against {
		u.streak = 0
		return false
	}
	if u.streak++; u.streak < enough {
		return false
	}
	u.ordinary, u.streak = !u.ordinary, 0
	return true
}

// apply gives the calling thread its class, where this user may: without the right it stays as it is.
func (u *urgency) apply() {
	attr := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	if u.ordinary || unix.SchedSetAttr(0, attr, 0) != nil {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: -20}, 0)
	}
}
