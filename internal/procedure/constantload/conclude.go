package constantload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Conclude combines all windows of the hold: those whose loss is in doubt as an interval, and without those that say nothing about the device. Window is the one that lost the largest share, the place to look first;
// the figures are those of Whole. The load is confirmed where it was held for as long as was asked for, and no window says nothing.
func (c ConstantLoad) Conclude(history []report.Window) procedure.Conclusion {
	ending := c.ending(history)
	said := procedure.Conclusion{Reason: report.NotMeasured, Window: procedure.None, Lossy: procedure.None, Finished: ending != "", Ending: ending}
	o := c.observe(history)
	switch {
	case len(o.counted) > 0 && measure.OfSessions(o.counted[0]):
		whole := measure.Combine(o.counted)
		said.Whole, said.Window, said.Confirmed, said.NotHeld = &whole, o.worst, c.heldWhole(history, o), c.notHeld(o)
		said.Reason, said.Sentence = claimSessions(whole.Directions), o.sessionsSentence(c.load(), whole)
	case len(o.counted) > 0:
		whole := measure.Combine(o.counted)
		said.Whole, said.Window, said.Confirmed, said.NotHeld = &whole, o.worst, c.heldWhole(history, o), c.notHeld(o)
		said.Reason = procedure.ClaimAsked(whole.Directions, c.maxLossRatio, report.LoadHeld)
		if said.Reason == report.ReachedTarget && slices.ContainsFunc(whole.Directions, c.mayLoseMore) {
			said.Reason = report.Inconclusive
		}
		said.Sentence = fmt.Sprintf("%s at %s per direction, in %s", whole.Duration.Std().Round(time.Millisecond), c.plan.Rate, o.sentence(whole, history[o.worst]))
	case len(o.void) > 0:
		said.Sentence = o.voidSentence()
	}
	return said
}

// observed is what the hold's windows are worth.
type observed struct {
	counted, void []report.Window
	worst         int // index into the history of the counted window that lost the largest share in some direction, the first of several
}

func (c ConstantLoad) observe(history []report.Window) observed {
	o := observed{worst: procedure.None}
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
		o.counted = append(o.counted, w)
		if o.worst == procedure.None || worse(w, history[o.worst]) {
			o.worst = i
		}
	}
	return o
}

// heldWhole says that the load was held for as long as was asked for, and no window of it says nothing.
func (c ConstantLoad) heldWhole(history []report.Window, o observed) bool {
	n, _ := c.windows()
	return len(o.void) == 0 && len(c.hold(history)) >= n
}

// notHeld is why less of the hold was judged than was asked for; empty: all of it was, as far as it went.
func (c ConstantLoad) notHeld(o observed) string {
	if len(o.void) == 0 {
		return ""
	}
	n, each := c.windows()
	return fmt.Sprintf("only %s of %s could be judged, as window %d says nothing about the device (%s): mend that, then measure again",
		time.Duration(len(o.counted))*each, time.Duration(n)*each, o.void[0].Number, o.void[0].Reason)
}

// mayLoseMore says that a direction may have lost more than the limit, for more than the windows' edges.
func (c ConstantLoad) mayLoseMore(d report.Direction) bool {
	return d.LossRatio > c.maxLossRatio && !measure.OnlyEdgesSay(d, c.maxLossRatio)
}

// worse says that a window is the place to look before another: it lost a larger share of frames, or less payload came through.
func worse(w, than report.Window) bool {
	if measure.OfSessions(w) && measure.OfSessions(than) {
		return measure.SumSessions(w.Directions).GoodputBitsPerSecond < measure.SumSessions(than.Directions).GoodputBitsPerSecond
	}
	return mostLost(w).LossRatio > mostLost(than).LossRatio
}

// mostLost is the direction that lost the largest share; the window has one at least.
func mostLost(w report.Window) report.Direction {
	most := w.Directions[0]
	for _, d := range w.Directions[1:] {
		if d.LossRatio > most.LossRatio {
			most = d
		}
	}
	return most
}

// claimSessions is the reason of an answer of sessions: what limited them; where directions differ, the reason that claims least. ReachedTarget holds only where it does in each direction.
func claimSessions(directions []report.Direction) report.Reason {
	said := report.ReachedTarget
	for _, d := range directions {
		reason := measure.LimitOfSessions(*d.Sessions).Reason()
		if reason == report.GeneratorLimited {
			return reason
		}
		if said == report.ReachedTarget || said == report.PathLimited && reason != report.ReachedTarget {
			said = reason
		}
	}
	return said
}

// load is what connections were to send, in words.
func (c ConstantLoad) load() string {
	if c.plan.Unlimited {
		return "connections sent all they could"
	}
	return fmt.Sprintf("%s of payload per direction was to be sent", c.plan.Rate)
}

// sessionsSentence is the answer with its figures: what each direction's connections did, and what limited them.
func (o observed) sessionsSentence(load string, whole report.Window) string {
	said := []string{fmt.Sprintf("%s for %s in %s", load, whole.Duration.Std().Round(time.Millisecond), windows(len(o.counted)))}
	for _, d := range whole.Directions {
		limit := measure.LimitOfSessions(*d.Sessions)
		said = append(said, fmt.Sprintf("%s: %s, %s", wording.Direction(d.From, d.To), measure.SessionsSentence(*d.Sessions, limit), limit.Sentence))
	}
	if len(o.void) > 0 {
		said = append(said, o.voidSentence())
	}
	return strings.Join(said, "; ")
}

// underOffered are the directions in which less than 99 % of what was asked for was offered.
func underOffered(whole report.Window) (directions []report.Direction) {
	for _, d := range whole.Directions {
		if d.UnderOffered() {
			directions = append(directions, d)
		}
	}
	return directions
}

// sentence is the answer with its figures: loss of each direction, the worst window, whether the load was offered, and what doesn't count.
func (o observed) sentence(whole, worst report.Window) string {
	said := []string{windows(len(o.counted)) + " that count"}
	if len(o.counted) == 1 {
		said[0] += "s"
	}
	for _, d := range whole.Directions {
		came := fmt.Sprintf("%s→%s: %s", d.From, d.To, measure.CameBack(d, len(o.counted)))
		if d.ReceiveErrors > 0 {
			came += fmt.Sprintf(" (the generators themselves dropped %d that reached them)", d.ReceiveErrors)
		}
		if d.SendDrops > 0 {
			came += fmt.Sprintf(" (up to %d of those sent never left the generators)", d.SendDrops)
		}
		said = append(said, came)
	}
	if d := mostLost(worst); len(o.counted) > 1 && d.LossRatio > 0 {
		said = append(said, fmt.Sprintf("the most in window %d: %s %s→%s", worst.Number, measure.Percent(d.LossRatio), d.From, d.To))
	}
	short := underOffered(whole)
	for _, d := range short {
		said = append(said, fmt.Sprintf("the generators offered only %s of %s asked for %s→%s: the figures are of that load", rate(d.Offered), rate(d.Intended), d.From, d.To))
	}
	if len(short) == 0 {
		said = append(said, "the load was offered in full")
	}
	if len(o.void) > 0 {
		said = append(said, o.voidSentence())
	}
	return strings.Join(said, "; ")
}

// voidSentence says how many windows don't count, why the first of them doesn't, and how many frames are missing in them: they are in no figure.
func (o observed) voidSentence() string {
	said := fmt.Sprintf("%s %s nothing about the device (window %d: %s)", windows(len(o.void)), wording.Verb(len(o.void), "says", "say"), o.void[0].Number, o.void[0].Reason)
	var missing int64
	for _, w := range o.void {
		for _, d := range w.Directions {
			missing += max(0, d.Sent.Packets-d.Returned.Packets)
		}
	}
	if missing > 0 {
		said += fmt.Sprintf(", and %d frames missing there are not counted", missing)
	}
	return said
}

func windows(n int) string { return wording.Counted(n, "window") }

func rate(f report.Flow) string { return wording.PacketRate(f.PacketsPerSecond) }
