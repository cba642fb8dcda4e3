package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

const (
	// leastChange is by how much less a device must carry at another time, at the least, as a share, because limits
	// scatter by less.
	leastChange = 0.01
	// leastTimes is how often the device must carry less, as a single loss has many reasons.
	leastTimes = 2
	// leastOverloadChange is by how much less the device must carry of the same overload, because the part of an
	// overload that comes back scatters.
	leastOverloadChange = 0.2
	// sameLoad is by how much less a load may be than one that was carried, and reading by how much more as it was
	// read. Frames of a load that is more may be lost at any time.
	sameLoad, reading = 0.005, 0.001
	// leastStretch is how long a stretch of a window must last to be looked at by itself, as readings are some
	// milliseconds off.
	leastStretch = 400 * time.Millisecond
	// leastLost is how many frames a stretch must lose, as some are under way while its ends are read, and a few of a
	// mix may be large ones.
	leastLost = 10
	// fewestOfMix is how many frames of a stretch bits are looked at, as by chance a few frames of a mix are larger or
	// smaller ones.
	fewestOfMix = 900
)

// look is what a stretch shows of a direction.
//
//	window   ├──────── a load is held ────────┤     samples cut it into stretches
//	stretch  │ clean │ clean │ lossy │ lossy │      loss that begins late
type look struct {
	report.Look
	clean, lossy bool
	// offeredBefore is the offered load, in packets per second, that had lost frames just before, or the least load
	// since then. A device that carries less has nothing saved up. It is 0 where the device may have saved up rate.
	offeredBefore float64
	bytes         float64 // that came, per second
}

func (l look) offered() float64  { return float64(l.OfferedPacketsPerSecond) }
func (l look) received() float64 { return float64(l.ReceivedPacketsPerSecond) }

// spent says that a device which doesn't carry this load had nothing saved up when the stretch began.
func (l look) spent() bool { return l.offeredBefore >= (1-leastChange)*l.offered() }

// contradicts says that a stretch lost frames of a load that another one carried, and carried clearly less of it.
// That a device loses frames of a lower load is no contradiction, because it may always do so.
func (l look) contradicts(carried look) bool {
	lowest, highest := (1-sameLoad)*carried.offered(), (1+reading)*carried.offered()
	return l.lossy && carried.clean && l.offered() >= lowest && l.offered() <= highest &&
		l.received() <= (1-leastChange)*carried.received()
}

// carriesLess says that clearly less came back of an overload than in another stretch of the same overload.
func (l look) carriesLess(lossy look) bool {
	return l.lossy && lossy.lossy && math.Abs(l.offered()/max(1, lossy.offered())-1) <= sameLoad &&
		l.received() <= (1-leastOverloadChange)*lossy.received()
}

// Contradictions are the directions in which the device carried a load at one time, and at another lost frames of
// as much or less, or in which clearly less came back of the same overload at another time.
func Contradictions(r *report.Report) (contradictions []report.Contradiction) {
	p := report.PlanOf(r)
	if p.Sessions != nil {
		return nil
	}
	for i, d := range p.Directions {
		if c := contradictionOf(r, i, looksOf(r, i)); c != nil {
			c.Direction = d.Name()
			contradictions = append(contradictions, *c)
		}
	}
	return contradictions
}

// contradictionOf is how a direction's looks contradict each other. It is nil where they don't.
func contradictionOf(r *report.Report, i int, looks []look) *report.Contradiction {
	contradicts := look.contradicts
	carried, lost := opposed(looks, contradicts)
	if len(carried) == 0 {
		contradicts = look.carriesLess
		if carried, lost = opposed(looks, contradicts); len(carried) < leastTimes { // once a queue may have emptied
			return nil
		}
	}
	highest := slices.MaxFunc(carried, func(a,
		b look) int {
		return cmp.Compare(a.OfferedPacketsPerSecond, b.OfferedPacketsPerSecond)
	})
	lowest := slices.MinFunc(slices.DeleteFunc(slices.Clone(lost),
		func(l look) bool { return !contradicts(l, highest) }), func(a, b look) int {
		return cmp.Compare(a.ReceivedPacketsPerSecond, b.ReceivedPacketsPerSecond)
	})
	c := &report.Contradiction{Carried: highest.Look, Lost: lowest.Look, Times: len(lost)}
	var spent bool
	if c.Kind, spent = kindOf(looks, carried, lost); spent {
		c.Burst = burstOf(r, i, looks)
	}
	return c
}

// opposed are the looks that several others contradict, and those others, both in the order of time.
func opposed(looks []look, contradicts func(l, carried look) bool) (carried, lost []look) {
	for _, l := range looks {
		against := slices.DeleteFunc(slices.Clone(looks), func(o look) bool { return !contradicts(o, l) })
		if len(against) >= leastTimes {
			carried, lost = append(carried, l), append(lost, against...)
		}
	}
	slices.SortFunc(lost, func(a, b look) int { return cmp.Compare(a.Start, b.Start) })
	return carried, slices.CompactFunc(lost, func(a, b look) bool { return a.Start == b.Start })
}

// kindOf is the difference between stretches that lost frames and those that carried as much, both in the order of
// time. It is either the load before them, or the time. spent says that a bucket explains it.
func kindOf(looks, carried, lost []look) (kind report.ContradictionKind, spent bool) {
	spent = !slices.ContainsFunc(carried, look.spent) &&
		!slices.ContainsFunc(lost, func(l look) bool { return !l.spent() && !empties(looks, l) })
	switch {
	case carried[len(carried)-1].Start < lost[0].Start:
		return report.Slower, spent
	case lost[len(lost)-1].Start < carried[0].Start:
		return report.Faster, false
	case spent:
		return report.LoadBefore, true
	}
	return report.NowAndThen, false
}

// empties says that a stretch lost frames after one of the same load that lost none, as where a bucket became
// empty.
func empties(looks []look, l look) bool {
	n := slices.IndexFunc(looks, func(o look) bool { return o.Start == l.Start })
	return n > 0 && looks[n-1].clean && looks[n-1].Window == l.Window
}

// burstOf is the least that a bucket must hold for a direction to carry what it did, if what it carries right after
// an overload is all that flows into the bucket.
func burstOf(r *report.Report, i int, looks []look) (burst units.Traffic) {
	var frames, bytes float64
	for _, l := range looks {
		if l.lossy && l.spent() {
			frames, bytes = max(frames, l.received()), max(bytes, l.bytes)
		}
	}
	if frames == 0 {
		return burst
	}
	var moreFrames, moreBytes float64
	for n := range len(r.Samples) - 1 {
		a, b := r.Samples[n], r.Samples[n+1]
		took, start, end := (b.Time - a.Time).Std().Seconds(), a.Directions[i].Returned, b.Directions[i].Returned
		moreFrames = max(0, moreFrames+float64(end.Packets-start.Packets)-frames*took)
		moreBytes = max(0, moreBytes+float64(end.Bytes-start.Bytes)-bytes*took)
		burst = units.Traffic{Packets: max(burst.Packets, int64(moreFrames)), Bytes: max(burst.Bytes, int64(moreBytes))}
	}
	return burst
}

// looksOf are what the stretches of all windows that count show of direction i, in the order of time.
func looksOf(r *report.Report, i int) (looks []look) {
	offeredBefore, ended := 0.0, time.Duration(0)
	for _, w := range r.Windows {
		if i >= len(w.Directions) {
			return nil
		}
		if w.Took > 0 || w.Start.Std()-ended > longestSettle(r) { // traffic paused
			offeredBefore = 0
		}
		ended = (w.Start + w.Duration).Std()
		if w.Took > 0 {
			ended = 0 // as it does after a trial
		}
		// a buffer takes a burst, and not a trial
		counts := w.Counts() && w.Directions[i].Quality != report.Unjudged &&
			!slices.Contains([]report.Phase{report.WarmUp, report.Bursting}, w.Phase) && !w.Phase.AfterAnswer()
		for _, l := range looksIn(r, w, i) {
			l.offeredBefore = offeredBefore
			offeredBefore = min(offeredBefore, l.offered())
			if l.lossy {
				offeredBefore = l.offered()
			}
			if counts {
				looks = append(looks, l)
			}
		}
	}
	return looks
}

// longestSettle is the longest pause between two windows in which traffic may have gone on.
func longestSettle(r *report.Report) time.Duration {
	return max(report.PlanOf(r).Procedure.Ramp.SettleDuration.Std(), procedure.MostSettle) + time.Second
}

// looksIn are the stretches between the samples of a window, or the window as a whole where there are no samples in it.
func looksIn(r *report.Report, w report.Window, i int) (looks []look) {
	whole, limit := wholeLook(w, i), report.PlanOf(r).Procedure.MaxLossRatio.Float()
	for _, s := range cut(samplesIn(r, w), i) {
		if s.lasted() < leastStretch || s.sent < measure.LeastSent {
			continue
		}
		share := float64(s.came) / float64(s.sent)
		if s.sentBytes > 0 && s.damaged == 0 && s.came >= fewestOfMix {
			share = min(share, float64(s.cameBytes)/float64(s.sentBytes))
		}
		l := look{Look: report.Look{Window: w.Number, Start: plan.Duration(s.start),
			Duration:                plan.Duration(s.lasted()),
			OfferedPacketsPerSecond: int64(float64(s.sent) / s.lasted().Seconds())},
			bytes: float64(s.cameBytes) / s.lasted().Seconds()}
		l.ReceivedPacketsPerSecond = int64(l.offered() * min(1, share))
		l.clean, l.lossy = 1-share <= max(limit, 0.002) && share <= 1+leastChange, 1-share > max(limit, leastChange) &&
			s.sent-s.came >= leastLost
		looks = append(looks, l)
	}
	if len(looks) < 2 {
		return []look{whole}
	}
	return looks
}

// samplesIn are the samples from a window's first edge to its last. Of a trial none are from before its traffic.
func samplesIn(r *report.Report, w report.Window) []report.Sample {
	const edge = 100 * time.Millisecond // samples are taken just before a window opens
	start := w.Start.Std() - edge
	if w.Took > 0 {
		start = w.Start.Std() + edge // a reading just before the trial is of no stretch of its traffic
	}
	first, _ := slices.BinarySearchFunc(r.Samples, start,
		func(s report.Sample, t time.Duration) int { return cmp.Compare(s.Time.Std(), t) })
	end, _ := slices.BinarySearchFunc(r.Samples, (w.Start+w.Duration).Std()+edge,
		func(s report.Sample, t time.Duration) int { return cmp.Compare(s.Time.Std(), t) })
	return r.Samples[first:max(first, end)]
}

// wholeLook is what a window as a whole shows of direction i.
func wholeLook(w report.Window, i int) look {
	d := w.Directions[i]
	return look{Look: report.Look{Window: w.Number, Start: w.Start, Duration: w.Duration,
		OfferedPacketsPerSecond:  d.Offered.PacketsPerSecond,
		ReceivedPacketsPerSecond: int64(float64(d.Offered.PacketsPerSecond) * measure.Carried(d).Float())},
		clean: d.Quality == report.Good || d.Quality == report.Short, lossy: d.Quality == report.Lossy,
		bytes: float64(d.Returned.Bytes) / max(w.Duration, 1).Std().Seconds()}
}

// contradictionIn is the change that a direction of the answer shows, or nil for none.
func contradictionIn(r *report.Report, direction string) *report.Contradiction {
	i := slices.IndexFunc(r.Contradictions, func(c report.Contradiction) bool { return c.Direction == direction })
	if i < 0 {
		return nil
	}
	return &r.Contradictions[i]
}

// contradicted says that the device lost frames of a direction's answer, or of less, at another time.
func contradicted(r *report.Report, d report.Direction) bool {
	c := contradictionIn(r, d.Name())
	return c != nil && c.Limits(d)
}

// onlyInBursts is the conclusion of a search that held its limit right after an overload, with the reason that more
// was carried after a lower load.
func onlyInBursts(r *report.Report, c procedure.Conclusion) procedure.Conclusion {
	c.Directions = slices.Clone(c.Directions)
	for i := range c.Directions {
		d := &c.Directions[i]
		if d.Reason != report.LossAboveLimit || !d.Confirmed || d.Window == procedure.NoWindow {
			continue
		}
		direction := r.Windows[d.Window].Directions[i]
		if change := contradictionIn(r, direction.Name()); change == nil || change.Kind != report.LoadBefore ||
			contradicted(r, direction) {
			continue
		}
		d.Reason = report.BurstsOnly
		if c.Reason == report.LossAboveLimit {
			c.Reason = report.BurstsOnly
		}
	}
	return c
}

// contradictionEvidence says in which directions the device's answer depends on what came before.
func contradictionEvidence(r *report.Report) (rows []report.EvidenceRow) {
	for _, c := range r.Contradictions {
		rows = append(rows, report.EvidenceRow{Subject: "contradiction", Window: c.Lost.Window,
			Text: contradictionSentence(r, c)})
	}
	return rows
}

func contradictionSentence(r *report.Report, c report.Contradiction) string {
	startText := func(l report.Look) string { return sinceTraffic(r, report.Interruption{Start: l.Start}) }
	load := wording.PacketRate(c.Carried.OfferedPacketsPerSecond)
	if c.Carried.ReceivedPacketsPerSecond < int64((1-leastChange)*float64(c.Carried.OfferedPacketsPerSecond)) {
		load = wording.PacketRate(c.Carried.ReceivedPacketsPerSecond) + " of " + load
	}
	carried := fmt.Sprintf("%s carried %s for %s (window %d, %s)", c.Direction, load, roundly(c.Carried.Duration),
		c.Carried.Window, startText(c.Carried))
	lost := fmt.Sprintf("frames of %s (%s came back, window %d, %s)",
		wording.PacketRate(c.Lost.OfferedPacketsPerSecond), wording.PacketRate(c.Lost.ReceivedPacketsPerSecond),
		c.Lost.Window, startText(c.Lost))
	switch c.Kind {
	case report.LoadBefore:
		return fmt.Sprintf("the device's answer depends on the load before: after a lower load or a pause %s, and after an overload it lost %s%s", carried, lost, bucketWords(", as a policer does whose bucket holds", c))
	case report.Slower:
		return fmt.Sprintf("the device carried less later: %s, and then it lost %s; it spent what it had saved up%s, or became slower", carried, lost, bucketWords(",", c))
	case report.Faster:
		return fmt.Sprintf("the device carried more later: it lost %s, and then %s; see what it was busy with, then measure again", lost, carried)
	case report.NowAndThen:
	}
	return fmt.Sprintf("the device carries as much at one time and not at another: %s, and it lost %s, in %d stretches",
		carried, lost, c.Times)
}

// bucketWords say how much a bucket holds that explains a contradiction. They are empty where no bucket does.
func bucketWords(prefix string, c report.Contradiction) string {
	if c.Burst.Packets == 0 && c.Burst.Bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s frames or %s bytes at least", prefix, wording.Count(c.Burst.Packets),
		wording.Count(c.Burst.Bytes))
}
