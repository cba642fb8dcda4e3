package measure

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// A gap is a time between two readings that is so much longer than usual in its window, and longer than a moment: nobody saw how evenly the
// generator sent in it.
const (
	gapFactor  = 3
	gapAtLeast = 50 * time.Millisecond
)

// steadyTicks is how many of the times between readings must be free of bursts and gaps, for the rest to be judged by them.
const steadyTicks = 5

// evenness is what a window's pace says of the loss in it.
type evenness struct {
	bursts []report.Burst
	gap    time.Duration // the longest; 0 none
	gaps   int64
	steady []bool  // per direction: frames were lost most of the time, also where the generator sent evenly
	unseen []int64 // per direction: frames that were lost in gaps
}

// evenness looks back on the window. Without readings in between all is even, as far as is known.
func (p *Pace) evenness() evenness {
	if p == nil || len(p.ticks) == 0 {
		return evenness{}
	}
	e := evenness{bursts: p.bursts(), steady: make([]bool, len(p.setup.Directions)), unseen: make([]int64, len(p.setup.Directions))}
	longest := p.longestEven()
	calm, lossy := 0, make([]int, len(e.steady))
	for _, t := range p.ticks {
		switch {
		case t.took > longest:
			e.gap, e.gaps = max(e.gap, t.took), e.gaps+1
			for i := range e.unseen {
				e.unseen[i] += max(0, t.lost[i])
			}
		case !t.burst:
			calm++
			for i := range lossy {
				if t.lossy[i] {
					lossy[i]++
				}
			}
		}
	}
	for i := range e.steady {
		e.steady[i] = calm >= steadyTicks && 2*lossy[i] > calm
	}
	return e
}

// longestEven is how long the time between two readings may be before it is a gap.
func (p *Pace) longestEven() time.Duration {
	var all []time.Duration
	for _, t := range p.ticks {
		all = append(all, t.took)
	}
	slices.Sort(all)
	return max(gapAtLeast, gapFactor*all[len(all)/2])
}

// judge is a direction's quality: loss is the device's only where it is not excused.
func (e evenness) judge(f *figures, direction int, limit units.Ratio) (report.Quality, string) {
	quality, reason := f.judge(limit)
	if quality == report.Lossy && e.excuses(f, direction, limit) {
		return report.Invalid, f.lossSentence(limit) + "; but " + e.sentence()
	}
	return quality, reason
}

// excuses says that what a direction lost above the limit may be for the way in which the generator sent: it sent in bursts, and what was
// lost was not lost all the time; or it is not known how it sent just when frames were lost.
//
//	lost   ▁▁▁▁▁▁█▁▁▁▁█▁▁▁▁▁▁▁   by bursts
//	lost   ▄▄▄▄▄▄█▄▄▄▄█▄▄▄▄▄▄▄   by the load: so is it lost in between
func (e evenness) excuses(f *figures, direction int, limit units.Ratio) bool {
	switch {
	case len(e.bursts) == 0 && e.gaps == 0, e.steady[direction]:
		return false
	case len(e.bursts) > 0:
		return true
	}
	seen := surely(f.lost()-e.unseen[direction], f.receiveErrors, f.edges*(1+e.gaps))
	return !exceeds(seen, f.sent.Packets, limit)
}

// sentence tells the worst of it, and what to do about it.
func (e evenness) sentence() string {
	const advice = "give the generator processors that nothing else uses"
	if len(e.bursts) == 0 {
		return fmt.Sprintf("nothing could be read for %s: generator or runner was held up, and what was due may have left in a burst; %s", milliseconds(e.gap), advice)
	}
	worst := slices.MaxFunc(e.bursts, func(a, b report.Burst) int { return int((a.Sent - a.Due) - (b.Sent - b.Due)) })
	asked := units.PacketRateOver(worst.Due, int64(worst.Duration))
	sent := units.PacketRateOver(worst.Sent, int64(worst.Duration))
	times := "once"
	if worst.Count > 1 {
		times = fmt.Sprintf("%d times", worst.Count)
	}
	pause := ""
	if worst.Paused > 0 {
		pause = fmt.Sprintf(" after a pause of %s", milliseconds(worst.Paused.Std()))
	}
	return fmt.Sprintf("generator %s sent in bursts, %s in this window: %s for %s on %s%s, where %s was asked for; a device may lose those at any load: %s",
		worst.Generator, times, sent.FormatSI(), milliseconds(worst.Duration.Std()), worst.Link, pause, asked.FormatSI(), advice)
}

// milliseconds is a short time for people.
func milliseconds(d time.Duration) string { return d.Round(time.Millisecond).String() }

// told is the part of it that stays in the document.
func (e evenness) told(w *report.Window) { w.Bursts, w.Unwatched = e.bursts, plan.Duration(e.gap) }
