package lifecycle

import "github.com/linerate-dev/linerate/api/v1alpha1"

// carrierLost: a pod that carries the measurement failed, was deleted, or its node was lost. Before the run that is the end. In the run a
// lost generator is the runner's to tell: it sees it at once, and its Report is worth more. A lost DUT is not: to the runner it looks like
// one that drops everything.
func carrierLost(v *view) *step {
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

// awaitReport gives the runner its time to notice, and to write what it has.
func (v *view) awaitReport(f *fault) *step {
	kind := v1alpha1.ConditionGeneratorsReady
	if f.role == v1alpha1.RoleDUT {
		kind = v1alpha1.ConditionDUTReady
	}
	since, grace := v.Now, reportGrace
	if v.said(kind).Reason == v1alpha1.ReasonLost {
		since = v.since(kind)
	}
	if f.doubtful {
		grace = silenceGrace
	}
	due := since.Add(grace)
	if trouble, _ := v.runnerTrouble(); trouble != "" || !v.Now.Before(due) {
		return v.failInRun(f)
	}
	s := &step{reason: v1alpha1.ReasonLost, message: f.message + ": the runner's Report is awaited"}
	return s.waitUntil(due).waitUntil(v.activeUntil())
}
