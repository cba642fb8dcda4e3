package ramp

import (
	"cmp"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// All directions climb together, so the first that loses frames ends the climb of all. What another direction can do
// isn't known then: each direction is bounded from above by its own loss alone, above the answer, where that is
// believed.
//
//	west→east  ───────── answer ┊ lost ✗✗ ─────────────▶ load       a limit
//	east→west  ───────── answer ┊ clean ───────────────▶ load       a lower bound: OtherDirection

// ballot is what the windows at one load show of one direction. Loss there is believed when it repeats, as it is for
// all directions together.
type ballot struct {
	load  units.Ratio
	lossy []point
	// shorts are the lossy windows that were offered less than asked, since a generator that stumbled and caught up may
	// have caused the loss.
	shorts int
	clean  int
	void   int
}

// votes is how many windows count as loss. Those of a generator that stumbles count only where it does so each time.
func (b ballot) votes() int {
	return len(b.lossy) - min(b.shorts, invalidRepeats)
}

// believed reports whether the loss repeated at this load, and was not outvoted.
func (b ballot) believed() bool { return b.votes() >= 2 && b.votes() > b.clean }

// counts reports whether the windows at this load speak for loss, if only together with those at another load.
func (b ballot) counts() bool { return b.votes() >= 1 && b.clean == 0 }

// open reports whether another window at this load would show more.
func (b ballot) open() bool {
	switch {
	case b.believed(), b.void > invalidRepeats, len(b.lossy)+b.clean >= bestOf+invalidRepeats:
		return false
	case b.clean == 0:
		return true
	}
	return b.votes() == 1 && b.clean == 1
}

// ownLoss is what the windows above the answer show of one direction by itself.
type ownLoss struct {
	direction int
	answer    *point
	measured  []point // all windows but the warm-up's, as far as they have the direction
	ballots   []ballot
	// runLoad is the load at which the staircase's first run of lossy windows began, by the same rule as saturation. 0
	// means that there is none.
	runLoad  units.Ratio
	refineTo units.Ratio
	// carried is the highest load that the direction carried while it lost frames, where none of it may have been saved
	// up.
	carried units.Ratio
}

// ownLossOf collects the windows of a direction. A clean window shorter than the confirmation does not count where
// short windows are distrusted.
func ownLossOf(direction int, answer *point, measured []point, b *bracket, r plan.Ramp) ownLoss {
	o := ownLoss{direction: direction, answer: answer, refineTo: r.Precision}
	withdrawn, run := map[int]bool{}, lossRuns{}
	for _, p := range b.points {
		withdrawn[p.index] = p.withdrawn
		if p.window.Phase != report.Ramping || p.withdrawn || p.asked <= answer.asked ||
			direction >= len(p.window.Directions) || o.runLoad > 0 {
			continue
		}
		if steps := run.add(direction, p); len(steps) == lossyRun {
			first, _ := saturation(steps, o.carriedIn)
			o.runLoad = first.asked
		}
	}
	for _, p := range measured {
		if direction >= len(p.window.Directions) {
			continue
		}
		o.measured = append(o.measured, p)
		if p.asked <= answer.asked || withdrawn[p.index] {
			continue
		}
		o.count(p, !b.shortDistrusted || p.window.Duration >= r.ConfirmDuration)
	}
	slices.SortFunc(o.ballots, func(a, b ballot) int { return cmp.Compare(a.load, b.load) })
	return o
}

// count adds a window to the ballot of its load. A window that is not trusted is too short to prove that nothing is
// lost, and to show what the device carries without what it saved up.
func (o *ownLoss) count(p point, trusted bool) {
	i := slices.IndexFunc(o.ballots, func(b ballot) bool { return b.load == p.asked })
	if i < 0 {
		i, o.ballots = len(o.ballots), append(o.ballots, ballot{load: p.asked})
	}
	b := &o.ballots[i]
	switch o.inWindow(p).Quality {
	case report.Lossy:
		b.lossy = append(b.lossy, p)
		if offeredLess(o.inWindow(p), p.asked) {
			b.shorts++
		}
		if trusted {
			o.carried = max(o.carried, o.carriedIn(p))
		}
	case report.Good, report.Short:
		if trusted {
			b.clean++
		}
	case report.Invalid:
		b.void++
	case report.Unjudged:
	}
}

// inWindow is the direction in a window.
func (o *ownLoss) inWindow(p point) report.Direction { return p.window.Directions[o.direction] }

// carriedIn is the load that the device carried of the direction in a window, by frames.
func (o *ownLoss) carriedIn(p point) units.Ratio {
	return mul(p.asked, units.One-min(o.inWindow(p).LossRatio, units.One))
}

// lossy is the window of the lowest load above the answer at which the direction itself lost frames, as far as that is
// believed. The loss is believed in three cases. It repeated at that load. A run of lossy windows of the staircase
// began there. Frames were lost at a lower load, too, and the direction was clean nowhere from there on. Nil means that
// no loss is believed.
func (o *ownLoss) lossy() *point {
	highestClean := units.Ratio(0)
	for _, b := range o.ballots {
		if b.clean > 0 {
			highestClean = b.load
		}
	}
	lostLower := false // frames were lost at a lower load, and the direction was clean at none from there on
	for _, b := range o.ballots {
		single := b.counts() && b.load > highestClean
		if b.believed() || o.runLoad == b.load && len(b.lossy) > b.clean || single && lostLower {
			return o.offeredMost(b.lossy)
		}
		lostLower = lostLower || single
	}
	return nil
}

// offeredMost is the window, of several lossy ones at one load, in which most was offered, so that the bound is surely
// not too low.
func (o *ownLoss) offeredMost(lossy []point) *point {
	p := slices.MaxFunc(lossy, func(a, b point) int {
		return int(o.inWindow(a).Offered.PacketsPerSecond - o.inWindow(b).Offered.PacketsPerSecond)
	})
	return &p
}

// resolution is how far the direction's answer may lie below the load of the lossy window, as a share of that.
func (o *ownLoss) resolution(lossy *point) units.Ratio {
	answer, loss := o.inWindow(*o.answer), o.inWindow(*lossy)
	peak := max(lossy.asked, exactLoad(loss, lossy.asked))
	proven := min(o.answer.asked, exactLoad(answer, o.answer.asked))
	offered := width(offeredLoad(answer, o.answer.asked), offeredLoad(loss, lossy.asked))
	return max(width(o.answer.asked, lossy.asked), offered, width(proven, peak))
}

// cleanBelow reports whether the direction was clean above the answer and below the load at which it lost frames. Its
// limit lies there then, and not at the answer.
func (o *ownLoss) cleanBelow(lossy *point) bool {
	return slices.ContainsFunc(o.ballots, func(b ballot) bool { return b.load < lossy.asked && b.clean > len(b.lossy) })
}

// unclearBelow is why the direction's limit is unknown although it lost frames. At a load below that, no window of the
// direction could be judged, which leaves much more unresolved than asked for. Empty means that there is no such load.
func (o *ownLoss) unclearBelow(lossy *point, resolution units.Ratio) report.Reason {
	if o.refineTo > 0 && resolution <= tolerated*o.refineTo {
		return ""
	}
	for _, b := range o.ballots {
		if b.void == 0 || len(b.lossy)+b.clean > 0 || b.load >= lossy.asked {
			continue
		}
		for _, p := range o.measured {
			if p.asked == b.load && o.inWindow(p).Quality == report.Invalid {
				return p.reason()
			}
		}
	}
	return ""
}

// generatorOutrun reports whether the loss may come from a generator that was asked for more than it can send.
func (o *ownLoss) generatorOutrun(lossy *point, resolution units.Ratio) bool {
	short := func(p *point) bool {
		return o.inWindow(*p).Quality == report.Short || offeredLoad(o.inWindow(*p), p.asked) < p.asked
	}
	load := offeredLoad(o.inWindow(*o.answer), o.answer.asked)
	lostHigher := slices.ContainsFunc(o.measured, func(p point) bool {
		return o.inWindow(p).Quality == report.Lossy && noticeablyLess(load, offeredLoad(o.inWindow(p), p.asked))
	})
	return generatorOutrun(short(o.answer), short(lossy), lostHigher, resolution, o.refineTo)
}

// nextLoad is the load, between the upper end and the target, at which the direction's own limit may show and be
// narrower than known so far. 0 means that there is none. A direction without any lossy window has its limit above all
// loads tried. A direction that carried clearly more than the answer in lossy windows has its limit where it carried
// that.
func (o *ownLoss) nextLoad(upper, lossLimit units.Ratio) units.Ratio {
	lossy := o.lossy()
	if lossy != nil && width(o.answer.asked, lossy.asked) <= 2*o.refineTo {
		return 0
	}
	if !slices.ContainsFunc(o.ballots, func(b ballot) bool { return len(b.lossy) > 0 }) {
		return 0
	}
	for times := units.Ratio(1); times < tolerated; times++ {
		step := units.RatioOf(int64(times*o.refineTo), int64(units.One-times*o.refineTo))
		load := o.answer.asked + mul(o.answer.asked, step)
		load = min(max(load, upper), units.One)
		if lossy != nil && load >= lossy.asked {
			return 0
		}
		if o.carried > load-mul(load, lossLimit) {
			continue
		}
		i := slices.IndexFunc(o.ballots, func(b ballot) bool { return b.load == load })
		if i < 0 || o.ballots[i].open() {
			return load
		}
	}
	return 0
}

// directions are the conclusions of each direction, for an answer that all of them share. A single direction has the
// conclusion of the whole.
func (c *conclusion) directions(whole procedure.Conclusion, answer *point,
	heldUnclear bool) []procedure.DirectionConclusion {
	conclusions := make([]procedure.DirectionConclusion, len(answer.window.Directions))
	if len(conclusions) == 1 {
		conclusions[0] = procedure.DirectionConclusion{Reason: whole.Reason, Saturated: whole.Saturated,
			Confirmed: whole.Confirmed, Window: whole.Window, Lossy: procedure.NoWindow}
		if whole.Saturated {
			conclusions[0].Lossy, conclusions[0].Resolution = whole.Lossy, whole.Resolution
		}
		return conclusions
	}
	for d := range conclusions {
		conclusions[d] = c.direction(ownLossOf(d, answer, c.measured, c.bracket, c.rules.Ramp), whole, heldUnclear)
	}
	return conclusions
}

// direction is the conclusion of one of several directions.
func (c *conclusion) direction(loss ownLoss, whole procedure.Conclusion,
	heldUnclear bool) procedure.DirectionConclusion {
	d := procedure.DirectionConclusion{Reason: whole.Reason, Confirmed: whole.Confirmed, Window: loss.answer.index,
		Lossy: procedure.NoWindow}
	if whole.Reason == report.LossAboveLimit {
		d.Reason = report.OtherDirection
	}
	lossy := loss.lossy()
	if heldUnclear || c.bracket.upper == nil || lossy == nil {
		return d
	}
	resolution := loss.resolution(lossy)
	if reason := loss.unclearBelow(lossy, resolution); reason != "" {
		d.Reason = reason
		return d
	}
	if loss.generatorOutrun(lossy, resolution) {
		d.Reason = report.GeneratorLimited
		return d
	}
	d.Lossy, d.Resolution = lossy.index, resolution
	if c.confirmed != nil && !c.bucket.steadyAt(loss.answer.load, []int{loss.direction}) {
		return d // the direction may have carried the answer from what it had saved up
	}
	widest := tolerated * max(loss.refineTo, whole.Resolution)
	if loss.cleanBelow(lossy) {
		widest = min(tolerated*loss.refineTo, max(loss.refineTo, stumble))
	}
	if resolution <= widest {
		d.Saturated, d.Reason = true, report.LossAboveLimit
	}
	return d
}

// ofAllDirections makes the answer as a whole say what holds for all its directions. It is the device's limit only if
// each direction's figure is.
func ofAllDirections(whole procedure.Conclusion) procedure.Conclusion {
	open := slices.IndexFunc(whole.Directions, func(d procedure.DirectionConclusion) bool { return !d.Saturated })
	if open < 0 {
		for _, d := range whole.Directions {
			whole.Resolution = max(whole.Resolution, d.Resolution)
		}
	}
	if !whole.Saturated || open < 0 {
		return whole
	}
	whole.Saturated, whole.Reason = false, whole.Directions[open].Reason
	if !slices.ContainsFunc(whole.Directions, func(d procedure.DirectionConclusion) bool { return d.Saturated }) {
		return unattributed(whole)
	}
	return whole
}

// unattributed is an answer above which frames were lost, but no direction's own loss makes it its limit. The
// directions lost frames in turns, or one that lost them repeatedly was clean in between. The reason is what keeps a
// direction's own loss from being its limit, where there is such a direction.
func unattributed(whole procedure.Conclusion) procedure.Conclusion {
	whole.Reason, whole.Unattributed = report.Inconclusive, true
	blamed := slices.IndexFunc(whole.Directions,
		func(d procedure.DirectionConclusion) bool { return d.Reason != report.OtherDirection })
	if blamed >= 0 {
		whole.Reason, whole.Unattributed = whole.Directions[blamed].Reason, false
	}
	for i := range whole.Directions {
		if d := &whole.Directions[i]; d.Reason == report.OtherDirection {
			d.Reason = whole.Reason
		}
	}
	return whole
}
