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

// Conclude combines all judged trials. Window is the median trial by what came back in all directions together, for an even number the lower one of the two. Nothing was searched for, so one
// judged trial is an answer.
func (m MaximumOfferedLoad) Conclude(history []report.Window) procedure.Conclusion {
	s := m.replay(history)
	c := procedure.Conclusion{Reason: report.NotMeasured, Window: procedure.None, Lossy: procedure.None, Finished: s.ended}
	if s.ended {
		c.Ending = s.reason
	}
	var said []string
	if len(s.judged) > 0 {
		judged := slices.SortedStableFunc(slices.Values(s.judged), func(a, b int) int { return cmp.Compare(received(history[a]), received(history[b])) })
		windows := make([]report.Window, len(judged))
		for i, n := range judged {
			windows[i] = history[n]
		}
		whole := measure.Combine(windows)
		c.Confirmed, c.Whole, c.Window = true, &whole, judged[(len(judged)-1)/2]
		c.Reason = procedure.ClaimOffered(whole.Directions, m.maxLossRatio, report.MaximumOffered)
		said = sentence(whole, windows)
		steady := m.steadyAnswer(s, history)
		if steady != nil {
			c.Whole, c.Window = steady, s.held.steady[0]
			said = sentence(*steady, []report.Window{*steady})
		}
		if s.held.ended && len(s.held.steady) < steadyWindows {
			c.ShownFor = m.plan.TrialDuration.Std()
		}
		if more := m.steadySentence(s, steady, whole); more != "" {
			said = append(said, more)
		}
	}
	if n := len(s.unclear); n > 0 {
		if procedure.TooMuchVoid(n, m.trials()) {
			c.NotHeld = fmt.Sprintf("only %d of %s could be judged (window %d: %s): mend that, then measure again", len(s.judged), trials(m.trials()), s.unclear[0].Number, s.unclear[0].Reason)
		}
		said = append(said, fmt.Sprintf("%s could not be judged, however often repeated (window %d: %s)", trials(n), s.unclear[0].Number, s.unclear[0].Reason))
	}
	c.Sentence = strings.Join(said, "; ")
	return c
}

// received is what came back in all directions together, packets per second.
func received(w report.Window) int64 { return measure.Sum(w.Directions, nil).Received.PacketsPerSecond }

// sentence says what was asked for, offered and came back; windows are sorted by what came back.
func sentence(whole report.Window, windows []report.Window) (said []string) {
	sum := measure.Sum(whole.Directions, nil)
	together := ""
	if len(whole.Directions) > 1 {
		together = ", all directions together"
	}
	facts := fmt.Sprintf("of %s asked for, the generators offered %s, and %s came back%s: that is the forwarding rate at this offered load", wording.PacketRate(sum.Intended.PacketsPerSecond),
		wording.PacketRate(sum.Offered.PacketsPerSecond), wording.PacketRate(sum.Received.PacketsPerSecond), together)
	switch {
	case underOffered(whole) && starved(whole):
		facts += ", and neither is a limit, as what sends and what forwards waited for processors"
	case underOffered(whole):
		facts += ", and the generators' limit is no limit of the device"
	}
	said = []string{facts}
	if len(whole.Directions) > 1 {
		for _, d := range whole.Directions {
			said = append(said, fmt.Sprintf("%s→%s: %s of %s offered", d.From, d.To, wording.PacketRate(d.Received.PacketsPerSecond), wording.PacketRate(d.Offered.PacketsPerSecond)))
		}
	}
	if n := len(windows); n > 1 {
		said = append(said, fmt.Sprintf("in %s from %s to %s came back", trials(n), wording.PacketRate(received(windows[0])), wording.PacketRate(received(windows[n-1]))))
	}
	var dropped int64
	for _, d := range whole.Directions {
		dropped += d.ReceiveErrors
	}
	if dropped > 0 {
		said = append(said, fmt.Sprintf("the generators themselves dropped %d frames that reached them, so that the device may have forwarded more", dropped))
	}
	if frames, why := disturbed(windows); frames > 0 {
		said = append(said, fmt.Sprintf("%s: up to %d of the frames that did not come back may have been lost for that, so that the device may have forwarded more", why, frames))
	}
	return said
}

// disturbed is how many of the frames that did not come back may have been lost because both who sent and who forwarded waited, and who did in the window that has most of them. An older linerate didn't tell of
// senders' waits, nor of this.
func disturbed(windows []report.Window) (frames int64, why string) {
	most := int64(0)
	for _, w := range windows {
		for _, d := range w.Directions {
			if d.SendersWaited <= 0 {
				continue
			}
			n := min(d.DisturbedFrames, max(0, d.Sent.Packets-d.Returned.Packets))
			frames += n
			if n > most {
				most, why = n, measure.WhoWaited(w, d)
			}
		}
	}
	return frames, why
}

// starved says that in some direction those who sent waited for more than 1 % of the time, as those who forwarded did.
func starved(whole report.Window) bool {
	return slices.ContainsFunc(whole.Directions, func(d report.Direction) bool { return 100*d.SendersWaited > whole.Duration })
}

// underOffered says that in some direction less than 99 % of what was asked for was offered.
func underOffered(whole report.Window) bool {
	return slices.ContainsFunc(whole.Directions, report.Direction.UnderOffered)
}
