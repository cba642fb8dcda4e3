// Package loadtest brings LoadTests about in a cluster: it observes, lets internal/lifecycle decide, applies what was decided, and
// nothing else.
//
//	API server ──watch──▶ caches ──▶ observe ──▶ lifecycle.Decide ──▶ apply ──▶ API server
//	                                    ▲            │ a closer look first: the Report, a dry run, a name that is taken
//	                                    └────────────┘
package loadtest

import (
	"cmp"
	"context"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/guards"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/controllers/metrics"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/controllers/turns"
	"github.com/linerate-dev/linerate/controllers/wires"
	"github.com/linerate-dev/linerate/internal/lifecycle"
	"github.com/linerate-dev/linerate/internal/manifests"
	"github.com/linerate-dev/linerate/internal/report"
)

// Options are what the operator was started with.
type Options struct {
	// Settings are what pods are made with. Runners run in their namespace, which is the operator's own.
	Settings manifests.Settings
	// Namespace is the operator's own. Empty: no test can take a physical port, unless PortLeases says where their Leases are kept.
	Namespace string
	// PortLeases is the namespace in which all operators of the cluster keep the Leases of physical ports; empty: the operator's own. PortsUnguarded: other
	// operators may keep theirs elsewhere, so tests get no devices that share ports.
	PortLeases     string
	PortsUnguarded bool
	// Namespaces are those whose LoadTests are looked after; none means all.
	Namespaces caches.Namespaces
	// NetworkNamespaces are those whose networks the LoadTests of all namespaces may use, besides those of their own; "*" means all.
	NetworkNamespaces []string
	// MaxConcurrentReconciles is how many LoadTests are carried on side by side; 0 means 16.
	MaxConcurrentReconciles int
	// NetworkPolicies and DisruptionBudgets are put up in each namespace that has tests.
	NetworkPolicies, DisruptionBudgets bool
	// NodesGrow: nodes are added for pods that wait for some, so that pods are made although no node has what they need.
	NodesGrow bool
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
	// Metrics are told to it by SetupWithManager; nil: to nobody.
	Metrics prometheus.Registerer
	// MetricsTests is of how many LoadTests at most there are figures of their own.
	MetricsTests int
	// Decoded is how much memory is left for Reports, shared with whoever else reads some; nil: nobody does.
	Decoded *caches.Decoded
	// Reports are handed the Report of each test that ended, as it was read; nil: nobody is.
	Reports Reports
}

// Reports is who wants to know what tests measured, such as the suites that they are of.
type Reports interface {
	// Keep is given a test and its Report, which nobody may change, the Report's digest, and how many bytes of memory it may take.
	Keep(test *v1alpha1.LoadTest, digest string, document *report.Report, memory int64)
}

// Reconciler carries LoadTests through their lives. It is safe for concurrent use once it is set up.
type Reconciler struct {
	options Options
	// client writes, and reads through the cache where there is one.
	client client.Client
	// live reads past the cache: a Report, which is too large to be kept, and whose an object is that bears no label of ours.
	live client.Reader
	// progress reads the ConfigMaps whole that runners tell their progress in; all other ConfigMaps are cached as metadata.
	progress client.Reader
	// inventory is what the cluster has, wires are the physical ports that are somebody's.
	inventory *inventory.Inventory
	wires     *wires.Leases
	// guards stand in each namespace of tests.
	guards *guards.Guards
	// ofTest lists what bears a test's label, ofRuns what runs of tests of a name left in the operator's own namespace: by an index where there is a cache.
	ofTest  func(test types.UID) client.ListOption
	ofRuns  func(test types.NamespacedName) client.ListOption
	events  events.EventRecorder
	memory  *memory
	welcome *welcome
	turns   *turns.Line
	metrics *metrics.Tests
}

// NewReconciler makes a reconciler that reads and writes through one client. It works as it is with a client without a cache;
// SetupWithManager gives it caches.
func NewReconciler(c client.Client, recorder events.EventRecorder, options Options) *Reconciler {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Decoded == nil {
		options.Decoded = caches.NewDecoded()
	}
	options.Settings.Namespace = cmp.Or(options.Settings.Namespace, options.Namespace)
	lab := inventory.New(c, inventory.Bounds{Namespaces: options.Namespaces, Shared: options.NetworkNamespaces, PortsUnguarded: options.PortsUnguarded})
	return &Reconciler{
		options: options, client: c, live: c, progress: c, ofTest: byLabel, ofRuns: runsByLabel, events: recorder, memory: newMemory(), welcome: newWelcome(), metrics: metrics.NewTests(),
		inventory: lab, turns: turns.New(c, lab, options.Settings, options.Clock),
		guards: guards.New(c, guards.Options{
			NetworkPolicies: options.NetworkPolicies, DisruptionBudgets: options.DisruptionBudgets, Namespace: options.Namespace, Clock: options.Clock,
		}),
		wires: wires.New(c, byLabel, wires.Options{Namespace: cmp.Or(options.PortLeases, options.Namespace), Namespaces: options.Namespaces, Clock: options.Clock}),
	}
}

// closerLooks bounds how often a decision is made again in one pass: for the Report, the baseline, the dry run, the finalizer, and each of two surprises.
const closerLooks = 7

// Reconcile looks at one LoadTest, and does what is to be done now.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	begun := time.Now()
	seen, err := r.observe(ctx, request.NamespacedName)
	if err != nil || seen == nil {
		return r.outcome(ctx, nil, lifecycle.Decision{}, err)
	}
	defer seen.letGo()
	var decision lifecycle.Decision
	for range closerLooks {
		decision = lifecycle.Decide(seen.Observed)
		ctx := withDecision(ctx, seen.Test, decision)
		again, err := r.lookCloser(ctx, seen, decision)
		if err == nil && !again {
			again, err = r.apply(ctx, seen, decision)
		}
		if err != nil || !again {
			r.metrics.Decided(decision.Rule, time.Since(begun))
			return r.outcome(ctx, seen, decision, err)
		}
	}
	return r.outcome(ctx, seen, decision, pass.ErrUndecided)
}

// outcome turns how a pass of a LoadTest ended into when the next one is due.
func (r *Reconciler) outcome(ctx context.Context, seen *observation, decision lifecycle.Decision, err error) (ctrl.Result, error) {
	due := decision.RequeueAt
	if seen != nil && len(seen.Children.Foreign) > 0 {
		due = pass.Earlier(due, r.options.Clock().Add(pass.TakenAgain))
	}
	if seen != nil && !due.IsZero() {
		due = due.Add(fraction(seen.Test.UID))
	}
	return pass.Next(ctx, due, r.options.Clock(), err)
}

// fraction is a part of a second that is a test's own. What is decided upon are whole seconds, as the API server keeps them: without it all tests of a
// lab would be looked at in one moment, as each second begins, and wait for each other.
func fraction(test types.UID) time.Duration { return pass.MomentOf(string(test), time.Second) }

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
	if metrics.StateOf(was) == metrics.StateOf(is) && metrics.WaitsFor(was) == metrics.WaitsFor(is) && len(was.Conditions) > 0 {
		log.V(1).Info("status written", "state", metrics.StateOf(is), "reason", decision.Reason, "message", decision.Message)
		return
	}
	log.Info("state changed", "state", metrics.StateOf(is), "reason", decision.Reason, "message", decision.Message)
}
