package frameloss

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// point is one load of the curve, as one trial showed it.
type point struct {
	report.Window

	index int // of the trial in the history
	// lossRatio is that of the direction that lost the largest share, (sent − received) ÷ sent of the trial's counters
	// (RFC 2544, section 26.3).
	lossRatio units.Ratio
	// clean means that the device surely lost no frame in any direction. The generator may have dropped a few.
	clean bool
}

// curveOf is the loads whose trials could be judged, the highest first. Of a load that was tried again, the last trial
// that could be judged counts.
func curveOf(history []report.Window) (curve []point) {
	for i, w := range history {
		if w.Phase != report.Trial || !w.Counts() {
			continue
		}
		curve = slices.DeleteFunc(curve, func(p point) bool { return p.Load == w.Load })
		p := point{Window: w, index: i, clean: clean(w)}
		for n, d := range w.Directions {
			if n == 0 || d.LossRatio > p.lossRatio {
				p.lossRatio = d.LossRatio
			}
		}
		curve = append(curve, p)
	}
	slices.SortStableFunc(curve, func(a, b point) int { return cmp.Compare(b.Load, a.Load) })
	return curve
}

// Conclude has the curve in words. Window is the trial at the highest load that could be judged. Nothing was searched
// for, so that one point is an answer.
func (f FrameLoss) Conclude(history []report.Window) procedure.Conclusion {
	replayed := f.replay(history)
	c := replayed.Conclusion()
	var clauses []string
	if curve := curveOf(history); len(curve) > 0 {
		c.Window, c.Confirmed = curve[0].index, true
		c.Reason = procedure.ClaimAsked(history[c.Window].Directions, f.maxLossRatio, report.CurveMeasured)
		for _, p := range curve {
			c.Loads = append(c.Loads, procedure.LoadTrial{Window: p.index, Void: procedure.NoWindow})
		}
		clauses = append(clauses, f.curveSentence(curve))
	}
	if len(replayed.unclear) > 0 {
		clauses = append(clauses, f.unclearSentence(replayed.unclear))
		if first := replayed.unclear[0]; first.Load == units.One {
			c.NotHeld = fmt.Sprintf("no trial at %s could be judged (window %d: %s): mend that, then measure again",
				f.plan.MaxRate, first.Number, first.Reason)
		}
	}
	c.Sentence = strings.Join(clauses, "; ")
	return c
}

// mostPoints is how many of a curve's points a sentence has.
const mostPoints = 6

// curveSentence describes the curve from above: "frames lost: 60 % at 100 % of 20kpps, 20 % at 50 %, none from 40 %
// down to 30 %". The clean loads at its lower end are one point. Of more points than fit, some are left out at even
// distances.
func (f FrameLoss) curveSentence(curve []point) string {
	end := len(curve)
	for end > 0 && curve[end-1].clean {
		end--
	}
	lossy, lowest := curve[:end], curve[end:]
	text := "frames lost"
	if len(curve[0].Directions) > 1 {
		text += " in the direction that lost most"
	}
	if room := mostPoints - min(1, len(lowest)); len(lossy) > room {
		lossy = evenly(lossy, room)
		text += fmt.Sprintf(", at %d of %s", len(lossy)+len(lowest), loads(len(curve)))
	}
	var points []string
	for _, p := range lossy {
		points = append(points, p.loss()+" at "+f.loadText(p, curve))
	}
	switch len(lowest) {
	case 0:
	case 1:
		points = append(points, "none at "+f.loadText(lowest[0], curve))
	default:
		points = append(points, "none from "+f.loadText(lowest[0], curve)+" down to "+f.loadText(lowest[len(lowest)-1],
			curve))
	}
	return text + ": " + strings.Join(points, ", ")
}

// evenly is n of the points at even distances, the first and the last among them.
func evenly(points []point, n int) (selected []point) {
	for i := range n {
		selected = append(selected, points[i*(len(points)-1)/(n-1)])
	}
	return selected
}

func (p point) loss() string {
	if p.clean {
		return "none"
	}
	return percent(p.lossRatio)
}

// percent is a share in words, with two decimals, and below 0.1 % as exact as measure.Percent has it.
func percent(r units.Ratio) string {
	const step = units.One / 10_000
	if r >= units.One/1000 {
		r = (r + step/2) / step * step
	}
	return measure.Percent(r)
}

// loadText is a point's load in words. The first point of a curve also says what the load is a share of, and each point
// how much was offered, where that is less than 99 %.
func (f FrameLoss) loadText(p point, curve []point) string {
	text := percent(p.Load)
	if p.index == curve[0].index {
		text += " of " + f.plan.MaxRate.String()
	}
	lowest := slices.MinFunc(p.Directions, func(a, b report.Direction) int {
		return cmp.Compare(units.RatioOf(a.Offered.PacketsPerSecond, a.Intended.PacketsPerSecond),
			units.RatioOf(b.Offered.PacketsPerSecond, b.Intended.PacketsPerSecond))
	})
	if lowest.UnderOffered() {
		text += fmt.Sprintf(" (%s offered)", wording.PacketRate(lowest.Offered.PacketsPerSecond))
	}
	return text
}

// unclearSentence says at which loads no trial could be judged, and why the first of them couldn't.
func (f FrameLoss) unclearSentence(unclear []report.Window) string {
	first := unclear[0]
	suffix := ""
	if n := len(unclear) - 1; n > 0 {
		suffix = fmt.Sprintf(" and %s below", loads(n))
	}
	return fmt.Sprintf("no trial could be judged at %s of %s%s (window %d: %s)", percent(first.Load), f.plan.MaxRate,
		suffix, first.Number, first.Reason)
}
