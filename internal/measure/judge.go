package measure

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// minOffered is the share of the intended load that must be offered. Below it a window is Short.
const minOffered = units.One * 99 / 100

// Goal is what a window is judged by.
type Goal struct {
	// MaxLossRatio is the loss that still counts as clean.
	MaxLossRatio units.Ratio
}

// Window is what was counted in a span. None of it depends on a goal, so any number of goals can judge the same
// window.
type Window struct{ counted report.Window }

// Recall is the evidence of a window that was judged before. A window without evidence can't be judged anew.
func Recall(w report.Window) (Window, error) {
	if w.Evidence == nil || len(w.Evidence.Directions) != len(w.Directions) {
		return Window{}, fmt.Errorf("window %d can't be judged by another goal, as its evidence was not kept: measure again with that goal", w.Number)
	}
	return Window{w}, nil
}

// Duration is how long the window lasted.
func (w Window) Duration() time.Duration { return w.counted.Duration.Std() }

// Void is the same window marked as showing nothing about the device, whatever is asked.
func (w Window) Void(reason string) Window {
	evidence := *w.counted.Evidence
	evidence.Fault = reason
	w.counted.Evidence = &evidence
	return w
}

// ReadTooLate is the same window where a generator was not heard for so long that it may have stopped by itself.
func (w Window) ReadTooLate(unheard time.Duration) Window {
	late := w
	if late.counted.Evidence.Fault == "" {
		late = w.Void(fmt.Sprintf("a generator did not answer for %s, and one that hears nothing stops by itself",
			unheard.Round(time.Millisecond)))
	}
	late.counted.ReadLate = max(late.counted.ReadLate, plan.Duration(unheard))
	return late
}

// Judge says what a window is worth for a goal, in each direction, and as a whole by its worst direction. Phase,
// Load, Number and Start are the caller's to fill in. With a higher MaxLossRatio a direction may go from Lossy to
// Invalid to clean (Good or Short), and never back.
func Judge(w Window, g Goal) report.Window {
	judged := w.counted
	judged.Directions = slices.Clone(judged.Directions)
	fault := judged.Evidence.Fault
	for i := range judged.Directions {
		m := &judged.Directions[i]
		if m.Quality == report.Unjudged && (judged.Decided == nil || judged.Varied != "" && judged.Varied != m.Name()) {
			continue
		}
		d := direction{measured: *m, evidence: judged.Evidence.Directions[i], window: w.counted, limit: g.MaxLossRatio}
		m.Quality, m.Reason, m.MachineLost = d.judge()
		if fault != "" {
			m.Quality, m.Reason = report.Invalid, fault
		}
	}
	if judged.Decided != nil {
		settleUndecided(judged, g)
	}
	judged.Quality, judged.Reason = Worst(judged.Directions)
	if fault != "" {
		judged.Reason = fault
	}
	return judged
}

// direction is one direction of a window, and the loss that it is to be judged by.
type direction struct {
	measured report.Direction
	evidence report.DirectionEvidence
	window   report.Window
	limit    units.Ratio
}

func (d direction) lost() int64 { return d.measured.Sent.Packets - d.measured.Returned.Packets }

func (d direction) surelyLost() int64 {
	return SurelyLost(d.measured)
}

// judge is the quality. Loss is the device's only where neither the generator's way of sending nor the machine that
// plays the device may explain it.
func (d direction) judge() (quality report.Quality, reason string, machineLost int64) {
	quality, reason = d.byCounters()
	if quality != report.Lossy {
		return quality, reason, 0
	}
	if d.explainedBySending() {
		return report.Invalid, d.lossSentence() + "; but " + unevenSentence(d.window), 0
	}
	if frames, reason, ok := d.machineLost(); ok {
		return report.Invalid, reason, frames
	}
	return quality, reason, 0
}

// byCounters is the quality by the counters at the window's edges, by the first rule that applies. Loss is an
// interval. It goes from what is surely the device's (without the generator's own drops and what the edges may have
// cut) up to all that did not come back, and what edges and frames of others may hide besides.
//
//	0          surely lost      did not come back     at most
//	├───────────────┼──────────────────┼─────────────────┼──▶ share of what was sent
//	                limit here: Lossy  │                 │
//	                     limit between: Invalid, or Good where the edges alone explain all that did not come back
//	                                   limit here: Good, as far as the edges tell
//	                                                     limit here: Good
func (d direction) byCounters() (report.Quality, string) {
	e, sent := d.evidence, d.measured.Sent.Packets
	short := underOffered(e)
	misdelivered := d.firstMisdelivered()
	switch {
	case sent <= 0:
		return report.Invalid, fmt.Sprintf("the generator sent nothing of the %s asked for", e.Intended.FormatSI())
	case d.tooManyCameBack():
		return report.Invalid, d.surplusSentence()
	case d.window.Decided != nil:
		return d.byPlanned()
	case exceeds(d.surelyLost(), sent, d.limit):
		return report.Lossy, d.lossSentence() + d.shortSentence(short)
	case exceeds(d.lost(), sent, d.limit) && !edgesAlone(d.measured):
		return report.Invalid, d.unclearSentence()
	case d.mayHideMore():
		return report.Invalid, fmt.Sprintf("background traffic of %s on %s may hide more loss than the limit of %s",
			e.Background.FormatSI(), d.measured.To, Percent(d.limit))
	case misdelivered >= 0:
		s := e.Surplus[misdelivered]
		return report.Invalid, fmt.Sprintf("%d frames more came back to generator %s than the %d it sent: flows of another replica; check that the device routes each replica's networks to that replica",
			s.Returned-s.Sent, s.Generator, s.Sent)
	case short:
		if !SurelyWithin(d.measured, d.limit) {
			return report.Short, d.lossSentence() + d.shortSentence(short)
		}
		return report.Short, "no loss above the limit" + d.shortSentence(short)
	}
	return report.Good, d.lossSentence()
}

// tooManyCameBack says that frames came back that were not sent here.
func (d direction) tooManyCameBack() bool {
	return exceeds(-d.lost()-d.measured.EdgeFrames-d.evidence.Foreign, d.measured.Sent.Packets, d.limit)
}

// MoreCameBack says that more frames came back in some direction than were sent, by more than the limit. They are
// of an earlier load, came twice, or are other people's.
func MoreCameBack(w report.Window, limit units.Ratio) bool {
	for i := range w.Directions {
		if directionOf(w, i, limit).tooManyCameBack() {
			return true
		}
	}
	return false
}

// directionOf is a direction of a window with its evidence, as far as that was kept.
func directionOf(w report.Window, i int, limit units.Ratio) direction {
	d := direction{measured: w.Directions[i], window: w, limit: limit}
	if w.Evidence != nil && i < len(w.Evidence.Directions) {
		d.evidence = w.Evidence.Directions[i]
	}
	return d
}

// firstMisdelivered is the first replica of the evidence that got other replicas' frames, or below 0 for none.
func (d direction) firstMisdelivered() int {
	return slices.IndexFunc(d.evidence.Surplus,
		func(s report.Surplus) bool { return exceeds(s.Unexplained, s.Sent, d.limit) })
}

// mayHideMore says that frames of others may have taken the place of more lost ones than the limit allows.
func (d direction) mayHideMore() bool {
	return d.evidence.Hidden > d.measured.EdgeFrames && exceeds(d.lost()+d.evidence.Hidden, d.measured.Sent.Packets,
		d.limit)
}

// LossInDoubt says that a window was counted correctly, and that its Invalid directions are so only because it is
// unknown how much of the loss is the device's, as others may have caused it, or hide it. Where frames came back
// that were not sent, or to another replica, the counters show nothing.
func LossInDoubt(w report.Window, limit units.Ratio) bool {
	if w.Evidence == nil || w.Evidence.Fault != "" || w.Decided != nil ||
		len(w.Evidence.Directions) != len(w.Directions) {
		return false
	}
	for i, m := range w.Directions {
		d := directionOf(w, i, limit)
		if m.Quality == report.Invalid && (m.Sent.Packets <= 0 || d.tooManyCameBack() || d.firstMisdelivered() >= 0) {
			return false
		}
	}
	return true
}

// LossBetween is how many frames of a direction of a window the device surely lost, and how many at most. The most
// includes frames whose place frames of others may have taken, and leaves out what the generator dropped. A
// direction that is Invalid for more than such frames surely lost none.
func LossBetween(w report.Window, i int, limit units.Ratio) (surely, atMost int64) {
	d := directionOf(w, i, limit)
	sent := d.measured.Sent.Packets - d.measured.GeneratorDrops()
	atMost = min(sent, max(0, d.lost()-d.measured.GeneratorDrops()+d.evidence.Hidden))
	if surely = min(atMost, max(0, d.surelyLost())); d.measured.Quality == report.Invalid && !d.hiddenAlone() {
		surely = 0
	}
	return surely, atMost
}

// WithDoubt is a window whose loss is in doubt (LossInDoubt) as one that counts. The frames that the generator or
// the machine may have lost in its Invalid directions make their loss an interval, as a disturbance does.
func WithDoubt(w report.Window, limit units.Ratio) report.Window {
	w.Directions = slices.Clone(w.Directions)
	for i := range w.Directions {
		m := &w.Directions[i]
		if m.Quality != report.Invalid {
			continue
		}
		surely, atMost := LossBetween(w, i, limit)
		lost, sent := m.Sent.Packets-m.Returned.Packets, m.Sent.Packets
		m.DisturbedFrames += max(0, SurelyLost(*m)-surely)
		m.LossRatioMin, m.LossRatioMax = units.RatioOf(surely, sent), mostRatio(lost, atMost+m.GeneratorDrops(), sent)
		m.Quality = report.Good
		if exceeds(surely, sent, limit) {
			m.Quality = report.Lossy
		}
	}
	w.Quality, w.Reason = Worst(w.Directions)
	return w
}

// hiddenAlone says that nothing but frames of others makes the direction Invalid.
func (d direction) hiddenAlone() bool {
	return d.mayHideMore() && !exceeds(d.surelyLost(), d.measured.Sent.Packets, d.limit) &&
		(!exceeds(d.lost(), d.measured.Sent.Packets, d.limit) || edgesAlone(d.measured))
}

// Worst is the quality of the direction that limits what the window shows, with that direction's reason. Directions
// that are not judged limit nothing.
func Worst(directions []report.Direction) (report.Quality, string) {
	quality, reason, measured := report.Good, "no direction was measured", false
	for _, d := range directions {
		if d.Quality != report.Unjudged && (!measured || severity(d.Quality) > severity(quality)) {
			quality, reason, measured = d.Quality, d.Name()+": "+d.Reason, true
		}
	}
	return quality, reason
}

func severity(q report.Quality) int {
	switch q {
	case report.Good:
		return 0
	case report.Short:
		return 1
	case report.Lossy:
		return 2
	case report.Invalid, report.Unjudged: // the second is left out before
	}
	return 3
}

// SurelyWithin says that a direction lost no larger share of frames than the limit, even if the window's edges hide
// as much as they may. Otherwise a window that is Good or Short is clean only as far as its edges show. A search
// may go on above it, but no claim rests on it.
func SurelyWithin(m report.Direction, limit units.Ratio) bool {
	return m.Sent.Packets <= 0 || !exceeds(m.Sent.Packets-m.Returned.Packets+m.EdgeFrames, m.Sent.Packets, limit)
}

// edgesAlone says that the window's edges may account for all that is missing, and no frame is known to have been
// lost otherwise.
func edgesAlone(m report.Direction) bool {
	return m.Sent.Packets-m.Returned.Packets <= m.EdgeFrames && m.GeneratorDrops() == 0 && m.DamagedFrames == 0
}

// OnlyEdgesSay says that more of a direction is missing than the limit allows, and the window's edges alone may
// account for it. A window with narrower edges, or a longer one, may show more.
func OnlyEdgesSay(m report.Direction, limit units.Ratio) bool {
	return exceeds(m.Sent.Packets-m.Returned.Packets, m.Sent.Packets, limit) && edgesAlone(m)
}

// LookAgain is for how long a window goes on that seems to have lost a few frames, no more than are sent in that
// time. A device may have kept them just as the window ended, and has let them out by then.
//
//	sent      ├──────────────────────────┤
//	returned  ├───────────────────────┄┄┄├┤ kept, and let out at once
//	                             the end ↑   ↑ the end, looked at again
const LookAgain = 50 * time.Millisecond

// MayBeKept says that some direction is Lossy, and misses no more frames than it sends in that time. A device that
// kept frames for so long just as the window ended, and lost none, looks the same.
func MayBeKept(w report.Window, allowed time.Duration) bool {
	return slices.ContainsFunc(w.Directions, func(m report.Direction) bool {
		sent := framesIn(units.PacketRate(m.Intended.PacketsPerSecond)*units.PacketPerSecond, allowed)
		return m.Quality == report.Lossy && SurelyLost(m) <= sent
	})
}

// EdgesCover says that the edges of a window that lasts so long, read as this one's were, may hide or feign more
// loss than the limit allows. What passes while an edge is read is as much in a long window as in a short one.
func EdgesCover(m report.Direction, took, lasts time.Duration, limit units.Ratio) bool {
	return m.Sent.Packets > 0 && exceeds(m.EdgeFrames, scale(m.Sent.Packets, int64(lasts), int64(took)), limit)
}

// exceeds compares part ÷ whole with the limit exactly, so a ratio's rounding never decides.
func exceeds(part, whole int64, limit units.Ratio) bool {
	return part > 0 && part > whole-scale(whole, int64(units.One-limit), int64(units.One))
}

// lowestLimit is the lowest limit that part ÷ whole does not exceed.
func lowestLimit(part, whole int64) units.Ratio {
	return units.Ratio(scale(part, int64(units.One), whole))
}
