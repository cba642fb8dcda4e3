package metrics

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
)

// Tests counts what happens to LoadTests. It is safe for concurrent use.
type Tests struct {
	decisions, lostRuns, completed, verdicts *prometheus.CounterVec
	conflicts                                prometheus.Counter
	scheduling, completion                   prometheus.Histogram
	passes                                   *prometheus.HistogramVec
}

// NewTests returns counters that have counted nothing.
func NewTests() *Tests {
	m := &Tests{
		decisions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linerate_decisions_total", Help: "Decisions made upon LoadTests, by the rule that made them.",
		}, []string{"rule"}),
		conflicts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "linerate_status_conflicts_total",
			Help: "Status writes that came too late: the LoadTest had changed since it was read, and was read again.",
		}),
		lostRuns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linerate_lost_runs_total",
			Help: "Runs that began and don't count: the runner was lost, or the test was suspended.",
		}, []string{"reason"}),
		completed: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linerate_completed_loadtests_total",
			Help: "LoadTests that ended, by the reason of their condition Complete.",
		}, []string{"reason"}),
		verdicts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "linerate_verdicts_total", Help: "LoadTests that ended, by verdict.",
		}, []string{"verdict"}),
		scheduling: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "linerate_scheduling_duration_seconds",
			Help: "Time from a LoadTest's creation until all its pods had nodes.", Buckets: lifeBuckets(),
		}),
		completion: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "linerate_completion_duration_seconds", Help: "Time from a LoadTest's creation to its end.",
			Buckets: lifeBuckets(),
		}),
		passes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "linerate_pass_duration_seconds",
			Help:    "Time that a reconcile of a LoadTest took, writes included, by the rule that decided.",
			Buckets: passBuckets(),
		}, []string{"rule"}),
	}
	m.begin()
	return m
}

// begin exports each possible series as 0, since Prometheus sees no increase where a series begins with 1.
func (m *Tests) begin() {
	for _, rule := range lifecycle.RuleNames() {
		m.decisions.WithLabelValues(rule)
	}
	for _, reason := range endReasons() {
		m.completed.WithLabelValues(reason)
	}
	for _, verdict := range []string{verdictPassed, verdictFailed, verdictUndecided, verdictNone} {
		m.verdicts.WithLabelValues(verdict)
	}
	for _, reason := range []string{v1alpha1.ReasonSuspended, v1alpha1.ReasonRunnerFailed, v1alpha1.ReasonEvicted} {
		m.lostRuns.WithLabelValues(reason)
	}
}

// endReasons are the reasons of Complete when it is True.
func endReasons() []string {
	return []string{
		v1alpha1.ReasonMeasured, v1alpha1.ReasonNotMeasured, v1alpha1.ReasonStopped, v1alpha1.ReasonInvalid,
		v1alpha1.ReasonDeadlineExceeded,
		v1alpha1.ReasonSchedulingDeadline, v1alpha1.ReasonSetupFailed, v1alpha1.ReasonDUTFailed,
		v1alpha1.ReasonGeneratorFailed,
		v1alpha1.ReasonGeneratorLost, v1alpha1.ReasonPathNotProven, v1alpha1.ReasonSharedPort,
		v1alpha1.ReasonPortSpoofed, v1alpha1.ReasonRunnerFailed, v1alpha1.ReasonNodeLost, v1alpha1.ReasonEvicted,
		v1alpha1.ReasonStatusRefused,
	}
}

// lifeBuckets are for durations between seconds and a day.
func lifeBuckets() []float64 {
	return []float64{5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400}
}

// passBuckets are for durations of a few requests. 99 of 100 passes must take at most 50 ms.
func passBuckets() []float64 {
	return []float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5}
}

func (m *Tests) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.decisions, m.conflicts, m.lostRuns, m.completed, m.verdicts, m.scheduling,
		m.completion, m.passes}
}

// Decided counts a pass that made a decision.
func (m *Tests) Decided(rule string, took time.Duration) {
	m.decisions.WithLabelValues(rule).Inc()
	m.passes.WithLabelValues(rule).Observe(took.Seconds())
}

// Conflict counts a status write that came too late.
func (m *Tests) Conflict() { m.conflicts.Inc() }

// Sources are what is read at each scrape.
type Sources struct {
	// Tests reads LoadTests, suites, pods and nodes. Progress reads the ConfigMaps in which runners report
	// their progress.
	Tests, Progress client.Reader
	// OperatorNamespace is the operator's own namespace, where runners write.
	OperatorNamespace string
	// Leads is closed when this replica becomes the leader.
	Leads <-chan struct{}
	Clock func() time.Time
	// Line is the queue of tests for devices.
	Line func() queue.Line
	// MaxTests is how many LoadTests, and how many suites, get series of their own.
	MaxTests int
}

// Register registers the counters and the states with Prometheus.
func (m *Tests) Register(registry prometheus.Registerer, read Sources) (err error) {
	for _, c := range append(m.collectors(), &states{read}) {
		err = errors.Join(err, registry.Register(c))
	}
	return err
}

// StatusWritten counts what a written status adds to the one before.
func (m *Tests) StatusWritten(test *v1alpha1.LoadTest, updated *v1alpha1.LoadTestStatus, now time.Time) {
	old, age := &test.Status, now.Sub(test.CreationTimestamp.Time).Seconds()
	m.lostRuns.WithLabelValues(lostBy(updated)).Add(float64(max(0, updated.Operator.LostRuns-old.Operator.LostRuns)))
	if becameTrue(old, updated, v1alpha1.ConditionScheduled) {
		m.scheduling.Observe(age)
	}
	if becameTrue(old, updated, v1alpha1.ConditionComplete) {
		m.completion.Observe(age)
		m.completed.WithLabelValues(reasonOf(updated, v1alpha1.ConditionComplete)).Inc()
		m.verdicts.WithLabelValues(verdictOf(updated)).Inc()
	}
}

// lostBy is why a run was lost, in the word of its event.
func lostBy(status *v1alpha1.LoadTestStatus) string {
	switch reasonOf(status, v1alpha1.ConditionScheduled) {
	case v1alpha1.ReasonSuspended:
		return v1alpha1.ReasonSuspended
	case v1alpha1.ReasonQueued:
		return v1alpha1.ReasonEvicted
	}
	return v1alpha1.ReasonRunnerFailed
}

func becameTrue(old, updated *v1alpha1.LoadTestStatus, kind string) bool {
	return meta.IsStatusConditionTrue(updated.Conditions, kind) && !meta.IsStatusConditionTrue(old.Conditions, kind)
}

func reasonOf(status *v1alpha1.LoadTestStatus, kind string) string {
	if c := meta.FindStatusCondition(status.Conditions, kind); c != nil {
		return c.Reason
	}
	return ""
}

// The verdicts.
const (
	verdictPassed    = "passed"
	verdictFailed    = "failed"
	verdictUndecided = "undecided"
	verdictNone      = "none" // there are no criteria
)

// verdictOf is the condition Passed in a word.
func verdictOf(status *v1alpha1.LoadTestStatus) string {
	c := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionPassed)
	switch {
	case c == nil || c.Reason == v1alpha1.ReasonNoCriteria:
		return verdictNone
	case c.Status == metav1.ConditionTrue:
		return verdictPassed
	case c.Status == metav1.ConditionFalse:
		return verdictFailed
	}
	return verdictUndecided
}
