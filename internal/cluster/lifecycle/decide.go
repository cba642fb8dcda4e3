package lifecycle

import (
	"slices"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// rule recognizes one situation: decide returns nil where the test isn't in it.
type rule struct {
	name   string
	decide func(*view) *step
}

// rules are the situations in order of precedence: the first that applies decides. This order is the specification.
func rules() []rule {
	return []rule{
		{"deleted", deleted},                                       // being deleted: its teardown runs, garbage collection does the rest
		{"finished", finished},                                     // complete: nothing but releasing what is left, and the time to live
		{"ending", resumeEnding},                                   // it was decided that and why it ends; carried on until complete
		{"invalid", invalid},                                       // it can't be measured as it is written
		{"evictedByKueue", evictedByKueue},                         // Kueue took the quota back: the attempt is void
		{"reportArrived", reportArrived},                           // the run came to its own end
		{"stopRequested", stopRequested},                           // spec.stop
		{"suspended", suspended},                                   // spec.suspend: the attempt is void, nothing is held
		{"activeDeadlineExceeded", activeDeadlineExceeded},         // the run takes longer than its own deadline allows it
		{"schedulingDeadlineExceeded", schedulingDeadlineExceeded}, // its pods aren't all running in time
		{"formerRunner", formerRunner},                             // a release before this one runs the runner in the test's namespace: the attempt is void
		{"earlierAttempt", earlierAttempt},                         // pods of an attempt that is void must go first
		{"nodeRefusedPod", nodeRefusedPod},                         // a node has no room in one NUMA node, or none any more: another attempt avoids it
		{"outlived", outlived},                                     // pods waited so long for others that their own time is over: another attempt
		{"portSpoofed", portSpoofed},                               // a pod told of another device than its node gave it
		{"portShared", portShared},                                 // two ends of its links are on one physical port
		{"halfPlaced", halfPlaced},                                 // not all pods found nodes in time: all are given back
		{"setupFailed", setupFailed},                               // the setup pod ended badly
		{"weakQoS", weakQoS},                                       // a generator's CPUs aren't its own
		{"measuringPodLost", measuringPodLost},                     // a generator's or the DUT's pod failed, was deleted, or lost its node
		{"runnerFailed", runnerFailed},                             // no runner is left that could write a Report
		{"running", running},                                       // the runner is at it
		{"nameTaken", nameTaken},                                   // objects of somebody else's bear names of the test's children
		{"networksMissing", networksMissing},                       // no Multus, or not the networks that the links name
		{"resourcesMissing", resourcesMissing},                     // no node has the devices or huge pages
		{"portsAwaited", portsAwaited},                             // another test is on the ports that the last pods were given back for
		{"queued", queued},                                         // other tests have the devices, or come first
		{"settingUp", settingUp},                                   // the setup pod is made, or runs
		{"podsNeeded", podsNeeded},                                 // pods are tried, refused or made
		{"gated", gated},                                           // Kueue hasn't admitted the pods
		{"unscheduled", unscheduled},                               // pods wait for their nodes
		{"starting", starting},                                     // pods have nodes, and aren't ready
		{"unobserved", unobserved},                                 // observers wait for the pods that read for them, for a moment
		{"readyDelay", readyDelay},                                 // all is ready; the DUT is given its time
		{"portsHeld", portsHeld},                                   // another test is on a physical port of its pods'
		{"runNeeded", runNeeded},                                   // all is ready: the runner is made
	}
}

// Decide says what is to be done now, and what to say of it. It has no memory but the status and the children, no clock but o.Now, and
// changes nothing: the same observation makes the same decision.
func Decide(o Observed) Decision {
	v := newView(o)
	for _, r := range rules() {
		if s := r.decide(v); s != nil {
			return v.decision(r.name, s)
		}
	}
	return v.decision("undecided", &step{reason: "Undecided", message: "none of the rules knows this situation"})
}

// decision turns what a rule wants into what is to be done and said.
func (v *view) decision(name string, s *step) Decision {
	d := Decision{Rule: name, Reason: s.reason, Message: s.message, ReadReport: s.readReport, ReadBaseline: s.readBaseline, Try: s.try}
	switch {
	case s.readReport || s.readBaseline || s.try != nil:
		return d
	case v.unprotected(s):
		d.Protect, d.Message = true, "the finalizer "+v1alpha1.FinalizerTeardown+" is put on, so that the teardown runs also where the LoadTest is deleted"
		return d
	case s.unprotect:
		d.Unprotect, d.Events = true, s.events
		return d
	}
	d.Delete, d.Create, d.DeleteTest = slices.Concat(s.del, v.voidPlans(s.del)), s.create, s.deleteTest
	d.Take = v.takes(s)
	var quiet time.Time
	d.GiveBack, quiet = v.givesBack(s)
	var due time.Time
	d.Status, due = restrained(v, statusOf(v, s))
	d.RequeueAt = earliest(earliest(s.requeueAt, due), quiet)
	d.Events = append(v.takeovers(d.Take), eventsOf(v.was, &d.Status)...)
	return d
}
