package metrics

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
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
	complete := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionComplete)
	switch {
	case complete == nil:
		return stateWaiting
	case complete.Status == metav1.ConditionTrue:
		return endState(complete.Reason)
	case complete.Reason == v1alpha1.ReasonRunning:
		return stateRunning
	case complete.Reason != v1alpha1.ReasonWaiting:
		return stateEnding
	case reasonOf(status, v1alpha1.ConditionScheduled) == v1alpha1.ReasonSuspended:
		return stateSuspended
	case meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionScheduled):
		return stateStarting
	}
	return stateWaiting
}

func endState(reason string) string {
	switch reason {
	case v1alpha1.ReasonMeasured:
		return stateMeasured
	case v1alpha1.ReasonStopped:
		return stateStopped
	}
	return stateFailed
}

// WaitsFor is the reason of the first condition that keeps a test from running.
func WaitsFor(status *v1alpha1.LoadTestStatus) string {
	for _, kind := range []string{v1alpha1.ConditionScheduled, v1alpha1.ConditionGeneratorsReady,
		v1alpha1.ConditionDUTReady} {
		if c := meta.FindStatusCondition(status.Conditions, kind); c != nil && c.Status == metav1.ConditionFalse {
			return c.Reason
		}
	}
	return v1alpha1.ReasonPending // the operator hasn't reconciled it yet, or makes its runner right now
}

// waitsSince is when a test began to wait, which is its creation, or its resumption.
func waitsSince(test *v1alpha1.LoadTest) time.Time {
	if c := meta.FindStatusCondition(test.Status.Conditions, v1alpha1.ConditionReconciling); c != nil {
		return c.LastTransitionTime.Time
	}
	return test.CreationTimestamp.Time
}
