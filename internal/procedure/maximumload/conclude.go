package maximumload

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// Conclude combines all judged trials. Window is the median trial by what came back in all directions together, for an
// even number the lower one of the two. Nothing was searched for, so one judged trial is an answer.
func (m MaximumOfferedLoad) Conclude(history []report.Window) procedure.Conclusion {
	replayed := m.replay(history)
	c := replayed.Conclusion()
	var clauses []string
	if len(replayed.judged) > 0 {
		clauses = m.concludeJudged(&c, replayed, history)
	}
	if n := len(replayed.unclear); n > 0 {
		first := replayed.unclear[0]
		if procedure.TooMuchVoid(n, m.trials()) {
			c.NotHeld = fmt.Sprintf("only %d of %s could be judged (window %d: %s): mend that, then measure again",
				len(replayed.judged), trials(m.trials()), first.Number, first.Reason)
		}
		clauses = append(clauses, fmt.Sprintf("%s could not be judged, however often repeated (window %d: %s)",
			trials(n), first.Number, first.Reason))
	}
	c.Sentence = strings.Join(clauses, "; ")
	return c
}

// concludeJudged fills in the answer of the judged trials, and of the load that was held after them.
func (m MaximumOfferedLoad) concludeJudged(c *procedure.Conclusion, replayed course,
	history []report.Window) (clauses []string) {
	judged := slices.SortedStableFunc(slices.Values(replayed.judged),
		func(a, b int) int { return cmp.Compare(received(history[a]), received(history[b])) })
	windows := make([]report.Window, len(judged))
	for i, n := range judged {
		windows[i] = history[n]
	}
	whole := measure.Combine(windows)
	c.Confirmed, c.Whole, c.Window, c.Windows = true, &whole, judged[(len(judged)-1)/2], replayed.judged
	c.Reason = procedure.ClaimOffered(whole.Directions, m.maxLossRatio, report.MaximumOffered)
	clauses = sentence(whole, windows)
	steady := m.steadyAnswer(replayed, history)
	if steady != nil {
		c.Whole, c.Window, c.Windows = steady, replayed.holding.steady[0], replayed.holding.steady
		clauses = sentence(*steady, []report.Window{*steady})
	}
	if replayed.holding.ended && len(replayed.holding.steady) < steadyWindows {
		c.ShownFor = m.plan.TrialDuration
	}
	if text := m.steadySentence(replayed, steady, whole); text != "" {
		clauses = append(clauses, text)
	}
	return clauses
}

// received is what came back in all directions together, packets per second.
func received(w report.Window) int64 { return measure.Sum(w.Directions, nil).Received.PacketsPerSecond }

// sentence says what was asked for, offered and came back. windows are sorted by what came back.
func sentence(whole report.Window, windows []report.Window) (clauses []string) {
	sum := measure.Sum(whole.Directions, nil)
	suffix := ""
	if len(whole.Directions) > 1 {
		suffix = ", all directions together"
	}
	facts := fmt.Sprintf("of %s asked for, the generators offered %s, and %s came back%s: that is the forwarding "+
		"rate at this offered load", wording.PacketRate(sum.Intended.PacketsPerSecond),
		wording.PacketRate(sum.Offered.PacketsPerSecond), wording.PacketRate(sum.Received.PacketsPerSecond), suffix)
	switch {
	case underOffered(whole) && starved(whole):
		facts += ", and neither is a limit, as what sends and what forwards waited for processors"
	case underOffered(whole):
		facts += ", and the generators' limit is no limit of the device"
	}
	clauses = []string{facts}
	if len(whole.Directions) > 1 {
		for _, d := range whole.Directions {
			clauses = append(clauses, fmt.Sprintf("%s→%s: %s of %s offered", d.From, d.To,
				wording.PacketRate(d.Received.PacketsPerSecond), wording.PacketRate(d.Offered.PacketsPerSecond)))
		}
	}
	if n := len(windows); n > 1 {
		clauses = append(clauses, fmt.Sprintf("in %s from %s to %s came back", trials(n),
			wording.PacketRate(received(windows[0])), wording.PacketRate(received(windows[n-1]))))
	}
	var dropped int64
	for _, d := range whole.Directions {
		dropped += d.ReceiveErrors
	}
	if dropped > 0 {
		clauses = append(clauses, fmt.Sprintf("the generators themselves dropped %d frames that reached them, so "+
			"that the device may have forwarded more", dropped))
	}
	if frames, cause := disturbed(windows); frames > 0 {
		clauses = append(clauses, fmt.Sprintf("%s: up to %d of the frames that did not come back may have been lost "+
			"for that, so that the device may have forwarded more", cause, frames))
	}
	return clauses
}

// disturbed is how many of the frames that did not come back may have been lost because both senders and forwarding
// threads waited, and which threads waited in the window that has most of these frames.
func disturbed(windows []report.Window) (frames int64, cause string) {
	largest := int64(0)
	for _, w := range windows {
		for _, d := range w.Directions {
			if d.SendersWaited <= 0 {
				continue
			}
			n := min(d.DisturbedFrames, max(0, d.Sent.Packets-d.Returned.Packets))
			frames += n
			if n > largest {
				largest, cause = n, measure.WhoWaited(w, d)
			}
		}
	}
	return frames, cause
}

// starved reports whether in some direction the senders waited for more than 1 % of the time, as the forwarding threads
// did.
func starved(whole report.Window) bool {
	return slices.ContainsFunc(whole.Directions,
		func(d report.Direction) bool { return d.DisturbedFrames > 0 && 100*d.SendersWaited > whole.Duration })
}

// underOffered reports whether in some direction less than 99 % of what was asked for was offered.
func underOffered(whole report.Window) bool {
	return slices.ContainsFunc(whole.Directions, report.Direction.UnderOffered)
}
