package ramp

import (
	"cmp"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// search decides which load comes next after the climb: it narrows the bracket, confirms its lower end, and then looks
// for the limits of other directions.
type search struct {
	rules    plan.Procedure
	measured []point // all windows but the warm-up's
	repeats  *repeats

	stage    stage
	reason   string // why the next load comes next, or how the search ended
	target   target
	votes    votes
	bracket  bracket
	budget   budget
	bucket   bucket
	overload overload

	heldWindows []point // the hold and windows of the confirmation's length, as far as they are clean or lossy
	confirmed   *point  // the clean window of the confirmation's length that the answer comes from
	halvings    int     // below a first step that lost frames
	withdrawals int     // of a saturation whose load was clean when tried again

	ending     string // how the search ended, while it still looks for a better answer or for directions' own limits
	optional   bool   // the next window looks for a better answer: without it, the run is complete
	ownWindows int    // windows that looked for a direction's own limit
	// A climb may end without a saturation because nothing could be judged at its top: others had the machine, or the
	// generator sent in bursts. Then the highest clean load is confirmed as the lower bound that it is, and the search
	// looks between it and what could not be judged, where the limit may well be. The first load that is seen to lose
	// frames is the upper end of a bracket like any other.
	//
	//	0 ───────── lower ──── third ─── second ────── first ─────── top ─────▶ load
	//	          confirmed             lossy: upper     └── unclear ──┘
	unclearGaps int    // loads that were tried in there
	lowerBound  *point // the load that was confirmed before
}

// mostUnclearGaps is how many loads are tried below loads that could not be judged. A load less than a stumble above
// the answer is not worth it.
const mostUnclearGaps = 4

// target is the load that the search tries next.
type target struct {
	phase report.Phase
	load  units.Ratio
	judge time.Duration
	// byEstimate: the load was not found by halving the bracket, and its loss makes no new estimate.
	byEstimate bool
	// trial: the load is sent as a trial, which has no edges, as those of a held window may hide or feign more loss than
	// the limit allows.
	trial bool
	// overload: the load empties what the device saved up, and nothing else is concluded from it.
	overload bool
}

func newSearch(rules plan.Procedure, repeats *repeats) *search {
	return &search{rules: rules, repeats: repeats, budget: budget{ramp: rules.Ramp},
		bracket: bracket{refineTo: rules.Ramp.RefineTo, lossLimit: rules.MaxLossRatio, runs: lossRuns{}},
		bucket:  bucket{confirm: rules.Ramp.ConfirmDuration.Std(), lossLimit: rules.MaxLossRatio}}
}

// begin starts the search after the climb or the hold, which ended for that reason.
func (s *search) begin(reason string) (stage, string) {
	s.stage, s.reason, s.repeats.count, s.votes = narrowing, reason, 0, votes{}
	s.choose()
	return s.stage, s.reason
}

// observe takes in the window of the target. It returns what the machine is busy with next: the climb goes on where a
// saturation was withdrawn and the staircase has steps left.
func (s *search) observe(p point, stepsLeft bool) (stage, string) {
	s.reason = ""
	s.budget.spent += s.rules.Ramp.Settle.Std() + s.target.judge
	if s.stage == closing {
		s.observeOwnLimit()
		return s.stage, s.reason
	}
	s.confirmed = nil // the search goes on, for a higher load
	if s.target.overload {
		s.observeOverload(p)
		return s.stage, s.reason
	}
	isLong := s.holds(s.target) && (s.bracket.shortDistrusted || s.target.phase == report.Confirm)
	p.long = isLong && (!p.clean || p.surelyWithin(s.rules.MaxLossRatio))
	if isLong {
		s.budget.long++
		s.keepHeld(p)
	} else {
		s.budget.short++
	}
	if s.reason = s.repeat(p, isLong); s.reason != "" {
		return s.stage, s.reason
	}
	s.moveEnd(p, isLong, stepsLeft)
	s.votes, s.repeats.count = votes{}, 0
	if s.stage == narrowing {
		s.choose()
	}
	return s.stage, s.reason
}

// holds says that the target is held for as long as a confirmation.
func (s *search) holds(t target) bool {
	return s.rules.Ramp.ConfirmDuration > 0 && t.judge >= s.rules.Ramp.ConfirmDuration.Std()
}

// keepHeld keeps a window in which a load was held for the conclusion, even one that is outvoted.
func (s *search) keepHeld(p point) {
	if !p.unclear() {
		s.heldWindows = append(s.heldWindows, p)
	}
}

// repeat is why the same load needs another window: this one could not be judged or shows less than it should, or
// windows don't agree yet. Empty: the load is decided.
func (s *search) repeat(p point, isLong bool) (reason string) {
	allowed := s.budget.allowsRepeat(isLong, s.repeats.count)
	w := p.window
	switch {
	case p.unclear():
		if allowed {
			reason = s.repeats.ofInvalid(*w)
		}
		if reason != "" && !isLong && !p.bursts && !p.machine { // a longer window has more of them
			s.target.judge = min(2*s.target.judge, s.longestShort())
		}
		return reason
	case p.lossy && p.short && allowed && s.repeats.count < invalidRepeats: // a device may well lose such a burst
		s.repeats.count++
		return fmt.Sprintf("window %d is repeated, the generator sent less than asked and may have caught up in a burst: %s",
			w.Number, w.Reason)
	case p.clean && allowed:
		reason = s.repeatClean(p, isLong)
	}
	if reason != "" {
		s.repeats.count++
		return reason
	}
	return s.votes.cast(p, s.budget.allowsVote(isLong))
}

// foreignFrames is why a trial without loss proves nothing where not one frame may be lost.
const foreignFrames = "frames of others may have taken the place of lost ones"

// repeatClean is why a clean window is repeated that proves less than it was to prove; empty: it proves enough.
func (s *search) repeatClean(p point, isLong bool) (reason string) {
	w := p.window
	switch {
	case isLong && s.bracket.offeredTooLittle(p): // the window is still a lower bound
		s.bracket.points = append(s.bracket.points, p)
		return fmt.Sprintf("window %d lost nothing, but the generator sent less than the %s that was asked for; tried again",
			w.Number, percent(p.asked))
	case isLong && !p.long && w.HasEdges():
		s.target.trial = true
		return fmt.Sprintf("window %d lost none as far as its edges show, but they may hide more than the loss limit; "+
			"tried again by a trial, counted after its last frame", w.Number)
	case isLong && !p.long:
		s.target.trial = true
		return fmt.Sprintf("window %d is repeated, %s: %s", w.Number, foreignFrames, w.Reason)
	case !isLong && s.repeats.count < invalidRepeats && p.longerShowsMore(s.longestShort(), s.rules.MaxLossRatio):
		s.target.judge = min(2*s.target.judge, s.longestShort())
		return fmt.Sprintf("window %d is repeated for longer, which shows more: %s", w.Number, w.Reason)
	}
	return ""
}

// moveEnd moves the end of the bracket that the window belongs to.
func (s *search) moveEnd(p point, isLong, stepsLeft bool) {
	w, b := p.window, &s.bracket
	switch {
	case p.lossy && (!isLong || s.votes.lossy > 1):
		s.moveUpper(p, isLong)
	case p.clean:
		b.addClean(p, s.target.byEstimate)
		if b.upper != nil && p.asked == b.upper.asked {
			s.withdrawSaturation(p, stepsLeft)
		}
		if isLong && !p.long && !w.HasEdges() {
			s.finish(fmt.Sprintf("not confirmed: %s (window %d: %s); keep LLDP, STP and other people's traffic off the links",
				foreignFrames, w.Number, w.Reason))
		}
	case b.upper == nil && s.target.phase != report.Confirm:
		b.points = append(b.points, p)
	case b.upper == nil && s.lowerBound != nil:
		s.confirmed = s.lowerBound
		s.finish(fmt.Sprintf("confirmed at %s of the target; window %d, at %s, can't be judged: %s",
			percent(s.lowerBound.asked), w.Number, percent(p.asked), w.Reason))
	case b.upper == nil:
		s.finish(fmt.Sprintf("not confirmed: window %d can't be judged: %s", w.Number, w.Reason))
	default:
		b.addUnclear(p, isLong)
		s.reason = fmt.Sprintf("%s of the target stays unclear (%s); searching below", percent(p.asked), w.Reason)
	}
}

// moveUpper believes the loss, and takes the long window that lost least: a disturbance adds to what the device loses.
func (s *search) moveUpper(p point, isLong bool) {
	if isLong {
		p = s.votes.best
	}
	s.bracket.mark(p, s.bracket.cause, true)
	if !s.target.byEstimate {
		s.bracket.estimate = p.carried()
	}
	if isLong {
		s.reason = s.believeHeldLoss(p)
	}
}

// believeHeldLoss goes on below a load that lost frames when held, and says so.
func (s *search) believeHeldLoss(p point) (reason string) {
	s.bracket.cause = cmp.Or(s.bracket.cause, "the confirmation")
	s.bracket.goBelowHeldLoss(p)
	return fmt.Sprintf("window %d lost frames at %s of the target when held, and so did another window: %s",
		p.window.Number, percent(p.asked), p.window.Reason)
}

// withdrawSaturation takes back a saturation, because the same load is clean now. Without another run of lossy windows
// above it, the climb goes on where it was broken off.
func (s *search) withdrawSaturation(p point, stepsLeft bool) {
	s.withdrawals++
	s.bracket.withdraw(p)
	s.reason = fmt.Sprintf("%s of the target is clean now, so the loss there had a cause that has passed",
		percent(p.asked))
	switch {
	case s.bracket.upper != nil:
		s.add(s.bracket.saturationSentence())
	case stepsLeft:
		s.stage = climbing
		s.add("the climb goes on")
	}
}

// choose sets the next target, or finishes: the first rule that applies.
func (s *search) choose() {
	b := &s.bracket
	lower, spent := b.lower(), s.budget.isSpent(b.shortDistrusted)
	switch {
	case lower == nil:
		s.chooseBelow(spent)
	case b.bothSidesClean && !lower.long && s.rules.Ramp.ConfirmDuration > 0 && !spent:
		b.bothSidesClean = false
		s.add("clean on both sides of where the loss puts the limit")
		s.chooseConfirmation(lower)
	case spent:
		s.chooseConfirmation(lower)
	case !b.narrow(lower):
		s.chooseBetween(lower)
	case b.upper != nil && !b.upperProven && b.refineTo > 0 && s.withdrawals < mostWithdrawals:
		s.try(b.upper.asked, fmt.Sprintf("all was clean up to %s of the target; looking whether %s still loses frames",
			percent(lower.asked), percent(b.upper.asked)))
		s.target.byEstimate = true
	case b.aboveUnclear(lower) > 0:
		load := b.aboveUnclear(lower)
		b.ceilingUnclear = false
		s.try(load, fmt.Sprintf("%s of the target could not be judged; looking above it, at %s", percent(b.ceiling),
			percent(load)))
	default:
		s.chooseConfirmation(lower)
	}
}

// chooseBelow goes on where nothing was clean yet.
func (s *search) chooseBelow(spent bool) {
	switch {
	case s.bracket.upper == nil:
		s.finish("no window was clean, and none surely lossy")
	case s.bracket.refineTo <= 0 || s.halvings >= mostHalvings:
		s.finish("even the lowest load lost frames")
	case spent:
		s.finish("no clean load was found within the bound of the search")
	default:
		s.chooseBetween(nil)
	}
}

// chooseBetween halves the bracket, or goes where the loss points.
func (s *search) chooseBetween(lower *point) {
	b, floor := &s.bracket, units.Ratio(0)
	if lower != nil {
		floor = lower.asked
	}
	load, byEstimate := b.between(floor)
	if b.heldEstimate > 0 {
		estimate, ready := b.fromHeldLoss(lower, floor)
		if !ready {
			s.chooseConfirmation(lower)
			return
		}
		load = cmp.Or(estimate, load)
	}
	switch {
	case lower != nil && (load <= floor || load >= b.ceiling):
		s.chooseConfirmation(lower)
		return
	case lower == nil && !s.nearest().enoughFrames(load, s.longestShort(), s.rules.MaxLossRatio):
		s.finish("even the lowest load lost frames, and a window at a lower one has too few frames to judge")
		return
	case lower == nil:
		s.halvings++
	}
	s.try(load, fmt.Sprintf("trying %s, between %s and %s of the target", percent(load), percent(floor),
		percent(b.ceiling)))
	s.target.byEstimate = byEstimate
	if b.shortDistrusted {
		s.target.judge, s.target.trial = s.rules.Ramp.ConfirmDuration.Std(), s.edgesCover(load) && s.steadyAt(load)
		if width(load, b.ceiling) <= b.refineTo {
			s.target.phase = report.Confirm
		}
		s.overloadFirst()
	}
}

// chooseConfirmation holds the lower end of the bracket for the confirmation's duration, unless that is done, not
// wanted or used up.
func (s *search) chooseConfirmation(lower *point) {
	confirm := s.rules.Ramp.ConfirmDuration.Std()
	switch {
	case lower.long && confirm > 0 && s.steadyAt(lower.load):
		s.confirmed = lower
		s.end(fmt.Sprintf("confirmed at %s of the target", percent(lower.asked)))
	case confirm <= 0:
		s.end("no confirmation was asked for")
	case s.budget.longSpent():
		s.finish(fmt.Sprintf("not confirmed after %d long windows", s.budget.long))
	case lower.long && s.overload.spent():
		s.finish(fmt.Sprintf("not confirmed: %s of the target was carried for %s, "+
			"but the device may have saved up rate for that before, and an overload of %s lost no frames",
			percent(lower.asked), confirm, percent(s.bracket.overload())))
	case s.unclearGaps > 0 && s.tryUnclearGap():
	default:
		s.target = target{phase: report.Confirm, load: lower.asked, judge: confirm,
			trial: s.edgesCover(lower.asked) && s.steadyAt(lower.asked)}
		if !s.overloadFirst() {
			s.add(s.confirmingSentence())
		}
	}
}

// confirmingSentence says how the next load is held.
func (s *search) confirmingSentence() string {
	suffix := ""
	if s.target.trial {
		suffix = " by a trial, counted after its last frame: the edges of a held window may hide more than the loss limit"
	}
	return fmt.Sprintf("confirming %s of the target for %s%s", percent(s.target.load), s.target.judge, suffix)
}

// try sets the next load, for a window that is long enough there.
func (s *search) try(load units.Ratio, reason string) {
	s.target = target{phase: report.Refine, load: load, judge: s.judgeFor(load)}
	s.add(reason)
}

// overloadFirst puts an overload before the target where that holds a load, and the device may have saved up rate for
// it.
func (s *search) overloadFirst() bool {
	t := s.target
	if s.bracket.upper == nil || !s.holds(t) || t.trial || s.bucket.emptyAt(t.load, s.bracket.losers()) ||
		s.overload.windows >= overloadWindows {
		return false
	}
	s.overload.begin(t)
	s.chooseOverload()
	return true
}

func (s *search) chooseOverload() {
	load, confirmed := s.bracket.overload(), s.overload.confirmed
	s.target = target{phase: report.Refine, load: load, judge: s.overload.judge(s.rules.Ramp), overload: true}
	s.add(fmt.Sprintf("overloading the device at %s of the target, "+
		"so that nothing it saved up helps it to carry %s for %s",
		percent(load), percent(confirmed.load), confirmed.judge))
}

// observeOverload takes in a window of an overload.
func (s *search) observeOverload(p point) {
	if s.overload.add(p, s.bucket.emptyAt(s.overload.confirmed.load, s.bracket.losers())) {
		s.chooseOverload()
		return
	}
	s.target, s.votes, s.repeats.count = s.overload.confirmed, votes{}, 0
	s.reason = s.confirmingSentence()
}

// end finishes the run, after looking below loads that could not be judged, and for directions' own limits just above
// the answer.
func (s *search) end(reason string) {
	s.ending = reason
	if s.tryUnclearGap() {
		s.optional, s.lowerBound = true, s.confirmed
		s.reason = s.ending + "; " + s.reason
		return
	}
	s.lookForOwnLimits()
}

// tryUnclearGap tries the next load between the answer and what could not be judged above it, if that may show more.
func (s *search) tryUnclearGap() bool {
	b := &s.bracket
	lower := b.lower()
	if b.upper != nil || b.refineTo <= 0 || s.unclearGaps >= mostUnclearGaps || lower == nil || lower.short ||
		s.budget.isSpent(b.shortDistrusted) {
		return false
	}
	next := b.lowestNotClean(lower)
	if next == nil {
		return false
	}
	load, fault := next.asked, "lost frames, and was not looked at again"
	if next.unclear() {
		load, fault = lower.asked+(next.asked-lower.asked)/2, "could not be judged"
		if width(lower.asked, next.asked) <= max(stumble, b.refineTo) {
			return false
		}
	}
	s.unclearGaps++
	b.cause = "a look below what could not be judged"
	s.try(load, fmt.Sprintf("%s of the target %s: looking at %s", percent(next.asked), fault, percent(load)))
	return true
}

// The search ends when the direction that lost frames first is resolved. Of a device that carries as much in every
// direction, noise decides which one that is, and another would stay a lower bound though it loses frames a little
// above: so such a direction is tried once or twice more, as short a way above the answer as its limit is to be
// resolved.
//
//	answer ┊ upper ✗ (west→east)   ┊ own limit: east→west ✗✗
//	       ◀── refineTo ──▶
//	       ◀── 2 or 3 × refineTo ────────────▶ only if its loss above says that it carries more than the first

// mostOwnWindows is how many windows may be spent on that. They count as windows of the search, or of the
// confirmation's length.
const mostOwnWindows = 6

// lookForOwnLimits tries the next load that may show a direction's own limit, or finishes.
func (s *search) lookForOwnLimits() {
	d, load := s.ownLimit()
	if d == procedure.None {
		s.finish(s.ending)
		return
	}
	s.stage = closing
	s.target = target{phase: report.Refine, load: load, judge: s.judgeFor(load)}
	if s.bracket.shortDistrusted {
		s.target.judge, s.target.trial = s.rules.Ramp.ConfirmDuration.Std(), s.edgesCover(load)
	}
	direction := s.answer().window.Directions[d]
	s.reason = fmt.Sprintf("%s; looking whether %s→%s, too, loses frames just above that, at %s", s.ending,
		direction.From, direction.To, percent(load))
}

// observeOwnLimit takes in a window that looks for a direction's own limit.
func (s *search) observeOwnLimit() {
	s.ownWindows++
	if s.bracket.shortDistrusted {
		s.budget.long++
	} else {
		s.budget.short++
	}
	s.lookForOwnLimits()
}

// ownLimit finds a direction whose own limit may show just above the answer, and the load; None: there is none, or too
// many windows were spent.
func (s *search) ownLimit() (direction int, load units.Ratio) {
	answer, b := s.answer(), &s.bracket
	spent := s.ownWindows >= mostOwnWindows || !s.budget.allowsVote(false) ||
		b.shortDistrusted && !s.budget.allowsVote(true)
	if answer == nil || b.upper == nil || b.refineTo <= 0 || spent {
		return procedure.None, 0
	}
	for d := range answer.window.Directions {
		loss := ownLossOf(d, answer, s.measured, b, s.rules.Ramp)
		if load := loss.nextLoad(b.upper.asked, s.rules.MaxLossRatio); load > 0 {
			return d, load
		}
	}
	return procedure.None, 0
}

// answer is the clean window that the run's figures come from, as far as the search has got; nil: there is none.
func (s *search) answer() *point {
	if s.confirmed != nil {
		return s.confirmed
	}
	return s.bracket.lower()
}

// judgeFor is how long a window at this load is to be: a step's window, or a multiple where that has too few frames.
func (s *search) judgeFor(load units.Ratio) time.Duration {
	judge := judged(s.rules.Ramp)
	for judge < s.longestShort() && !s.nearest().enoughFrames(load, judge, s.rules.MaxLossRatio) {
		judge *= 2
	}
	return judge
}

// nearest is a window from which the rate of a load is derived.
func (s *search) nearest() *point {
	if s.bracket.upper != nil {
		return s.bracket.upper
	}
	return s.bracket.lower()
}

// longestShort is how long a short window of the search may be.
func (s *search) longestShort() time.Duration { return longestWindow * judged(s.rules.Ramp) }

// edgesCover says that the edges of a held window of the confirmation's length may hide or feign more loss than the
// limit allows, by how counters were read in windows at that load, or else in the last held window.
func (s *search) edgesCover(load units.Ratio) bool {
	var latest *point
	found := false
	for i := range s.measured {
		p := &s.measured[i]
		if !p.window.HasEdges() {
			continue
		}
		latest = p
		if p.asked == load {
			found = true
			if s.coveredByEdges(p) {
				return true
			}
		}
	}
	return !found && latest != nil && s.coveredByEdges(latest)
}

func (s *search) coveredByEdges(p *point) bool {
	return p.edgesCover(s.rules.Ramp.ConfirmDuration.Std(), s.rules.MaxLossRatio)
}

// steadyAt says that the device carried the load for as long as a confirmation with nothing saved up.
func (s *search) steadyAt(load units.Ratio) bool { return s.bucket.steadyAt(load, s.bracket.losers()) }

// add joins what led into the search with what the search does next.
func (s *search) add(reason string) {
	if s.reason != "" {
		reason = s.reason + "; " + reason
	}
	s.reason = reason
}

func (s *search) finish(reason string) { s.stage, s.reason = finished, reason }

// confirmationLeft is how long the confirmation will probably take.
func (s *search) confirmationLeft() time.Duration {
	if s.confirmed != nil {
		return 0
	}
	windows := 1
	if s.budget.long > 0 {
		windows = s.votes.remaining()
	}
	return time.Duration(windows) * (s.rules.Ramp.Settle.Std() + s.rules.Ramp.ConfirmDuration.Std())
}

// budget is what refinement and confirmation have used of the windows and the time that they may take.
type budget struct {
	ramp        plan.Ramp
	short, long int // windows of a step's length, or a few times that; and of the confirmation's
	spent       time.Duration
}

// timeIsUp says that refinement and confirmation have taken as long as they may.
func (b *budget) timeIsUp() bool { return b.ramp.RefineFor > 0 && b.spent >= b.ramp.RefineFor.Std() }

// isSpent says that no other load can be tried.
func (b *budget) isSpent(shortDistrusted bool) bool {
	return b.short >= refineWindows || shortDistrusted && b.longSpent() || b.timeIsUp()
}

// longSpent says that too few long windows are left to judge another load by, or no time for one.
func (b *budget) longSpent() bool {
	return b.long > longWindows-bestOf || b.long > 0 && b.timeIsUp()
}

// allowsVote says that another window of that length may follow.
func (b *budget) allowsVote(isLong bool) bool {
	if isLong {
		return !b.timeIsUp() && b.long < longWindows
	}
	return !b.timeIsUp() && b.short < refineWindows
}

// allowsRepeat says that a window of that length may be repeated, after so many repeats.
func (b *budget) allowsRepeat(isLong bool, repeats int) bool {
	return b.allowsVote(isLong) && (!isLong || repeats < longRepeats)
}
