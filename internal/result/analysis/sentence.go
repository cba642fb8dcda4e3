package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/result/figures"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// answerSentence is the reason with its figures.
func answerSentence(r *report.Report, c procedure.Conclusion) string {
	w := r.Windows[c.Window]
	clean := fmt.Sprintf("window %d at %s of the target was clean for %s with %s offered", w.Number, percent(w.Load),
		w.Duration.Std().Round(1e8), offered(w))
	if hidden := mostHiddenLoss(r, w); hidden > 0 {
		clean += fmt.Sprintf(", as far as its edges and frames of others show: up to %s may be lost",
			measure.Percent(hidden))
	}
	parts := []string{clean}
	if c.Lossy != procedure.NoWindow {
		parts = append(parts, lowestLossySentence(r.Windows[c.Lossy]))
	}
	for _, o := range c.Outvoted {
		parts = append(parts, o.String())
	}
	switch c.Reason {
	case report.TargetReached:
		parts = append(parts, "that is all that was asked for")
	case report.GeneratorLimited:
		parts = append(parts, generatorLimitSentence(r, w))
	case report.MachineLimited:
		parts = append(parts, machineLimitSentence(r, w))
	case report.Inconclusive:
		parts = append(parts, inconclusiveSentence(r, w, c))
	case report.LossAboveLimit, report.OtherDirection, report.NoCleanLoad, report.NotMeasured, report.NearGenerators,
		report.BurstsOnly:
	case report.NotHeld, report.DeviceLost: // the whole run's, not the windows'
	case report.LoadHeld, report.CurveMeasured, report.MaximumOffered, report.BurstsMeasured,
		report.LoadEstimated, report.PathLimited:
		// of procedures that have a sentence of their own
	}
	if sentence := otherDirectionsSentence(r, c); sentence != "" {
		parts = append(parts, sentence)
	}
	if !c.Confirmed && c.Finished {
		parts = append(parts, c.Ending)
	}
	return strings.Join(parts, "; ")
}

// wholeRunSentence says what the totals of the whole run show of loss that the answer's windows leave open. It is
// empty where they leave none open, or the totals show no more.
func wholeRunSentence(r *report.Report, result report.Result) string {
	limit := r.Plan.Procedure.MaxLossRatio
	if r.Plan.DemandsNoLoss() {
		limit = 0
	}
	var parts []string
	for _, d := range result.Directions {
		if !report.LossLeftOpen(d.LossRatioMin, d.MostLost(), limit) || figures.MostLost(r, d) >= d.MostLost() {
			continue
		}
		frames := "no frame"
		if lost, _ := figures.LostInRun(r, d.Name()); lost > 0 {
			frames = "at most " + wording.Counted(int(lost), "frame")
		}
		parts = append(parts, fmt.Sprintf("%s from %s", frames, wording.Direction(d.From, d.To)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "; the counters before and after the whole run show what was lost in all of it: " + strings.Join(parts, ", ")
}

// whyNoFigure says why there is no figure.
func whyNoFigure(r *report.Report, c procedure.Conclusion) string {
	switch {
	case c.Unproven:
		return unprovenSentence(r, c)
	case c.Reason == report.NoCleanLoad && c.Lossy != procedure.NoWindow:
		w := r.Windows[c.Lossy]
		return wording.JoinNonEmpty("; ", flatLossSentence(r),
			fmt.Sprintf("%s; the lowest that lost frames is window %d, at %s of the target, with %s offered: %s",
				noCleanLoadSentence(r), w.Number,
				percent(w.Load), offered(w), lossSentence(w)))
	case c.Reason == report.NoCleanLoad:
		w := r.Windows[len(r.Windows)-1]
		return fmt.Sprintf("no window could be judged clean; the last is window %d: %s", w.Number, w.Reason)
	case c.Finished:
		return c.Ending
	case r.Message != "":
		return r.Message
	}
	return "the run ended before anything was measured"
}

// unprovenSentence says why loads that looked clean are not known to be clean, and the way out.
func unprovenSentence(r *report.Report, c procedure.Conclusion) string {
	text := wording.JoinNonEmpty("; ", flatLossSentence(r), "no load is known to be clean: ") + procedure.WhyUnproven +
		r.Plan.Advice(procedure.WayOutOfUnproven, procedure.MaxLossRatio)
	if c.Lossy != procedure.NoWindow {
		text += "; " + lowestLossySentence(r.Windows[c.Lossy])
	}
	if c.Finished {
		text += "; " + c.Ending
	}
	return text
}

// noCleanLoadSentence says that no load is believed to be clean, and which window was clean all the same.
func noCleanLoadSentence(r *report.Report) string {
	for _, w := range r.Windows {
		if w.Phase != report.WarmUp && w.Phase != report.AtLoad && (w.Quality == report.Good ||
			w.Quality == report.Short) {
			return fmt.Sprintf("no load stayed clean, though window %d was, at %s of the target", w.Number,
				percent(w.Load))
		}
	}
	return "no window was clean"
}

// mostHiddenLoss is the largest share of frames that a direction of the answer's window may have lost, where that
// is above the limit and only the window's edges, or frames of others, leave it open. It is 0 where every direction
// surely lost no more than the limit.
func mostHiddenLoss(r *report.Report, w report.Window) (highest units.Ratio) {
	for _, d := range w.Directions {
		if report.LossLeftOpen(d.LossRatioMin, d.MostLost(), r.Plan.Procedure.MaxLossRatio) {
			highest = max(highest, d.MostLost())
		}
	}
	return highest
}

// otherDirectionsSentence says which directions set the load of all, and what is known of those without a limit of
// their own. It is empty where all have one, or none has.
func otherDirectionsSentence(r *report.Report, c procedure.Conclusion) string {
	set, open := setBy(r, c), openDirections(r, c)
	if len(set) == 0 || len(open) == 0 {
		return ""
	}
	return fmt.Sprintf("%s set the load of all directions, and %s", strings.Join(set, " and "),
		strings.Join(open, ", "))
}

// openDirections says what is known of each direction without a limit of its own.
func openDirections(r *report.Report, c procedure.Conclusion) (open []string) {
	for i, d := range c.Directions {
		if d.Saturated {
			continue
		}
		direction, text := r.Windows[d.Window].Directions[i], "no loss of its own is shown"
		if d.Lossy != procedure.NoWindow {
			l := r.Windows[d.Lossy]
			text = fmt.Sprintf("its own loss is shown at %s (window %d)",
				wording.PacketRate(l.Directions[i].Offered.PacketsPerSecond), l.Number)
		}
		open = append(open, fmt.Sprintf("%s→%s is a lower bound: %s", direction.From, direction.To, text))
	}
	return open
}

// lowestLossySentence describes the window at the lowest load that lost frames.
func lowestLossySentence(w report.Window) string {
	return fmt.Sprintf("the lowest load that lost frames is %s offered (window %d, %s)", offered(w), w.Number,
		lossSentence(w))
}

// lossSentence is what a window lost, in a direction whose loss is surely the device's, as in others it may not be.
func lossSentence(w report.Window) string {
	for _, d := range w.Directions {
		if d.Quality == report.Lossy && w.Quality != report.Lossy {
			return d.Name() + ": " + d.Reason
		}
	}
	return w.Reason
}

// generatorLimitSentence says how the generator was the limit above a window.
func generatorLimitSentence(r *report.Report, w report.Window) string {
	if i := slices.IndexFunc(r.Windows, func(o report.Window) bool {
		return o.Load > w.Load &&
			o.LostToBursts()
	}); i >= 0 {
		return fmt.Sprintf("the generator may have caused the loss above that, so this is a lower bound: window %d, %s",
			r.Windows[i].Number, r.Windows[i].Reason)
	}
	const bound = "the generator could not send or receive more, so this is a lower bound"
	if full := queueFullTimes(r); full > 0 {
		return fmt.Sprintf("%s; its transmit queues were full %d times meanwhile: the network card, its driver or what it is connected to took no more", bound, full)
	}
	return bound
}

// queueFullTimes is how often generators found a transmit queue full and tried again (TRex's queue_full, and what
// its driver drops), from the lowest load on that they could not send.
func queueFullTimes(r *report.Report) (times int64) {
	lowest := units.Ratio(math.MaxInt64)
	for _, w := range r.Windows {
		if w.Quality == report.Short {
			lowest = min(lowest, w.Load)
		}
	}
	for i, s := range r.Samples[min(1, len(r.Samples)):] {
		if s.Load >= lowest {
			times += max(0, s.QueueFull-r.Samples[i].QueueFull)
		}
	}
	return times
}

// inconclusiveSentence says why a window that is an answer is no limit of the device. Either no direction is known
// to set the load by its own loss, or no window above could be judged. It also says what disturbed that window, if
// anything did.
func inconclusiveSentence(r *report.Report, w report.Window, c procedure.Conclusion) string {
	if c.Unattributed {
		return "which direction's loss above that sets the load of all isn't known: " +
			strings.Join(openDirections(r, c), ", ") + "; repeat the test" +
			r.Plan.Advice(", or measure each direction by itself (%s: Each)", "procedure.directions")
	}
	const bound = "what lies above could not be judged, so this is a lower bound"
	if i := slices.IndexFunc(r.Windows, func(o report.Window) bool {
		return o.Load > w.Load &&
			o.LostToDisturbance()
	}); i >= 0 {
		return fmt.Sprintf("%s: window %d, %s", bound, r.Windows[i].Number, r.Windows[i].Reason)
	}
	if slices.ContainsFunc(r.Windows, report.Window.HeldUp) {
		return "other programs had the processors of the threads that send, so this is a lower bound"
	}
	return bound
}

// machineLimitSentence says where, above a window, the machine lost frames that the device's limit lets through, or
// kept the carrying threads waiting.
func machineLimitSentence(r *report.Report, w report.Window) string {
	countAbove := func(lost func(report.Window) bool) int {
		return slices.IndexFunc(r.Windows, func(o report.Window) bool { return o.Load > w.Load && lost(o) })
	}
	if i := countAbove(report.Window.LostToDisturbance); i >= 0 {
		return fmt.Sprintf("above that, others had processors of this machine that the test needed, so this is a lower bound: window %d, %s", r.Windows[i].Number, r.Windows[i].Reason)
	}
	const bound = "above that, this machine lost frames that the Reference's limit lets through, so this is a lower bound"
	if i := countAbove(report.Window.LostToMachine); i >= 0 {
		return fmt.Sprintf("%s: window %d, %s", bound, r.Windows[i].Number, r.Windows[i].Reason)
	}
	return bound
}

// offered is what all directions sent together.
func offered(w report.Window) string {
	return wording.PacketRate(measure.Sum(w.Directions, nil).Offered.PacketsPerSecond)
}

func percent(r units.Ratio) string { return r.Percent().FormatFixed() + " %" }
