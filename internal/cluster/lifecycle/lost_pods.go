package lifecycle

import (
	"fmt"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// loss answers whether a fault may have influenced the measurement, and what is still awaited.
type loss struct {
	attempt      *attempt
	history      *history
	deadlines    *deadlines
	faults       *podFaults
	report       *arrival
	runner       *runner
	lastProgress *v1alpha1.Progress
	observedAt   time.Time
}

// measuringPodLost is the rule for a generator's or the device's pod that failed, was deleted, or lost its node. Before
// the run, that ends the test. During the run, a lost generator is left to the runner, which notices at once and can
// report what was measured before. A lost device ends the test here, since to the runner it looks like one that drops
// every frame.
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
	lostAt, grace := l.observedAt, reportGrace
	if l.history.condition(kind).Reason == v1alpha1.ReasonLost {
		lostAt = l.history.changedAt(kind)
	}
	if f.doubtful {
		grace = silenceGrace
	}
	due := lostAt.Add(grace)
	if trouble, _ := l.runner.trouble(); trouble != "" || !l.observedAt.Before(due) {
		return failInRun(f)
	}
	s := &step{reason: v1alpha1.ReasonLost, message: f.message + ": waiting for the runner's Report"}
	return s.waitUntil(due).waitUntil(l.deadlines.activeUntil())
}

// waitForPodStatusAfterRun waits, within bounds, until Kubernetes says what became of pods that it lost sight of in a
// run that has ended. Nil means that there is nothing to wait for.
func (l *loss) waitForPodStatusAfterRun() *step {
	if f := l.doubt(); f != nil {
		if deadline := l.graceAfterRun(silenceGrace); !deadline.IsZero() {
			s := &step{reason: v1alpha1.ReasonLost, message: "the run has ended, and nothing came back at the end: " +
				f.message + ", so it is awaited what became of the pod"}
			return s.waitUntil(deadline)
		}
		return failInRun(f)
	}
	if l.report.believed().Ending == report.GeneratorLost && len(l.attempt.podsWithRole(v1alpha1.RoleGenerator)) > 0 {
		if deadline := l.graceAfterRun(wordsGrace); !deadline.IsZero() {
			s := &step{reason: v1alpha1.ReasonRunning,

				message: "the run has lost a generator: waiting to see what became of its pod"}
			return s.waitUntil(deadline)
		}
	}
	return nil
}

// graceAfterRun is when the grace after the end of the run is over, by the cluster's clock. Zero means that it is
// over already, or the end of the run isn't known.
func (l *loss) graceAfterRun(grace time.Duration) time.Time {
	ended := l.attempt.runEnded()
	if p := l.lastProgress; ended.IsZero() && p != nil && p.UpdateTime != nil {
		// The operator recorded this progress during the run, which ended since, or when the operator began to wait.
		ended = earliest(p.UpdateTime.Add(progressEvery), l.observedAt)
	}
	if deadline := ended.Add(grace); !ended.IsZero() && l.observedAt.Before(deadline) &&
		ended.Before(l.observedAt.Add(clockMargin)) {
		return deadline
	}
	return time.Time{}
}

// doubt is the fault of a device whose node is silent, if the Report's figure doesn't prove that the device forwarded
// to the end. Nil means that there is no doubt. A silent generator raises no doubt, since the runner talked to it to
// the end, or reports that it couldn't.
func (l *loss) doubt() *fault {
	if r := l.report.believed(); r == nil || !r.Answer.Measured || forwardedToTheEnd(r) {
		return nil
	}
	for _, f := range l.faults.list() {
		if f.doubtful && f.role == v1alpha1.RoleDUT {
			return &f
		}
	}
	for _, p := range l.faults.unseenPods(v1alpha1.RoleDUT) {
		return &fault{role: v1alpha1.RoleDUT, pod: p.Name, reason: v1alpha1.ReasonNodeLost, doubtful: true,
			message: fmt.Sprintf("pod %s isn't Ready since its node %s didn't answer", p.Name, p.Spec.NodeName)}
	}
	return nil
}

// actingFault is a fault that may have influenced the measurement, since it isn't known to have come after the end of
// the run. A doubtful fault doesn't count, since the Report shows whether traffic went on. Nor do faults once the
// runner's Job is gone, since pods are being given back then.
func (l *loss) actingFault() *fault {
	if l.attempt.job == nil || l.attempt.job.DeletionTimestamp != nil {
		return nil
	}
	for _, f := range l.faults.list() {
		if f.doubtful {
			continue
		}
		if ended := l.attempt.runEnded(); l.report.believed() == nil || f.earliest.IsZero() || ended.IsZero() ||
			f.earliest.Before(ended.Add(clockMargin)) {
			return &f
		}
	}
	return nil
}

// forwardedToTheEnd says whether frames came back in each direction of the last window. A device that forwarded
// then was there all the time, since nothing restarts it.
func forwardedToTheEnd(r *report.Report) bool {
	if len(r.Windows) == 0 {
		return false
	}
	for _, d := range r.Windows[len(r.Windows)-1].Directions {
		// A burst has no rate at which it came back.
		if d.Received.PacketsPerSecond <= 0 && (d.Burst == nil || d.Returned.Packets <= 0) {
			return false
		}
	}
	return true
}
