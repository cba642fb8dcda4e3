package measure

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// Recount is a saved window with everything computed anew that follows from its raw counters, by the code that
// measured it, which is rates, loss, evidence and judgement. Without intended rates, the saved ones stay. The
// counters and times are raw, and what was read beside them, and a Fault of the readings, which are not kept.
//
// Counters of several generators stand in a window added up, and each generator had a time of its own. In a trial
// that was ended before its time each port had. Rates that the window's duration explains stay as they are then.
func (s Setup) Recount(w report.Window, intended []units.PacketRate, g Goal) report.Window {
	w.Directions = slices.Clone(w.Directions)
	if OfTrains(w.Directions) {
		return recountTrains(w)
	}
	if w.Decided != nil { // by no more loss than decided it
		g.MaxLossRatio = min(g.MaxLossRatio, w.Decided.LossRatio)
	}
	if w.Evidence != nil {
		e := *w.Evidence
		e.Directions = slices.Clone(e.Directions)
		w.Evidence = &e
	}
	for i := range w.Directions {
		if i >= len(s.Directions) {
			return w
		}
		if w.Directions[i].Sessions != nil {
			w.Directions[i] = recountSessions(w.Directions[i])
			continue
		}
		s.recountFrames(&w, i, intended)
	}
	return judgeAnew(w, g)
}

// judgeAnew judges a window that was recounted. Without evidence its directions' judgements stay, unless a counter
// contradicts them.
func judgeAnew(w report.Window, g Goal) report.Window {
	if counted, err := Recall(w); err == nil && !OfSessions(w) {
		return Judge(counted, g)
	}
	for i := range w.Directions {
		w.Directions[i].Quality = qualityAllowedByCounters(w, i, g.MaxLossRatio)
	}
	quality, reason := Worst(w.Directions)
	w.Quality = quality
	// a fault is the reason of all, without a name before it
	if !slices.ContainsFunc(w.Directions, func(d report.Direction) bool {
		return d.Reason == "" ||
			d.Reason == w.Reason
	}) {
		w.Reason = reason
	}
	return w
}

// qualityAllowedByCounters is a direction's saved quality if its counters allow that, else the quality that they show.
func qualityAllowedByCounters(w report.Window, direction int, limit units.Ratio) report.Quality {
	m, lossy := w.Directions[direction], SurelyAbove(w, direction, limit)
	switch clean := m.Quality == report.Good || m.Quality == report.Short; {
	case m.Sessions != nil, m.Quality == report.Unjudged:
		return m.Quality
	case m.Sent.Packets <= 0:
		return report.Invalid
	case clean && lossy:
		return report.Lossy
	case !clean && m.Quality != report.Invalid && !lossy:
		return report.Good
	}
	return m.Quality
}

func recountSessions(m report.Direction) report.Direction {
	s := *m.Sessions
	if s.Datagrams != nil {
		s.Datagrams = new(*s.Datagrams)
	}
	rateSessions(&s)
	limit := LimitOfSessions(s)
	reason := SessionsSentence(s, limit) + "; " + limit.Sentence
	m.Sessions = &s
	if m.Quality != report.Invalid || m.Reason == reason {
		m.Quality, m.Reason = report.Good, reason
	}
	return m
}

// recountFrames computes direction i of a window anew, and its evidence.
func (s Setup) recountFrames(w *report.Window, i int, intended []units.PacketRate) {
	d := w.Directions[i]
	f := s.figuresFromCounters(*w, i)
	switch {
	case i < len(intended):
		f.intended = intended[i]
	case w.Evidence == nil:
		f.intended = units.PacketRate(d.Intended.PacketsPerSecond) * units.PacketPerSecond
	}
	s.recountDisturbance(*w, i, &f)
	m := f.measured()
	if i >= len(intended) && w.Evidence == nil {
		m.Intended = d.Intended
	}
	m.Quality, m.Reason, m.Limit, m.Limiter, m.MachineLost = d.Quality, d.Reason, d.Limit, d.Limiter, d.MachineLost
	m.Latency, m.Unstamped = d.Latency, d.Unstamped // stamps are raw, as the counters say nothing of them
	if f.direction.Sizes.Longest == 0 {             // the streams were not kept
		m.MiscountedBytes, m.ResizedBytes = d.MiscountedBytes, d.ResizedBytes
	}
	switch varied := w.Varied == "" || w.Varied == d.Name(); {
	case !varied:
		m.Quality = report.Unjudged
		if d.Reason != "" || w.Evidence != nil { // else it was given up with other detail
			m.Reason = unjudgedSentence(m, w.Varied)
		}
	case w.Evidence != nil:
		m.Quality = ""
		w.Evidence.Fault = cmp.Or(w.Evidence.Fault, f.implausible())
	}
	if w.Evidence == nil {
		// frames of others may have been among those that came back
		if d.LossRatioMax == 0 || d.LossRatioMax >= m.LossRatioMax {
			m.LossRatioMax = d.LossRatioMax
		}
	} else {
		s.recountEvidence(w, i, f)
	}
	w.Directions[i] = m
}

// recountDisturbance computes anew how many frames a disturbance may have cost. The saved number stays where the
// direction's own time explains it, of which the window has the longest.
func (s Setup) recountDisturbance(w report.Window, i int, f *figures) {
	d, atMost := w.Directions[i], int64(0)
	if s.hasSeveralTimes(w) {
		atMost = f.disturbedIn(w.Disturbance, f.duration().Std()*4/5)
	}
	f.addDisturbance(w.Disturbance)
	f.heldUp = f.wasHeldUp(w.Disturbance, w.GeneratorCPUPercent, len(w.Directions))
	if d.DisturbedFrames > f.disturbed && d.DisturbedFrames <= atMost {
		f.disturbed, f.waited = d.DisturbedFrames, d.SendersWaited.Std()
	}
}

// recountEvidence keeps the raw part of a direction's evidence, which is what was heard, and what was lost in which
// kind of time.
func (s Setup) recountEvidence(w *report.Window, i int, f figures) {
	e := &w.Evidence.Directions[i]
	evidence := f.evidence()
	e.Intended, e.Offered, e.MostOffered, e.Background = evidence.Intended, evidence.Offered, evidence.MostOffered,
		evidence.Background
	if s.hasSeveralGenerators() {
		return
	}
	e.Surplus = nil
	if f.sending == 0 {
		e.Hidden, e.Foreign = evidence.Hidden, evidence.Foreign
	}
	if len(f.direction.Pairs) > 0 {
		e.AboveLimit = evidence.AboveLimit
	}
}

// hasSeveralTimes says that a window's counters are of several times, of which the window has the longest.
func (s Setup) hasSeveralTimes(w report.Window) bool {
	return s.hasSeveralGenerators() || w.Decided != nil
}

// hasSeveralGenerators says that counters are of more than one generator.
func (s Setup) hasSeveralGenerators() bool { return len(s.Generators) > 1 }

// figuresFromCounters are the figures of direction i of a window, from its counters.
func (s Setup) figuresFromCounters(w report.Window, i int) figures {
	m, took := w.Directions[i], cmp.Or(w.Directions[i].Sending, w.Duration).Std()
	if m.Burst != nil {
		return s.burstFiguresFromCounters(w, i)
	}
	f := figures{direction: s.Directions[i], setup: s, longest: w.Duration.Std(), sent: m.Sent, returned: m.Returned,
		receiveErrors: m.ReceiveErrors, sendDrops: m.SendDrops, damaged: m.DamagedFrames,
		edges: m.EdgeFrames, waited: m.SendersWaited.Std()}
	if m.EdgeFrames == 0 { // a trial has no edges
		f.sending = took
		if w.Decided == nil {
			f.planned = w.Duration.Std()
		}
	}
	f.offered.add(f.sent, took)
	f.received.add(f.returned, took)
	// an edge's uncertainty counts twice in edges, in sending and in receiving
	f.mostOffered = units.PacketRateOver(f.sent.Packets+(max(0, f.edges-edgeFrames)+1)/2+1, int64(max(took, f.planned)))
	if s.hasSeveralTimes(w) {
		f.offered, f.received = s.ratesFromDocument(m.Offered, f.offered, took), s.ratesFromDocument(m.Received,
			f.received, took)
	}
	if w.Evidence == nil {
		return f
	}
	e := w.Evidence.Directions[i]
	f.intended, f.foreign = e.Intended, e.Foreign
	if f.sending == 0 && !s.hasSeveralTimes(w) { // else it was heard for longer than the window's duration says
		f.foreign = f.foreignFrames()
	}
	if s.hasSeveralTimes(w) {
		if e.Offered.Whole() == f.offered.packets.Whole() {
			f.offered.packets = e.Offered
		}
		f.mostOffered = s.mostOffered(f, e.MostOffered, took)
	}
	return f
}

// mostOffered is the most that several generators may have offered, which is the saved rate where the edges explain
// it, and else the most that the edges allow.
func (s Setup) mostOffered(f figures, stands units.PacketRate, took time.Duration) units.PacketRate {
	highest := f.offered.packets + units.PacketRateOver(max(0, f.edges-edgeFrames)+2*int64(max(1, len(s.Generators))),
		int64(took)*4/5)
	if f.sending > 0 { // a trial's edges are exact, unless it was ended, and then its readings leave its length open
		highest = max(highest, f.offered.packets*5/4)
	}
	if stands < f.offered.packets || stands > highest {
		return highest
	}
	return stands
}

// ratesFromDocument are the rates of several generators' counters. They are the saved ones where each generator's
// own time explains them, and else those over the window's time.
func (s Setup) ratesFromDocument(stands report.Flow, counted rates, took time.Duration) rates {
	flow := rates{units.PacketRate(stands.PacketsPerSecond) * units.PacketPerSecond,
		units.BitRate(stands.Layer1BitsPerSecond), units.BitRate(stands.Layer2BitsPerSecond)}
	framing := int64(flow.layer1-flow.layer2) - units.Traffic{Packets: stands.PacketsPerSecond}.Layer1Bits()
	slack := units.Traffic{Packets: 1}.Layer1Bits() + int64(max(1, len(s.Generators)))
	fits := took > 0 && framing <= slack && framing >= -slack &&
		s.plausible(int64(flow.packets), int64(counted.packets), int64(units.PacketPerSecond)) &&
		s.plausible(int64(flow.layer2), int64(counted.layer2), 1)
	if !fits {
		return counted
	}
	return flow
}

// plausible says that a rate may be that of counters which give another one over the longest of their times. No
// time is less than four fifths of the longest, or else the window has a fault.
func (s Setup) plausible(rate, counted, unit int64) bool {
	slack := unit * int64(max(1, len(s.Generators)))
	return rate >= counted-slack && rate-counted <= counted/4+slack
}

// AsPlanned says that a window lasted about as long as a step is judged, or longer by as much as it was looked at
// again and as its last counters may have come late. A window of any other length has a Fault. It is the rule by which
// windows are taken, for readers of windows.
func AsPlanned(took plan.Duration, judge time.Duration) bool {
	return took.Std() >= judge-judge/10 && took.Std() <= judge+judge/10+LookAgain+MaxSilence
}
