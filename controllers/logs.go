package controllers

import (
	"context"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/lifecycle"
)

// Each line that concerns a LoadTest has the keys namespace and loadtest; once there is a decision also attempt and rule: one test's life
// is what jq 'select(.loadtest=="NAME")' leaves.

// logOf is the logger of a pass. What is logged about no test in particular has neither key.
func logOf(request *reconcile.Request) logr.Logger {
	if request == nil {
		return log.Log
	}
	return log.Log.WithValues("namespace", request.Namespace, "loadtest", request.Name)
}

// withDecision lets all lines that follow say which decision they are of.
func withDecision(ctx context.Context, test *v1alpha1.LoadTest, decision lifecycle.Decision) context.Context {
	attempt := max(decision.Status.Attempt, test.Status.Attempt) // a closer look is wanted by a decision without a status
	return ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("attempt", attempt, "rule", decision.Rule))
}

// logDecided logs a status that was written: where the test changes its state, or waits for something else, for everybody; the rest, such as
// progress, for who looks closer.
func logDecided(log logr.Logger, test *v1alpha1.LoadTest, decision lifecycle.Decision) {
	was, is := &test.Status, &decision.Status
	if stateOf(was) == stateOf(is) && waitsFor(was) == waitsFor(is) && len(was.Conditions) > 0 {
		log.V(1).Info("status written", "state", stateOf(is), "reason", decision.Reason, "message", decision.Message)
		return
	}
	log.Info("state changed", "state", stateOf(is), "reason", decision.Reason, "message", decision.Message)
}
