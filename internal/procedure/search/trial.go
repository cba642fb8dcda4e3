package search

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/goals"
	"github.com/linerate-dev/linerate/internal/units"
)

// grain is the share of a trial's frames that generators may leave out by rounding, in addition to two frames, since
// rates and durations are rounded to whole numbers in places.
const grain = units.One / 10_000

// whyDisturbed says why a trial shows nothing of some goal and is to be repeated. Empty means that the trial counts.
// RFC9971 counts what was not sent as lost. With that classification, a generator that left out frames, though less
// than one in a hundred, makes the trial show nothing, so that a generator's stall isn't the device's loss.
func (s Search) whyDisturbed(w report.Window) string {
	for _, g := range s.plan.Goals {
		if judged := judgedBy(w, g); !judged.Counts() && !endedForStricterGoal(w, g) {
			return procedure.Repeated(judged)
		}
	}
	if s.plan.Classification != plan.ClassifyRFC9971 {
		return ""
	}
	for _, d := range w.Directions {
		if missing, planned := notSent(w, d); missing > 0 && w.Decided == nil && !d.UnderOffered() {
			return fmt.Sprintf("window %d is repeated: of %d frames asked for from %s to %s the generator did not "+
				"send %d", w.Number, planned, d.From, d.To, missing)
		}
	}
	return ""
}

// countsForSomeGoal reports whether a trial counts for some goal. A trial may show nothing at a strict loss ratio, and
// show at another one that no more was lost.
func (s Search) countsForSomeGoal(w report.Window) bool {
	return slices.ContainsFunc(s.plan.Goals, func(g plan.Goal) bool { return judgedBy(w, g).Counts() })
}

// endedForStricterGoal reports whether a trial was ended early for goals that allow less loss than this goal. Such a
// trial shows nothing of this goal.
func endedForStricterGoal(w report.Window, g plan.Goal) bool {
	return w.Decided != nil && g.LossRatio > w.Decided.LossRatio
}

// judgedBy is a window as a goal judges it. A window without evidence stays as it was judged.
func judgedBy(w report.Window, g plan.Goal) report.Window {
	counted, err := measure.Recall(w)
	if err != nil {
		return w
	}
	judged := measure.Judge(counted, measure.Goal{MaxLossRatio: g.LossRatio})
	judged.Number, judged.Phase, judged.Load = w.Number, w.Phase, w.Load
	return judged
}

// notSent is how many of a direction's planned frames its generators did not send, where that is more than rounding,
// and how many were planned. For a trial that was ended early, the planned frames are those until its end. For a trial
// that was sent late, the planned frames are those of its longer time.
func notSent(w report.Window, d report.Direction) (missing, planned int64) {
	planned = plannedFrames(d, max(w.Duration, d.Sending).Std())
	missing = planned - d.Sent.Packets
	if missing <= 2+planned/int64(units.One/grain) {
		return 0, planned
	}
	return missing, planned
}

// trialOf is a window as a trial of package goals. Its loss ratio is that of the direction that lost most, and never
// that of the sum.
func (s Search) trialOf(ask goals.Ask, w report.Window) goals.Trial {
	t := goals.Trial{Load: ask.Load, Duration: ask.Duration, Took: took(ask, w), Stopped: w.Decided != nil}
	for i, d := range w.Directions {
		if t.Stopped {
			t.LossRatio = max(t.LossRatio, leastLoss(w, i))
		} else {
			t.LossRatio = max(t.LossRatio, s.lossOf(w, d))
		}
	}
	if len(w.Directions) == 0 {
		t.LossRatio = 1 // nothing came back of nothing: no load is met by that
	}
	return t
}

// leastLoss is the least loss ratio that a direction would have had in the whole of a trial that was ended early. It is
// what the direction surely lost by then, of all planned frames.
func leastLoss(w report.Window, direction int) float64 {
	return min(1, measure.LeastLossOfPlanned(w, direction).Float())
}

// plannedFrames is how many frames a direction was asked for in a span of time.
func plannedFrames(d report.Direction, span time.Duration) int64 {
	return int64(units.PacketRate(d.Intended.PacketsPerSecond) * units.PacketRate(span.Milliseconds()) / 1000)
}

// took is how long a trial took with its drain, as duration sums count it. For a trial that was ended early, it is how
// long the whole trial would have taken.
func took(ask goals.Ask, w report.Window) (span time.Duration) {
	span = max(w.Took.Std(), w.Duration.Std())
	if w.Decided != nil {
		span += max(0, ask.Duration-w.Duration.Std())
	}
	return span
}

// lossOf is a direction's loss ratio of the planned frames. Frames that were not sent, and frames that were sent and
// did not come back, count as lost. RFC9971 counts as the reference's library does:
//
//	(|lost| + |asked for − sent|) ÷ the larger of asked for and sent
//
// Sequential counts frames that were not sent only where they are more than one in a hundred, since the load was
// another one then.
func (s Search) lossOf(w report.Window, d report.Direction) float64 {
	missing, planned := notSent(w, d)
	if s.plan.Classification != plan.ClassifyRFC9971 && !d.UnderOffered() {
		missing, planned = 0, d.Sent.Packets
	}
	if planned = max(planned, d.Sent.Packets); planned <= 0 {
		return 1
	}
	lost := d.Sent.Packets - d.Returned.Packets
	return min(1, float64(max(lost, -lost)+missing)/float64(planned))
}

// surelyLost is the share of a direction's frames that the device surely lost, where that is more than the goal allows,
// and otherwise 0.
func surelyLost(w report.Window, direction int, g plan.Goal) float64 {
	judged := judgedBy(w, g).Directions
	if direction >= len(judged) {
		return 0
	}
	d := judged[direction]
	if d.Quality == report.Invalid || d.LossRatioMin <= g.LossRatio {
		return 0
	}
	if w.Decided != nil {
		return leastLoss(w, direction)
	}
	return min(units.One, d.LossRatioMin).Float()
}
