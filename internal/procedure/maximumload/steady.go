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

// Every trial begins after a pause, in which a device may save up rate, as a policer does in its bucket. What came back
// of a trial is more then than the device forwards for as long as one likes. So after trials that lost frames the load
// goes on without a pause until frames are lost, and then for two windows more, which begin with nothing saved up.

// The bounds of the load that is held.
const (
	steadyWindows = 2 // that are compared with the trials
	mostHeldSteps = 8
	firstHeld     = time.Second // a window until frames are lost, each next one twice as long
	mostHeld      = 4 * time.Second
)

// holding is the load that goes on without a pause.
type holding struct {
	windows int
	losing  bool  // the last window lost frames in each direction that did in trials
	steady  []int // windows that began with nothing saved up, as indexes into the history
	ended   bool
	unheld  string // why steady windows are missing
}

// holds reports whether the load is held after the trials, as they surely lost frames.
func (m MaximumOfferedLoad) holds(c course, history []report.Window) bool {
	return len(c.judged) > 0 && !slices.ContainsFunc(c.judged,
		func(i int) bool { return !procedure.LostAbove(history[i].Directions, m.maxLossRatio) })
}

// observeHeld takes in a window of the load that is held.
func (m MaximumOfferedLoad) observeHeld(c *course, history []report.Window, i int) {
	h, w := &c.holding, history[i]
	h.windows++
	directions := history[c.judged[0]].Directions
	counts := w.Counts() && len(w.Directions) == len(directions)
	if h.losing && counts {
		h.steady = append(h.steady, i)
	}
	h.losing = counts
	for d, inTrial := range directions {
		h.losing = h.losing &&
			(inTrial.LossRatioMin <= m.maxLossRatio || w.Directions[d].LossRatioMin > m.maxLossRatio)
	}
	h.unheld = fmt.Sprintf("window %d: %s", w.Number, w.Reason)
	h.ended = len(h.steady) == steadyWindows || h.windows == mostHeldSteps
}

// heldStep is the next window of the load that is held.
func (m MaximumOfferedLoad) heldStep(c course, history []report.Window) procedure.Step {
	step := procedure.Step{Kind: procedure.Hold, Phase: report.Confirm, Load: units.One,
		Settle: procedure.SettleAfterTrials(history[:c.holdStart]), Judge: min(firstHeld<<c.holding.windows, mostHeld),
		Reason: "the load goes on without a pause, as each trial began after one: does as much come back for as long " +
			"as one likes?"}
	if c.holding.losing {
		step.Judge = min(m.plan.TrialDuration.Std(), mostHeld)
	}
	return step
}

// steadyAnswer is what comes back for as long as one likes, where that is clearly less than what came back of each
// trial, and two windows after an overload agree on it. Nil means that the trials show the answer.
func (m MaximumOfferedLoad) steadyAnswer(c course, history []report.Window) *report.Window {
	if len(c.holding.steady) < steadyWindows {
		return nil
	}
	var windows []report.Window
	for _, i := range c.holding.steady {
		windows = append(windows, history[i])
	}
	lower := false
	for d := range windows[0].Directions {
		for _, rate := range rates {
			a, b := rate(windows[0].Directions[d].Received), rate(windows[1].Directions[d].Received)
			lowest := slices.Min(rateInEach(c.judged, history, d, rate))
			lower = lower || 100*max(a, b) < 99*lowest && 200*max(a, b) <= 201*min(a, b)
		}
	}
	if !lower {
		return nil
	}
	whole := measure.Combine(windows)
	return &whole
}

// rates are what devices count, and save up, which is frames or bits. Saved-up bits hardly show in frames where a mix's
// large frames are dropped rather than small ones.
var rates = []func(report.Flow) int64{
	func(f report.Flow) int64 { return f.PacketsPerSecond },
	func(f report.Flow) int64 { return f.Layer2BitsPerSecond },
}

// rateInEach is what came back of direction d in each of the windows, and a rate above all.
func rateInEach(windows []int, history []report.Window, d int, rate func(report.Flow) int64) (received []int64) {
	for _, i := range windows {
		if d < len(history[i].Directions) {
			received = append(received, rate(history[i].Directions[d].Received))
		}
	}
	return append(received, 1<<62)
}

// steadySentence says what the held load showed in addition to the trials.
func (m MaximumOfferedLoad) steadySentence(c course, whole *report.Window, trialsWhole report.Window) string {
	switch {
	case whole != nil:
		return fmt.Sprintf("of trials of %s, each of which began after a pause, %s came back: what the device saves "+
			"up meanwhile passes as a burst, and what comes back right after an overload is the forwarding rate for "+
			"as long as one likes", m.plan.TrialDuration.Std(), wording.PacketRate(received(trialsWhole)))
	case c.holding.ended && len(c.holding.steady) < steadyWindows:
		return fmt.Sprintf("that is shown in trials of %s that begin after a pause, and for no longer (%s)",
			m.plan.TrialDuration.Std(), c.holding.unheld)
	}
	return ""
}
