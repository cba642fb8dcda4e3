package ramp

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// bracket is where the device's limit lies, between the highest clean load and the lowest lossy one.
//
//	0 ───────── lower ───────┬──────── ceiling ────── upper ─────▶ load
//	            clean     next load    unclear        lossy
//
// The ceiling is the upper end, or lower where windows stayed unclear however often they were repeated. The search goes
// on below the ceiling, but the answer claims no more than the way up to the upper end.
type bracket struct {
	refineTo units.Ratio // how narrow the bracket is to become, as a share of its upper end
	// grain is how far a load has to be above the device's limit for a window of the search to show it. It is 0 where
	// that is less than the search asks for.
	grain     units.Ratio
	lossLimit units.Ratio

	points []point  // windows of the staircase and later ones, as far as they move an end
	runs   lossRuns // of the staircase
	upper  *point   // nil: no load is known to lose frames
	first  *point   // the upper end as it was marked first
	cause  string   // which direction, or which kind of window, lost the frames at the upper end
	// upperProven means that the upper end lost frames again after the staircase, or for as long as a confirmation
	// lasts.
	upperProven bool
	ceiling     units.Ratio
	// ceilingUnclear means that the load at the ceiling could not be judged, and that no load between it and the upper
	// end was tried since.
	ceilingUnclear bool

	// estimate is where the loss at the upper end puts the limit, if the device forwards as much above that load as at
	// it. 0 means none.
	estimate units.Ratio
	// byFrames is the same by frames alone. A device that counts packets may well drop the large ones of a mix, and the
	// estimate by bits is too low then. Where windows have few frames and are long, it spares halvings. 0 means none.
	byFrames units.Ratio
	// bothSidesClean means that the loads just below and just above the estimate were clean. Either the device does
	// better below than above its limit, or short windows miss the loss. A long window shows which.
	bothSidesClean bool
	// shortDistrusted means that a long window lost frames where short ones were clean, or could not be judged. Short
	// windows miss a burst or a long queue, so only long ones count from then on.
	shortDistrusted bool
	// heldEstimate is where the loss of long windows puts the limit. 0 means none.
	heldEstimate units.Ratio
	heldLosses   []point // loads at which long windows lost frames
	// losesEverywhere means that loads far apart lost the same share when held, so that no step down, however long,
	// leads to a clean one.
	losesEverywhere bool
}

// mark sets the upper end, which is proven or not.
func (b *bracket) mark(p point, cause string, proven bool) {
	b.upper, b.cause, b.upperProven, b.ceiling = &p, cause, proven, p.asked
	b.heldEstimate, b.estimate, b.byFrames, b.ceilingUnclear = 0, 0, 0, false
	if b.first == nil {
		b.first = &p
	}
}

// countRuns takes in a window of the staircase. It reports whether the window completes a direction's run of lossy
// windows, the first such run, which marks saturation.
func (b *bracket) countRuns(p point) (saturated bool) {
	for i, d := range p.window.Directions {
		if run := b.runs.add(i, p); b.upper == nil && len(run) == lossyRun {
			first, rate := saturation(run, point.carried)
			b.mark(first, d.Name(), false)
			b.estimate, saturated = rate, true
			_, b.byFrames = saturation(run, point.carriedFrames)
		}
	}
	return saturated
}

// plateau reports whether the generator is at its limit. Over the last steps, all short, the intended load grew by a
// tenth then, and the offered load by less than a hundredth.
func (b *bracket) plateau() bool {
	n := len(b.points)
	if n < plateauSteps {
		return false
	}
	top := b.points[n-1]
	peak := top.offeredRate()
	for i := n - 1; i >= 0 && b.points[i].short && !b.points[i].unclear(); i-- {
		p := b.points[i]
		rate := p.offeredRate()
		peak = max(peak, rate)
		if n-i >= plateauSteps && peak <= rate+rate/100 && top.asked >= p.asked+p.asked/10 {
			return true
		}
	}
	return false
}

// lateRun is how many of the latest windows say nothing because their counters came too late.
func (b *bracket) lateRun() (windows int) {
	for _, p := range slices.Backward(b.points) {
		if !p.unclear() || !p.window.LostToLateCounters() {
			break
		}
		windows++
	}
	return windows
}

// lower is the highest clean load below the upper end. Of several windows at that load it is the one that proves most.
// Nil means that there is none. Loads are compared as they were asked for, since a generator that stood still for a
// moment may have lost frames at a lower mean load than it was clean at before.
func (b *bracket) lower() *point {
	var best *point
	for i := range b.points {
		p := &b.points[i]
		if !p.clean || p.refuted || b.upper != nil && p.asked >= b.ceiling {
			continue
		}
		if best == nil || b.better(p, best) {
			best = p
		}
	}
	return best
}

// better compares two clean windows. The higher load wins, and at the same load the window that proves more. What a
// generator at its limit offers varies by the noise of the reading, so a long window of that counts as much as a short
// one.
func (b *bracket) better(p, rival *point) bool {
	load, rivalLoad := b.comparedLoad(p), b.comparedLoad(rival)
	if b.upper == nil && p.short && rival.short && p.long != rival.long && sameOffer(load, rivalLoad) {
		return p.long
	}
	return load > rivalLoad || load == rivalLoad && provesMore(p, rival)
}

// provesMore compares two clean windows at the same load. A long window proves more than a short one that was offered
// as much. Otherwise the window that was offered more proves more.
func provesMore(p, rival *point) bool {
	load, rivalLoad := p.leastOffered(), rival.leastOffered()
	if p.long != rival.long && sameOffer(load, rivalLoad) {
		return p.long
	}
	return load >= rivalLoad
}

// comparedLoad is what clean loads are compared by. Within a bracket it is the intended load, so that each window
// narrows the bracket. Without one it is the offered load, as more was asked for in vain.
func (b *bracket) comparedLoad(p *point) units.Ratio {
	if b.upper != nil {
		return p.asked
	}
	return p.load
}

// narrow reports whether the bracket is as narrow as asked for, above that lower end.
func (b *bracket) narrow(lower *point) bool {
	if b.upper == nil || b.refineTo <= 0 {
		return true
	}
	return lower != nil && width(lower.asked, b.ceiling) <= max(b.refineTo, 2*b.grain)
}

// losers are the directions that lost frames at the upper end.
func (b *bracket) losers() []int {
	if b.upper == nil {
		return nil
	}
	return b.upper.losers()
}

// overload is a load that surely loses frames. It is the highest of the staircase, as a load that is little above the
// device's rate takes long to show it.
func (b *bracket) overload() units.Ratio {
	load := b.upper.asked
	for _, p := range b.points {
		if p.window.Phase == report.Ramping && p.lossy && !p.withdrawn {
			load = max(load, p.asked)
		}
	}
	return load
}

// between is the next load above a floor. Where the loss at the upper end shows how much the device carries, the search
// first tries both sides of that estimate. For a device that carries as much under overload, two windows are enough.
// For another device they are wasted, as an estimate that turns out lossy is followed by a halving.
//
//	lower ──────── below ┊ estimate ┊ above ─────────── upper
//	                     ◀─ refineTo ─▶
func (b *bracket) between(floor units.Ratio) (load units.Ratio, byEstimate bool) {
	belowEstimate := b.estimate - mul(b.estimate, b.refineTo)/2
	aboveEstimate := b.estimate + max(mul(b.estimate, b.refineTo)*9/20, mul(b.estimate, b.grain))
	switch {
	case b.estimate == 0 || b.shortDistrusted:
	case floor < belowEstimate && belowEstimate < b.ceiling:
		return belowEstimate, true
	case floor >= belowEstimate && floor < aboveEstimate && aboveEstimate < b.ceiling:
		b.estimate = 0
		return aboveEstimate, true
	}
	if b.estimate = 0; b.hasEstimateByFrames(floor) {
		b.estimate, b.byFrames = b.byFrames, 0
		return b.between(floor)
	}
	return floor + (b.ceiling-floor)/2, false
}

// hasEstimateByFrames reports whether frames alone put the limit above a floor, where windows have few frames.
func (b *bracket) hasEstimateByFrames(floor units.Ratio) bool {
	return b.grain > 0 && !b.shortDistrusted && b.byFrames < b.ceiling &&
		b.byFrames-mul(b.byFrames, b.refineTo)/2 > floor
}

// fromHeldLoss is the load to which the loss of long windows points. 0 means that the limit isn't where that loss puts
// it. Where the load is not ready, the lower end is to be confirmed first.
func (b *bracket) fromHeldLoss(lower *point, floor units.Ratio) (load units.Ratio, ready bool) {
	nextAbove := floor + mul(floor, b.refineTo)*9/10 // just within what is to be resolved above the lower end
	estimate := b.heldEstimate
	switch {
	case estimate > nextAbove, estimate > floor && width(estimate, b.ceiling) <= b.refineTo:
		return min(estimate, b.ceiling-1), true
	case !lower.long:
		return 0, false
	}
	b.heldEstimate = 0
	if len(b.heldLosses) > 1 && !b.losesEverywhere {
		return 0, true
	}
	return nextAbove, true
}

// aboveUnclear is a load above an unclear ceiling that loses enough to be clear, where the bracket is narrow below the
// ceiling and much wider than asked for as a whole. 0 means that there is none.
func (b *bracket) aboveUnclear(lower *point) units.Ratio {
	load := lower.asked + 2*mul(lower.asked, b.refineTo)
	if b.upper == nil || !b.ceilingUnclear || load <= b.ceiling || load >= b.upper.asked {
		return 0
	}
	return load
}

// offeredTooLittle reports whether a clean window was offered so much less than asked that the answer would be wider
// than it is to be, since what was not sent was not proven.
func (b *bracket) offeredTooLittle(p point) bool {
	return b.upper != nil && b.refineTo > 0 && width(p.leastOffered(), p.asked) > b.refineTo/2
}

// addClean takes in a clean load of the search, which was chosen by an estimate or not.
func (b *bracket) addClean(p point, byEstimate bool) {
	b.points = append(b.points, p)
	if b.upper == nil {
		return
	}
	b.bothSidesClean = byEstimate && b.estimate == 0 && p.asked < b.upper.asked && !b.hasEstimateByFrames(p.asked)
	if p.asked >= b.ceiling {
		b.ceiling = b.upper.asked
	}
}

// addUnclear lowers the ceiling to a load that stayed unclear.
func (b *bracket) addUnclear(p point, isLong bool) {
	b.ceilingUnclear = !p.generatorAtFault() && !p.machine && p.asked < b.ceiling
	b.ceiling = min(b.ceiling, p.asked)
	b.upperProven = b.upperProven || p.asked >= b.upper.asked // another try shows no more
	if isLong {
		b.goBelowUnclear(p.asked - mul(p.asked, b.refineTo)/2)
	}
}

// goBelowUnclear goes on with long windows at a load, as those above it can't be judged. Short windows above it were
// not refuted. If nothing else is clean in the end, they are lower bounds.
func (b *bracket) goBelowUnclear(load units.Ratio) {
	for i := range b.points {
		p := &b.points[i]
		p.heldUnclear = p.heldUnclear || p.clean && !p.refuted && !p.long && p.asked > load
	}
	b.distrustShort(load)
}

// distrustShort goes on with long windows at a load, since short windows above it missed the loss.
func (b *bracket) distrustShort(load units.Ratio) {
	b.shortDistrusted, b.heldEstimate = true, load
	for i := range b.points {
		b.points[i].refuted = b.points[i].refuted || !b.points[i].long && b.points[i].asked > load
	}
}

// goBelowHeldLoss goes on after long windows lost frames where short ones lost none. The device carried that share of
// the better window, so the limit is close to that. But a device that is slow for a small part of the time loses little
// of any load above its limit. So each load that loses frames too is followed by a step down four times as long, so
// that few windows get below the limit, and some are left.
func (b *bracket) goBelowHeldLoss(p point) {
	step := mul(p.asked, b.refineTo) / 2
	b.losesEverywhere = b.losesEverywhere || slices.ContainsFunc(b.heldLosses,
		func(higher point) bool { return lostSameShare(higher, p) })
	if !b.losesEverywhere {
		step = min(step<<(2*len(b.heldLosses)), p.asked/2)
	}
	b.heldLosses = append(b.heldLosses, p)
	b.distrustShort(min(max(p.carried(), b.justBelow(p)), p.asked-step))
}

// justBelow is the load just far enough below a lossy one that the bracket is as narrow as asked for, if a load that
// little above what the device carried is well within the loss limit, and otherwise 0.
func (b *bracket) justBelow(p point) units.Ratio {
	load := p.asked - mul(p.asked, b.refineTo) + 1
	if width(p.carried(), load) > b.lossLimit/2 {
		return 0
	}
	return load
}

// lostSameShare reports whether a load lost the same share as one a tenth or more above it, within a twentieth of the
// share and what so few frames scatter by (three times the root of their number).
func lostSameShare(higher, p point) bool {
	if width(p.asked, higher.asked) < units.One/10 {
		return false
	}
	expectedShare, _ := higher.largestLoss()
	share, sent := p.largestLoss()
	expected := expectedShare.Float() * float64(sent)
	return math.Abs(share.Float()*float64(sent)-expected) < max(expected/20, 3*math.Sqrt(expected))
}

// withdraw takes back a saturation that was marked in the staircase, because the same load is clean now. Another run of
// lossy windows above it in the staircase counts as before.
func (b *bracket) withdraw(p point) {
	for i := range b.points {
		q := &b.points[i]
		q.withdrawn = q.withdrawn || q.lossy && q.asked >= p.asked && q.index < b.first.index+lossyRun
	}
	b.ceilingUnclear = false
	b.upper, b.first, b.estimate, b.byFrames, b.ceiling, b.runs = nil, nil, 0, 0, 0, lossRuns{}
	for _, q := range b.points {
		if q.window.Phase == report.Ramping && !q.withdrawn {
			b.countRuns(q)
		}
	}
}

// lowestNotClean is the window of the lowest load above the lower end at which none was clean, an unclear one before
// one that lost frames. Nil means that there is none.
func (b *bracket) lowestNotClean(lower *point) (lowest *point) {
	for i := range b.points {
		p := &b.points[i]
		if p.clean || p.withdrawn || p.asked <= lower.asked {
			continue
		}
		if lowest == nil || p.asked < lowest.asked || p.asked == lowest.asked && p.unclear() {
			lowest = p
		}
	}
	return lowest
}

// bisections is how many windows a halving probably takes until the bracket is narrow, before saturation was marked by
// the width of the staircase's steps.
func (b *bracket) bisections(steps int) (windows int) {
	if b.refineTo <= 0 {
		return 0
	}
	wide := units.One / units.Ratio(min(steps, 20))
	if lower := b.lower(); b.upper != nil {
		if wide = units.One; lower != nil {
			wide = width(lower.asked, b.ceiling)
		}
	}
	for ; wide > b.refineTo; wide /= 2 {
		windows++
	}
	return min(windows, usualBisections)
}

// usualBisections is how many loads the search usually tries.
const usualBisections = 3

func (b *bracket) saturationSentence() string {
	return fmt.Sprintf("saturation: %d windows in a row lost frames on %s, the first at %s of the target", lossyRun,
		b.cause, percent(b.upper.load))
}
