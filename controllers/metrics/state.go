package metrics

import (
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// The states of a LoadTest say its conditions in a word.
//
//	waiting ──▶ starting ──▶ running ──▶ ending ──▶ measured | stopped | failed
//	   ▲           │            │
//	   └─ suspended ◀───────────┘
const (
	// stateWaiting means that some of the test's pods have no node yet.
	stateWaiting = "waiting"
	// stateStarting means that all pods have nodes, and some aren't ready.
	stateStarting = "starting"
	// stateRunning means that the runner exists, or is being made.
	stateRunning = "running"
	// stateEnding means that the end is decided, pods are given back, and the device is torn down.
	stateEnding = "ending"
	// stateSuspended means spec.suspend.
	stateSuspended = "suspended"
	// stateMeasured, stateStopped and stateFailed are the ends, with a figure, by spec.stop, or with neither.
	stateMeasured = "measured"
	stateStopped  = "stopped"
	stateFailed   = "failed"
)

func allStates() []string {
	return []string{stateWaiting, stateStarting, stateRunning, stateEnding, stateSuspended, stateMeasured, stateStopped,
		stateFailed}
}

// StateOf is a test's state, in a word.
func StateOf(status *v1alpha1.LoadTestStatus) string {
	return strings.ToLower(string(lifecycle.PhaseOf(status)))
}

// waitsSince is when a test began to wait, which is its creation, or its resumption.
func waitsSince(test *v1alpha1.LoadTest) time.Time {
	if c := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionReconciling); c != nil {
		return c.LastTransitionTime.Time
	}
	return test.CreationTimestamp.Time
}
