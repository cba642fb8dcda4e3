package loadtestsuite

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/metrics"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// Options are what the operator was started with.
type Options struct {
	// Namespace is the operator's own, in which it stores what suites measured. Namespaces are those whose
	// suites it reconciles, and an empty list means all.
	Namespace  string
	Namespaces caches.Namespaces
	// Version is linerate's version, for suites' reports.
	Version string
	// Bounds bound what the tests' specs may name.
	Bounds compile.Bounds
	// Clock is the current time. nil means time.Now.
	Clock func() time.Time
	// Metrics is where SetupWithManager registers metrics. nil means nowhere.
	Metrics prometheus.Registerer
	// Decoded is how much memory is left for Reports, shared with other readers. nil means that there are none.
	Decoded *caches.Decoded
	// Reports has the Reports from the reconciler of LoadTests. If it is nil, this reconciler reads all Reports
	// itself.
	Reports *RecentReports
}

// Reconciler makes the LoadTests of suites, and reports what they measured. It is safe for concurrent use once
// it is set up.
//
//	LoadTestSuite ──▶ observe ──▶ suite.Decide ──▶ apply ──▶ LoadTests
//	                     ▲            │ first the cells are checked, and Reports read
//	                     └────────────┘
type Reconciler struct {
	options Options
	client  client.Client
	// live reads past the cache. It reads Reports and sheets of runs, which are too large for the cache. sheets
	// reads the metadata of sheets.
	live, sheets client.Reader
	// ofSuite lists a suite's LoadTests, by an index where there is a cache.
	ofSuite func(uid types.UID) []client.ListOption
	events  events.EventRecorder
	memory  *memory
	metrics *metrics.Suites
	// judge says what is wrong with a cell's LoadTest. It reports first what the API server would refuse, then
	// what the other reconciler would.
	judge suite.Judge
	// definitions are the CRDs of this release. Their defaults are needed to compare a test with the one that
	// its suite makes.
	definitions *admission.Server
}

// NewReconciler makes a reconciler that reads and writes through one client, which may lack a cache.
// SetupWithManager gives it caches.
func NewReconciler(c client.Client, recorder events.EventRecorder, options Options) (*Reconciler, error) {
	server, err := admission.NewServer()
	if err != nil {
		return nil, err
	}
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Decoded == nil {
		options.Decoded = caches.NewDecoded()
	}
	return &Reconciler{
		options: options, client: c, live: c, sheets: c, ofSuite: bySuiteLabel, events: recorder, memory: newMemory(),
		metrics: metrics.NewSuites(),
		judge:   suite.JudgeWith(server, suite.InClusterWith(options.Bounds)), definitions: server,
	}, nil
}

const (
	// checksAtOnce is how many cells one pass validates.
	checksAtOnce = 16
	// suiteLooks bounds the decisions of one pass. Each kind of further observation takes one.
	suiteLooks = 8
)

// errMore means that this pass did its share, and the next one continues at once. So no pass takes long,
// however large the suite is, and a change, such as spec.stop, counts from the next pass on.
var errMore = pass.Wait("the rest is for the next pass", time.Millisecond)

// Reconcile makes one pass of a LoadTestSuite: observe, decide, apply.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	observed, err := r.observe(ctx, request.NamespacedName)
	if err != nil || observed == nil {
		return r.outcome(ctx, time.Time{}, err)
	}
	for range suiteLooks {
		decision := suite.Decide(observed.Observed)
		ctx := ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("rule", decision.Rule))
		switch {
		case decision.Check:
			err = r.check(observed)
		case len(decision.Read) > 0:
			err = r.readRuns(ctx, observed, decision.Read)
		case decision.Store:
			err = r.storing(ctx, observed, func() error { return r.storeRuns(ctx, observed) })
		case decision.ReadBaseline:
			observed.Reference, err = r.readReference(ctx, observed)
		case decision.ReadAhead:
			err = r.readAhead(ctx, observed)
		case decision.ReadEarlier:
			err = r.takeCalibrations(ctx, observed)
		default:
			err = r.apply(ctx, observed, decision)
			due := r.due(observed, decision)
			if expiry := observed.notes.await(); !expiry.IsZero() {
				due = pass.Earlier(due, expiry)
			}
			return r.outcome(ctx, due, err)
		}
		if err != nil {
			return r.outcome(ctx, time.Time{}, err)
		}
	}
	return r.outcome(ctx, time.Time{}, pass.ErrUndecided)
}

// due is when time alone changes the decision. If tests wait for the pace, it is when the next one may be made.
func (r *Reconciler) due(observed *observation, decision suite.Decision) time.Time {
	_, earliest := observed.notes.mayTry(r.options.Clock())
	if len(decision.Create) > 0 && !decision.RequeueAt.IsZero() && decision.RequeueAt.Before(earliest) {
		return earliest
	}
	return decision.RequeueAt
}

// check validates some of the cells as LoadTests.
func (r *Reconciler) check(observed *observation) error {
	c := observed.notes.checking
	if c == nil {
		c = suite.NewChecking(observed.Matrix)
		observed.notes.checking = c
	}
	if c.Next(r.judge, checksAtOnce); !c.Finished() {
		return errMore
	}
	observed.Checked, observed.Faults = true, c.Faults
	return nil
}

// outcome turns how a pass of a suite ended into when the next one is due.
func (r *Reconciler) outcome(ctx context.Context, due time.Time, err error) (ctrl.Result, error) {
	return pass.Next(ctx, due, r.options.Clock(), err)
}
