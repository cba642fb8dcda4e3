package figures

import (
	"slices"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// LostInRun is how many frames of a direction were lost at most in the whole run, warm-up and loads above the limit
// included. So many at most were lost in any of its windows. The counters stood still before the first frame and
// after the last, so that totals have no edges. ok is false where the totals don't say it.
//
//	      stands still                                                   stands still
//	totals ──┼──────────────────────────────────────────────────────────────┼──
//	window          edge ┄┼┄─────────────────────────────┄┼┄ edge
//
// One frame of others, or one that came twice, may stand for one that was lost. So nothing is said where ports
// received anything while nothing was sent, where more came back than was sent in the run or in a window of it,
// where a numbered frame came twice, or where what is missing in bytes is not the frames that are missing.
func LostInRun(r *report.Report, direction string) (frames int64, ok bool) {
	i := slices.IndexFunc(r.Totals, func(t report.Total) bool {
		return plan.Direction{From: t.From,
			To: t.To}.Name() == direction
	})
	if i < 0 || report.PlanOf(r).Sessions != nil {
		return 0, false
	}
	t := r.Totals[i]
	lost := t.Sent.Packets - t.Returned.Packets
	switch {
	case !t.Drained, lost < 0, !isMissing(r, t), othersHeard(r, t.To), cameTwice(r), !addsUp(r, t):
		return 0, false
	}
	return lost, true
}

// MostLost is the largest share that a direction of the result may have lost, by its windows, whose edges leave
// some of it open, or by the whole run.
func MostLost(r *report.Report, d report.Direction) units.Ratio {
	maxLoss := d.MostLost()
	if lost, ok := LostInRun(r, d.Name()); ok && d.Sent.Packets > 0 && lost >= measure.SurelyLost(d) {
		maxLoss = min(maxLoss, measure.ShareUp(lost, d.Sent.Packets))
	}
	return maxLoss
}

// MostLostTogether is the same for all directions of the result together.
func MostLostTogether(r *report.Report) units.Ratio {
	maxLoss := r.Answer.Total.MostLost()
	var lost, sent int64
	for _, d := range directionsOfTotal(r) {
		ownLoss, ok := LostInRun(r, d.Name())
		if !ok || ownLoss < measure.SurelyLost(d) {
			return maxLoss
		}
		lost, sent = lost+ownLoss, sent+d.Sent.Packets
	}
	if sent == 0 {
		return maxLoss
	}
	return min(maxLoss, measure.ShareUp(lost, sent))
}

// isMissing says that the bytes which did not come back are those of the frames which did not. Ports may leave out
// the same few bytes of each frame, and a device may lengthen each alike.
func isMissing(r *report.Report, t report.Total) bool {
	if t.Returned.Packets == 0 {
		return true
	}
	lost, bytes := t.Sent.Packets-t.Returned.Packets, t.Sent.Bytes-t.Returned.Bytes
	if lost == 0 {
		return bytes%t.Returned.Packets == 0
	}
	sizes := measure.Sizes{}
	for _, g := range report.PlanOf(r).Generators {
		for _, p := range g.Ports {
			if p.Link == t.From {
				sizes = measure.SizesOf(p.Streams, sizes)
			}
		}
	}
	for unlike := int64(-8); unlike <= 8; unlike += 4 { // bytes of each frame for an FCS and a VLAN tag
		if missing := bytes - unlike*t.Returned.Packets; missing >= lost*sizes.Shortest &&
			missing <= lost*sizes.Longest {
			return true
		}
	}
	return sizes.Longest == 0
}

// othersHeard says that a link's ports received something while nothing was sent, or that nobody listened.
func othersHeard(r *report.Report, link string) bool {
	listened := false
	for _, s := range r.Silence {
		if s.Link == link {
			listened = true
			if s.Received.Packets > 0 {
				return true
			}
		}
	}
	return !listened
}

// cameTwice says that a frame with a number came more than once.
func cameTwice(r *report.Report) bool {
	return slices.ContainsFunc(r.Numbered, func(n report.Numbered) bool { return n.Twice > 0 }) ||
		slices.ContainsFunc(r.Path, func(p report.PathCheck) bool { return p.Repeats != nil && p.Repeats.Twice > 0 })
}

// addsUp says that no window got back more than was sent, and that the totals have all that the windows counted.
// They lack some where somebody cleared the counters in between.
func addsUp(r *report.Report, t report.Total) bool {
	var sent, returned int64
	for _, w := range r.Windows {
		if w.Evidence == nil || w.Evidence.Fault != "" {
			continue
		}
		if measure.MoreCameBack(w, 0) {
			return false
		}
		for _, d := range w.Directions {
			if d.From == t.From && d.To == t.To {
				sent, returned = sent+d.Sent.Packets, returned+d.Returned.Packets
			}
		}
	}
	return sent <= t.Sent.Packets && returned <= t.Returned.Packets
}
