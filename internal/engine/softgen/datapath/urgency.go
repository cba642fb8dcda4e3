package datapath

import "golang.org/x/sys/unix"

// urgency decides whether a sending thread runs as a real-time thread. Other work on the machine should not change the pace: an
// ordinary thread, even at nice −20, is delayed for milliseconds at a time on a busy machine, a real-time one is not. But a real-time thread that
// never sleeps would keep its processor from all other threads, the device's own among them; so a thread that needs most of a
// processor is an ordinary one, at nice −20.
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

// judge gets the share of a processor that the thread used since the last account, and says whether to change its class.
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

// apply gives the calling thread its class; without the right to do so, the thread stays as it is.
func (u *urgency) apply() {
	attr := &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
	if u.ordinary || unix.SchedSetAttr(0, attr, 0) != nil {
		_ = unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_NORMAL, Nice: -20}, 0)
	}
}
