package analysis

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
)

const (
	// leastOutage is for how long nothing must come back for an outage. A shorter time, as where a busy machine
	// stands still, is loss like any other.
	leastOutage = 900 * time.Millisecond
	// leastOutageOfTCP is the same of TCP, and of programs that report received data late. It is two samples' time.
	// A connection that lost a segment twice waits for more than a second, as the timeout doubles (RFC 6298,
	// sections 2 and 5), however well the device carries what comes then.
	leastOutageOfTCP = 2 * leastOutage
	// leastSilence is for how long frames must be sent, none of which comes back, for an outage that is seen in
	// part. The rest of it is in a pause, in which nothing was sent.
	leastSilence = 200 * time.Millisecond
	// betweenReadings is how much earlier than the first reading that shows it a silence may have begun.
	betweenReadings = 250 * time.Millisecond
	// carriedShare of what is sent must come back for the device to carry a load, however much it loses of it.
	carriedShare = 10
	// longestDelay is how long frames may be under way. Frames that come back so much later were not lost.
	longestDelay = 3 * time.Second
)

// Outages are the times in which nothing came back in a direction of a load no higher than one that the device
// carried at another time of the run. A device that carries nothing of a load, each time that it is offered, has
// none, because that is its answer to the load. Frames that generators or the machine may have lost are no outage.
//
//	load ┤ carried │ carried │ silent │ carried │    an outage: the device carried as much before and after
//	     │ carried │ silent at more │ silent at more │    none: too much for the device, as far as the run shows
//
// Only a part is seen of an outage that is partly in a pause, in which nothing is sent. Nothing shows that the
// device was back before the pause was over.
//
//	trials ┤ carried ▌ silent │ pause │ silent ▐ carried │    one outage: from one ▌ to the other ▐
//
// Ends that waited for processors may have been the ones that stood still. An outage that shows in such windows only
// says so.
func Outages(r *report.Report) (outages []report.Interruption) {
	for i, d := range report.PlanOf(r).Directions {
		o := outageOf(r, i, func(w report.Window) bool { return lostElsewhere(w) || endsWaited(r, w) })
		if o == nil {
			if o = outageOf(r, i, lostElsewhere); o != nil {
				o.EndsWaited = true
			}
		}
		if o != nil {
			o.Direction = d.Name()
			outages = append(outages, *o)
		}
	}
	return outages
}

// hears says that frames of the test came back in the stretch, where so many a second come at best.
func (s stretch) hears(best float64) bool {
	return measure.Hears(s.sent, s.came, best*s.lasted().Seconds())
}

// silent says that nothing came back of the stretch, where so many frames a second come at best.
func (s stretch) silent(best float64) bool {
	return measure.IsSilent(s.sent, s.came, best*s.lasted().Seconds())
}

func (s stretch) carried() bool { return s.sent >= measure.LeastSent && s.came*carriedShare >= s.sent }

// rate is how many frames came back in a second.
func (s stretch) rate() float64 {
	return float64(s.came) / max(s.lasted(), time.Millisecond).Seconds()
}

// outageOf is the outage of a direction outside of the windows that are excused, or nil for none.
func outageOf(r *report.Report, i int, excused func(report.Window) bool) *report.Interruption {
	stretches := stretchesOf(r, i)
	if len(stretches) == 0 {
		return nil
	}
	best := slices.MaxFunc(stretches, func(a, b stretch) int { return cmp.Compare(a.rate(), b.rate()) }).rate()
	highest, carried := mostCarried(r, i, stretches, best)
	if !carried {
		return nil
	}
	delay := delayOf(r, stretches, best)
	var found *report.Interruption
	for _, gap := range gaps(r, stretches, highest, best, excused) {
		silence := silenceOf(r, i, gap, delay, best)
		ended := gap[len(gap)-1] != stretches[len(stretches)-1]
		if !silence.isOutage(r, ended, longestAway(stretches, gap)) {
			continue
		}
		if found == nil {
			found = &report.Interruption{Start: plan.Duration(silence.start)}
		}
		found.Times++
		found.Duration += plan.Duration(silence.end - silence.start)
		found.Over = ended
	}
	return found
}

// mostCarried is the highest load that the device carried. In some stretch a tenth of it came back or, of an
// overload, some of it throughout a window.
func mostCarried(r *report.Report, i int, stretches []stretch, best float64) (highest int64, carried bool) {
	for _, s := range stretches {
		if s.carried() {
			highest, carried = max(highest, s.asked), true
		}
	}
	for _, w := range r.Windows {
		start, end := w.Start.Std(), (w.Start + w.Duration).Std()
		throughout := !slices.ContainsFunc(stretches,
			func(s stretch) bool { return s.start < end && s.end > start && s.silent(best) })
		if i >= len(w.Directions) {
			continue
		}
		if d := w.Directions[i]; w.Counts() && d.Returned.Packets >= measure.LeastSent && throughout {
			highest, carried = max(highest, d.Intended.PacketsPerSecond), true
		}
	}
	return highest, carried
}

// gaps are the successive stretches in which nothing came back of at most this load, and that lie in no excused
// window.
func gaps(r *report.Report, stretches []stretch, highest int64, best float64,
	excused func(report.Window) bool) (found [][]stretch) {
	var gap []stretch
	end := func() {
		if len(gap) > 0 {
			found = append(found, gap)
		}
		gap = nil
	}
	for _, s := range stretches {
		if s.hears(best) || s.sent > 0 && (s.asked > highest || 2*s.returned >= s.sent || overlaps(r, s, excused)) {
			end()
		} else {
			gap = append(gap, s)
		}
	}
	end()
	return found
}

// silence is what is seen of an outage.
type silence struct {
	// start and end are when its first frame and its last one were sent. sending is for how long frames were sent
	// in between.
	start, end, sending time.Duration
	frames              int64
	// trial says that no frame of a whole trial came back, however long that took, since a trial is waited for.
	trial bool
}

// silenceOf is the part of a gap of direction i in which frames were sent that should have come back within the
// gap. It leaves out frames that were sent so late that they may be under way still, by the longest delay that the
// device can have in the run.
func silenceOf(r *report.Report, i int, gap []stretch, delay time.Duration, best float64) (found silence) {
	start, end := gap[0].start, gap[len(gap)-1].end
	see := func(begin, end time.Duration) {
		if end > begin {
			if found.end == 0 {
				found.start = begin
			}
			found.end, found.sending = end, found.sending+end-begin
		}
	}
	for _, s := range gap {
		found.frames += s.sent
		if s.sent == 0 {
			continue
		}
		for _, part := range sendingIn(r, s) {
			see(part[0], min(part[1], end-delay))
		}
	}
	for _, w := range r.Windows {
		if w.Took == 0 || w.Start.Std() < start || (w.Start+w.Duration).Std() > end || i >= len(w.Directions) {
			continue
		}
		if d := w.Directions[i]; measure.IsSilent(d.Sent.Packets, d.Returned.Packets+d.ReceiveErrors,
			best*w.Took.Std().Seconds()) {
			found.trial = true
			found.start, found.end = min(cmp.Or(found.start, w.Start.Std()), w.Start.Std()),
				max(found.end, (w.Start+w.Took).Std())
		}
	}
	return found
}

// longestAway bounds the time that the device was away at a gap. The device may have been away in the whole gap,
// with its pauses. It may also have been away in the stretch before the gap and in the one after it, each of which
// counts by its share of lost frames.
func longestAway(stretches, gap []stretch) time.Duration {
	begin, end := gap[0].start, gap[len(gap)-1].end
	away := end - begin + betweenReadings
	for _, s := range stretches {
		if adjacent := s.end == begin || s.start == end; adjacent && s.sent > s.came {
			away += time.Duration(float64(s.lasted()) * float64(s.sent-s.came) / float64(s.sent))
		}
	}
	return away
}

// isOutage says that a silence is an outage. ended says that frames came back after the silence, and away bounds
// the time that the device was away.
func (s silence) isOutage(r *report.Report, ended bool, away time.Duration) bool {
	shortest := leastOutageOf(r)
	switch {
	case s.frames < measure.LeastSent:
		return false
	case s.sending >= shortest || s.trial:
		return true
	case report.PlanOf(r).Sessions != nil: // which send at any time
		return false
	}
	return s.sending >= leastSilence && (away >= shortest || !ended)
}

// sendingIn are the parts of a stretch in which frames were sent. Trials and bursts have known times of sending. A
// load that is held is sent all the time.
func sendingIn(r *report.Report, s stretch) (parts [][2]time.Duration) {
	for _, w := range r.Windows {
		start, end := w.Start.Std(), (w.Start + w.Duration).Std()
		if w.Took > 0 && start < s.end && w.Start.Std()+w.Took.Std() > s.start {
			if start, end = max(start, s.start), min(end, s.end); end > start {
				parts = append(parts, [2]time.Duration{start, end})
			}
		}
	}
	if len(parts) == 0 {
		return [][2]time.Duration{{s.start, s.end}}
	}
	return parts
}

// delayOf is the longest time that the device may take to forward a frame, as far as the run shows. After a trial
// or the traffic began, the first frames came no later than that. Connections know at once what comes, and windows
// without samples have all that came of them.
func delayOf(r *report.Report, stretches []stretch, best float64) time.Duration {
	if report.PlanOf(r).Sessions != nil || len(r.Samples) < 2 {
		return 0
	}
	starts := []time.Duration{stretches[0].start}
	for _, w := range r.Windows {
		if w.Took > 0 {
			starts = append(starts, w.Start.Std())
		}
	}
	delay := longestDelay
	for _, start := range starts {
		if n := slices.IndexFunc(stretches, func(s stretch) bool { return s.end > start && s.hears(best) }); n >= 0 {
			delay = min(delay, stretches[n].end-start)
		}
	}
	return delay
}

// leastOutageOf is for how long nothing must come back for an outage of this run.
func leastOutageOf(r *report.Report) time.Duration {
	if s := report.PlanOf(r).Sessions; s != nil && (s.Protocol != plan.UDP || s.Application == plan.ApplicationIperf2) {
		return leastOutageOfTCP
	}
	return leastOutage
}

// seldom says that sessions are asked for so little that between two of their messages there may be silence for
// half as long as an outage.
func seldom(r *report.Report) bool {
	p := report.PlanOf(r)
	asked := p.Sessions.BitsPerSecond(p.Procedure)
	burst := 8 * p.Sessions.MessageBytes * int64(max(1, p.Sessions.Parallel))
	return asked > 0 && float64(burst)/float64(asked) > leastOutageOf(r).Seconds()/2
}

// overlaps says that a part of a stretch lies in one of the windows of a kind.
func overlaps(r *report.Report, s stretch, kind func(report.Window) bool) bool {
	return slices.ContainsFunc(r.Windows, func(w report.Window) bool {
		start, end := w.Start.Std(), w.Start.Std()+max(w.Duration, w.Took).Std()
		return start < s.end && end > s.start && kind(w)
	})
}

// lostElsewhere says that a generator or the machine may have lost the frames of a window.
func lostElsewhere(w report.Window) bool {
	return w.LostToDisturbance() || w.LostToMachine() || w.LostToBursts()
}

// endsWaited says that the programs of a window's ends waited for processors for half of the window, and for as
// long as an outage takes. Of datagrams that were lost between the ends no waiting is a reason.
func endsWaited(r *report.Report, w report.Window) bool {
	shortest := max(leastOutageOf(r), w.Duration.Std()/2)
	return slices.ContainsFunc(w.Directions, func(d report.Direction) bool {
		return d.Sessions != nil && d.Sessions.EndsWaited.Std() >= shortest && !lostBetweenEnds(d.Sessions.Datagrams)
	})
}

// lostBetweenEnds says that most of the datagrams that left the sender neither reached the receiving program nor
// were dropped by the receiver's own sockets.
func lostBetweenEnds(d *report.Datagrams) bool {
	return d != nil && d.Sent >= measure.LeastSent && 2*(d.Lost-d.DroppedByReceiver) > d.Sent
}
