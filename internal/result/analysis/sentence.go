package analysis

import (
	"cmp"
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

// answerEvidence is what the windows show about the answer, and about the loads above the answer.
func answerEvidence(r *report.Report, c procedure.Conclusion) []report.EvidenceRow {
	w := r.Windows[c.Window]
	clean := fmt.Sprintf("clean at %s of the target for %s with %s offered in all directions", percent(w.Load),
		w.Duration.Std().Round(1e8), offered(w))
	if hidden := mostHiddenLoss(r, w); hidden > 0 {
		clean += fmt.Sprintf(", as far as its edges and frames of others show: up to %s may be lost",
			measure.Percent(hidden))
	}
	rows := []report.EvidenceRow{{Subject: "answer", Window: w.Number, Text: clean}}
	if c.Lossy != procedure.NoWindow {
		rows = append(rows, lowestLossyEvidence(r.Windows[c.Lossy]))
	}
	for _, o := range c.Outvoted {
		rows = append(rows, report.EvidenceRow{Subject: "outvoted", Window: o.Lossy[0], Text: o.String()})
	}
	rows = append(rows, boundEvidence(r, c)...)
	if text := otherDirectionsSentence(r, c); text != "" {
		rows = append(rows, report.EvidenceRow{Subject: "directions", Text: text})
	}
	if !c.Confirmed && c.Finished && c.Ending != "" {
		rows = append(rows, report.EvidenceRow{Subject: "end", Text: c.Ending})
	}
	return rows
}

// boundEvidence is the window above the answer that shows why the answer is a lower bound.
func boundEvidence(r *report.Report, c procedure.Conclusion) []report.EvidenceRow {
	w := r.Windows[c.Window]
	matches := map[report.Reason][]func(report.Window) bool{
		report.GeneratorLimited: {report.Window.LostToBursts},
		report.MachineLimited: {report.Window.LostToDisturbance, report.Window.LostToMachine,
			report.Window.LostToLateCounters},
		report.Inconclusive: {report.Window.LostToDisturbance},
	}[c.Reason]
	for _, match := range matches {
		if o := windowAbove(r, w, match); o != nil {
			return []report.EvidenceRow{{Subject: "load above", Window: o.Number, Text: o.Reason}}
		}
	}
	if c.Unattributed {
		return []report.EvidenceRow{{Subject: "directions", Text: strings.Join(openDirections(r, c), ", ")}}
	}
	if full := queueFullTimes(r); c.Reason == report.GeneratorLimited && full > 0 {
		return []report.EvidenceRow{{Subject: "generator", Text: fmt.Sprintf(
			"its transmit queues were full %d times: the network card, its driver or what it is connected to took no more",
			full)}}
	}
	return nil
}

// windowAbove is the first window at a load above that of w which matches. It is nil for none.
func windowAbove(r *report.Report, w report.Window, match func(report.Window) bool) *report.Window {
	i := slices.IndexFunc(r.Windows, func(o report.Window) bool { return o.Load > w.Load && match(o) })
	if i < 0 {
		return nil
	}
	return &r.Windows[i]
}

// wholeRunSentence says what the totals of the whole run show of loss that the answer's windows leave open. It is
// empty where they leave none open, or the totals show no more.
func wholeRunSentence(r *report.Report, result report.Answer) string {
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
	return strings.Join(parts, ", ")
}

// evidenceWithoutFigure is what the windows show where there is no figure.
func evidenceWithoutFigure(r *report.Report, c procedure.Conclusion) (rows []report.EvidenceRow) {
	if c.Reason == report.NoCleanLoad || c.Unproven {
		if text := flatLossSentence(r); text != "" {
			rows = append(rows, report.EvidenceRow{Subject: "every load", Text: text})
		}
	}
	switch {
	case c.Unproven:
		rows = append(rows, report.EvidenceRow{Subject: "edges", Text: procedure.WhyUnproven})
	case c.Reason == report.NoCleanLoad && c.Lossy != procedure.NoWindow:
		rows = append(rows, report.EvidenceRow{Subject: "clean load", Text: noCleanLoadSentence(r)})
	case c.Reason == report.NoCleanLoad:
		w := r.Windows[len(r.Windows)-1]
		rows = append(rows, report.EvidenceRow{Subject: "last window", Window: w.Number, Text: w.Reason})
	}
	if c.Lossy != procedure.NoWindow && (c.Unproven || c.Reason == report.NoCleanLoad) {
		rows = append(rows, lowestLossyEvidence(r.Windows[c.Lossy]))
	}
	if r.Fault != nil {
		return append(rows, report.EvidenceRow{Subject: "fault", Text: r.Message})
	}
	if text := cmp.Or(c.Ending, r.Message); text != "" && (c.Finished || c.Reason != report.NoCleanLoad) {
		rows = append(rows, report.EvidenceRow{Subject: "end", Text: text})
	}
	return rows
}

// noCleanLoadSentence says that no load is believed to be clean, and which window was clean all the same.
func noCleanLoadSentence(r *report.Report) string {
	for _, w := range r.Windows {
		if w.Phase != report.WarmUp && !w.Phase.AfterAnswer() && (w.Quality == report.Good ||
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
	set, open := limitedBy(r, c), openDirections(r, c)
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

// lowestLossyEvidence describes the window at the lowest load that lost frames.
func lowestLossyEvidence(w report.Window) report.EvidenceRow {
	return report.EvidenceRow{Subject: "lowest loss", Window: w.Number, Text: fmt.Sprintf(
		"at %s of the target, with %s offered in all directions: %s", percent(w.Load), offered(w), lossSentence(w))}
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

// offered is what all directions sent together.
func offered(w report.Window) string {
	return wording.PacketRate(measure.Sum(w.Directions, nil).Offered.PacketsPerSecond)
}

func percent(r units.Ratio) string { return r.Percent().FormatFixed() + " %" }
