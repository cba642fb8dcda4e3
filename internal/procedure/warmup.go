package procedure

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// WarmUp is the traffic before anything counts. It is one step, or none if it takes no time. It proves that traffic
// passes, and nothing else.
type WarmUp struct {
	Kind  Kind
	Lasts time.Duration
}

// Steps is one, or none if the warm-up takes no time.
func (w WarmUp) Steps() int {
	if w.Lasts > 0 {
		return 1
	}
	return 0
}

// Rates are the rates of a procedure that begins with the warm-up, where warmUp is the warm-up's rate.
func (w WarmUp) Rates(full, warmUp Rate) Rates {
	if w.Steps() == 0 {
		warmUp = Rate{}
	}
	return Rates{Full: full, WarmUp: warmUp}
}

// Due reports whether the warm-up is the next step.
func (w WarmUp) Due(history []report.Window) bool { return len(history) < w.Steps() }

// Step is the warm-up's step.
func (w WarmUp) Step() Step {
	return Step{Kind: w.Kind, Phase: report.WarmUp, Load: units.One, Judge: w.Lasts}
}

// Remaining is how much of the warm-up is still to come.
func (w WarmUp) Remaining(history []report.Window) time.Duration {
	if w.Due(history) {
		return w.Lasts
	}
	return 0
}

// WindowsAfter are the windows after the warm-up.
func (w WarmUp) WindowsAfter(history []report.Window) []report.Window {
	return history[min(w.Steps(), len(history)):]
}

// Bound is the bound of the warm-up and of so many trials, which together take span, and the longest of which takes
// longest.
func (w WarmUp) Bound(trials int, span, longest time.Duration) Bound {
	steps := w.Steps() + trials
	return Bound{Steps: steps, Time: w.Lasts + span, Trials: steps, Trial: max(w.Lasts, longest)}
}

// NothingCameBack says in which direction every frame of a warm-up was lost, so that nothing can be measured. Empty
// means in none. Sessions whose receiver reported nothing may still pass, since iperf 2 reports each half second, and
// later on a busy machine.
func (w WarmUp) NothingCameBack(history []report.Window) string {
	if w.Steps() == 0 || len(history) == 0 {
		return ""
	}
	return NothingCameBack(history[0])
}

// NothingCameBack says in which direction every frame of a warm-up was lost, so that nothing can be measured;
// empty: in none. Sessions whose receiver reported nothing may still pass: iperf 2 reports each half second,
// and later on a busy machine.
func NothingCameBack(warmUp report.Window) string {
	for _, d := range warmUp.Directions {
		if d.Sessions != nil && d.Sessions.ReceivedBytes == 0 && d.Sessions.ReceivedIn > 0 {
			return fmt.Sprintf("warm-up: no payload came from %s to %s, of %d bytes that were sent", d.From, d.To,
				d.Sessions.SentBytes)
		}
		if d.Sent.Packets > 0 && d.Returned.Packets == 0 {
			return fmt.Sprintf("warm-up: none of %d frames came back from %s to %s", d.Sent.Packets, d.From, d.To)
		}
	}
	return ""
}

// Repeated is the reason of a step that repeats the step of this window.
func Repeated(w report.Window) string {
	return fmt.Sprintf("window %d is repeated, as it could not be judged: %s", w.Number, w.Reason)
}
