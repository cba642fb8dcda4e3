// Package loadtestsuite makes the LoadTests of suites, one for each cell and repetition, and keeps what they measured: it observes, lets internal/suite decide,
// applies what was decided, and nothing else.
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
	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/suite"
)

// Options are what the operator was started with.
type Options struct {
	// Version is linerate's own, as suites' reports tell it.
	Version string
	// Clock tells the time; nil means time.Now.
	Clock func() time.Time
	// Metrics are told to it by SetupWithManager; nil: to nobody.
	Metrics prometheus.Registerer
	// Decoded is how much memory is left for Reports, shared with whoever else reads some; nil: nobody does.
	Decoded *caches.Decoded
	// Reports are handed over by the reconciler of LoadTests, where the two are in one process; nil: each reads them itself.
	Reports *RecentReports
}

// Reconciler makes the LoadTests of suites, and tells what they measured. It is safe for concurrent use once it is set up.
//
//	LoadTestSuite ──▶ observe ──▶ suite.Decide ──▶ apply ──▶ LoadTests, which the other reconciler carries through their lives
//	                     ▲            │ a closer look first: are the cells what a LoadTest must be? what do the Reports say?
//	                     └────────────┘
type Reconciler struct {
	options Options
	client  client.Client
	// live reads past the cache: Reports and pages of runs, which are too large to be kept.
	live client.Reader
	// ofSuite lists a suite's LoadTests: by an index where there is a cache.
	ofSuite func(uid types.UID) []client.ListOption
	events  events.EventRecorder
	memory  *memory
	metrics *metrics.Suites
	// judge says what is wrong with a LoadTest that is to be made, as the API server would, and then as the other reconciler would.
	judge suite.Judge
	// definitions are those of this release: with their defaults a test is held against what its suite makes.
	definitions *admission.Server
}

// NewReconciler makes a reconciler that reads and writes through one client. It works as it is with a client without a cache;
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
		options: options, client: c, live: c, ofSuite: bySuiteLabel, events: recorder, memory: newMemory(), metrics: metrics.NewSuites(),
		judge: suite.JudgeWith(server, suite.InCluster), definitions: server,
	}, nil
}

const (
	// checksAtOnce is how many cells one pass holds against what a LoadTest must be.
	checksAtOnce = 16
	// suiteLooks is how many closer looks a pass may need: one of each kind, and the decision.
	suiteLooks = 7
)

// errMore is that a pass did as much as one does; the next one goes on at once. So no pass takes long, however large the suite is, and what is
// noticed meanwhile, such as that it is to stop, counts from the next one.
var errMore = pass.Wait("the rest is for the next pass", time.Millisecond)

// Reconcile looks at one LoadTestSuite, and does some of what is to be done now.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	seen, err := r.observe(ctx, request.NamespacedName)
	if err != nil || seen == nil {
		return r.outcome(ctx, time.Time{}, err)
	}
	for range suiteLooks {
		decision := suite.Decide(seen.Observed)
		ctx := ctrl.LoggerInto(ctx, ctrl.LoggerFrom(ctx).WithValues("rule", decision.Rule))
		switch {
		case decision.Check:
			err = r.check(seen)
		case len(decision.Read) > 0:
			err = r.readRuns(ctx, seen, decision.Read)
		case len(decision.Store) > 0:
			err = r.storing(ctx, seen, func() error { return r.storePages(ctx, seen, decision) })
		case decision.Announce:
			_, err = r.writeStatus(ctx, seen, decision)
		case decision.ReadBaseline:
			err = r.readReference(ctx, seen)
		case decision.ReadEarlier:
			err = r.takeCalibrations(ctx, seen)
		default:
			err = r.apply(ctx, seen, decision)
			due := r.due(seen, decision)
			if at := seen.notes.await(); !at.IsZero() {
				due = pass.Earlier(due, at)
			}
			return r.outcome(ctx, due, err)
		}
		if err != nil {
			return r.outcome(ctx, time.Time{}, err)
		}
	}
	return r.outcome(ctx, time.Time{}, pass.ErrUndecided)
}

// due is when time alone changes the decision. Where more tests are to be made than may be now, that isn't at once.
func (r *Reconciler) due(seen *observation, decision suite.Decision) time.Time {
	_, from := seen.notes.mayTry(r.options.Clock())
	if len(decision.Create) > 0 && !decision.RequeueAt.IsZero() && decision.RequeueAt.Before(from) {
		return from
	}
	return decision.RequeueAt
}

// check holds some of the cells against what a LoadTest must be.
func (r *Reconciler) check(seen *observation) error {
	c := seen.notes.checking
	if c == nil {
		c = suite.NewChecking(seen.Matrix)
		seen.notes.checking = c
	}
	if c.Next(r.judge, checksAtOnce); !c.Done() {
		return errMore
	}
	seen.Checked, seen.Faults = true, c.Faults
	return nil
}

// outcome turns how a pass of a suite ended into when the next one is due.
func (r *Reconciler) outcome(ctx context.Context, due time.Time, err error) (ctrl.Result, error) {
	return pass.Next(ctx, due, r.options.Clock(), err)
}
