package constantload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Conclude combines all windows of the hold. Windows whose loss is in doubt count as an interval, and windows that say
// nothing about the device don't count. Window is the one that lost the largest share, the place to look first. The
// figures are those of Whole. The load is confirmed where it was held for as long as was asked for, and each window
// says something.
func (c ConstantLoad) Conclude(history []report.Window) procedure.Conclusion {
	course := c.replay(history)
	conclusion := course.Conclusion()
	o := c.observe(history)
	if len(o.counted) == 0 {
		if len(o.void) > 0 {
			conclusion.Sentence = o.voidSentence()
		}
		return conclusion
	}
	n, _ := c.windows()
	whole := measure.Combine(o.counted)
	conclusion.Whole, conclusion.Window, conclusion.NotHeld = &whole, o.worst, c.notHeld(o)
	conclusion.Windows = o.indexes
	conclusion.Confirmed = len(o.void) == 0 && len(c.hold(history)) >= n
	if measure.OfSessions(o.counted[0]) {
		conclusion.Reason, conclusion.Sentence = claimSessions(whole.Directions), o.sessionsSentence(c.load(), whole)
		return conclusion
	}
	conclusion.Reason = procedure.ClaimAsked(whole.Directions, c.maxLossRatio, report.LoadHeld)
	if conclusion.Reason == report.TargetReached && slices.ContainsFunc(whole.Directions, c.mayLoseMore) {
		conclusion.Reason = report.Inconclusive
	}
	conclusion.Sentence = fmt.Sprintf("%s at %s, in %s", whole.Duration.Std().Round(time.Millisecond),
		c.rate(), o.sentence(whole, history[o.worst]))
	return conclusion
}

// observed is what the hold's windows are worth.
type observed struct {
	counted, void []report.Window
	indexes       []int // of the counted windows, in the history
	// worst is the index in the history of the counted window that lost the largest share in some direction, the first
	// of several.
	worst int
}

func (c ConstantLoad) observe(history []report.Window) observed {
	o := observed{worst: procedure.NoWindow}
	for i := len(history) - len(c.hold(history)); i < len(history); i++ {
		w := history[i]
		switch {
		case w.Counts():
		case !measure.OfSessions(w) && measure.LossInDoubt(w, c.maxLossRatio):
			w = measure.WithDoubt(w, c.maxLossRatio)
		default:
			o.void = append(o.void, w)
			continue
		}
		o.counted, o.indexes = append(o.counted, w), append(o.indexes, i)
		if o.worst == procedure.NoWindow || worse(w, history[o.worst]) {
			o.worst = i
		}
	}
	return o
}

// notHeld is why less of the hold was judged than was asked for. Empty means that all of it was, as far as it went.
func (c ConstantLoad) notHeld(o observed) string {
	if len(o.void) == 0 {
		return ""
	}
	n, length := c.windows()
	return fmt.Sprintf("only %s of %s could be judged, as window %d says nothing about the device (%s): mend that, "+
		"then measure again", time.Duration(len(o.counted))*length, time.Duration(n)*length, o.void[0].Number,
		o.void[0].Reason)
}

// mayLoseMore reports whether a direction may have lost more than the limit, for more than the windows' edges.
func (c ConstantLoad) mayLoseMore(d report.Direction) bool {
	return d.LossRatio > c.maxLossRatio && !measure.OnlyEdgesSay(d, c.maxLossRatio)
}

// worse reports whether window w lost a larger share of frames than window reference, or carried less payload.
func worse(w, reference report.Window) bool {
	if measure.OfSessions(w) && measure.OfSessions(reference) {
		return measure.SumSessions(w.Directions).GoodputBitsPerSecond <
			measure.SumSessions(reference.Directions).GoodputBitsPerSecond
	}
	return mostLost(w).LossRatio > mostLost(reference).LossRatio
}

// mostLost is the direction that lost the largest share. The window has one at least.
func mostLost(w report.Window) report.Direction {
	return slices.MaxFunc(w.Directions, func(a,
		b report.Direction) int {
		return cmp.Compare(a.LossRatio, b.LossRatio)
	})
}

// claimSessions is the reason of an answer of sessions, which is what limited them. Where directions differ, it is the
// reason that claims least. TargetReached holds only where it does in each direction.
func claimSessions(directions []report.Direction) report.Reason {
	claim := report.TargetReached
	for _, d := range directions {
		reason := measure.LimitOfSessions(*d.Sessions).Reason()
		if reason == report.GeneratorLimited {
			return reason
		}
		limited := claim == report.PathLimited || claim == report.EndpointLimited && reason != report.PathLimited
		if claim == report.TargetReached || limited && reason != report.TargetReached {
			claim = reason
		}
	}
	return claim
}

// load is what connections were to send, in words.
func (c ConstantLoad) load() string {
	if c.plan.Unlimited {
		return "connections sent all they could"
	}
	return fmt.Sprintf("%s of payload per direction was to be sent", c.plan.Rate)
}

// sessionsSentence is the answer with its figures. It says what each direction's connections did, and what
// limited them.
func (o observed) sessionsSentence(load string, whole report.Window) string {
	clauses := []string{fmt.Sprintf("%s for %s in %s", load, whole.Duration.Std().Round(time.Millisecond),
		windows(len(o.counted)))}
	for _, d := range whole.Directions {
		limit := measure.LimitOfSessions(*d.Sessions)
		clauses = append(clauses, fmt.Sprintf("%s: %s, %s", wording.Direction(d.From, d.To),
			measure.SessionsSentence(*d.Sessions, limit), limit.Sentence))
	}
	if len(o.void) > 0 {
		clauses = append(clauses, o.voidSentence())
	}
	return strings.Join(clauses, "; ")
}

// sentence is the answer with its figures. It says what each direction lost, which window was the worst, whether the
// load was offered, and what doesn't count.
func (o observed) sentence(whole, worst report.Window) string {
	clauses := []string{windows(len(o.counted)) + wording.Verb(len(o.counted), " that counts", " that count")}
	for _, d := range whole.Directions {
		came := fmt.Sprintf("%s→%s: %s", d.From, d.To, measure.CameBack(d, len(o.counted)))
		if d.ReceiveErrors > 0 {
			came += fmt.Sprintf(" (the generators themselves dropped %d that reached them)", d.ReceiveErrors)
		}
		if d.SendDrops > 0 {
			came += fmt.Sprintf(" (up to %d of those sent never left the generators)", d.SendDrops)
		}
		clauses = append(clauses, came)
	}
	if d := mostLost(worst); len(o.counted) > 1 && d.LossRatio > 0 {
		clauses = append(clauses, fmt.Sprintf("the most in window %d: %s %s→%s", worst.Number,
			measure.Percent(d.LossRatio), d.From, d.To))
	}
	if !slices.ContainsFunc(whole.Directions, report.Direction.UnderOffered) {
		clauses = append(clauses, "the load was offered in full")
	}
	for _, d := range whole.Directions {
		if d.UnderOffered() {
			clauses = append(clauses, fmt.Sprintf("the generators offered only %s of %s asked for %s→%s: the figures "+
				"are of that load", rate(d.Offered), rate(d.Intended), d.From, d.To))
		}
	}
	if len(o.void) > 0 {
		clauses = append(clauses, o.voidSentence())
	}
	return strings.Join(clauses, "; ")
}

// voidSentence says how many windows don't count, why the first of them doesn't, and how many frames are missing in
// them, which are in no figure.
func (o observed) voidSentence() string {
	first := o.void[0]
	text := fmt.Sprintf("%s %s nothing about the device (window %d: %s)", windows(len(o.void)),
		wording.Verb(len(o.void), "says", "say"), first.Number, first.Reason)
	var missing int64
	for _, w := range o.void {
		for _, d := range w.Directions {
			missing += max(0, d.Sent.Packets-d.Returned.Packets)
		}
	}
	if missing > 0 {
		text += fmt.Sprintf(", and %d frames missing there are not counted", missing)
	}
	return text
}

func windows(n int) string { return wording.Counted(n, "window") }

func rate(f report.Flow) string { return wording.PacketRate(f.PacketsPerSecond) }
