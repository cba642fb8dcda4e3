package analysis

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// This file checks, for all procedures alike, that a run measured the whole of what it claims. The links were up,
// the device was there, windows that were asked for count, and the frames of the whole run say nothing else.

// checkHeld is the conclusion as far as the whole run bears it out, and why it was not held, which is empty where
// it was. A load that was not held is no limit, and no window confirms it.
func checkHeld(r *report.Report, c procedure.Conclusion) (procedure.Conclusion, string) {
	sentence, reason := whyNotHeld(r, c)
	if sentence == "" || c.Window == procedure.NoWindow && c.Reason == report.NotMeasured && len(r.Interruptions) == 0 {
		return c, sentence
	}
	if lossIsCounted(r) && reason == report.DeviceLost { // and is in the figures
		c.Confirmed = false
		return c, sentence
	}
	c.Reason, c.Detail, c.Saturated, c.Confirmed, c.Resolution = reason, "", false, false, 0
	c.Directions = slices.Clone(c.Directions)
	for i := range c.Directions {
		d := &c.Directions[i]
		d.Reason, d.Saturated, d.Confirmed, d.Resolution = reason, false, false, 0
	}
	if lossIsCounted(r) && !onlyWindows(r, c) {
		c.Window, c.Whole = procedure.NoWindow, nil
	}
	return c, sentence
}

// whyNotHeld is why the planned load was not measured whole, with the way out, by the first rule that applies. It
// is empty where it was.
func whyNotHeld(r *report.Report, c procedure.Conclusion) (string, report.Reason) {
	if links := linkSentences(r); len(links) > 0 {
		return strings.Join(links, ", ") + ": see why the device's port or the cable went down, then measure again",
			report.NotHeld
	}
	if silent := silentSentences(r, false); len(silent) > 0 {
		return strings.Join(silent, ", ") + ", though the device carried as much at another time: see whether it restarted or lost a link, then measure again", report.DeviceLost
	}
	if doubtful := silentSentences(r, true); len(doubtful) > 0 {
		return strings.Join(doubtful, ", ") +
			", while the ends' programs waited for processors, so whether the device forwarded anything is not known: give the ends processors that nothing else uses, then measure again", report.NotHeld
	}
	if c.NotHeld != "" {
		return c.NotHeld, report.NotHeld
	}
	if missing := uncountedSentence(r, c); missing != "" {
		return missing, report.NotHeld
	}
	return "", ""
}

// onlyWindows says that nothing but windows without a meaning keeps a load from being held. The others' figures
// stand for the time that they are of.
func onlyWindows(r *report.Report, c procedure.Conclusion) bool {
	return len(r.Interruptions) == 0 && c.NotHeld != ""
}

// lossIsCounted says that the answer is of one load that was held for the whole run, so that its figures count all
// frames lost of it. TCP loses nothing, as connections wait.
func lossIsCounted(r *report.Report) bool {
	p := report.PlanOf(r)
	return p.Procedure.HoldsOneLoad() && p.Sessions == nil
}

// linkSentences say which links went down, and for how long.
func linkSentences(r *report.Report) (sentences []string) {
	for _, interruption := range r.Interruptions {
		if interruption.Link == "" {
			continue
		}
		text := fmt.Sprintf("link %s went down %s", interruption.Link, sinceTraffic(r, interruption))
		switch {
		case !interruption.Over:
			text += " and stayed down"
		case interruption.Duration > 0:
			text += " for " + roundly(interruption.Duration)
		default:
			text = fmt.Sprintf("link %s changed its state %s %s", interruption.Link,
				wording.Counted(int(interruption.Changes), "time"), sinceTraffic(r, interruption))
		}
		if len(r.Generators) > 1 {
			text += " at " + interruption.Generator
		}
		sentences = append(sentences, text)
	}
	return sentences
}

// silentSentences say in which directions nothing came back, and for how long, where the ends waited or where they
// didn't.
func silentSentences(r *report.Report, endsWaited bool) (sentences []string) {
	for _, interruption := range r.Interruptions {
		if interruption.Direction == "" || interruption.EndsWaited != endsWaited {
			continue
		}
		endText := " until the end"
		if interruption.Over {
			endText = ""
		}
		sentences = append(sentences, fmt.Sprintf("nothing came back %s for %s%s, %s", interruption.Direction,
			roundly(interruption.Duration), endText, sinceTraffic(r, interruption)))
	}
	return sentences
}

// sinceTraffic is when something happened, as people count it, from the beginning of traffic.
func sinceTraffic(r *report.Report, interruption report.Interruption) string {
	began := plan.Duration(0)
	if len(r.Windows) > 0 {
		began = r.Windows[0].Start
	}
	return roundly(max(0, interruption.Start-began)) + " after traffic began"
}

func roundly(d plan.Duration) string { return d.Std().Round(100 * time.Millisecond).String() }

// uncountedSentence says that a result without loss leaves out more lost frames than the limit allows. The drained
// totals of the whole run have them, and no window does. Where the highest load of a run loses nothing, nothing may
// be lost in any other part of it, either. Windows that lost frames, which the procedure saw and tried again,
// explain as many beside them. It is empty where the totals bear the result out, or the result says that frames are
// lost.
func uncountedSentence(r *report.Report, c procedure.Conclusion) string {
	if c.Window == procedure.NoWindow || c.Reason != report.TargetReached ||
		slices.ContainsFunc(r.Totals, func(t report.Total) bool { return !t.Drained }) {
		return ""
	}
	for i, t := range r.Totals {
		missing := t.Sent.Packets - t.Returned.Packets - t.ReceiveErrors - t.SendDrops
		var edges, counted int64
		for _, w := range r.Windows {
			if i >= len(w.Directions) {
				return ""
			}
			d := w.Directions[i]
			lost := d.Sent.Packets - d.Returned.Packets - d.GeneratorDrops()
			// windows that don't adjoin each have edges of their own
			missing, counted, edges = missing-lost, counted+max(0, lost), edges+d.EdgeFrames
		}
		allowed := max(float64(counted), r.Plan.Procedure.MaxLossRatio.Float()*float64(t.Sent.Packets))
		if float64(missing-edges) > allowed {
			return fmt.Sprintf("%s of %s frames of the whole run did not come back %s→%s, and no window that counts has them: look for what the device did between windows, then measure again",
				wording.Count(missing), wording.Count(t.Sent.Packets), t.From, t.To)
		}
	}
	return ""
}
