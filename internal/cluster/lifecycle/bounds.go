package lifecycle

import (
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// How long the operator waits, and how often it writes. Each wait usually ends much sooner than its bound.
const (
	// progressEvery is how often details are written into a status, such as how far a run is. Everything else is
	// written at once.
	progressEvery = 15 * time.Second
	// endedEvery is the same for the news that a run's traffic is over, since the Report follows in a moment, and says
	// more.
	endedEvery = 2 * progressEvery
	// stepEvery is how often the pods' nodes and readiness are written. The run begins a moment later, and its
	// beginning is written at once.
	stepEvery = 3 * time.Second
	// reportGrace is how long a run that lost a generator is given to notice, drain and write its Report.
	reportGrace = time.Minute
	// wordsGrace is how long after a Report with a lost generator the operator waits for kubelet's word on the
	// generator's pod.
	wordsGrace = 10 * time.Second
	// silenceGrace is how long a node may be silent in a run. Kubernetes itself leaves pods on such a node for as long.
	silenceGrace = 5 * time.Minute
	// stopGrace is added to the runner's own time for ending (its pod's grace period).
	stopGrace = 30 * time.Second
	// deadlineMargin is how much longer than spec.activeDeadline a run may take before the operator ends it. The runner
	// has the same deadline, and writes the better Report.
	deadlineMargin = 90 * time.Second
	// clockMargin is how far the clocks of API server, scheduler, controllers and operator may be apart. What befell a
	// pod so soon after the end of the run may have come before that end. No figure depends on the clocks of nodes.
	clockMargin = 30 * time.Second
	// hookMargin is how much longer than its deadline a setup or teardown pod is waited for, since the kubelet has the
	// same deadline.
	hookMargin = 30 * time.Second
	// deletionMargin is how much longer than its teardown's deadline a LoadTest that is being deleted is kept for the
	// teardown. The runner has to stop, pods have to go, and the teardown pod needs a node.
	deletionMargin = 5 * time.Minute
	// teardownAgain is when a teardown pod is tried again that the API server didn't take.
	teardownAgain = 15 * time.Second
	// goneGrace is how long after its deletion was due a pod on a node that is lost is waited for.
	goneGrace = time.Minute
	// attachGrace is how long a pod may be without its networks and volumes before the status calls that a problem.
	attachGrace = time.Minute
	// meetGrace is how long a tunnel's gateways may run without having met before the status calls that a problem. They
	// need a second.
	meetGrace = 30 * time.Second
	// podlessGrace is how long the runner's Job may be without a pod before the status calls that a problem. A Job
	// pauses less between two pods.
	podlessGrace = time.Minute
	// vitalsGrace is how long the run waits for the pods that read for observers. Nodes have the image of these pods
	// already, and start them in a second or two.
	vitalsGrace = 30 * time.Second
	// placeBound is how long pods of a test may be without nodes while its other pods have theirs, or while other tests
	// wait for the same devices. A scheduler takes seconds, so a longer wait means that somebody else has the devices.
	placeBound = 2 * time.Minute
	// growBound is the same where nodes are added for pods that wait. A cloud takes minutes to make a node, and some
	// more until the node has its devices.
	growBound = 20 * time.Minute
	// nodeBound is how long a test's pods wait for the nodes that its spec names, once it is the test's turn. A person
	// who reads that a node is cordoned needs some minutes to uncordon it, and the suite goes on with its other cells.
	nodeBound = 30 * time.Minute
	// startBound is how long a test may hold devices that other tests wait for while one of its pods can't start
	// for a reason that waiting won't mend, such as a missing image. kubelet tries again every five minutes at the
	// latest.
	startBound = 10 * time.Minute
	// restartBound is the same for a test that has already given its pods back for that reason, so that others don't
	// wait ten minutes again and again.
	restartBound = 2 * time.Minute
	// keepBound is how long the operator tries to keep a Report beyond its test while the API server can't take it. A
	// missing admission webhook may stay missing, and the test is over.
	keepBound = 5 * time.Minute
	// maxExcludedNodes is how many nodes may refuse pods of a test before it waits for somebody to look.
	maxExcludedNodes = 32
)

// The dry run of pods is made again while they are refused, soon at first, then less and less often.
const (
	retryTransientFirst, retryTransientLast = 2 * time.Second, time.Minute
	retryRefusedFirst, retryRefusedLast     = 10 * time.Second, 5 * time.Minute
)

// backoff is how long to wait next, which is half of the wait until now, within bounds. Only the start of the wait
// needs to be remembered.
func backoff(waited, shortest, longest time.Duration) time.Duration {
	return min(max(waited/2, shortest), longest)
}

// duration reads a duration of the spec. The schema has made sure that it can be read. 0 means none.
func duration(d v1alpha1.Duration) time.Duration {
	parsed, _ := d.Std()
	return parsed
}

// earliest is the earlier of two moments, where zero means never.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || (!b.IsZero() && b.Before(a)) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
