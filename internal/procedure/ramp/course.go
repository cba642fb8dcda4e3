package ramp

import (
	"fmt"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// stage is what the machine is busy with. The order is the order of a run.
type stage int

const (
	warming   stage = iota
	climbing        // the staircase
	lowering        // below its first step, which could not be judged
	holding         // its top
	narrowing       // the bracket
	closing         // on directions' own limits
	finished
)

// course is the state that replaying the history leads to.
//
//	warming ─▶ climbing ◀─▶ holding ─▶ narrowing ─▶ closing ─▶ finished
//	   │       └ lowering ┘─────────────▲                      ▲
//	   └─ nothing came back ───────────────────────────────────┘
type course struct {
	rules    plan.Procedure
	measured []point // all windows but the warm-up's

	stage       stage
	reason      string // why the next step is not simply the next one
	steps       int    // of the staircase
	level       int    // of the staircase, from 1
	repeatsLeft int    // repeats that the staircase has left
	topWindows  int    // windows more at the top
	lowered     lowered
	repeats     repeats
	votes       votes // on the hold
	search      *search
}

// replay plays the history.
func replay(p plan.Procedure, history []report.Window) *course {
	c := &course{rules: p, steps: Steps(p.Ramp), level: 1, repeatsLeft: staircaseBudget,
		repeats: repeats{lossLimit: p.MaxLossRatio}}
	c.stage = warming
	if p.Ramp.WarmupDuration <= 0 {
		c.stage = climbing
	}
	c.search = newSearch(p, &c.repeats)
	for i := range history {
		c.search.bucket.follow(c.next(), history[i])
		observed := pointOf(&history[i], i)
		if history[i].Phase != report.WarmUp {
			c.measured = append(c.measured, observed)
		}
		// a step is decided by the windows before it, also where a longer history is replayed
		c.search.measured = c.measured
		c.observe(observed)
	}
	return c
}

// observe takes in the window of the step that the course would have taken next.
func (c *course) observe(p point) {
	c.reason, c.repeats.rested, c.search.optional = "", false, false
	switch c.stage {
	case warming:
		c.observeWarmUp(p)
	case climbing:
		c.observeStep(p)
	case lowering:
		c.observeLowered(p)
	case holding:
		c.observeHold(p)
	case narrowing, closing:
		c.stage, c.reason = c.search.observe(p, c.level < c.steps)
		if c.stage == climbing {
			c.level++
		}
	case finished:
	}
}

// observeWarmUp judges the warm-up. It proves that traffic passes, and nothing else.
func (c *course) observeWarmUp(p point) {
	if lost := procedure.NothingCameBack(*p.window); lost != "" {
		c.stage, c.reason = finished, lost
		return
	}
	if p.window.Quality == report.Invalid && !p.window.LostToLateCounters() { // it would be as late again
		if c.reason = c.repeats.ofInvalid(*p.window); c.reason != "" {
			return
		}
	}
	c.stage, c.repeats.count = climbing, 0
}

// observeStep takes in a window of the staircase.
func (c *course) observeStep(p point) {
	if p.unclear() && c.repeatsLeft > 0 {
		if c.reason = c.repeats.ofInvalid(*p.window); c.reason != "" {
			c.repeatsLeft--
			return
		}
	}
	c.repeats.count = 0
	b := &c.search.bracket
	b.points = append(b.points, p)
	saturated := b.countRuns(p)
	sentence := ""
	if saturated {
		sentence = b.saturationSentence()
	}
	switch {
	case saturated && (c.level == 1 || b.lower() == nil):
		c.beginSearch(sentence + "; the steps are higher than what the device carries, so the search goes on below")
	case c.lowerFirstStep(p):
	case b.upper == nil && b.lateRun() >= mostLate:
		c.beginSearch(fmt.Sprintf("the climb ends at %s of the target: the counters of %d steps in a row came too late",
			percent(p.asked), mostLate))
	default:
		c.goOnClimbing(p, saturated, sentence)
	}
}

// goOnClimbing takes the next step of the staircase, or ends the climb.
func (c *course) goOnClimbing(p point, saturated bool, sentence string) {
	b := &c.search.bracket
	switch {
	case saturated && c.rules.Ramp.StopAtSaturation:
		c.endClimb(sentence)
	case b.upper == nil && b.plateau():
		c.endClimb(fmt.Sprintf("the climb ends at %s of the target: the generator offers no more than %s, all "+
			"directions together", percent(p.asked), wording.PacketRate(p.offeredRate())))
	case c.level < c.steps:
		c.level++
		if saturated {
			c.reason = sentence + "; going on to the target"
		}
	case b.upper == nil && b.runs.open() && c.topWindows < topRepeats:
		c.topWindows++
		c.reason = fmt.Sprintf("the last windows lost frames; repeated at the top until there are %d of them, or none",
			lossyRun)
	default:
		c.endClimb(sentence)
	}
}

// endClimb goes on to the hold, or to the search where no hold was asked for or the climb was resumed.
func (c *course) endClimb(reason string) {
	if c.rules.Ramp.HoldDuration <= 0 || c.search.withdrawals > 0 {
		c.beginSearch(reason)
		return
	}
	c.stage, c.reason, c.repeats.count, c.votes = holding, reason, 0, votes{}
}

// observeHold takes in the hold at the top. It is longer than a step, so loss there that repeats is believed, though no
// step lost frames.
func (c *course) observeHold(p point) {
	longEnough := c.rules.Ramp.HoldDuration >= c.rules.Ramp.ConfirmDuration
	p.long = longEnough && (!p.clean || p.surelyWithin(c.rules.MaxLossRatio))
	c.search.keepHeld(p)
	if p.unclear() {
		c.reason = c.repeats.ofInvalid(*p.window)
	}
	b := &c.search.bracket
	if c.reason == "" && b.upper == nil {
		c.reason = c.votes.cast(p, true)
	}
	if c.reason != "" {
		return
	}
	reason := ""
	unrepeatable := p.unclear() && !c.votes.clean // what was lost once could not be tried again
	if b.upper == nil && c.votes.lossy > 0 && (p.lossy || unrepeatable) {
		p = c.votes.best
		b.mark(p, "the hold", true)
		reason = c.search.believeHeldLoss(p)
	}
	b.points = append(b.points, p)
	c.beginSearch(reason)
}

func (c *course) beginSearch(reason string) { c.stage, c.reason = c.search.begin(reason) }

// next is the step that the course asks for.
func (c *course) next() procedure.Step {
	r := c.rules.Ramp
	s := procedure.Step{Kind: procedure.Hold, Reason: c.reason, Number: c.level, Total: c.steps,
		Settle: r.SettleDuration.Std(), Judge: judged(r), Narrows: true}
	switch c.stage {
	case warming:
		s.Narrows = false
		s.Phase, s.Load, s.Number = report.WarmUp, units.One, 0
		s.Settle = min(r.SettleDuration.Std(), r.WarmupDuration.Std()/2)
		s.Judge = r.WarmupDuration.Std() - s.Settle
	case climbing:
		s.Phase, s.Load = report.Ramping, Level(c.level, c.steps)
	case lowering:
		s.Phase, s.Load, s.Judge = report.Ramping, c.lowered.load, max(c.lowered.judge, judged(r))
	case holding:
		s.Phase, s.Load, s.Judge = report.Hold, Level(c.level, c.steps), r.HoldDuration.Std()
	case narrowing, closing:
		t := c.search.target
		s.Phase, s.Load, s.Judge, s.Optional = t.phase, t.load, t.judge, c.search.optional
		if t.trial {
			s.Kind, s.Settle = procedure.Trial, 0
		}
	case finished:
		return procedure.Step{End: true, Reason: c.reason}
	}
	s.Rested = c.repeats.rested && s.Kind == procedure.Hold
	return s
}

// ended reports whether the run is complete, and how it ended.
func (c *course) ended() (complete bool, ending string) {
	switch {
	case c.search.optional: // the next step looks for a better answer
		return true, c.search.ending
	case c.stage == finished:
		return true, c.reason
	}
	return false, ""
}

// repeats counts how often a step was repeated.
type repeats struct {
	lossLimit units.Ratio
	count     int  // of the present step
	rests     int  // in the run: steps before which traffic rested
	rested    bool // traffic rests before the next step
}

// ofInvalid is why the present step is repeated after an Invalid window. Empty means that it was repeated often enough.
func (r *repeats) ofInvalid(w report.Window) (reason string) {
	if r.count >= invalidRepeats {
		return ""
	}
	r.count++
	reason = procedure.Repeated(w)
	if r.rests < rests && measure.MoreCameBack(w, r.lossLimit) {
		r.rests++
		r.rested = true
		reason += "; traffic rests before it"
	}
	return reason
}

// votes are the windows at one load of the search, or of the hold. Loss in one window may be chance, or come from a
// machine that was busy for a moment, however long the window is. It is believed when it repeats, best of three.
//
//	lossy ─┬─ lossy: believed
//	       └─ clean ── the third decides
//	clean: believed
type votes struct {
	lossy int
	best  point // of the lossy windows the one that lost least
	clean bool  // a window lost none after one that did: the next decides
}

// cast adds a window, and says why another one is needed. Empty means that the load is decided, or that no other window
// is allowed.
func (v *votes) cast(p point, allowed bool) (reason string) {
	if p.lossy && (v.lossy == 0 || p.carried() > v.best.carried()) {
		v.best = p
	}
	if p.lossy {
		v.lossy++
	}
	if !allowed || v.lossy != 1 || v.clean || p.unclear() {
		return ""
	}
	if p.lossy {
		return fmt.Sprintf("window %d lost frames at %s of the target; tried again, as loss is believed when it "+
			"repeats", p.window.Number, percent(p.asked))
	}
	v.clean = true
	return fmt.Sprintf("window %d lost none at %s of the target, the one before did; the next decides", p.window.Number,
		percent(p.asked))
}

// remaining is how many more windows the load probably needs.
func (v votes) remaining() int {
	if v.lossy == 1 && !v.clean {
		return 2
	}
	return 1
}

// percent is a share for people, with two decimals, or four where it is small.
func percent(r units.Ratio) string {
	if r >= units.One/20 {
		return r.Percent().FormatFixed() + " %"
	}
	const step = units.One / 1_000_000
	return wording.Share((r + step/2) / step * step)
}
