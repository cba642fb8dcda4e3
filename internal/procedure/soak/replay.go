package soak

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// maxInvalid is how many trials in succession may be unusable before the soak is given up.
const maxInvalid = 5

// course is how far the soak has come after the windows of a history.
type course struct {
	procedure.Course

	trials   []report.Window // that count
	indexes  []int           // where these are in the history
	attempts int             // trials made, unusable ones included
	sent     time.Duration   // how long they sent, by the time they were asked for
	used     time.Duration   // how long those sent that count
}

// replay carries the history through the soak. An unusable trial uses up its time, and the next trial asks for the same
// load.
func (s Soak) replay(history []report.Window) course {
	var c course
	c.Replay(s.warmUp(), history, func(i int) {
		lasts := s.trialLength(c.attempts, c.sent)
		c.sent += lasts
		c.attempts++
		switch {
		case s.usable(history[i], c.trials):
			c.trials, c.indexes, c.used = append(c.trials, history[i]), append(c.indexes, i), c.used+lasts
			c.GoOn()
		case !c.Repeat(history[i], maxInvalid-1):
			c.End(fmt.Sprintf("%s in succession could not be used; the last is window %d: %s", trialsText(maxInvalid),
				history[i].Number, history[i].Reason))
		}
	})
	if !c.Ended && s.trialLength(c.attempts, c.sent) <= 0 {
		c.End(fmt.Sprintf("%s were made in %s", trialsText(c.attempts), c.sent))
	}
	return c
}

// usable reports whether a window counts as a trial. A trial whose loss is in doubt counts too, as an interval from no
// loss to all that may be lost. Without it, and with trials that were disturbed in the same way and lost nothing, the
// device would look better than it is.
func (s Soak) usable(w report.Window, counted []report.Window) bool {
	return (w.Counts() || measure.LossInDoubt(w, s.plan.LossRatio)) && w.Load > 0 && len(w.Directions) > 0 &&
		(len(counted) == 0 || len(w.Directions) == len(counted[0].Directions))
}

func trialsText(n int) string { return wording.Counted(n, "trial") }
