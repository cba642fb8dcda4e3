package proceduretest

import (
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
)

// Bucket is a policer of one direction. It saves up the rate that is not used, up to its depth, and drops what it has
// no token for. Its state is what came before.
//
//	tokens ┤▔▔▔╲                ╱▔▔      above the rate all passes until the bucket is empty, then the rate does
//	       │    ╲______________╱
//	load   ┤    above the rate   below
type Bucket struct {
	Rate   float64 // packets per second that it forwards for as long as one likes
	Depth  float64 // frames
	tokens float64
}

// NewBucket is a full bucket. Its depth is what it saves up in that time at its rate.
func NewBucket(rate float64, depth time.Duration) *Bucket {
	frames := rate * depth.Seconds()
	return &Bucket{Rate: rate, Depth: frames, tokens: frames}
}

// BetweenTrials is how long nothing is sent between two trials. It is the drain of the first, and the start of the
// second.
const BetweenTrials = 670 * time.Millisecond

// Pass is how many frames per second it forwards of the step's judged part. Before a trial, and a step from
// rest, it fills up for a while.
func (b *Bucket) Pass(s procedure.Step, asked float64) float64 {
	if s.Rested || s.Kind == procedure.Trial {
		b.forward(0, BetweenTrials)
	}
	b.forward(asked, s.Settle)
	return b.forward(asked, s.Judge) / s.Judge.Seconds()
}

// forward is how many frames it forwards of an even load in that time.
func (b *Bucket) forward(asked float64, lasts time.Duration) float64 {
	came, capacity := asked*lasts.Seconds(), b.tokens+b.Rate*lasts.Seconds()
	b.tokens = min(b.Depth, max(0, capacity-came))
	return min(came, capacity)
}

// ByteBucket is a policer that counts bytes. It drops the frame that it has too few tokens for, and the next smaller
// one passes.
type ByteBucket struct {
	Rate, Depth, tokens float64 // bytes per second, bytes
	sent                int
	offered, received   report.Flow // of the last step's judged part
}

// mix is the sizes of an IMIX, in bytes, as they follow each other.
var mix = [12]float64{64, 570, 64, 570, 64, 64, 1518, 64, 570, 64, 570, 64}

// MixedFrame is the mean size of the mix.
func MixedFrame() (mean float64) {
	for _, size := range mix {
		mean += size / float64(len(mix))
	}
	return mean
}

// NewByteBucket is a full bucket for frames of the mix. Its depth is what it saves up in that time at its rate.
func NewByteBucket(framesPerSecond float64, depth time.Duration) *ByteBucket {
	b := &ByteBucket{Rate: framesPerSecond * MixedFrame()}
	b.Depth = b.Rate * depth.Seconds()
	b.tokens = b.Depth
	return b
}

// Pass is how many frames per second of the mix it forwards of the step's judged part.
func (b *ByteBucket) Pass(s procedure.Step, asked float64) float64 {
	if s.Rested || s.Kind == procedure.Trial {
		b.tokens = min(b.Depth, b.tokens+b.Rate*BetweenTrials.Seconds())
	}
	b.forward(asked, s.Settle)
	frames, bytes, sent := b.forward(asked, s.Judge)
	b.offered, b.received = report.Flow{Layer2BitsPerSecond: int64(8 * sent / s.Judge.Seconds())},
		report.Flow{Layer2BitsPerSecond: int64(8 * bytes / s.Judge.Seconds())}
	return frames / s.Judge.Seconds()
}

// Weigh gives a direction of the last step's window the bits that were offered and came back.
func (b *ByteBucket) Weigh(d *report.Direction) {
	d.Offered.Layer2BitsPerSecond, d.Received.Layer2BitsPerSecond = b.offered.Layer2BitsPerSecond,
		b.received.Layer2BitsPerSecond
}

func (b *ByteBucket) forward(asked float64, lasts time.Duration) (frames, bytes, sent float64) {
	for range int(asked*lasts.Seconds() + 0.5) {
		size := mix[b.sent%len(mix)]
		b.sent++
		sent += size
		b.tokens = min(b.Depth, b.tokens+b.Rate/asked)
		if b.tokens >= size {
			b.tokens -= size
			frames, bytes = frames+1, bytes+size
		}
	}
	return frames, bytes, sent
}
