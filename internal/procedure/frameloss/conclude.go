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
)

// Point is one load of the curve, as one trial showed it.
type Point struct {
	// Window is the trial's index in the history.
	Window int
	// Load is what was asked for, as a share of the highest.
	Load       units.Ratio
	Directions []Direction
	// LossRatio is that of the direction that lost the largest share.
	LossRatio units.Ratio
	// Clean says that the device surely lost no frame in any direction; a few may be missing that the generator dropped.
	Clean bool
}

// Direction is one direction of a point. In a drawing, the point belongs at Offered.
type Direction struct {
	From, To                 string
	Asked, Offered, Received units.PacketRate
	// LossRatio is (sent − received) ÷ sent, of the trial's counters (RFC 2544, section 26.3).
	LossRatio units.Ratio
}

// Curve are the loads whose trials could be judged, the highest first. Of a load that was tried again, the last trial that could be judged counts.
func Curve(history []report.Window) (curve []Point) {
	for i, w := range history {
		if w.Phase != report.Trial || !w.Counts() {
			continue
		}
		curve = slices.DeleteFunc(curve, func(p Point) bool { return p.Load == w.Load })
		curve = append(curve, pointOf(w, i))
	}
	slices.SortStableFunc(curve, func(a, b Point) int { return cmp.Compare(b.Load, a.Load) })
	return curve
}

func pointOf(w report.Window, i int) Point {
	p := Point{Window: i, Load: w.Load, Clean: clean(w)}
	for n, d := range w.Directions {
		p.Directions = append(p.Directions, Direction{From: d.From, To: d.To, Asked: rate(d.Intended), Offered: rate(d.Offered), Received: rate(d.Received), LossRatio: d.LossRatio})
		if n == 0 || d.LossRatio > p.LossRatio {
			p.LossRatio = d.LossRatio
		}
	}
	return p
}

func rate(f report.Flow) units.PacketRate {
	return units.PacketRate(f.PacketsPerSecond) * units.PacketPerSecond
}

// Conclude has the curve in words; Window is the trial at the highest load that could be judged. Nothing was searched for, so that one point is an answer.
func (f FrameLoss) Conclude(history []report.Window) procedure.Conclusion {
	d := f.descend(history)
	c := procedure.Conclusion{Reason: report.NotMeasured, Window: procedure.None, Lossy: procedure.None, Finished: d.ended}
	if d.ended {
		c.Ending = d.reason
	}
	var said []string
	if curve := Curve(history); len(curve) > 0 {
		c.Window, c.Confirmed = curve[0].Window, true
		c.Reason = procedure.ClaimAsked(history[c.Window].Directions, f.maxLossRatio, report.CurveMeasured)
		for _, p := range curve {
			c.Curve = append(c.Curve, p.Window)
		}
		said = append(said, f.curveSentence(curve))
	}
	if len(d.unclear) > 0 {
		said = append(said, f.unclearSentence(d.unclear))
		if first := d.unclear[0]; first.Load == units.One {
			c.NotHeld = fmt.Sprintf("no trial at %s could be judged (window %d: %s): mend that, then measure again", f.plan.From, first.Number, first.Reason)
		}
	}
	c.Sentence = strings.Join(said, "; ")
	return c
}

// mostPoints is how many of a curve's points a sentence has.
const mostPoints = 6

// curveSentence describes the curve from above: "frames lost: 60 % at 100 % of 20kpps, 20 % at 50 %, none from 40 % down to 30 %". The clean loads at its lower end are one point; of more points
// than fit, some are left out at even distances.
func (f FrameLoss) curveSentence(curve []Point) string {
	end := len(curve)
	for end > 0 && curve[end-1].Clean {
		end--
	}
	above, lowest := curve[:end], curve[end:]
	said := "frames lost"
	if len(curve[0].Directions) > 1 {
		said += " in the direction that lost most"
	}
	if room := mostPoints - min(1, len(lowest)); len(above) > room {
		above = evenly(above, room)
		said += fmt.Sprintf(", at %d of %s", len(above)+len(lowest), loads(len(curve)))
	}
	var points []string
	for _, p := range above {
		points = append(points, p.loss()+" at "+f.at(p, curve))
	}
	switch len(lowest) {
	case 0:
	case 1:
		points = append(points, "none at "+f.at(lowest[0], curve))
	default:
		points = append(points, "none from "+f.at(lowest[0], curve)+" down to "+f.at(lowest[len(lowest)-1], curve))
	}
	return said + ": " + strings.Join(points, ", ")
}

// evenly is n of the points at even distances, the first and the last among them.
func evenly(points []Point, n int) (some []Point) {
	for i := range n {
		some = append(some, points[i*(len(points)-1)/(n-1)])
	}
	return some
}

func (p Point) loss() string {
	if p.Clean {
		return "none"
	}
	return percent(p.LossRatio)
}

// percent is a share in words: two decimals, and below 0.1 % as exact as measure.Percent has it.
func percent(r units.Ratio) string {
	const step = units.One / 10_000
	if r >= units.One/1000 {
		r = (r + step/2) / step * step
	}
	return measure.Percent(r)
}

// at is a point's load in words; the first of a curve says of what it is a share, and each how much was offered, where that is less than 99 %.
func (f FrameLoss) at(p Point, curve []Point) string {
	said := percent(p.Load)
	if p.Window == curve[0].Window {
		said += " of " + f.plan.From.String()
	}
	if least := p.leastOffered(); 100*least.Offered < 99*least.Asked {
		said += fmt.Sprintf(" (%s offered)", least.Offered.FormatSI())
	}
	return said
}

// leastOffered is the direction that was offered the smallest share of what was asked for.
func (p Point) leastOffered() Direction {
	return slices.MinFunc(p.Directions, func(a, b Direction) int {
		return cmp.Compare(units.RatioOf(int64(a.Offered), int64(a.Asked)), units.RatioOf(int64(b.Offered), int64(b.Asked)))
	})
}

// unclearSentence says at which loads no trial could be judged, and why the first of them couldn't.
func (f FrameLoss) unclearSentence(unclear []report.Window) string {
	first := unclear[0]
	more := ""
	if n := len(unclear) - 1; n > 0 {
		more = fmt.Sprintf(" and %s below", loads(n))
	}
	return fmt.Sprintf("no trial could be judged at %s of %s%s (window %d: %s)", percent(first.Load), f.plan.From, more, first.Number, first.Reason)
}
