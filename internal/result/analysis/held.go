package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// What a run claims it must have measured whole: the links were up, the device was there, windows that were asked for count, and the frames of the whole run say nothing else. It is checked here, for all procedures alike.

// held is the conclusion as far as the whole run bears it out, and why it was not held; empty: it was. What was not held is no limit, and no window confirms it.
func held(r *report.Report, c procedure.Conclusion) (procedure.Conclusion, string) {
	why, reason := whyNotHeld(r, c)
	if why == "" || c.Window == procedure.None && c.Reason == report.NotMeasured && len(r.Interruptions) == 0 {
		return c, why
	}
	if lossIsCounted(r) && reason == report.DeviceLost { // and is in the figures
		c.Confirmed = false
		return c, why
	}
	c.Reason, c.Saturated, c.Confirmed, c.Resolution, c.Together = reason, false, false, 0, nil
	c.Directions = slices.Clone(c.Directions)
	for i := range c.Directions {
		d := &c.Directions[i]
		d.Reason, d.Saturated, d.Confirmed, d.Resolution = reason, false, false, 0
	}
	if lossIsCounted(r) && !onlyWindows(r, c) {
		c.Window, c.Whole = procedure.None, nil
	}
	return c, why
}

// whyNotHeld is why what was asked for was not measured whole, with the way out, by the first rule that applies; empty: it was.
func whyNotHeld(r *report.Report, c procedure.Conclusion) (string, report.Reason) {
	if links := linkSentences(r); len(links) > 0 {
		return strings.Join(links, ", ") + ": see why the device's port or the cable went down, then measure again", report.NotHeld
	}
	if silent := silentSentences(r); len(silent) > 0 {
		return strings.Join(silent, ", ") + ", though the device carried as much at another time: see whether it restarted, then measure again", report.DeviceLost
	}
	if c.NotHeld != "" {
		return c.NotHeld, report.NotHeld
	}
	if missing := uncountedSentence(r, c); missing != "" {
		return missing, report.NotHeld
	}
	return "", ""
}

// onlyWindows says that nothing but windows that say nothing keeps a load from being held: the others' figures stand for the time that they are of.
func onlyWindows(r *report.Report, c procedure.Conclusion) bool {
	return len(r.Interruptions) == 0 && c.NotHeld != ""
}

// lossIsCounted says that the answer is of one load that was held for the whole run, so that its figures count all that was lost of it. Of TCP nothing is lost: connections wait.
func lossIsCounted(r *report.Report) bool {
	return report.PlanOf(r).Procedure.Type == plan.TypeConstantLoad && report.PlanOf(r).Sessions == nil
}

// linkSentences say which links went down, and for how long.
func linkSentences(r *report.Report) (all []string) {
	for _, one := range r.Interruptions {
		if one.Link == "" {
			continue
		}
		said := fmt.Sprintf("link %s went down %s", one.Link, sinceTraffic(r, one))
		switch {
		case !one.Over:
			said += " and stayed down"
		case one.Duration > 0:
			said += " for " + roundly(one.Duration)
		default:
			said = fmt.Sprintf("link %s changed its state %s %s", one.Link, wording.Counted(int(one.Changes), "time"), sinceTraffic(r, one))
		}
		if len(r.Generators) > 1 {
			said += " at " + one.Generator
		}
		all = append(all, said)
	}
	return all
}

// silentSentences say in which directions nothing came back, and for how long.
func silentSentences(r *report.Report) (all []string) {
	for _, one := range r.Interruptions {
		if one.Direction == "" {
			continue
		}
		until := " until the end"
		if one.Over {
			until = ""
		}
		all = append(all, fmt.Sprintf("nothing came back %s for %s%s, %s", one.Direction, roundly(one.Duration), until, sinceTraffic(r, one)))
	}
	return all
}

// sinceTraffic is when something happened, as people count it: from when traffic began.
func sinceTraffic(r *report.Report, one report.Interruption) string {
	began := plan.Duration(0)
	if len(r.Windows) > 0 {
		began = r.Windows[0].Start
	}
	return roundly(max(0, one.Start-began)) + " after traffic began"
}

func roundly(d plan.Duration) string { return d.Std().Round(100 * time.Millisecond).String() }

// uncountedSentence says that a result without loss leaves out more lost frames than the limit allows: the drained totals of the whole run have them, and no window does. Where the highest load of a run loses nothing, nothing
// may be lost in any other part of it, either. Windows that lost frames, which the procedure saw and tried again, explain as many beside them. Empty: the totals bear the result out, or the result says that frames are lost.
func uncountedSentence(r *report.Report, c procedure.Conclusion) string {
	if c.Window == procedure.None || c.Reason != report.ReachedTarget || slices.ContainsFunc(r.Totals, func(t report.Total) bool { return !t.Drained }) {
		return ""
	}
	for i, t := range r.Totals {
		missing := t.Sent.Packets - t.Returned.Packets - t.ReceiveErrors - t.SendDrops
		var edges, seen int64
		for _, w := range r.Windows {
			if i >= len(w.Directions) {
				return ""
			}
			d := w.Directions[i]
			lost := d.Sent.Packets - d.Returned.Packets - d.GeneratorDrops()
			missing, seen, edges = missing-lost, seen+max(0, lost), edges+d.EdgeFrames // windows that don't adjoin each have edges of their own
		}
		allowed := max(float64(seen), r.Plan.Procedure.MaxLossRatio.Float()*float64(t.Sent.Packets))
		if float64(missing-edges) > allowed {
			return fmt.Sprintf("%s of %s frames of the whole run did not come back %s→%s, and no window that counts has them: look for what the device did between windows, then measure again",
				wording.Count(missing), wording.Count(t.Sent.Packets), t.From, t.To)
		}
	}
	return ""
}

// heldMessage puts first why a result was not held.
func heldMessage(why, message string) string {
	if why == "" || message == "" || strings.HasPrefix(message, why) {
		return cmp.Or(message, why)
	}
	return why + "; " + message
}
