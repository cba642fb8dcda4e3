package measure

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A gap is a time between two readings that is so much longer than usual in its window, and longer than a moment.
// Nobody saw how evenly the generator sent in it.
const (
	gapFactor  = 3
	gapAtLeast = 25 * time.Millisecond
)

// steadyTicks is how many times between readings must be free of bursts and gaps, for the other times to be judged
// by them.
const steadyTicks = 5

// evenness is what a window's pace shows of its loss, in times between readings that were calm, had a burst, or
// were gaps.
type evenness struct {
	bursts     []report.Burst
	gap        time.Duration // the longest, or 0 for none
	gaps, calm int64
	// Each direction has the frames that it lost in each kind of time, and the shares that it surely lost in the
	// calm times with any loss.
	lostCalm, lostInBursts, lostInGaps []int64
	losses                             [][]units.Ratio
}

func newEvenness(directions int) evenness {
	return evenness{lostCalm: make([]int64, directions), lostInBursts: make([]int64, directions),
		lostInGaps: make([]int64, directions),
		losses:     make([][]units.Ratio, directions)}
}

// clone shares nothing with e that either of them changes.
func (e evenness) clone() evenness {
	e.lostCalm, e.lostInBursts, e.lostInGaps = slices.Clone(e.lostCalm), slices.Clone(e.lostInBursts),
		slices.Clone(e.lostInGaps)
	e.losses = slices.Clone(e.losses)
	for i := range e.losses {
		e.losses[i] = slices.Clip(e.losses[i])
	}
	return e
}

// add takes in a time between readings that is no gap.
func (e *evenness) add(t tick) {
	if t.burst {
		for i, lost := range t.lost {
			e.lostInBursts[i] += lost
		}
		return
	}
	e.calm++
	for i, lost := range t.lost {
		e.lostCalm[i] += lost
		if t.loss[i] > 0 {
			e.losses[i] = append(e.losses[i], t.loss[i])
		}
	}
}

func (e *evenness) addGap(t tick) {
	e.gap, e.gaps = max(e.gap, t.took), e.gaps+1
	for i, lost := range t.lost {
		e.lostInGaps[i] += max(0, lost)
	}
}

// calmLossRatio is the lower median of what a direction surely lost in calm times. More than half of the calm times
// lost more than a limit exactly if the lower median is above that limit. So this one share stands for all of these
// times, whatever the limit.
//
//	lost in each, sorted   0 0 1 1 2 2 3 3     a limit below 1: six of eight lost more
//	                             ▲             at 1: four, which is not more than half
func (e *evenness) calmLossRatio(direction int) units.Ratio {
	losses := slices.Sorted(slices.Values(e.losses[direction]))
	expected := int(e.calm) - len(losses)
	if middle := (int(e.calm) - 1) / 2; len(losses) > 0 && middle >= expected {
		return losses[middle-expected]
	}
	return 0
}

// evenness looks back on the window. Without readings in between everything counts as even.
func (p *Pace) evenness(directions int) evenness {
	if p == nil {
		return newEvenness(directions)
	}
	e := p.even.clone()
	e.bursts = p.bursts()
	longest := p.longestEven()
	for _, t := range p.long {
		if t.took > longest {
			e.addGap(t)
		} else {
			e.add(t)
		}
	}
	return e
}

// longestEven is how long the time between two readings may be before it is a gap.
func (p *Pace) longestEven() time.Duration {
	if len(p.long) == 0 {
		return gapAtLeast
	}
	durations := slices.Sorted(slices.Values(p.took))
	return max(gapAtLeast, gapFactor*durations[len(durations)/2])
}

// explainedBySending says that the loss of a direction above the limit may come from the way the generator sent.
// Either it sent in bursts, and frames were not lost all the time, or nobody saw how it sent just when frames were
// lost.
//
//	lost   ▁▁▁▁▁▁█▁▁▁▁█▁▁▁▁▁▁▁   by bursts
//	lost   ▄▄▄▄▄▄█▄▄▄▄█▄▄▄▄▄▄▄   by the load: so is it lost in between
func (d direction) explainedBySending() bool {
	evidence := d.window.Evidence
	switch {
	case len(d.window.Bursts) == 0 && evidence.Gaps == 0, evidence.Calm >= steadyTicks &&
		d.evidence.CalmLossRatio > d.limit:
		return false
	case len(d.window.Bursts) > 0:
		return true
	}
	counted := surelyLostOf(d.lost()-d.evidence.LostInGaps, d.measured.GeneratorDrops(),
		d.measured.EdgeFrames*(1+evidence.Gaps)+d.measured.DisturbedFrames)
	return !exceeds(counted, d.planned(), d.limit)
}

// ownProcessors is what to do about a generator that sends late or in bursts.
const ownProcessors = "give the generator processors that nothing else uses"

// unevenSentence describes the worst of how a window's load was sent, and what to do about it.
func unevenSentence(w report.Window) string {
	if len(w.Bursts) == 0 {
		return fmt.Sprintf("nothing could be read for %s: generator or runner was held up, and what was due may have left in a burst%s; %s", wording.Span(w.Unwatched.Std()), lateSentence(w), ownProcessors)
	}
	worst := slices.MaxFunc(w.Bursts, func(a, b report.Burst) int { return int((a.Sent - a.Due) - (b.Sent - b.Due)) })
	asked := units.PacketRateOver(worst.Due, int64(worst.Duration))
	sent := units.PacketRateOver(worst.Sent, int64(worst.Duration))
	times := "once"
	if worst.Count > 1 {
		times = fmt.Sprintf("%d times", worst.Count)
	}
	pause := ""
	if worst.Paused > 0 {
		pause = fmt.Sprintf(" after a pause of %s", wording.Span(worst.Paused.Std()))
	}
	return fmt.Sprintf("generator %s sent in bursts, %s in this window: %s for %s on %s%s, where %s was asked for; a device may lose those at any load%s: %s",
		worst.Generator, times, sent.FormatSI(), wording.Span(worst.Duration.Std()), worst.Link, pause,
		asked.FormatSI(), lateSentence(w), ownProcessors)
}
