package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// waitForPodStatusAfterRun waits, within bounds, until Kubernetes says what became of pods that it lost sight of in a run that has ended; nil: there is nothing to wait for.
func (l *loss) waitForPodStatusAfterRun() *step {
	if f := l.doubt(); f != nil {
		if until := l.graceAfterRun(silenceGrace); !until.IsZero() {
			s := &step{reason: v1alpha1.ReasonLost, message: "the run has ended, and nothing came back at the end: " + f.message + ", so it is awaited what became of the pod"}
			return s.waitUntil(until)
		}
		return failInRun(f)
	}
	if l.report.believed().Ending == report.GeneratorLost && len(l.attempt.podsWithRole(v1alpha1.RoleGenerator)) > 0 {
		if until := l.graceAfterRun(wordsGrace); !until.IsZero() {
			s := &step{reason: v1alpha1.ReasonRunning, message: "the run has lost a generator: waiting to see what became of its pod"}
			return s.waitUntil(until)
		}
	}
	return nil
}

// graceAfterRun is when the grace after the end of the run is over, by the cluster's clock; zero: it is over already, or the end of the run isn't known.
func (l *loss) graceAfterRun(grace time.Duration) time.Time {
	over := l.attempt.runEnded()
	if p := l.lastProgress; over.IsZero() && p != nil && p.At != nil {
		over = earliest(p.At.Add(progressEvery), l.now) // told by the operator in the run, which ended since, or when it began to wait
	}
	if until := over.Add(grace); !over.IsZero() && l.now.Before(until) && over.Before(l.now.Add(clockMargin)) {
		return until
	}
	return time.Time{}
}

// doubt is the fault of a device whose node is silent, if the Report's figure doesn't prove that the device forwarded to the end; nil: there is no doubt.
// A silent generator raises none: the runner talked to it to the end, or reports that it couldn't.
func (l *loss) doubt() *fault {
	if r := l.report.believed(); r == nil || !r.Result.Measured || forwardedToTheEnd(r) {
		return nil
	}
	for _, f := range l.faults.all() {
		if f.doubtful && f.role == v1alpha1.RoleDUT {
			return &f
		}
	}
	for _, p := range l.faults.lostSightOf(v1alpha1.RoleDUT) {
		return &fault{role: v1alpha1.RoleDUT, pod: p.Name, reason: v1alpha1.ReasonNodeLost, doubtful: true,
			message: fmt.Sprintf("pod %s isn't Ready since its node %s didn't answer", p.Name, p.Spec.NodeName)}
	}
	return nil
}

// lostSightOf are the pods of a role that aren't Ready since their node fell silent: Kubernetes then takes Ready from its pods, and their kubelet sets
// it again once it answers.
func (pf *podFaults) lostSightOf(role v1alpha1.PodRole) []*corev1.Pod {
	kind := v1alpha1.ConditionGeneratorsReady
	if role == v1alpha1.RoleDUT {
		kind = v1alpha1.ConditionDUTReady
	}
	if pf.history.condition(kind).Reason != v1alpha1.ReasonLost {
		return nil
	}
	return slices.DeleteFunc(pf.attempt.podsWithRole(role), ready)
}

// forwardedToTheEnd says whether frames came back in each direction of the last window. A device that forwarded then was there all the time, since nothing
// restarts it.
func forwardedToTheEnd(r *report.Report) bool {
	if len(r.Windows) == 0 {
		return false
	}
	for _, d := range r.Windows[len(r.Windows)-1].Directions {
		if d.Received.PacketsPerSecond <= 0 && (d.Burst == nil || d.Returned.Packets <= 0) { // a burst has no rate at which it came back
			return false
		}
	}
	return true
}
