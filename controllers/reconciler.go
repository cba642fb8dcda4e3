// Package controllers brings LoadTests about in a cluster: it observes, lets internal/lifecycle decide, applies what was decided, and
// nothing else.
//
//	API server ──watch──▶ caches ──▶ observe ──▶ lifecycle.Decide ──▶ apply ──▶ API server
//	                                    ▲            │ a closer look first: the Report, a dry run, a name that is taken
//	                                    └────────────┘
package controllers

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// Options are what the operator was started with.
type Options struct {
	// Settings are what pods are made with.
	Settings manifests.Settings
	// Namespace is the operator's own: the Leases of physical ports are kept there. Empty: no test can take any.
	Namespace string
	// Namespaces are those whose LoadTests are looked after; none means all.
	Namespaces []string
	// NetworkNamespaces are those whose networks the LoadTests of all namespaces may use, besides those of their own; "*" means all.
	NetworkNamespaces []string
	// MaxConcurrentReconciles is how many LoadTests are carried on side by side, and of how many runners are given their access; 0 means 16.
	MaxConcurrentReconciles int
	// Version is linerate's own, as suites' reports tell it.
	Version string
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
	// Metrics are told to it by SetupWithManager; nil: to nobody.
	Metrics prometheus.Registerer
	// MetricsTests is of how many LoadTests at most there are figures of their own.
	MetricsTests int
	// Reports are handed by the one reconciler to the other, where they are in one process; nil: each reads them itself.
	Reports *RecentReports
}

// LoadTestReconciler carries LoadTests through their lives. It is safe for concurrent use once it is set up.
type LoadTestReconciler struct {
	options Options
	// client writes, and reads through the cache where there is one.
	client client.Client
	// live reads past the cache: a Report, which is too large to be kept, and whose an object is that bears no label of ours.
	live client.Reader
	// progress reads the ConfigMaps of running tests whole; all other ConfigMaps are cached as metadata.
	progress client.Reader
	networks networkReader
	// leases reads the Leases of physical ports.
	leases client.Reader
	// ofTest lists what bears a test's label: by an index where there is a cache.
	ofTest func(test types.UID) client.ListOption
	// waitsForLab chooses the tests that wait for something, or with them others: where there is no index it is all of them.
	waitsForLab func() []client.ListOption
	// access grants runners their access; nil: each pass does it itself, as nobody else is there.
	access  *accessController
	events  events.EventRecorder
	memory  *memory
	turns   *turns
	metrics *metrics
}

// NewLoadTestReconciler makes a reconciler that reads and writes through one client. It works as it is with a client without a cache;
// SetupWithManager gives it caches.
func NewLoadTestReconciler(c client.Client, recorder events.EventRecorder, options Options) *LoadTestReconciler {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	r := &LoadTestReconciler{
		options: options, client: c, live: c, progress: c, networks: liveNetworks{c}, leases: c, ofTest: byLabel,
		waitsForLab: func() []client.ListOption { return nil }, events: recorder, memory: newMemory(),
		metrics: newMetrics(),
	}
	r.turns = newTurns(r)
	return r
}

// closerLooks bounds how often a decision is made again in one pass: for the Report, the baseline, the dry run, and each of two surprises.
const closerLooks = 6

// Reconcile looks at one LoadTest, and does what is to be done now.
func (r *LoadTestReconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	begun := time.Now()
	seen, err := r.observe(ctx, request.NamespacedName)
	if err != nil || seen == nil {
		return r.outcome(ctx, nil, lifecycle.Decision{}, err)
	}
	var decision lifecycle.Decision
	for range closerLooks {
		decision = lifecycle.Decide(seen.Observed)
		ctx := withDecision(ctx, seen.Test, decision)
		again, err := r.lookCloser(ctx, seen, decision)
		if err == nil && !again {
			again, err = r.apply(ctx, seen, decision)
		}
		if err != nil || !again {
			r.metrics.decided(decision.Rule, time.Since(begun))
			return r.outcome(ctx, seen, decision, err)
		}
	}
	return r.outcome(ctx, seen, decision, errUndecided)
}
