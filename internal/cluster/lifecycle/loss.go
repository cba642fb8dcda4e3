package lifecycle

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// loss answers what a fault means for a run: whether it may have influenced the measurement, and what is still awaited.
type loss struct {
	attempt      *attempt
	history      *history
	deadlines    *deadlines
	faults       *podFaults
	report       *arrival
	runner       *runner
	lastProgress *v1alpha1.Progress
	now          time.Time
}

// measuringPodLost: a generator's or the device's pod failed, was deleted, or lost its node. Before the run, that ends the test. During the run, a lost generator
// is left to the runner, which notices at once and can report what was measured before. A lost device ends the test here: to the runner it looks like one that
// drops every frame.
func (l *loss) measuringPodLost() *step {
	f := l.faults.first()
	switch {
	case f == nil:
		return nil
	case !l.attempt.hasBegun():
		return fail(f.reason, "%s", f.message)
	case f.role == v1alpha1.RoleDUT && !f.doubtful:
		return failInRun(f)
	}
	return l.waitForReport(f)
}

// waitForReport waits until the runner notices the loss and writes its Report.
func (l *loss) waitForReport(f *fault) *step {
	kind := v1alpha1.ConditionGeneratorsReady
	if f.role == v1alpha1.RoleDUT {
		kind = v1alpha1.ConditionDUTReady
	}
	since, grace := l.now, reportGrace
	if l.history.condition(kind).Reason == v1alpha1.ReasonLost {
		since = l.history.since(kind)
	}
	if f.doubtful {
		grace = silenceGrace
	}
	due := since.Add(grace)
	if trouble, _ := l.runner.trouble(); trouble != "" || !l.now.Before(due) {
		return failInRun(f)
	}
	s := &step{reason: v1alpha1.ReasonLost, message: f.message + ": waiting for the runner's Report"}
	return s.waitUntil(due).waitUntil(l.deadlines.activeUntil())
}
