package lifecycle

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// rule recognizes one situation. decide returns nil where the test isn't in it.
type rule struct {
	name   string
	decide func() *step
}

// rules are the situations in order of precedence, of which the first that applies decides. This order is the
// specification.
func rules(s *situation) []rule {
	return []rule{
		// being deleted: its teardown runs, garbage collection does the rest
		{"deleted", s.completion.deleted},
		// complete: nothing but releasing what is left, and the time to live
		{"finished", s.completion.finished},
		// the reason for its end is recorded, and the ending goes on until complete
		{"ending", s.completion.resumeEnding},
		{"invalid", s.preflight.invalid}, // it can't be measured as it is written
		// Kueue took the quota back: the attempt is void
		{"evictedByKueue", s.kueue.evictedByKueue},
		{"reportArrived", s.completion.reportArrived}, // the run came to its own end
		{"stopRequested", s.completion.stopRequested}, // spec.stop
		// spec.suspend: the attempt is void, nothing is held
		{"suspended", s.remnants.suspended},
		// the run takes longer than its own deadline allows it
		{"activeDeadlineExceeded", s.completion.activeDeadlineExceeded},
		{"schedulingDeadlineExceeded", s.deadlines.schedulingDeadlineExceeded}, // its pods aren't all running in time
		// pods of an attempt that is void must go first
		{"earlierAttempt", s.remnants.earlierAttempt},
		// a node has no room in one NUMA node, or none any more: another attempt avoids it
		{"nodeRefusedPod", s.placement.nodeRefusedPod},
		// pods waited so long for others that their own time is over: another attempt
		{"outlived", s.placement.outlived},
		// a pod reported another device than its node gave it
		{"portSpoofed", s.ports.portSpoofed},
		// two ends of its links are on one physical port
		{"portShared", s.ports.portShared},
		// not all pods found nodes in time: all are given back
		{"halfPlaced", s.queueing.halfPlaced},
		{"setupFailed", s.setup.setupFailed}, // the setup pod ended badly
		{"weakQoS", s.startup.weakQoS},       // a generator's CPUs aren't its own
		// a generator's or the DUT's pod failed, was deleted, or lost its node
		{"measuringPodLost", s.loss.measuringPodLost},
		{"runnerFailed", s.completion.runnerFailed}, // no runner is left that could write a Report
		{"running", s.runner.running},               // the runner is at it
		// foreign objects have names of the test's children
		{"nameTaken", s.preflight.nameTaken},
		// no Multus, or not the networks that the links name
		{"networksMissing", s.preflight.networksMissing},
		{"resourcesMissing", s.preflight.resourcesMissing}, // no node has the devices or huge pages
		// another test is on the ports that the last pods were given back for
		{"portsAwaited", s.ports.portsAwaited},
		{"queued", s.queueing.queued},           // other tests have the devices, or come first
		{"settingUp", s.startup.settingUp},      // the setup pod is made, or runs
		{"podsNeeded", s.placement.podsNeeded},  // pods are tried, refused or made
		{"gated", s.queueing.gated},             // Kueue hasn't admitted the pods
		{"unscheduled", s.queueing.unscheduled}, // pods wait for their nodes
		{"starting", s.startup.starting},        // pods have nodes, and aren't ready
		// observers wait for the pods that read for them, for a moment
		{"unobserved", s.startup.unobserved},
		{"readyDelay", s.startup.readyDelay}, // all is ready; the DUT is given its time
		// another test is on a physical port of its pods'
		{"portsHeld", s.ports.portsHeld},
		{"runNeeded", s.launch.runNeeded}, // all is ready: the runner is made
	}
}

// RuleNames are the names that a Decision's Rule may have, in the order in which rules are tried. Metrics count each of
// them from 0.
func RuleNames() (names []string) {
	for _, r := range rules(newSituation(Observed{Test: &v1alpha1.LoadTest{}})) {
		names = append(names, r.name)
	}
	return append(names, "undecided")
}

// Decide says what is to be done now, and what the status says of it. It has no memory but the status and the children,
// and no clock but Observed.ObservedAt. Decide changes nothing. The same observation makes the same decision.
func Decide(o Observed) Decision {
	s := newSituation(o)
	for _, r := range rules(s) {
		if next := r.decide(); next != nil {
			return s.decision(r.name, next)
		}
	}
	return s.decision("undecided", &step{reason: "Undecided", message: "none of the rules knows this situation"})
}

// decision turns the step that a rule wants into what is done and written.
func (s *situation) decision(rule string, next *step) Decision {
	d := Decision{
		Rule: rule, Reason: next.reason, Message: next.message,
		ReadReport: next.readReport, ReadBaseline: next.readBaseline, Try: next.try,
	}
	switch {
	case next.readReport || next.readBaseline || next.try != nil:
		return d
	case s.teardown.lacksProtection(next):
		d.Protect, d.Message = true, "the finalizer "+v1alpha1.FinalizerTeardown+
			" is put on, so that the teardown runs also where the LoadTest is deleted"
		return d
	case next.unprotect:
		d.Unprotect, d.Events = true, next.events
		return d
	}
	d.Delete, d.Create, d.DeleteTest = slices.Concat(next.del,
		s.remnants.voidPlans(next.del)), next.create, next.deleteTest
	d.ClaimPorts = s.portClaims.requests(next)
	var quiet, due time.Time
	d.ReleasePorts, quiet = s.portClaims.released(next)
	previous := &s.status.test.Status
	d.Status, due = throttleStatus(previous, s.status.write(next), s.status.observedAt)
	d.RequeueAt = earliest(earliest(next.requeueAt, due), quiet)
	d.Events = append(s.portClaims.takeovers(d.ClaimPorts), eventsOf(previous, &d.Status)...)
	return d
}
