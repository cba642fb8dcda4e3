package proceduretest

import (
	"time"

	"github.com/linerate-dev/linerate/internal/procedure"
)

// Bucket is a policer of one direction: it saves up the rate that is not used, up to its depth, and drops what it has no token for. Its state is what came before.
//
//	tokens ┤▔▔▔╲                ╱▔▔      above the rate all passes until the bucket is empty, then the rate does
//	       │    ╲______________╱
//	load   ┤    above the rate   below
type Bucket struct {
	Rate   float64 // packets per second that it forwards for as long as one likes
	Depth  float64 // frames
	tokens float64
}

// NewBucket is a full bucket that is so deep as time at its rate.
func NewBucket(rate float64, depth time.Duration) *Bucket {
	frames := rate * depth.Seconds()
	return &Bucket{Rate: rate, Depth: frames, tokens: frames}
}

// BetweenTrials is how long nothing is sent between two trials: the drain of the one, and the start of the next.
const BetweenTrials = 670 * time.Millisecond

// Pass is how many frames per second it forwards of the step's judged part. Before a trial, and a step from rest, it fills up for a while.
func (b *Bucket) Pass(s procedure.Step, asked float64) float64 {
	if s.Rested || s.Kind == procedure.Trial {
		b.forward(0, BetweenTrials)
	}
	b.forward(asked, s.Settle)
	return b.forward(asked, s.Judge) / s.Judge.Seconds()
}

// forward is how many frames it forwards of an even load in that time.
func (b *Bucket) forward(asked float64, lasts time.Duration) float64 {
	came, most := asked*lasts.Seconds(), b.tokens+b.Rate*lasts.Seconds()
	b.tokens = min(b.Depth, max(0, most-came))
	return min(came, most)
}
