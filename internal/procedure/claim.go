package procedure

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// ClaimAsked is the reason of an answer at a load that was asked for. Where a direction was offered less, the generator
// was the limit, or the machine that held it up, whatever was lost. What came back of a load with pauses may be less
// than the device carries, and its loss is not that of the load asked for. Otherwise, where frames were surely lost
// above the limit, what came back is what the device makes of that load, and the reason is lossy, the procedure's own.
// Otherwise the device may do more.
func ClaimAsked(answer []report.Direction, limit units.Ratio, lossy report.Reason) report.Reason {
	switch {
	case slices.ContainsFunc(answer, report.Direction.WeakGenerator):
		return report.GeneratorLimited
	case slices.ContainsFunc(answer, report.Direction.UnderOffered):
		return report.MachineLimited
	case LostAbove(answer, limit):
		return lossy
	}
	return report.TargetReached
}

// ClaimOffered is the reason where the load is whatever the generators reach. They are the limit only where nothing was
// lost.
func ClaimOffered(answer []report.Direction, limit units.Ratio, lossy report.Reason) report.Reason {
	if LostAbove(answer, limit) {
		return lossy
	}
	return ClaimAsked(answer, limit, lossy)
}

// mostVoid bounds the part of what was asked for that may say nothing about the device, as a tenth, while the rest
// still is the answer to it.
const mostVoid = 10

// TooMuchVoid reports whether more than a tenth of what was asked for, trials or their time, says nothing about the
// device, however often it was repeated. The rest is not what was asked for then.
func TooMuchVoid[T int | time.Duration](void, total T) bool { return void*mostVoid > total }

// LostAbove reports whether some direction surely lost more than a limit.
func LostAbove(answer []report.Direction, limit units.Ratio) bool {
	return slices.ContainsFunc(answer, func(d report.Direction) bool { return d.LossRatioMin > limit })
}
