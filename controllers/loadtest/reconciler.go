package loadtest

import (
	"cmp"
	"context"
	"slices"
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
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/controllers/metrics"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/controllers/policies"
	"github.com/linerate-dev/linerate/controllers/portclaims"
	"github.com/linerate-dev/linerate/controllers/turns"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/report"
)

// Options are what the operator was started with.
type Options struct {
	// Settings are what pods are made with. Runners run in their namespace, which is the operator's own.
	Settings manifests.Settings
	// Namespace is the operator's own. If it is empty, no test can claim a physical port, unless PortLeases
	// names the namespace of the ports' Leases.
	Namespace string
	// PortLeases is the namespace in which all operators of the cluster keep the Leases of physical ports, or
	// empty for the operator's own. PortsUnguarded says that other operators may keep their Leases elsewhere,
	// so this one's tests get no devices that share a port.
	PortLeases     string
	PortsUnguarded bool
	// Namespaces are those whose LoadTests the operator reconciles. An empty list means all.
	Namespaces caches.Namespaces
	// NetworkNamespaces are those whose networks the LoadTests of all namespaces may use, besides those of
	// their own. "*" means all.
	NetworkNamespaces []string
	// Bounds bound what the tests' specs may name.
	Bounds compile.Bounds
	// MaxConcurrentReconciles is how many LoadTests are reconciled at a time. 0 means 16.
	MaxConcurrentReconciles int
	// NetworkPolicies and DisruptionBudgets say whether each namespace with tests gets those objects.
	NetworkPolicies, DisruptionBudgets bool
	// NodesGrow says that an autoscaler adds nodes for Pending pods, so pods are made even though no node has
	// what they need.
	NodesGrow bool
	// Clock is the current time. nil means time.Now.
	Clock func() time.Time
	// Metrics is where SetupWithManager registers metrics. nil means nowhere.
	Metrics prometheus.Registerer
	// MetricsTests is how many LoadTests at most get series of their own.
	MetricsTests int
	// Decoded is how much memory is left for Reports, shared with other readers. nil means that there are none.
	Decoded *caches.Decoded
	// Reports receives the Report of each test that ended, if it isn't nil.
	Reports Reports
}

// Reports receives the Reports of complete tests, for suites.
type Reports interface {
	// Keep receives a test and its Report, which must not be changed, the Report's digest, and how many bytes
	// of memory it takes.
	Keep(test *v1alpha1.LoadTest, digest string, document *report.Report, memory int64)
}

// Reconciler carries LoadTests through their lives. It is safe for concurrent use once it is set up.
type Reconciler struct {
	*clients
	*childObserver
	*reportReader
	*creator
	options Options
	// inventory is what the cluster has, and portClaims are the Leases of physical ports.
	inventory  *inventory.Inventory
	portClaims *portclaims.Leases
	// policies installs the NetworkPolicies and budgets of each namespace with tests.
	policies *policies.Installer
	events   events.EventRecorder
	turns    *turns.Line
	metrics  *metrics.Tests
	// changedNetworks are those whose tests must still be woken.
	changedNetworks *changedNetworks
}

// clients read and write objects.
type clients struct {
	// client writes, and reads through the cache where there is one.
	client client.Client
	// live reads past the cache. It reads Reports, which are too large for the cache, and objects without
	// linerate's labels.
	live client.Reader
	// progress reads the ConfigMaps in which runners report their progress. Of all other ConfigMaps only
	// metadata is cached.
	progress client.Reader
	// ofTest lists objects with a test's label, and ofRuns the objects of its runs in the operator's own
	// namespace. Both use an index where there is a cache.
	ofTest func(test types.UID) client.ListOption
	ofRuns func(test types.NamespacedName) client.ListOption
}

// NewReconciler makes a reconciler that reads and writes through one client, which may lack a cache.
// SetupWithManager gives it caches.
func NewReconciler(c client.Client, recorder events.EventRecorder, options Options) *Reconciler {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Decoded == nil {
		options.Decoded = caches.NewDecoded()
	}
	options.Settings.Namespace = cmp.Or(options.Settings.Namespace, options.Namespace)
	options.Settings.AllowedServers = options.Bounds.Servers
	lab := inventory.New(c, inventory.Bounds{Namespaces: options.Namespaces, Shared: options.NetworkNamespaces,
		PortsUnguarded: options.PortsUnguarded, Tests: options.Bounds})
	api := &clients{client: c, live: c, progress: c, ofTest: byLabel, ofRuns: runsByLabel}
	namespace := options.Settings.Namespace
	children := &childObserver{clients: api, memory: newMemory(), namespace: namespace, clock: options.Clock}
	return &Reconciler{
		clients: api, childObserver: children, creator: &creator{children, newAcceptedPods()},
		reportReader: &reportReader{api, namespace, options.Decoded, options.Reports},
		options:      options, events: recorder, metrics: metrics.NewTests(),
		inventory: lab, turns: turns.New(c, lab, options.Settings, options.Clock),
		policies: policies.New(c, policies.Options{
			NetworkPolicies: options.NetworkPolicies, DisruptionBudgets: options.DisruptionBudgets,
			Namespace: options.Namespace, Clock: options.Clock,
		}),
		portClaims: portclaims.New(c, portclaims.Options{Namespace: cmp.Or(options.PortLeases, options.Namespace),
			Namespaces: options.Namespaces, Clock: options.Clock}),
	}
}

// maxDecisionsPerReconcile bounds the decisions of one pass. The Report, the baseline, the dry run, the
// finalizer, and each of two surprises take one.
const maxDecisionsPerReconcile = 7

// Reconcile makes one pass of a LoadTest: observe, decide, apply.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	start := time.Now()
	observed, err := r.observe(ctx, request.NamespacedName)
	if err != nil || observed == nil {
		return r.outcome(ctx, nil, lifecycle.Decision{}, err)
	}
	defer observed.releaseMemory()
	var decision lifecycle.Decision
	for range maxDecisionsPerReconcile {
		decision = lifecycle.Decide(observed.Observed)
		ctx := withDecision(ctx, observed.Test, decision)
		observedMore, err := r.readWhatDecisionAsks(ctx, observed, decision)
		if err == nil && !observedMore {
			observedMore, err = r.apply(ctx, observed, decision)
		}
		if err != nil || !observedMore {
			r.memory.tryRefused(observed, r.options.Clock(), decision.RequeueAt)
			r.metrics.Decided(decision.Rule, time.Since(start))
			return r.outcome(ctx, observed, decision, err)
		}
	}
	return r.outcome(ctx, observed, decision, pass.ErrUndecided)
}

// outcome turns how a pass of a LoadTest ended into when the next one is due.
func (r *Reconciler) outcome(ctx context.Context, observed *observation, decision lifecycle.Decision,
	err error) (ctrl.Result, error) {
	due := decision.RequeueAt
	if observed != nil && len(observed.Children.Foreign) > 0 {
		due = pass.Earlier(due, r.options.Clock().Add(pass.TakenAgain))
	}
	if observed != nil && !due.IsZero() {
		due = due.Add(fraction(observed.Test.UID))
	}
	return pass.Next(ctx, due, r.options.Clock(), err)
}

// fraction is a part of a second that differs from test to test. Decisions are due at whole seconds, as the API
// server stores times. Without fractions all tests of a cluster would be reconciled as each second begins, and
// wait for each other.
func fraction(test types.UID) time.Duration { return pass.MomentOf(string(test), time.Second) }

// Each log line that concerns a LoadTest has the keys namespace and loadtest, and from its decision on also
// attempt and rule. jq 'select(.loadtest=="NAME")' then shows one test's life.

// logOf is the logger of a pass. A line about no test in particular has neither key.
func logOf(request *reconcile.Request) logr.Logger {
	if request == nil {
		return log.Log
	}
	return log.Log.WithValues("namespace", request.Namespace, "loadtest", request.Name)
}

// withDecision adds the decision to all further lines of the log.
func withDecision(ctx context.Context, test *v1alpha1.LoadTest, decision lifecycle.Decision) context.Context {
	// a decision that asks for more observations has no status
	attempt := max(decision.Status.Attempt, test.Status.Attempt)
	return ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("attempt", attempt, "rule", decision.Rule))
}

// logDecided logs a status that was written. It logs at Info where the test changes its state or its reason to
// wait, and at V(1) otherwise, such as for progress.
func logDecided(log logr.Logger, test *v1alpha1.LoadTest, decision lifecycle.Decision) {
	old, updated := &test.Status, &decision.Status
	if metrics.StateOf(old) == metrics.StateOf(updated) && len(old.Conditions) > 0 &&
		slices.Equal(lifecycle.WaitsFor(old), lifecycle.WaitsFor(updated)) {
		log.V(1).Info("status written", "state", metrics.StateOf(updated), "reason", decision.Reason, "message",
			decision.Message)
		return
	}
	log.Info("state changed", "state", metrics.StateOf(updated), "reason", decision.Reason, "message", decision.Message)
}
