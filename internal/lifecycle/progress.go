package lifecycle

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/delivery"
	"github.com/linerate-dev/linerate/internal/units"
)

// progressOf is what is being done: the runner's own words while it runs, the step's before and after.
func progressOf(v *view, s *step) *v1alpha1.Progress {
	if s.ending == nil && s.void == nil && v.begun() {
		if p := v.progress(); p != nil {
			return v.copiedProgress(p)
		}
	}
	if s.activity == "" {
		return v.was.Progress
	}
	p := &v1alpha1.Progress{Step: limited(s.activity, 32), Message: limited(s.message, 1024)}
	if was := v.was.Progress; s.ending != nil && was != nil {
		p.Run, p.Percent = was.Run, was.Percent
	}
	return p
}

// copiedProgress is the runner's progress, as long as it isn't too soon after the last copy.
func (v *view) copiedProgress(p *delivery.Progress) *v1alpha1.Progress {
	if !v.heldProgress().IsZero() {
		return v.was.Progress
	}
	if was := v.was.Progress; was != nil && was.At != nil && was.At.Time.Equal(p.At.Truncate(time.Second)) && was.Step == limited(p.Phase, 32) && was.Run == int32(p.Run) {
		return was
	}
	return &v1alpha1.Progress{
		Step:      limited(p.Phase, 32),
		Run:       int32(max(p.Run, 0)),
		At:        &metav1.Time{Time: p.At.Truncate(time.Second)},
		Percent:   new(int32(min(max(p.Percent, 0), 100))),
		Intended:  packetRate(p.IntendedPacketsPerSecond, v.directions()),
		Received:  packetRate(p.ReceivedPacketsPerSecond, 1),
		LossRatio: limited(p.LossRatio, 11),
		Message:   limited(p.Message, 1024),
	}
}

// heldProgress is when the runner's progress, which is newer than what the status says, is to be copied; zero: at once, or it is no newer.
// A new step or run is copied at once, and so is what comes from before: a clock went back.
func (v *view) heldProgress() time.Time {
	p, was := v.progress(), v.was.Progress
	if p == nil || was == nil || was.At == nil || was.Step != limited(p.Phase, 32) || was.Run != int32(p.Run) {
		return time.Time{}
	}
	due := was.At.Add(progressEvery)
	if at := p.At.Truncate(time.Second); at.After(was.At.Time) && at.Before(due) && v.Now.Before(due) && v.Now.After(was.At.Add(-progressEvery)) {
		return due
	}
	return time.Time{}
}

// newlyLost is how many runs were lost that the status doesn't count yet.
func (v *view) newlyLost() int32 {
	p := v.progress()
	if p == nil {
		return 0
	}
	counted := int32(1)
	if was := v.was.Progress; was != nil && was.Run > 0 {
		counted = was.Run
	}
	return max(0, int32(p.Run)-counted)
}

// directions is how many directions the test has.
func (v *view) directions() int64 {
	if n := len(v.spec.Traffic.Directions); n > 0 {
		return int64(n)
	}
	return 2 // both ways between two links
}

// packetRate is a rate for people, of one of so many.
func packetRate(packetsPerSecond, of int64) string {
	return limited((units.PacketRate(packetsPerSecond/of) * units.PacketPerSecond).FormatSI(), 32)
}
