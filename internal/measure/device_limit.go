package measure

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A limit's bucket must be so deep that the limit takes nothing of what a generator sends below its rate. Batches
// that leave at once, and streams that all begin at one instant, fit into it.
const (
	shallowest   = batchTime // for each generator
	largestFrame = 1518
	leastFrame   = 64
)

// tolerance is how close to its rate a limit counts as reached. A load that is even but for jitter overflows a
// bucket there, and no search tells the two apart by default (refineTo).
const tolerance = units.One / 200

// aboveLimit is how much of what was sent may have exceeded the rate of the device's limit, if that is known. Loss
// at a load that the limit lets through has another cause. Frames waited too long for a processor and then reached
// the limit in a bunch, overflowed a queue, or had not come back at the window's edge.
//
//	0 ──────────── limit − 0.5 % ── limit ──────────────▶ load
//	  lost: the machine's  │  lost: the limit's
func (f *figures) aboveLimit() *report.AboveLimit {
	l := f.setup.Limit
	if l == nil || f.surelyLost() <= 0 || f.bucketTooShallow(*l) {
		return nil
	}
	reached := *l
	reached.PacketsPerSecond -= scale(l.PacketsPerSecond, int64(tolerance), int64(units.One))
	reached.Layer2BitsPerSecond -= scale(l.Layer2BitsPerSecond, int64(tolerance), int64(units.One))
	return &report.AboveLimit{Limit: *l, Frames: f.framesAbove(*l), NearFrames: f.framesAbove(reached)}
}

// framesAbove is how many of the frames sent may have exceeded the limit's rate, with all uncertainty of the edges
// in the limit's favour. Of an even load the limit drops no more. Which frames a limit in bits drops is not known,
// so they are at most as many as the smallest ones.
func (f *figures) framesAbove(l plan.Limit) int64 {
	if l.PacketsPerSecond > 0 {
		return scale(f.sent.Packets, int64(f.mostOffered)-l.PacketsPerSecond*int64(units.PacketPerSecond),
			int64(f.mostOffered))
	}
	offeredBits := scale(int64(f.offered.layer2), int64(f.mostOffered), int64(f.offered.packets))
	return scale(f.sent.Layer2Bits(), offeredBits-l.Layer2BitsPerSecond, offeredBits) / (leastFrame * 8)
}

// bucketTooShallow says that the limit's bucket may overflow from what generators send as evenly as they can.
func (f *figures) bucketTooShallow(l plan.Limit) bool {
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

// machineLost says, of a direction that surely lost frames above the goal's limit, whether the machine that plays
// the device lost them, as the Reference's limit lets that load through. It returns how many frames the machine
// lost or held up, and why.
func (d direction) machineLost() (frames int64, reason string, ok bool) {
	a := d.evidence.AboveLimit
	if a == nil || exceeds(a.NearFrames, d.measured.Sent.Packets, d.limit) {
		return 0, "", false
	}
	return max(0, d.surelyLost()-a.Frames), fmt.Sprintf("%s; but the Reference's limit of %s takes nothing of %s: the machine that forwards lost them or held them up%s; give it processors that nothing else uses",
		d.lossSentence(), rateOf(a.Limit), d.offeredOf(a.Limit), bunchedText(d.measured.Limiter)), true
}

// bunchedText is how many frames the limit dropped of the direction, because the machine handed it frames in
// bunches.
func bunchedText(l *report.Limiter) string {
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
		return wording.PacketRate(l.PacketsPerSecond)
	}
	return wording.BitRate(l.Layer2BitsPerSecond)
}

// offeredOf is what was offered in the unit of a limit.
func (d direction) offeredOf(l plan.Limit) string {
	if l.PacketsPerSecond > 0 {
		return d.evidence.Offered.FormatSI()
	}
	return units.BitRate(d.measured.Offered.Layer2BitsPerSecond).FormatSI()
}

func (s Span) limiter(direction int) *report.Limiter {
	if direction >= len(s.Limited) {
		return nil
	}
	return new(s.Limited[direction])
}
