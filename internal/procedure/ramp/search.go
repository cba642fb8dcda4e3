package ramp

import (
	"cmp"
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// search decides which load comes next after the climb. It narrows the bracket, confirms its lower end, and then looks
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

	ending     string // how the search ended, while it looks for a better answer or for directions' own limits
	optional   bool   // the next window looks for a better answer. Without it, the run is complete
	ownWindows int    // windows that looked for a direction's own limit
	// A climb may end without a saturation because nothing could be judged at its top, since others had the machine, or
	// the generator sent in bursts. Then the highest clean load is confirmed as the lower bound that it is, and the
	// search tries loads between it and what could not be judged, where the limit may well be. The first load that is
	// seen to lose frames is the upper end of a bracket like any other.
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
	// byEstimate means that the load was not found by halving the bracket, and that its loss makes no new estimate.
	byEstimate bool
	// trial means that the load is sent as a trial, which has no edges, as those of a held window may hide or feign
	// more loss than the limit allows.
	trial bool
	// overload means that the load empties what the device saved up, and that nothing else is concluded from it.
	overload bool
}

func newSearch(rules plan.Procedure, repeats *repeats) *search {
	return &search{rules: rules, repeats: repeats, budget: budget{ramp: rules.Ramp},
		bracket: bracket{refineTo: rules.Ramp.Precision, lossLimit: rules.MaxLossRatio, runs: lossRuns{}},
		bucket:  bucket{confirm: rules.Ramp.ConfirmDuration.Std(), lossLimit: rules.MaxLossRatio}}
}

// begin starts the search after the climb or the hold, which ended for that reason.
func (s *search) begin(reason string) (stage, string) {
	s.stage, s.reason, s.repeats.count, s.votes = narrowing, reason, 0, votes{}
	s.choose()
	return s.stage, s.reason
}

// observe takes in the window of the target. It returns the next stage. The climb goes on where a saturation was
// withdrawn and the staircase has steps left.
func (s *search) observe(p point, stepsLeft bool) (stage, string) {
	s.reason = ""
	s.budget.spent += s.rules.Ramp.SettleDuration.Std() + s.target.judge
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
		s.budget.addShort(s.target.judge)
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

// holds reports whether the target is held for as long as a confirmation.
func (s *search) holds(t target) bool {
	return s.rules.Ramp.ConfirmDuration > 0 && t.judge >= s.rules.Ramp.ConfirmDuration.Std()
}

// keepHeld keeps a window in which a load was held for the conclusion, even one that is outvoted.
func (s *search) keepHeld(p point) {
	if !p.unclear() {
		s.heldWindows = append(s.heldWindows, p)
	}
}

// repeat is why the same load needs another window. This one could not be judged or shows less than it should, or
// windows don't agree yet. Empty means that the load is decided.
func (s *search) repeat(p point, isLong bool) (reason string) {
	allowed := s.budget.allowsVote(isLong) && (!isLong || s.repeats.count < longRepeats)
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
		return fmt.Sprintf("window %d is repeated, the generator sent less than asked and may have caught up in a "+
			"burst: %s", w.Number, w.Reason)
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

// repeatClean is why a clean window is repeated that proves less than it was to prove. Empty means that it proves
// enough.
func (s *search) repeatClean(p point, isLong bool) (reason string) {
	w := p.window
	switch {
	case isLong && s.bracket.offeredTooLittle(p): // the window is still a lower bound
		s.bracket.points = append(s.bracket.points, p)
		return fmt.Sprintf("window %d lost nothing, but the generator sent less than the %s that was asked for; "+
			"tried again", w.Number, percent(p.asked))
	case isLong && !p.long && w.HasEdges():
		s.target.trial = true
		return fmt.Sprintf("window %d lost none as far as its edges show, but they may hide more than the loss "+
			"limit; tried again by a trial, counted after its last frame", w.Number)
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
			s.finish(fmt.Sprintf("not confirmed: %s (window %d: %s); keep LLDP, STP and other people's traffic off "+
				"the links", foreignFrames, w.Number, w.Reason))
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

// moveUpper believes the loss, and takes the long window that lost least, since a disturbance adds to what the device
// loses.
func (s *search) moveUpper(p point, isLong bool) {
	if isLong {
		p = s.votes.best
	}
	s.bracket.mark(p, s.bracket.cause, true)
	if !s.target.byEstimate {
		s.bracket.estimate, s.bracket.byFrames = p.carried(), p.carriedFrames()
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

// answer is the clean window that the run's figures come from, as far as the search has got. Nil means that there is
// none.
func (s *search) answer() *point {
	if s.confirmed != nil {
		return s.confirmed
	}
	return s.bracket.lower()
}

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
	return time.Duration(windows) * (s.rules.Ramp.SettleDuration.Std() + s.rules.Ramp.ConfirmDuration.Std())
}
