package trains

import (
	"fmt"
	"math"
	"math/big"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure/trains"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// direction is what the set-ups of one direction show.
type direction struct {
	name string
	trains.Figure
	// trains are those of all set-ups together, without what the figure was computed from, and sending is the time
	// between frames at their departure, in nanoseconds, 0 where unknown.
	trains  report.Trains
	sending float64
	// least and most are the set-ups' shortest and longest time.
	least, most float64
	// typical are the arrivals of a train of the set-up in the middle.
	typical []int64
}

// Conclude is the time per frame of each direction, over its set-ups. Window is the last that counts.
func (t Trains) Conclude(history []report.Window) procedure.Conclusion {
	replayed := t.replay(history)
	c := replayed.Conclusion()
	var shown []direction
	var clauses []string
	for i, name := range t.plan.Directions {
		d := directionOf(name, i, history, replayed.counted[i])
		shown = append(shown, d)
		c.Own, clauses = append(c.Own, []report.OwnFigure{d.figure(replayed.fault)}), append(clauses, d.sentence())
		c.Windows = append(c.Windows, replayed.counted[i]...)
	}
	if len(c.Windows) == 0 {
		c.Own, c.Windows = nil, nil
		if replayed.fault != "" {
			c.Sentence = "no set-up counts: " + replayed.fault
		}
		return c
	}
	for _, i := range c.Windows {
		c.Window = max(c.Window, i)
	}
	whole := history[c.Window]
	whole.Varied, whole.Directions = "", nil
	for i, m := range history[c.Window].Directions[:min(len(shown), len(history[c.Window].Directions))] {
		all := shown[i].trains
		whole.Directions = append(whole.Directions, report.Direction{From: m.From, To: m.To, Quality: report.Good,
			Reason: clauses[i], Trains: &all})
	}
	c.Whole, c.Reason, c.Confirmed, c.Detail = &whole, report.TrainsMeasured, true, detailOf(shown)
	c.Sentence, c.Sections = strings.Join(clauses, "; "), sections(shown)
	if procedure.TooMuchVoid(replayed.void, t.steps()) {
		c.NotHeld = fmt.Sprintf("only %d of %d set-ups count (%s): mend that, then measure again", len(c.Windows),
			t.steps(), replayed.fault)
	}
	return c
}

// detailOf is why a figure is an upper bound, where one is.
func detailOf(shown []direction) (detail report.Detail) {
	for _, d := range shown {
		switch {
		case d.Untimed:
			return report.SenderUntimed
		case d.Bound:
			detail = report.SenderSetPace
		}
	}
	return detail
}

// directionOf adds up the windows that count of a direction.
func directionOf(name string, index int, history []report.Window, counted []int) direction {
	d := direction{name: name}
	var setups []trains.Spacing
	var sendings, sendingGaps float64
	for _, i := range counted {
		if index >= len(history[i].Directions) || history[i].Directions[index].Trains == nil {
			continue
		}
		one := *history[i].Directions[index].Trains
		spacing, fault := trains.SpacingOf(one)
		if fault != "" {
			continue
		}
		if len(setups) == 0 {
			d.least = spacing.Nanoseconds
		}
		d.least, d.most = min(d.least, spacing.Nanoseconds), max(d.most, spacing.Nanoseconds)
		setups = append(setups, spacing)
		d.trains.Count, d.trains.Frames = d.trains.Count+one.Count, one.Frames
		d.trains.LostFrames, d.trains.Lossy = d.trains.LostFrames+one.LostFrames, d.trains.Lossy+one.Lossy
		d.trains.Broken, d.trains.Undivided = d.trains.Broken+one.Broken, d.trains.Undivided+one.Undivided
		for _, sending := range one.Sendings {
			if sending > 0 {
				sendings, sendingGaps = sendings+float64(sending), sendingGaps+float64(one.Frames-1)
			}
		}
		d.typical = one.Arrivals
	}
	if d.Figure = trains.FigureOf(setups); sendingGaps > 0 {
		d.sending = sendings / sendingGaps
	}
	return d
}

// reach is how far the true time may lie from the median, to either side.
func (d direction) reach() float64 { return max(d.Median-d.Low, d.High-d.Median) }

// figure is the direction's own figure. An upper bound reaches down to 0.
func (d direction) figure(fault string) report.OwnFigure {
	own := report.OwnFigure{Metric: procedure.TimePerFrame}
	switch {
	case d.N == 0:
		if own.Missing = "no set-up of this direction counts"; fault != "" {
			own.Missing += ": " + fault
		}
	case d.Bound:
		own.Low, own.High = "0", number(d.High)
	default:
		own.Low, own.High = number(max(0, d.Median-d.reach())), number(d.Median+d.reach())
	}
	return own
}

// number is a time in nanoseconds, to a thousandth.
func number(nanoseconds float64) report.Number {
	return report.NumberOf(big.NewRat(int64(math.Round(1000*nanoseconds)), 1000))
}

// sentence says what the set-ups of the direction show.
func (d direction) sentence() string {
	if d.N == 0 {
		return d.name + ": no set-up counts"
	}
	text := fmt.Sprintf("%s: a frame takes the device ", d.name)
	if d.Bound {
		text += "at most " + trains.Text(d.High)
	} else {
		text += fmt.Sprintf("%s (%s to %s by %d set-ups)", trains.Text(d.Median), trains.Text(d.Median-d.reach()),
			trains.Text(d.Median+d.reach()), d.N)
	}
	text += fmt.Sprintf(", by %s trains of %d frames", wording.Count(int64(d.trains.Count)), d.trains.Frames)
	switch {
	case d.Untimed:
		text += "; how fast they were sent is not known, so that the sender may have set the pace"
	case d.Bound:
		text += "; they were sent no faster than they came, so that the sender may have set the pace"
	}
	if d.trains.Lossy > 0 || d.trains.Broken > 0 {
		text += fmt.Sprintf("; %d trains lost frames and %d came in another order, and were left out", d.trains.Lossy,
			d.trains.Broken)
	}
	return text
}
