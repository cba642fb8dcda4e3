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

// progress is how far the soak has come after the windows of a history.
type progress struct {
	trials  []report.Window // that count
	indexes []int           // where these are in the history
	made    int             // trials made, unusable ones included
	sent    time.Duration   // how long they sent, by the time they were asked for
	used    time.Duration   // how long those sent that count
	reason  string          // why the next trial is repeated, or why the soak ended
	ended   bool
}

// replay carries the history through the soak. An unusable trial uses up its time, and the next trial asks for the same load.
func (s Soak) replay(history []report.Window) progress {
	var p progress
	if lost := s.warmUp().NothingCameBack(history); lost != "" {
		p.reason, p.ended = lost, true
		return p
	}
	invalid := 0
	for i := s.warmUp().Steps(); i < len(history) && !p.ended; i++ {
		lasts := s.trialLength(p.made, p.sent)
		p.sent += lasts
		p.made++
		p.reason = ""
		if s.usable(history[i], p.trials) {
			p.trials, p.indexes, p.used, invalid = append(p.trials, history[i]), append(p.indexes, i), p.used+lasts, 0
			continue
		}
		p.reason = procedure.Repeated(history[i])
		if invalid++; invalid >= maxInvalid {
			p.ended, p.reason = true, fmt.Sprintf("%s in succession could not be used; the last is window %d: %s", trialsText(invalid), history[i].Number, history[i].Reason)
		}
	}
	if !p.ended && s.trialLength(p.made, p.sent) <= 0 {
		p.ended, p.reason = true, fmt.Sprintf("%s were made in %s", trialsText(p.made), p.sent)
	}
	return p
}

// usable reports whether a window counts as a trial. A trial whose loss is in doubt counts too, as an interval from no loss to all that may be lost: leaving it out, and keeping trials that were
// disturbed in the same way and lost nothing, would make the device look better than it is.
func (s Soak) usable(w report.Window, others []report.Window) bool {
	return (w.Counts() || measure.LossInDoubt(w, s.plan.LossRatio)) && w.Load > 0 && len(w.Directions) > 0 && (len(others) == 0 || len(w.Directions) == len(others[0].Directions))
}

func trialsText(n int) string { return wording.Counted(n, "trial") }
