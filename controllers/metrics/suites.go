package metrics

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/suite"
)

// statePartly is the state of a suite that ended with some tests without a figure. A suite's other states are
// those of a test.
const statePartly = "partly_measured"

func suiteStates() []string {
	return []string{stateWaiting, stateRunning, stateSuspended, stateEnding, stateMeasured, statePartly, stateStopped,
		stateFailed}
}

var (
	descSuites        = describe("linerate_suites", "LoadTestSuites that exist, by state.", "state")
	descSuitesLeftOut = describe("linerate_suites_left_out",
		"LoadTestSuites whose own figures are left out because there are more of them than --metrics-tests.")
	descSuiteTests = describe("linerate_suite_tests",
		"Measurements of a suite, by how far they are: waiting, running, measured, not_measured.", "namespace", "suite",
		"state")
	descSuiteRetried = describe("linerate_suite_repeated_tests",
		"Tests of a suite that repeat one that ended without a measurement, or was disturbed.", "namespace", "suite")
	descSuitePassed = describe("linerate_suite_passed",
		"The criteria's verdict over all cells of a suite: 1 all passed, 0 one failed; not there where there is "+
			"no verdict.", "namespace", "suite")
)

func suiteDescs() []*prometheus.Desc {
	return []*prometheus.Desc{descSuites, descSuitesLeftOut, descSuiteTests, descSuiteRetried, descSuitePassed}
}

// suiteState is a suite's state in a word.
func suiteState(s *v1alpha1.LoadTestSuite) string {
	c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionComplete)
	if c != nil && c.Status == metav1.ConditionTrue && c.Reason == v1alpha1.ReasonPartlyMeasured {
		return statePartly
	}
	return strings.ToLower(string(suite.PhaseOf(&s.Status)))
}

// suites counts suites by state, and has series of single suites, up to a bound.
func (s *states) suites(ctx context.Context) (metrics []prometheus.Metric, err error) {
	var suites v1alpha1.LoadTestSuiteList
	if err := s.Tests.List(ctx, &suites, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list LoadTestSuites: %w", err)
	}
	byState, sorted := map[string]int{}, make([]*v1alpha1.LoadTestSuite, len(suites.Items))
	for i := range suites.Items {
		sorted[i] = &suites.Items[i]
		byState[suiteState(sorted[i])]++
	}
	for _, state := range suiteStates() {
		metrics = append(metrics, gauge(descSuites, float64(byState[state]), state))
	}
	slices.SortFunc(sorted, suitesThatCount)
	room := min(len(sorted), s.MaxTests)
	for _, suite := range sorted[:room] {
		metrics = append(metrics, suiteFigures(suite)...)
	}
	return append(metrics, gauge(descSuitesLeftOut, float64(len(sorted)-room))), nil
}

// suitesThatCount sorts ongoing suites first, and then those that ended, the latest first.
func suitesThatCount(a, b *v1alpha1.LoadTestSuite) int {
	return cmp.Or(ended(b.Status.CompletionTime).Compare(ended(a.Status.CompletionTime)),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

func suiteFigures(s *v1alpha1.LoadTestSuite) (metrics []prometheus.Metric) {
	n := s.Status.Counts
	for _, c := range []struct {
		state string
		tests int32
	}{{stateWaiting, n.Waiting}, {stateRunning, n.Running}, {stateMeasured, n.Measured},
		{"not_measured", n.NotMeasured}} {
		metrics = append(metrics, gauge(descSuiteTests, float64(c.tests), s.Namespace, s.Name, c.state))
	}
	metrics = append(metrics, gauge(descSuiteRetried, float64(n.Retried), s.Namespace, s.Name))
	if c := meta.FindStatusCondition(s.Status.Conditions, v1alpha1.ConditionPassed); c != nil &&
		c.Status != metav1.ConditionUnknown {
		metrics = append(metrics, gauge(descSuitePassed, oneIf(c.Status == metav1.ConditionTrue), s.Namespace, s.Name))
	}
	return metrics
}

// Suites counts what happens to LoadTestSuites. It is safe for concurrent use.
type Suites struct{ completed *prometheus.CounterVec }

// NewSuites returns counters that have counted nothing. Each possible series is exported as 0, since Prometheus
// sees no increase where a series begins with 1.
func NewSuites() *Suites {
	completed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "linerate_completed_suites_total",
		Help: "LoadTestSuites that ended, by the reason of their condition Complete.",
	}, []string{"reason"})
	for _, reason := range suiteEndReasons() {
		completed.WithLabelValues(reason)
	}
	return &Suites{completed}
}

// Register registers the counter with Prometheus.
func (s *Suites) Register(registry prometheus.Registerer) error {
	return registry.Register(s.completed)
}

// suiteEndReasons are the reasons of a suite's Complete when it is True.
func suiteEndReasons() []string {
	return []string{
		v1alpha1.ReasonMeasured, v1alpha1.ReasonPartlyMeasured, v1alpha1.ReasonNotMeasured, v1alpha1.ReasonTestFailed,
		v1alpha1.ReasonStopped, v1alpha1.ReasonInvalid,
	}
}

// StatusWritten counts a suite's end once it is written.
func (s *Suites) StatusWritten(old, updated []metav1.Condition) {
	if c := meta.FindStatusCondition(updated, v1alpha1.ConditionComplete); c != nil &&
		c.Status == metav1.ConditionTrue && !meta.IsStatusConditionTrue(old, v1alpha1.ConditionComplete) {
		s.completed.WithLabelValues(c.Reason).Inc()
	}
}
