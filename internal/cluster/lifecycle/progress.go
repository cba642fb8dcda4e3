package lifecycle

import (
	"cmp"
	"math"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// progress is what is being done, in the runner's own words while it runs, and in the step's before and after.
func (w *statusWriter) progress(s *step) *v1alpha1.Progress {
	if s.ending == nil && s.void == nil && w.attempt.hasBegun() {
		if p := w.attempt.progress(); p != nil {
			return w.runnersProgress(p)
		}
	}
	if s.activity == "" {
		return w.lastProgress.DeepCopy()
	}
	p := &v1alpha1.Progress{Step: wording.Limited(s.activity, 32)} // what is waited for is Complete's message already
	if previous := w.lastProgress; s.ending != nil && previous != nil {
		p.Run, p.Percent = previous.Run, previous.Percent
	}
	if s.ending != nil && s.ending.complete && s.ending.reason == v1alpha1.ReasonMeasured {
		p.Percent = new(int32(100))
	}
	return p
}

// runnersProgress is the progress that the runner reports.
func (w *statusWriter) runnersProgress(p *delivery.Progress) *v1alpha1.Progress {
	directions, message := w.directions(), p.Message
	if p.Varied != "" { // one direction's load, with what the others are held at
		directions, message = 1, cmp.Or(p.Message, "varying "+p.Varied)
	}
	intended, received := packetRate(p.IntendedPacketsPerSecond, directions), packetRate(p.ReceivedPacketsPerSecond, 1)
	// no frames are counted, and no rate was asked for
	if compile.ThroughputOf(string(w.test.Spec.Traffic.Type)) != v1alpha1.MetricPacketsPerSecond {
		intended, received = "", ""
	}
	if p.GoodputBitsPerSecond != nil {
		received = wording.Limited(wording.BitRate(*p.GoodputBitsPerSecond)+" goodput", 32)
	}
	return &v1alpha1.Progress{
		Step:      wording.Limited(p.Phase, 32),
		Run:       int32(max(p.Run, 0)),
		Percent:   new(int32(min(max(p.Percent, 0), 100))),
		Intended:  intended,
		Received:  received,
		LossRatio: wording.Limited(p.LossRatio, 11),
		Message:   wording.Limited(message, 1024),

		Number: clampedCount(p.Step), Of: clampedCount(p.Steps), Varied: wording.Limited(p.Varied,
			64), RemainingSeconds: max(p.RemainingSeconds, 0),
		IntendedPacketsPerSecond: max(p.IntendedPacketsPerSecond, 0),
		OfferedPacketsPerSecond: max(p.OfferedPacketsPerSecond,
			0),
		ReceivedPacketsPerSecond: max(p.ReceivedPacketsPerSecond, 0),
		GoodputBitsPerSecond:     clampedRate(p.GoodputBitsPerSecond),
	}
}

// clampedCount is a count as the schema takes it.
func clampedCount(n int) int32 { return int32(min(max(n, 0), math.MaxInt32)) }

// clampedRate is a rate as the schema takes it. Nil means none.
func clampedRate(rate *int64) *int64 {
	if rate == nil {
		return nil
	}
	return new(max(*rate, 0))
}

// countRuns counts lost runs, and records up to which run it has counted. Otherwise each pass would count the same run
// again, and its own write would cause the next pass. In the next attempt runs are numbered from 1 again.
func (w *statusWriter) countRuns(st *v1alpha1.LoadTestStatus, s *step) {
	if st.Progress == nil || w.attempt.progress() == nil {
		return
	}
	st.LostRuns += w.conditions.newlyLost()
	if s.void == nil {
		st.Progress.Run = max(st.Progress.Run, int32(w.attempt.progress().Run))
	}
}

// newlyLost is how many runs were lost that the status doesn't count yet.
func (w *conditionWriter) newlyLost() int32 {
	p := w.attempt.progress()
	if p == nil {
		return 0
	}
	counted := int32(1)
	if previous := w.lastProgress; previous != nil && previous.Run > 0 {
		counted = previous.Run
	}
	return max(0, int32(p.Run)-counted)
}

// directions is how many directions the test has.
func (w *statusWriter) directions() int64 {
	if n := len(w.test.Spec.Traffic.Directions); n > 0 {
		return int64(n)
	}
	return 2 // both ways between two links, or a link and the device
}

// packetRate is a rate for people, of one of so many.
func packetRate(packetsPerSecond, parts int64) string {
	return wording.Limited(wording.PacketRate(packetsPerSecond/parts), 32)
}
