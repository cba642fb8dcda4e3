package operator

import (
	"context"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/loadtestsuite"
)

// manageSuites runs the controller of suites with caches and watches until the test ends.
func (l *suiteLab) manageSuites() {
	l.t.Helper()
	rights := as(operatorNamespace, operatorAccount)
	rights.Wrap(l.asked.Wrap)
	mgr, err := ctrl.NewManager(rights, ctrl.Options{
		Scheme: scheme, Cache: caches.Options([]string{l.namespace}, operatorNamespace), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	l.must(err)
	suites, err := loadtestsuite.NewReconciler(mgr.GetClient(), mgr.GetEventRecorder("linerate.dev/manager"), loadtestsuite.Options{Namespace: operatorNamespace})
	l.must(err)
	l.must(suites.SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	l.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			l.t.Errorf("the manager ended: %v", err)
		}
	})
}

// With caches and watches, which run behind the API server, a suite comes to its end as well, never with more at once than asked for, and costs few
// requests: what happens at once is looked at once.
func TestASuiteWithCachesAndWatches(t *testing.T) {
	l := newSuiteLab(t, loopbackCells+"repetitions: 5\nparallelism: 4\n")
	l.asked.take()
	l.manageSuites()
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, awaitBound, true, func(context.Context) (bool, error) {
		names := l.goingOn()
		l.most = max(l.most, len(names))
		for _, name := range slices.Clone(names) {
			l.end(name, v1alpha1.ReasonGeneratorLost)
		}
		return meta.IsStatusConditionTrue(l.suite().Status.Conditions, v1alpha1.ConditionComplete), nil
	})
	if err != nil {
		t.Fatalf("%v: %s", err, l.told())
	}
	l.wantSuite("Complete=True NotMeasured")
	if c := l.suite().Status.Counts; c.NotMeasured != 20 || c.Retried != 4 || l.most > 4 || len(l.tests()) != 24 {
		t.Errorf("at most %d at once, %d LoadTests, counts %+v", l.most, len(l.tests()), c)
	}
	writes := l.asked.take().writes()
	t.Logf("20 tests and 4 more, made and told with %d writes:\n%s", writes.total(), writes)
	if writes.total() > 24+24 {
		t.Errorf("%d writes for 24 tests", writes.total())
	}
}
