package maximumload

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Every trial begins after a pause, in which a device may save up rate, as a policer does in its bucket: what came back of a trial is more then than the device forwards for as long as one likes. So
// after trials that lost frames the load goes on without a pause until frames are lost, and then for two windows more, which begin with nothing saved up.

// The bounds of that.
const (
	steadyWindows = 2 // that are compared with the trials
	mostHeldSteps = 8
	firstHeld     = time.Second // a window until frames are lost, each next one twice as long
	mostHeld      = 4 * time.Second
)

// held is the load that goes on without a pause.
type held struct {
	windows int
	losing  bool  // the last window lost frames in each direction that did in trials
	steady  []int // windows that began then, as indexes into the history
	ended   bool
	unheld  string // why there are too few of them
}

// holds says that the load is held after the trials: they surely lost frames.
func (m MaximumOfferedLoad) holds(s series, history []report.Window) bool {
	return len(s.judged) > 0 && !slices.ContainsFunc(s.judged, func(i int) bool { return !procedure.LostAbove(history[i].Directions, m.maxLossRatio) })
}

// observeHeld takes in a window of the load that is held.
func (m MaximumOfferedLoad) observeHeld(s *series, history []report.Window, i int) {
	h, w := &s.held, history[i]
	h.windows++
	directions := history[s.judged[0]].Directions
	counts := w.Counts() && len(w.Directions) == len(directions)
	if h.losing && counts {
		h.steady = append(h.steady, i)
	}
	h.losing = counts
	for d, of := range directions {
		h.losing = h.losing && (of.LossRatioMin <= m.maxLossRatio || w.Directions[d].LossRatioMin > m.maxLossRatio)
	}
	h.unheld = fmt.Sprintf("window %d: %s", w.Number, w.Reason)
	h.ended = len(h.steady) == steadyWindows || h.windows == mostHeldSteps
}

// heldStep is the next window of the load that is held.
func (m MaximumOfferedLoad) heldStep(s series, history []report.Window) procedure.Step {
	step := procedure.Step{Kind: procedure.Held, Phase: report.Confirm, Load: units.One, Settle: procedure.SettleAfterTrials(history[:s.heldFrom]), Judge: min(firstHeld<<s.held.windows, mostHeld),
		Reason: "the load goes on without a pause, as each trial began after one: does as much come back for as long as one likes?"}
	if s.held.losing {
		step.Judge = min(m.plan.TrialDuration.Std(), mostHeld)
	}
	return step
}

// steadyAnswer is what comes back for as long as one likes, where that is clearly less than what came back of each trial: two windows after an overload agree on it; nil: trials show it.
func (m MaximumOfferedLoad) steadyAnswer(s series, history []report.Window) *report.Window {
	if len(s.held.steady) < steadyWindows {
		return nil
	}
	var all []report.Window
	for _, i := range s.held.steady {
		all = append(all, history[i])
	}
	less := false
	for d := range all[0].Directions {
		for _, rate := range rates {
			a, b := rate(all[0].Directions[d].Received), rate(all[1].Directions[d].Received)
			least := slices.Min(ofEach(s.judged, history, d, rate))
			less = less || 100*max(a, b) < 99*least && 200*max(a, b) <= 201*min(a, b)
		}
	}
	if !less {
		return nil
	}
	whole := measure.Combine(all)
	return &whole
}

// rates are what a device may count, and save up: frames, or bits. What it saves up of bits hardly shows in frames where a mix's large frames are dropped rather than small ones.
var rates = []func(report.Flow) int64{
	func(f report.Flow) int64 { return f.PacketsPerSecond },
	func(f report.Flow) int64 { return f.Layer2BitsPerSecond },
}

// ofEach is what came back of a direction in each of the windows.
func ofEach(windows []int, history []report.Window, d int, rate func(report.Flow) int64) (all []int64) {
	for _, i := range windows {
		if d < len(history[i].Directions) {
			all = append(all, rate(history[i].Directions[d].Received))
		}
	}
	return append(all, 1<<62)
}

// steadySentence says what the held load showed beside trials.
func (m MaximumOfferedLoad) steadySentence(s series, whole *report.Window, trialsWhole report.Window) string {
	switch {
	case whole != nil:
		return fmt.Sprintf("of trials of %s, each of which began after a pause, %s came back: what the device saves up meanwhile passes as a burst, and what comes back right after an overload is the forwarding rate for as long as one likes",
			m.plan.TrialDuration.Std(), wording.PacketRate(received(trialsWhole)))
	case s.held.ended && len(s.held.steady) < steadyWindows:
		return fmt.Sprintf("that is shown in trials of %s that begin after a pause, and for no longer (%s)", m.plan.TrialDuration.Std(), s.held.unheld)
	}
	return ""
}
