package analysis

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
)

const (
	// leastOutage is for how long nothing must come back for an outage: what is shorter, as where a busy machine stands still, is loss like any other.
	leastOutage = 900 * time.Millisecond
	// leastOutageOfTCP is the same of TCP, and of programs that tell late what came: two samples' time. A connection that lost a segment twice waits for more than a second (RFC 6298, sections 2 and 5: the timeout doubles), however well
	// the device carries what comes then.
	leastOutageOfTCP = 2 * leastOutage
	// leastSent is how many frames must be sent in a stretch for it to show anything.
	leastSent = 20
	// silentShare of what is sent, or comes at best, may come back of an outage, as frames of others do; from carriedShare on the device carries a load, however much it loses of it.
	silentShare, carriedShare = 1000, 10
	// longestDelay is how long frames may be under way: what comes back so much later was not lost.
	longestDelay = 3 * time.Second
)

// Outages are the times in which nothing came back in a direction of a load no higher than one that the device carried at another time of the run. A device that carries nothing of a load, each time that it is
// offered, has none: that is what it makes of the load. What generators or the machine may have lost is no outage.
//
//	load ┤ carried │ carried │ silent │ carried │    an outage: the device carried as much before and after
//	     │ carried │ silent at more │ silent at more │    none: too much for the device, as far as the run shows
func Outages(r *report.Report) (all []report.Interruption) {
	for i, d := range report.PlanOf(r).Directions {
		if o := outageOf(r, i); o != nil {
			o.Direction = d.Name()
			all = append(all, *o)
		}
	}
	return all
}

// stretch is what a direction sent and got back from one moment of a run to another.
type stretch struct {
	from, to          time.Duration
	asked, sent, came int64
	// back is how much of what was sent came back later.
	back int64
}

// silent says that nothing came back of the stretch, where so many frames a second come at best.
func (s stretch) silent(best float64) bool {
	return s.sent >= leastSent && float64(s.came*silentShare) <= min(float64(s.sent), best*(s.to-s.from).Seconds())
}

func (s stretch) carried() bool { return s.sent >= leastSent && s.came*carriedShare >= s.sent }

// rate is how many frames came back in a second.
func (s stretch) rate() float64 {
	return float64(s.came) / max(s.to-s.from, time.Millisecond).Seconds()
}

// outageOf is the outage of a direction; nil: there was none.
func outageOf(r *report.Report, i int) *report.Interruption {
	stretches := stretchesOf(r, i)
	if len(stretches) == 0 {
		return nil
	}
	best := slices.MaxFunc(stretches, func(a, b stretch) int { return cmp.Compare(a.rate(), b.rate()) }).rate()
	most, carried := mostCarried(r, i, stretches, best)
	if !carried {
		return nil
	}
	var found *report.Interruption
	for _, run := range silences(r, stretches, most, best) {
		if found == nil {
			found = &report.Interruption{Start: plan.Duration(run[0].from)}
		}
		found.Times++
		found.Duration += plan.Duration(lasted(run))
		found.Over = run[len(run)-1] != stretches[len(stretches)-1]
	}
	return found
}

// mostCarried is the highest load that the device carried: in some stretch a tenth of it came back or, of an overload, some of it throughout a window.
func mostCarried(r *report.Report, i int, stretches []stretch, best float64) (most int64, carried bool) {
	for _, s := range stretches {
		if s.carried() {
			most, carried = max(most, s.asked), true
		}
	}
	for _, w := range r.Windows {
		from, to := w.Start.Std(), (w.Start + w.Duration).Std()
		throughout := !slices.ContainsFunc(stretches, func(s stretch) bool { return s.from < to && s.to > from && s.silent(best) })
		if i >= len(w.Directions) {
			continue
		}
		if d := w.Directions[i]; w.Counts() && d.Returned.Packets >= leastSent && throughout {
			most, carried = max(most, d.Intended.PacketsPerSecond), true
		}
	}
	return most, carried
}

// silences are the successive stretches, long enough together, in which nothing came back of at most this load.
func silences(r *report.Report, stretches []stretch, most int64, best float64) (all [][]stretch) {
	var run []stretch
	end := func() {
		if lasted(run) >= leastOutageOf(r) {
			all = append(all, run)
		}
		run = nil
	}
	for _, s := range stretches {
		if s.silent(best) && s.asked <= most && 2*s.back < s.sent && !explained(r, s) {
			run = append(run, s)
		} else {
			end()
		}
	}
	end()
	return all
}

// leastOutageOf is for how long nothing must come back for an outage of this run.
func leastOutageOf(r *report.Report) time.Duration {
	if s := report.PlanOf(r).Sessions; s != nil && (s.Protocol != plan.UDP || s.Application == plan.ApplicationIperf2) {
		return leastOutageOfTCP
	}
	return leastOutage
}

// seldom says that sessions are asked for so little that between two of their messages there may be silence for half as long as an outage.
func seldom(r *report.Report) bool {
	p := report.PlanOf(r)
	asked := p.Sessions.BitsPerSecond(p.Procedure)
	burst := 8 * p.Sessions.MessageBytes * int64(max(1, p.Sessions.Parallel))
	return asked > 0 && float64(burst)/float64(asked) > leastOutageOf(r).Seconds()/2
}

func lasted(run []stretch) (all time.Duration) {
	for _, s := range run {
		all += s.to - s.from
	}
	return all
}

// explained says that a generator or the machine may have lost the frames of a stretch.
func explained(r *report.Report, s stretch) bool {
	return slices.ContainsFunc(r.Windows, func(w report.Window) bool {
		from, to := w.Start.Std(), w.Start.Std()+max(w.Duration, w.Took).Std()
		return from < s.to && to > s.from && (w.LostToDisturbance() || w.LostToMachine() || w.LostToBursts() || endsWaited(r, w))
	})
}

// endsWaited says that the programs of a window's ends waited for processors for half of the window, and for as long as an outage takes. Of datagrams that were lost between the ends no waiting is a reason.
func endsWaited(r *report.Report, w report.Window) bool {
	least := max(leastOutageOf(r), w.Duration.Std()/2)
	return slices.ContainsFunc(w.Directions, func(d report.Direction) bool {
		return d.Sessions != nil && d.Sessions.EndsWaited.Std() >= least && !lostBetweenEnds(d.Sessions.Datagrams)
	})
}

// lostBetweenEnds says that most of the datagrams that left the sender neither reached the receiving program nor were dropped by the receiver's own sockets.
func lostBetweenEnds(d *report.Datagrams) bool {
	return d != nil && d.Sent >= leastSent && 2*(d.Lost-d.DroppedByReceiver) > d.Sent
}

// stretchesOf are the stretches of direction i between samples in which something was sent; without samples its windows.
func stretchesOf(r *report.Report, i int) (all []stretch) {
	if len(r.Samples) < 2 {
		return windowsAsStretches(r, i)
	}
	for n := range len(r.Samples) - 1 {
		a, b := r.Samples[n], r.Samples[n+1]
		if i >= len(a.Directions) || i >= len(b.Directions) {
			return nil
		}
		s := stretch{from: a.At.Std(), to: b.At.Std(), asked: b.Directions[i].IntendedPacketsPerSecond}
		if sessions := b.Directions[i].Sessions; sessions != nil {
			if seldom(r) {
				return nil
			}
			s.sent = leastSent // connections have something to send at any time
			if was := a.Directions[i].Sessions; was != nil && sessions.ReceivedBytes > was.ReceivedBytes {
				s.came = s.sent
			}
			all = append(all, s)
			continue
		}
		s.sent, s.came = since(a, b, i)
		if s.sent <= 0 {
			continue
		}
		s.back = cameLater(r.Samples[n+1:], i, b.At.Std()+longestDelay)
		all = append(all, s)
	}
	return all
}

// since is what a direction sent, and how much came back, between two samples.
func since(a, b report.Sample, i int) (sent, came int64) {
	from, to := a.Directions[i], b.Directions[i]
	return to.Sent.Packets - from.Sent.Packets, to.Returned.Packets + to.ReceiveErrors - from.Returned.Packets - from.ReceiveErrors
}

// cameLater is by how much more came back than was sent after the first of these samples, until a moment: frames that were under way then.
func cameLater(samples []report.Sample, i int, until time.Duration) (most int64) {
	for _, s := range samples[1:] {
		if s.At.Std() > until {
			break
		}
		sent, came := since(samples[0], s, i)
		most = max(most, came-sent)
	}
	return most
}

// windowsAsStretches are the windows of a Report without samples.
func windowsAsStretches(r *report.Report, i int) (all []stretch) {
	for _, w := range r.Windows {
		if i >= len(w.Directions) {
			return nil
		}
		d := w.Directions[i]
		s := stretch{from: w.Start.Std(), to: (w.Start + w.Duration).Std(), asked: d.Intended.PacketsPerSecond, sent: d.Sent.Packets, came: d.Returned.Packets + d.ReceiveErrors}
		if s.sent > 0 {
			all = append(all, s)
		}
	}
	return all
}
