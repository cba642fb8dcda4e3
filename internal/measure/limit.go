package measure

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// How deep a limit's bucket must be, for the limit to take nothing of what a generator sends below its rate: batches that leave at once, and
// streams that all begin at one instant, fit into it.
const (
	shallowest   = batchTime // for each generator
	largestFrame = 1518
	leastFrame   = 64
)

// near is how close to its rate a limit is taken to be reached: a load that is even but for its jitter overflows a bucket there, and no search tells the two
// apart by default (refineTo).
const near = units.One / 200

// machines says of loss whether it is that of the machine which plays the device, as the device's limit lets the load that was sent through. The
// rate of a Reference's limit is known, so loss below it has another cause: frames that waited too long for a processor, and then came to the
// limit in a bunch, overflowed a queue, or had not come back at the window's edge.
//
//	0 ──────────── limit − 0.5 % ── limit ──────────────▶ load
//	  lost: the machine's  │  lost: the limit's
func (f *figures) machines(limit units.Ratio) (frames int64, is bool) {
	l := f.setup.Limit
	if l == nil || f.shallow(*l) {
		return 0, false
	}
	reached := *l
	reached.PacketsPerSecond -= scale(l.PacketsPerSecond, int64(near), int64(units.One))
	reached.Layer2BitsPerSecond -= scale(l.Layer2BitsPerSecond, int64(near), int64(units.One))
	return max(0, f.surelyLost()-f.over(*l)), !exceeds(f.over(reached), f.sent.Packets, limit)
}

// over is how many of the frames that were sent may have come above the limit's rate, the edges' uncertainty all in its favour: of an even load
// it takes no more. Of a limit in bits it is not known which frames these are: at most as many as the smallest ones.
func (f *figures) over(l plan.Limit) int64 {
	if l.PacketsPerSecond > 0 {
		return scale(f.sent.Packets, int64(f.mostOffered)-l.PacketsPerSecond*int64(units.PacketPerSecond), int64(f.mostOffered))
	}
	most := scale(int64(f.offered.layer2), int64(f.mostOffered), int64(f.offered.packets))
	return scale(f.sent.Layer2Bits(), most-l.Layer2BitsPerSecond, most) / (leastFrame * 8)
}

// shallow says that the limit's bucket may overflow by what generators send evenly, as far as they can.
func (f *figures) shallow(l plan.Limit) bool {
	frames := int64(looseFrames)
	for _, p := range f.direction.Pairs {
		if p.Streams < 0 {
			return true
		}
		frames += int64(p.Streams)
	}
	if l.Depth() < time.Duration(len(f.direction.Pairs))*shallowest {
		return true
	}
	if l.PacketsPerSecond > 0 {
		return scale(l.PacketsPerSecond, int64(l.Depth()), int64(time.Second)) < frames
	}
	return scale(l.Layer2BitsPerSecond/8, int64(l.Depth()), int64(time.Second)) < frames*largestFrame
}

// spare calls a direction's loss the machine's where it is, and says what the limit itself counted of it.
func (f *figures) spare(limit units.Ratio, m *report.Measured) {
	lost, is := f.machines(limit)
	if m.Quality != report.Lossy || !is {
		return
	}
	m.Quality, m.MachineLost = report.Invalid, lost
	m.Reason = fmt.Sprintf("%s; but the Reference's limit of %s takes nothing of %s: the machine that forwards lost them or held them up%s; give it processors that nothing else uses",
		f.lossSentence(limit), rateOf(*f.setup.Limit), f.offered.told(*f.setup.Limit), bunched(m.Limiter))
}

// bunched is what of it the limit took, which is for frames that the machine handed it in bunches.
func bunched(l *report.Limiter) string {
	switch {
	case l == nil:
		return ""
	case l.Dropped == 0:
		return " (the limit took none)"
	}
	return fmt.Sprintf(" (the limit took %d, which came in bunches)", l.Dropped)
}

func rateOf(l plan.Limit) string {
	if l.PacketsPerSecond > 0 {
		return (units.PacketRate(l.PacketsPerSecond) * units.PacketPerSecond).FormatSI()
	}
	return units.BitRate(l.Layer2BitsPerSecond).FormatSI()
}

// told is a flow in the unit of a limit.
func (r rates) told(l plan.Limit) string {
	if l.PacketsPerSecond > 0 {
		return r.packets.FormatSI()
	}
	return r.layer2.FormatSI()
}

func (s Span) limiter(direction int) *report.Limiter {
	if direction >= len(s.Limited) {
		return nil
	}
	return new(s.Limited[direction])
}
