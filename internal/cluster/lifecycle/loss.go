package lifecycle

import "github.com/linerate-dev/linerate/api/v1alpha1"

// measuringPodLost: a generator's or the device's pod failed, was deleted, or lost its node. Before the run, that ends the test. During the run, a lost generator
// is left to the runner, which notices at once and can report what was measured before. A lost device ends the test here: to the runner it looks like one that
// drops every frame.
func measuringPodLost(v *view) *step {
	f := v.fault()
	switch {
	case f == nil:
		return nil
	case !v.begun():
		return v.fail(f.reason, "%s", f.message)
	case f.role == v1alpha1.RoleDUT && !f.doubtful:
		return v.failInRun(f)
	}
	return v.awaitReport(f)
}

// awaitReport waits until the runner notices the loss and writes its Report.
func (v *view) awaitReport(f *fault) *step {
	kind := v1alpha1.ConditionGeneratorsReady
	if f.role == v1alpha1.RoleDUT {
		kind = v1alpha1.ConditionDUTReady
	}
	since, grace := v.Now, reportGrace
	if v.previousCondition(kind).Reason == v1alpha1.ReasonLost {
		since = v.since(kind)
	}
	if f.doubtful {
		grace = silenceGrace
	}
	due := since.Add(grace)
	if trouble, _ := v.runnerTrouble(); trouble != "" || !v.Now.Before(due) {
		return v.failInRun(f)
	}
	s := &step{reason: v1alpha1.ReasonLost, message: f.message + ": waiting for the runner's Report"}
	return s.waitUntil(due).waitUntil(v.activeUntil())
}
