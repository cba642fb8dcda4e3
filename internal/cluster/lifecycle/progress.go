package lifecycle

import (
	"math"
	"math/big"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
	"github.com/linerate-dev/linerate/internal/document/report"
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
	p := &v1alpha1.Progress{Phase: wording.Limited(s.activity, 32)} // what is waited for is Complete's message already
	if previous := w.lastProgress; s.ending != nil && previous != nil {
		p.Run, p.Percent = previous.Run, previous.Percent
	}
	if s.ending != nil && s.ending.complete && s.ending.reason == v1alpha1.ReasonMeasured {
		p.Percent = new(int32(100))
	}
	return p
}

// runnersProgress is the progress that the runner reports, as the schema takes it.
func (w *statusWriter) runnersProgress(p *delivery.Progress) *v1alpha1.Progress {
	progress := &v1alpha1.Progress{
		Phase: wording.Limited(p.Phase, 32), Step: clampedCount(p.Step), Steps: clampedCount(p.Steps),
		Percent: new(int32(min(max(p.Percent, 0), 100))), RemainingSeconds: max(p.RemainingSeconds, 0),
		Run: int32(max(p.Run, 0)), Message: wording.Limited(p.Message, 1024),
		IntendedPacketsPerSecond: max(p.IntendedPacketsPerSecond, 0),
		OfferedPacketsPerSecond:  max(p.OfferedPacketsPerSecond, 0),
		ReceivedPacketsPerSecond: max(p.ReceivedPacketsPerSecond, 0),
		LossRatio:                percentOf(report.Number(p.LossRatio)),
		GoodputBitsPerSecond:     clampedRate(p.GoodputBitsPerSecond),
	}
	if p.Varied != "" {
		progress.VariedDirection = directionOf(p.Varied)
	}
	return progress
}

// directionOf is a direction such as west→east, as the status has it. Nil stands for all directions together.
func directionOf(name string) *v1alpha1.FlowDirection {
	source, target, isOne := strings.Cut(name, wording.Direction("", ""))
	if !isOne {
		return nil
	}
	return &v1alpha1.FlowDirection{From: wording.Limited(source, maxEnd), To: wording.Limited(target, maxEnd)}
}

// maxEnd is the most bytes that an end of a direction may have.
const maxEnd = 13

// percentOf is a share as the status has it, such as 0.03%. It is empty for none.
func percentOf(share report.Number) string {
	v := share.Rat()
	if v == nil {
		return ""
	}
	return wording.Limited(string(report.NumberOf(v.Mul(v, big.NewRat(100, 1))))+"%", 24)
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
	st.Operator.LostRuns += w.conditions.newlyLost()
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
