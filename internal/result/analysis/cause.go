package analysis

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// causeOf is what the windows show about a result's reason. unchecked is what the procedure concluded before the whole
// run was checked.
func causeOf(r *report.Report, unchecked, c procedure.Conclusion, result report.Answer) report.Cause {
	switch c.Reason {
	case report.NotHeld, report.DeviceLost:
		return causeOfNotHeld(r, unchecked)
	case report.NoCleanLoad:
		return causeOfNoCleanLoad(r, c)
	case report.NotMeasured:
		return causeOfNotMeasured(r)
	case report.BurstsMeasured, report.TrainsMeasured, report.LoadHeld:
		return report.Cause{Detail: c.Detail}
	case report.LossAboveLimit, report.BurstsOnly:
		return causeOfContradiction(r, result)
	default:
	}
	if c.Unproven || c.Window == procedure.NoWindow && c.Reason == report.Inconclusive {
		return causeOfUnproven(r)
	}
	if c.Window == procedure.NoWindow {
		return causeOfVoid(r)
	}
	return causeOfBound(r, c)
}

// causeOfNotMeasured is why no window shows anything of the device. A direction of which nothing came back is named
// where nothing else explains the silence.
func causeOfNotMeasured(r *report.Report) report.Cause {
	if r.Fault != nil {
		return *r.Fault
	}
	cause := causeOfVoid(r)
	if cause.Detail != "" || len(r.Windows) == 0 {
		return cause
	}
	for _, d := range r.Windows[len(r.Windows)-1].Directions {
		if d.Sent.Packets > 0 && d.Returned.Packets == 0 {
			return report.Cause{Detail: report.NothingReturned, Direction: d.Name()}
		}
	}
	return cause
}

// causeOfBound is what kept an answer from being the device's limit.
func causeOfBound(r *report.Report, c procedure.Conclusion) report.Cause {
	w := r.Windows[c.Window]
	switch c.Reason {
	case report.GeneratorLimited:
		if o := windowAbove(r, w, report.Window.LostToBursts); o != nil {
			return burstCause(*o)
		}
		if queueFullTimes(r) > 0 {
			return report.Cause{Detail: report.SendingQueueFull}
		}
	case report.MachineLimited:
		if o := windowAbove(r, w, report.Window.LostToDisturbance); o != nil {
			return disturbanceCause(*o)
		}
		if windowAbove(r, w, report.Window.LostToMachine) != nil {
			return report.Cause{Detail: report.BelowReference}
		}
		if windowAbove(r, w, report.Window.LostToLateCounters) != nil {
			return report.Cause{Detail: report.CountersLate}
		}
	case report.Inconclusive:
		return causeOfInconclusive(r, c, w)
	default:
	}
	return report.Cause{}
}

// causeOfInconclusive is why nothing is known about the loads above an answer.
func causeOfInconclusive(r *report.Report, c procedure.Conclusion, w report.Window) report.Cause {
	lossy := func(o report.Window) bool { return o.Quality == report.Lossy }
	o := windowAbove(r, w, report.Window.LostToDisturbance)
	switch {
	case c.Detail != "":
		return report.Cause{Detail: c.Detail}
	case c.Unattributed:
		return report.Cause{Detail: report.LossUnattributed}
	case r.Plan.Procedure.HoldsOneLoad():
		return report.Cause{Detail: report.LossMayBeTesters}
	case !c.Finished:
		return report.Cause{Detail: report.CutShort}
	case o != nil:
		return disturbanceCause(*o)
	case windowAbove(r, w, lossy) != nil:
		return report.Cause{Detail: report.LossNotRepeated}
	}
	return report.Cause{}
}

// causeOfUnproven is why no load is known to be clean.
func causeOfUnproven(r *report.Report) report.Cause {
	if cause := flatLossCause(r); cause.Detail != "" {
		return cause
	}
	return report.Cause{Detail: report.EdgesHideLoss}
}

// causeOfNoCleanLoad is what was lost where the lowest load lost frames.
func causeOfNoCleanLoad(r *report.Report, c procedure.Conclusion) report.Cause {
	if cause := flatLossCause(r); cause.Detail != "" {
		return cause
	}
	if c.Lossy == procedure.NoWindow {
		cause := causeOfVoid(r)
		return report.Cause{Detail: cmp.Or(cause.Detail, report.NothingJudged), Process: cause.Process}
	}
	for _, d := range r.Windows[c.Lossy].Directions {
		if d.Quality == report.Lossy {
			return report.Cause{Lost: d.LossRatio, PacketsPerSecond: d.Offered.PacketsPerSecond, Direction: d.Name()}
		}
	}
	return report.Cause{}
}

// flatLossCause is the loss that a direction has at each load. Its Detail is empty where no direction has one.
func flatLossCause(r *report.Report) report.Cause {
	for i := range report.PlanOf(r).Directions {
		if f, ok := flatLossOf(r.Windows, i); ok && f.share > report.PlanOf(r).Procedure.MaxLossRatio.Float() {
			return report.Cause{Detail: report.LossAtEveryLoad, Lost: units.Ratio(f.share * float64(units.One)),
				Acceptable: acceptable(f.share), Direction: f.direction.Name()}
		}
	}
	return report.Cause{}
}

// causeOfContradiction is how the device carried less than an answer at another time.
func causeOfContradiction(r *report.Report, result report.Answer) report.Cause {
	for _, c := range r.Contradictions {
		limits := slices.ContainsFunc(result.Directions, c.Limits)
		cause := report.Cause{Direction: c.Direction, PacketsPerSecond: c.Lost.ReceivedPacketsPerSecond}
		switch {
		case result.Reason == report.BurstsOnly:
			return report.Cause{Frames: c.Burst.Packets, Direction: c.Direction}
		case !limits:
			continue
		case c.Kind == report.Slower:
			cause.Detail = report.CarriedLessLater
		case c.Kind == report.Faster:
			cause.Detail = report.CarriedLessEarlier
		case c.Kind == report.LoadBefore:
			cause.Detail = report.CarriedLessAfterLoad
		default:
			cause.Detail = report.CarriedLessNowAndThen
		}
		return cause
	}
	return report.Cause{}
}

// causeOfNotHeld is why the load was not measured whole, in the order of whyNotHeld.
func causeOfNotHeld(r *report.Report, unchecked procedure.Conclusion) report.Cause {
	for _, i := range r.Interruptions {
		if i.Link == "" {
			continue
		}
		cause := report.Cause{Detail: report.LinkDown, Link: i.Link, Elapsed: afterTraffic(r, i), Lasted: i.Duration}
		switch {
		case i.Over && i.Duration > 0:
			cause.Detail = report.LinkBack
		case i.Over:
			cause.Detail = report.LinkFlapped
		}
		return cause
	}
	for _, waited := range []bool{false, true} {
		for _, i := range r.Interruptions {
			if i.Direction == "" || i.EndsWaited != waited {
				continue
			}
			cause := report.Cause{Direction: i.Direction, Elapsed: afterTraffic(r, i), Lasted: i.Duration}
			switch {
			case waited:
				cause.Detail = report.EndsWaited
			case i.Over:
				cause.Detail = report.ForwardsAgain
			}
			return cause
		}
	}
	if unchecked.NotHeld != "" {
		return causeOfPartlyJudged(r)
	}
	for _, t := range r.Totals {
		if t.Sent.Packets > t.Returned.Packets {
			return report.Cause{Detail: report.LostInBetween, Direction: t.From + "→" + t.To}
		}
	}
	return report.Cause{}
}

// causeOfPartlyJudged is what most of the windows that say nothing about the device have in common.
func causeOfPartlyJudged(r *report.Report) report.Cause {
	cause := causeOfVoid(r)
	for _, w := range r.Windows {
		if w.Phase != report.Hold {
			continue
		}
		cause.Held += w.Duration
		if w.Counts() {
			cause.Judged += w.Duration
		}
	}
	if cause.Judged == 0 || cause.Judged == cause.Held {
		cause.Held, cause.Judged = 0, 0
	} else if cause.Detail == "" {
		cause.Detail = report.PartlyJudged
	}
	return cause
}

// causeOfVoid is the commonest known cause of the windows that say nothing about the device.
func causeOfVoid(r *report.Report) (commonest report.Cause) {
	var causes []report.Cause
	for _, w := range r.Windows {
		switch {
		case !w.SaysNothing():
		case w.LostToDisturbance():
			causes = append(causes, disturbanceCause(w))
		case w.LostToBursts():
			causes = append(causes, report.Cause{Detail: report.SentInBursts})
		case w.LostToLateCounters():
			causes = append(causes, report.Cause{Detail: report.CountersLate})
		}
	}
	highest := 0
	for _, candidate := range causes {
		times := 0
		for _, other := range causes {
			if other.Detail == candidate.Detail && other.Process == candidate.Process {
				times++
			}
		}
		if times > highest {
			highest, commonest = times, candidate
		}
	}
	return commonest
}

// burstCause is how generators sent in a window that lost frames.
func burstCause(w report.Window) report.Cause {
	if len(w.Bursts) > 0 {
		return report.Cause{Detail: report.SentInBursts}
	}
	return report.Cause{Detail: report.SentUnwatched}
}

// disturbanceCause is who had the processors that a window needed.
func disturbanceCause(w report.Window) report.Cause {
	d := w.Disturbance
	if d != nil && d.Missing == "" && d.Stolen > d.Waited {
		return report.Cause{Detail: report.HostOfMachine}
	}
	return report.Cause{Detail: report.OtherPrograms, Process: strangerOn(d)}
}

// strangerOn is the process that ran longest on the processor for which a thread that carries frames waited longest, or
// on any. It is empty where none is known.
func strangerOn(d *report.Disturbance) string {
	if d == nil || len(d.Others) == 0 {
		return ""
	}
	longest := func(a, b report.Other) int { return cmp.Compare(a.Ran, b.Ran) }
	for _, wait := range d.Waits {
		if wait.Sends {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(d.Others),
			func(o report.Other) bool { return o.Processor != wait.Processor })
		if len(same) > 0 {
			return slices.MaxFunc(same, longest).Process
		}
	}
	return slices.MaxFunc(d.Others, longest).Process
}

// afterTraffic is the time from the beginning of traffic to an interruption.
func afterTraffic(r *report.Report, i report.Interruption) plan.Duration {
	began := plan.Duration(0)
	if len(r.Windows) > 0 {
		began = r.Windows[0].Start
	}
	return plan.Duration(max(0, i.Start-began).Std().Round(100 * time.Millisecond))
}
