package ramp

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/units"
)

// point is a window as the search sees it. The load asked for and the load offered differ where the generator could not
// keep up, and loss is judged at the load that the device got.
type point struct {
	index  int // of the window in the history
	window *report.Window
	asked  units.Ratio // the intended load
	load   units.Ratio // the offered load; a difference within the noise of the reading counts as none
	lossy  bool        // some direction lost frames, and the device surely lost them
	clean  bool        // every direction is Good or Short
	short  bool        // some direction was offered less than asked
	weak   bool        // so it was, and no other program held the generator up
	drops  bool        // the window is Invalid, and the generator dropped frames that reached it
	bursts bool        // the window is Invalid, as frames were lost while the generator sent in bursts
	// machine means that the window is Invalid, as the machine that plays the device lost frames, its threads waited,
	// or counters came too late.
	machine bool

	// What the search finds out later about the window.
	long        bool // it proves as much as a confirmation
	refuted     bool // it is clean, but too short to see the loss that a long window saw
	heldUnclear bool // it is clean, but no long window at its load, or at a lower one, could be judged
	withdrawn   bool // it lost frames in the staircase, for a cause that has passed
}

// pointOf reads a window, which has that index in the history.
func pointOf(w *report.Window, index int) point {
	p := point{index: index, window: w, asked: w.Load, load: w.Load, clean: len(w.Directions) > 0}
	p.bursts = w.LostToBursts()
	p.machine = w.LostToMachine() || w.LostToDisturbance() || w.LostToLateCounters()
	for _, d := range w.Directions {
		p.lossy = p.lossy || d.Quality == report.Lossy
		p.clean = p.clean && (d.Quality == report.Good || d.Quality == report.Short)
		p.short = p.short || offeredLess(d, w.Load)
		p.weak = p.weak || offeredLess(d, w.Load) && !d.HeldUp
		p.drops = p.drops || d.Quality == report.Invalid && d.GeneratorDrops() > 0
	}
	for _, d := range w.Directions {
		if d.Quality == report.Lossy || p.clean {
			p.load = min(p.load, offeredLoad(d, w.Load))
		}
	}
	return p
}

// offeredLess reports whether a direction that counts was offered less than asked.
func offeredLess(d report.Direction, asked units.Ratio) bool {
	return d.Quality == report.Short || d.Quality == report.Lossy && offeredLoad(d, asked) < asked
}

// offeredLoad is the load that a direction was offered. A difference up to 1 % is noise of the reading, and the load
// counts as asked for.
func offeredLoad(d report.Direction, asked units.Ratio) units.Ratio {
	share := units.RatioOf(d.Offered.PacketsPerSecond, d.Intended.PacketsPerSecond)
	if d.Intended.PacketsPerSecond == 0 || share >= units.One*99/100 {
		return asked
	}
	return mul(asked, share)
}

// exactLoad is the load that a direction was offered, to the last frame.
func exactLoad(d report.Direction, asked units.Ratio) units.Ratio {
	if d.Intended.PacketsPerSecond == 0 {
		return asked
	}
	return mul(asked, units.RatioOf(d.Offered.PacketsPerSecond, d.Intended.PacketsPerSecond))
}

// leastOffered is the load of the direction that was offered least, to the last frame. A difference that the search
// ignores as noise of the reading still widens the resolution.
func (p point) leastOffered() units.Ratio {
	load := p.asked
	for _, d := range p.window.Directions {
		load = min(load, exactLoad(d, p.asked))
	}
	return load
}

// largestOffered is the load asked for, or what a direction that lost frames was offered if that is more. A generator
// that catches up after a stall sends a little faster for a while.
func (p point) largestOffered() units.Ratio {
	load := p.asked
	for _, d := range p.losers() {
		load = max(load, exactLoad(p.window.Directions[d], p.asked))
	}
	return load
}

// losers are the directions that lost frames.
func (p point) losers() (losers []int) {
	for i, d := range p.window.Directions {
		if d.Quality == report.Lossy {
			losers = append(losers, i)
		}
	}
	return losers
}

// carried is the share of the intended load that the device carried in a lossy window, in the direction that carried
// least, by frames or by bits. The loss is taken of the intended load, not of the offered one. If a generator stands
// still for a moment, it offers less, the device carries less, and the share that is lost stays.
func (p point) carried() units.Ratio { return p.carriedBy(measure.Carried) }

// carriedFrames is the same by frames alone.
func (p point) carriedFrames() units.Ratio { return p.carriedBy(measure.CarriedFrames) }

func (p point) carriedBy(share func(report.Direction) units.Ratio) units.Ratio {
	smallest := units.One
	for _, d := range p.losers() {
		smallest = min(smallest, share(p.window.Directions[d]))
	}
	return mul(p.asked, smallest)
}

// largestLoss is the share that the direction that lost most lost, and the frames that it is a share of.
func (p point) largestLoss() (share units.Ratio, sent int64) {
	for _, i := range p.losers() {
		if d := p.window.Directions[i]; min(d.LossRatio, units.One) > share {
			share, sent = min(d.LossRatio, units.One), d.Sent.Packets
		}
	}
	return share, sent
}

// offeredRate is what all directions were offered together, in packets per second.
func (p point) offeredRate() (packetsPerSecond int64) {
	for _, d := range p.window.Directions {
		packetsPerSecond += d.Offered.PacketsPerSecond
	}
	return packetsPerSecond
}

// surelyWithin reports whether no direction lost more than the limit, whatever the window's edges hide. Where not one
// frame may be lost, foreign frames may hide none either.
func (p point) surelyWithin(limit units.Ratio) bool {
	return !slices.ContainsFunc(p.window.Directions, func(d report.Direction) bool {
		return !measure.SurelyWithin(d, limit) || limit == 0 && d.MostLost() > 0
	})
}

// longerShowsMore reports whether the edges of so short a window may account for all missing frames, and those of a
// window that lasts so long would not.
func (p point) longerShowsMore(lasts time.Duration, limit units.Ratio) bool {
	return slices.ContainsFunc(p.window.Directions, func(d report.Direction) bool {
		return measure.OnlyEdgesSay(d, limit) && !measure.EdgesCover(d, p.window.Duration.Std(), lasts, limit)
	})
}

// edgesCover reports whether the edges of a window that lasts so long, read like this window's, may hide or feign more
// loss than the limit allows.
func (p point) edgesCover(lasts time.Duration, limit units.Ratio) bool {
	return slices.ContainsFunc(p.window.Directions, func(d report.Direction) bool {
		return measure.EdgesCover(d, p.window.Duration.Std(), lasts, limit)
	})
}

// hasFrames reports whether a window at a load tells the loss limit from no loss, judged by what was intended in this
// window. It has a frame for each share of the limit then, and at most as many are required as given. With fewer, a
// window without loss is chance.
func (p point) hasFrames(required int64, load units.Ratio, judge time.Duration, limit units.Ratio) bool {
	if limit > 0 {
		required = min(required, int64(units.One/limit))
	}
	return !slices.ContainsFunc(p.window.Directions, func(d report.Direction) bool {
		rate := units.PacketRate(d.Intended.PacketsPerSecond).Mul(units.RatioOf(int64(load), int64(p.asked)))
		return int64(rate)*judge.Milliseconds()/1000 < required
	})
}

// leastExcess is the least share of a load that a window at that load, read like this window, surely shows as lost. It
// is 0 where that is at most few if counters are read in no time. The worst direction counts.
func (p point) leastExcess(load units.Ratio, judge time.Duration, limit, tolerated units.Ratio) (share units.Ratio) {
	const surest, fixed = 3, 2 // frames that a loss has to exceed, and edges of a window that is read in no time
	for _, d := range p.window.Directions {
		part := units.RatioOf(int64(load), int64(p.asked))
		frames := max(1, int64(units.PacketRate(d.Intended.PacketsPerSecond).Mul(part))*judge.Milliseconds()/1000)
		if limit+units.RatioOf(fixed+surest, frames) > tolerated {
			edges := fixed + int64(units.PacketRate(max(0, d.EdgeFrames-fixed)).Mul(part))
			share = max(share, limit+units.RatioOf(edges+surest, frames))
		}
	}
	return min(share, units.One/10)
}

// unclear reports whether the window shows neither loss nor its absence.
func (p point) unclear() bool { return !p.lossy && !p.clean }

// onSlowMachine reports whether the window is unclear because the machine was too busy, or nobody saw how the generator
// sent.
func (p point) onSlowMachine() bool { return p.machine || p.bursts && len(p.window.Bursts) == 0 }

// generatorAtFault reports whether the window is unclear because of the generator.
func (p point) generatorAtFault() bool { return p.drops || p.bursts }

// reasonOfShort is whose weakness it is that less was offered than asked.
func (p point) reasonOfShort() report.Reason {
	if p.weak {
		return report.GeneratorLimited
	}
	return report.MachineLimited
}

// reason is the reason that an unclear window gives.
func (p point) reason() report.Reason {
	switch {
	case p.generatorAtFault():
		return report.GeneratorLimited
	case p.machine:
		return report.MachineLimited
	}
	return report.Inconclusive
}

// lossRuns are the lossy windows in a row that each direction has now.
type lossRuns map[int][]point

// add takes in a window of one direction, and returns the direction's run. An Invalid window neither breaks nor
// lengthens a run.
func (r lossRuns) add(direction int, p point) []point {
	switch p.window.Directions[direction].Quality {
	case report.Lossy:
		r[direction] = append(r[direction], p)
	case report.Good, report.Short:
		r[direction] = nil
	case report.Invalid, report.Unjudged:
	}
	return r[direction]
}

// open reports whether some direction lost frames in the last window that counts.
func (r lossRuns) open() bool {
	for _, run := range r {
		if len(run) > 0 {
			return true
		}
	}
	return false
}

// saturation reads a run of lossy windows. The device's rate is the median of what it carried: the first window may
// hold a saved-up burst, and any of them a hiccup of the lab. Saturation begins at the first window whose load is
// above that rate. At a lower load, such a device loses no frames, and something else took them, such as a busy
// machine.
func saturation(run []point, carried func(point) units.Ratio) (first point, rate units.Ratio) {
	var rates []units.Ratio
	for _, p := range run {
		rates = append(rates, carried(p))
	}
	slices.Sort(rates)
	rate = rates[len(rates)/2]
	lowest := -1 // the first, or a later one at a lower load
	for i, p := range run {
		if p.asked > rate && (lowest < 0 || p.asked < run[lowest].asked) {
			lowest = i
		}
	}
	return run[max(lowest, 0)], rate
}

// noticeablyLess reports whether an offered load is lower than another by more than the noise of the reading.
func noticeablyLess(load, reference units.Ratio) bool { return load < reference-reference/100 }

// sameOffer reports whether two offered loads differ by no more than the noise of the reading.
func sameOffer(a, b units.Ratio) bool { return !noticeablyLess(min(a, b), max(a, b)) }

// mul is a share of a share. Both are at most about one.
func mul(a, b units.Ratio) units.Ratio {
	return units.Ratio(units.PacketRate(a).Mul(b))
}

// width is how far the lower load lies below the upper one, as a share of the upper.
func width(lower, upper units.Ratio) units.Ratio {
	return units.RatioOf(int64(upper-lower), int64(upper))
}
