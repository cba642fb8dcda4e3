package ramp

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/measure"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/units"
)

// A device may save up rate that is not used, as a policer does in its bucket, and carry more than its committed rate
// for a while after a calm moment, however long a window is. So a load is confirmed only by a window that began with
// nothing saved up: frames were lost just before, which happens to an empty bucket alone, and traffic went on since
// then without a pause, at loads no lower than that one. If the device's rate is lower than the load, its bucket is
// still empty when the window begins, and the window loses frames.
//
//	load  upper ✗┐                           bucket ╲
//	             │  lower                            ╲
//	             └────────── confirmed                ▁▁▁▁▁▁▁▁▁▁▁  empty, if the lower load is too much

// bucket is what is known of the rate that a device saves up, by direction.
type bucket struct {
	confirm   time.Duration // how long a load is held
	lossLimit units.Ratio

	// empty is a load by direction. A device whose rate is lower has nothing saved up now. 0 means that it may have.
	empty []units.Ratio
	// steady is the highest load, by direction, that was carried for the confirmation's duration from nothing saved up.
	steady []units.Ratio
}

// follow keeps up what the device may have saved up by the end of a window, which was measured by that step.
func (b *bucket) follow(s procedure.Step, w report.Window) {
	for len(b.empty) < len(w.Directions) {
		b.empty, b.steady = append(b.empty, 0), append(b.steady, 0)
	}
	paused := s.Kind != procedure.Hold || w.Phase == report.WarmUp
	for i, d := range w.Directions {
		load := offeredLoad(d, w.Load)
		emptyBefore := min(b.empty[i], load)
		if paused || s.Rested {
			emptyBefore = 0
		}
		if emptyBefore >= load && s.Judge >= b.confirm && carriedAll(w, d, b.lossLimit) {
			b.steady[i] = max(b.steady[i], load)
		}
		switch {
		case paused:
			b.empty[i] = 0
		case d.Quality == report.Lossy:
			b.empty[i] = load
		case w.Evidence != nil && w.Evidence.Fault != "":
			b.empty[i] = 0 // when frames were sent is unknown
		default:
			b.empty[i] = emptyBefore
		}
	}
}

// carriedAll reports whether the device carried what a direction was sent in a window, or what had waited before as
// well.
func carriedAll(w report.Window, d report.Direction, limit units.Ratio) bool {
	backlog := d.Quality == report.Invalid && measure.MoreCameBack(w, limit) && d.Returned.Packets >= d.Sent.Packets
	return d.Quality == report.Good || d.Quality == report.Short || backlog
}

// emptyAt reports whether a device that doesn't carry this load for good has nothing saved up now, in the directions
// that lose frames.
func (b *bucket) emptyAt(load units.Ratio, losers []int) bool {
	return !slices.ContainsFunc(losers, func(d int) bool { return b.empty[d] < load })
}

// steadyAt reports whether the load, or a higher one, was carried for the confirmation's duration from nothing saved
// up, in the directions that lose frames. Where none does, no load can empty the device.
func (b *bucket) steadyAt(load units.Ratio, losers []int) bool {
	return !slices.ContainsFunc(losers, func(d int) bool { return d >= len(b.steady) || b.steady[d] < load })
}

// The bounds of overloads, which empty what the device saved up.
const (
	overloadTries   = 4  // windows of one overload, each twice as long as the one before
	overloadWindows = 12 // such windows in a run
)

// overload is the sending of more than the device carries, before a load is held.
type overload struct {
	confirmed target // what the present overload is for
	tries     int    // windows of the present overload, and how many of them lost no frames
	clean     int
	windows   int  // of overloads so far
	inVain    bool // the latest overload lost no frames
}

// begin starts an overload before a load is held.
func (o *overload) begin(confirmed target) { o.confirmed, o.tries, o.clean = confirmed, 0, 0 }

// add takes in a window, and reports whether another one follows. The overload goes on until the bucket is empty,
// within bounds.
func (o *overload) add(p point, empty bool) (continues bool) {
	o.windows++
	o.tries++
	if p.clean {
		o.clean++
	}
	if continues = !empty && o.tries < overloadTries && o.windows < overloadWindows; !continues {
		o.inVain = !empty
	}
	return continues
}

// judge is how long the next window is. It is twice as long for each one that lost no frames, and at last as long as a
// confirmation, as there is loss that only a long window shows.
func (o *overload) judge(r plan.Ramp) time.Duration {
	if o.clean == overloadTries-1 {
		return max(judged(r)<<o.clean, r.ConfirmDuration.Std())
	}
	return judged(r) << o.clean
}

// spent reports whether no overload will help, since the latest was in vain, or as many windows were spent as may be.
func (o *overload) spent() bool { return o.inVain || o.windows >= overloadWindows }

// longestOverloads is how long all overloads of a run together take at most.
func longestOverloads(p plan.Ramp) time.Duration {
	longest := judged(p) << (overloadTries - 1)
	longestOverload := longest - judged(p) + max(longest, p.ConfirmDuration.Std())
	return overloadWindows*p.SettleDuration.Std() + overloadWindows/overloadTries*longestOverload
}
