package frames

import (
	"context"
	"time"

	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/host/bounded"
)

const (
	// endPoll is how often counters are read until a trial's generators have ended.
	endPoll = 50 * time.Millisecond
	// endMargin is how much later than it should a generator may end a trial by itself: TRex ends a port at its next timer, 10 to 20 ms late.
	endMargin = 100 * time.Millisecond
)

// awaitEnd waits until the generators have ended a trial by themselves, and stops them where they still send when its time is over: TRex sends all that it was asked for, however late, and would refuse
// the next start. It keeps its readings, which show for how long each port sent.
//
//	asked for  ├──────── Judge ────────┤ endMargin ├ stopped
//	sent       ▁▁▁▂▂▂▃▃▃▄▄▄▅▅▅▆▆▆▇▇▇███▁▁▁          by the schedule
//	           ▁▁▁▁▁▁▁▂▂▂▂▂▂▂▃▃▃▃▃▃▃▄▄▄▄▄▄▄▅▅▅▅▅▅▅▅ late
func (r *run) awaitEnd(ctx context.Context, begin time.Time, before []engine.Reading, keep func([]engine.Reading)) error {
	over := begin.Add(startDelay + r.drive.step.Judge)
	for last := r.drive.last; ; {
		if err := bounded.Pause(ctx, endPoll); err != nil {
			return err
		}
		now, err := r.read(ctx)
		if err != nil {
			return err
		}
		keep(now)
		switch late := time.Now().After(over); {
		case !r.sends(last, now) && (late || r.sentAll(r.drive.step.Judge, before, now)):
			return nil
		case time.Now().After(over.Add(endMargin)):
			return r.stopAll(ctx)
		}
		last = now
	}
}

// endsLate says whether some port's traffic may end later than it was asked to.
func endsLate(readings []engine.Reading) bool {
	for _, r := range readings {
		for _, port := range r.Ports {
			if port.EndsLate {
				return true
			}
		}
	}
	return false
}

// sends says whether anything was sent between two readings.
func (r *run) sends(before, after []engine.Reading) bool {
	for _, d := range r.setup.Directions {
		if between(d, before, after).Sent.Packets != 0 {
			return true
		}
	}
	return false
}

// allSend says whether each direction's frames were sent between two readings, as far as it has any.
func (r *run) allSend(before, after []engine.Reading) bool {
	for i, d := range r.setup.Directions {
		if r.drive.intended[i] > 0 && between(d, before, after).Sent.Packets == 0 {
			return false
		}
	}
	return true
}

// sentAll says whether the frames of a trial were sent, but for those of a moment.
func (r *run) sentAll(sending time.Duration, before, now []engine.Reading) bool {
	for i, d := range r.setup.Directions {
		due := r.drive.intended[i].PerSecond() * (sending - unsent).Seconds()
		if float64(between(d, before, now).Sent.Packets) < due {
			return false
		}
	}
	return true
}
