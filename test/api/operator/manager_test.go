package operator

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/loadtest"
	"github.com/linerate-dev/linerate/controllers/pass"
)

// manage runs the operator as it is run in a cluster, with caches and watches, until stop is called or the test ends. It looks after the
// namespaces given, or all.
func (l *lab) manage(change func(*ctrl.Options), namespaces ...string) (stop func()) {
	l.t.Helper()
	rights := as(operatorNamespace, operatorAccount)
	rights.Wrap(l.asked.Wrap)
	rights.Wrap(pass.NewShares().Wrap) // as the program does
	options := ctrl.Options{
		Scheme: scheme, Cache: caches.Options(namespaces, operatorNamespace), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // several live in this process, one after the other
	}
	if change != nil {
		change(&options)
	}
	mgr, err := ctrl.NewManager(rights, options)
	l.must(err)
	reconciler := loadtest.NewReconciler(mgr.GetClient(), mgr.GetEventRecorder("linerate.dev/manager"), loadtest.Options{
		Settings: testSettings(), Namespace: operatorNamespace, Namespaces: namespaces, NetworkNamespaces: []string{"*"}, Bounds: testBounds(), Clock: l.clock.now,
	})
	l.must(reconciler.SetupWithManager(mgr))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stop = func() {
		cancel()
		if err, running := <-ended; running {
			close(ended)
			if err != nil {
				l.t.Errorf("the manager ended: %v", err)
			}
		}
	}
	l.t.Cleanup(stop)
	return stop
}

// The lab is mended while the operator runs: tests that wait go on by themselves, though the kind of networks comes, goes and comes again.
func TestTestsGoOnWhenTheLabIsRepaired(t *testing.T) {
	l := newLab(t)
	l.removeMultus()
	l.manage(nil, l.namespace)
	first := l.create(minimal("first"))
	l.awaitCondition("first", "Scheduled=False MultusMissing")
	l.must(installMultus())
	l.awaitCondition("first", "Scheduled=False NetworkMissing")
	l.wires(first)
	l.awaitPods("first")
	l.removeMultus()
	second := l.create(minimal("second"))
	l.awaitCondition("second", "Scheduled=False MultusMissing")
	l.must(installMultus())
	l.wires(second)
	l.awaitPods("second")
	l.create(minimal("third"))
	l.awaitPods("third")
}

// A node that gets what a test waits for wakes it.
func TestATestGoesOnWhenANodeHasItsDevices(t *testing.T) {
	l := newLab(t)
	s := newScarce(t, []int64{0}, l) // a node and a resource of this test's own
	l.manage(nil, l.namespace)
	l.create(minimal("devices"))
	l.awaitCondition("devices", "Scheduled=False ResourceMissing")
	node := &corev1.Node{}
	l.must(admin.Get(t.Context(), client.ObjectKey{Name: s.nodes[0]}, node))
	node.Status.Capacity[s.resource], node.Status.Allocatable[s.resource] = resource.MustParse("8"), resource.MustParse("8")
	l.must(admin.Status().Update(t.Context(), node))
	l.awaitPods("devices")
}

// removeMultus removes the kind of networks, and all networks with it, until the test ends at the latest.
func (l *lab) removeMultus() {
	l.t.Helper()
	definition := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "network-attachment-definitions.k8s.cni.cncf.io"}}
	l.t.Cleanup(func() {
		if err := installMultus(); err != nil {
			l.t.Error(err)
		}
	})
	l.must(admin.Delete(l.t.Context(), definition))
	l.await("the definition to go", func() bool {
		return apierrors.IsNotFound(admin.Get(l.t.Context(), objectKey(definition), &apiextensionsv1.CustomResourceDefinition{}))
	})
}

// ofALife is the ledger of what the manager may ask the API server for one test of a minute, by verb and resource, all its objects on one node. What a runner may ask
// besides, seven times, is held in internal/document/delivery/configmaps (TestARunOfAMinute).
var ofALife = counts{
	"POST configmaps":          3, // links; the Plan; the copy of the Report
	"POST configmaps" + dryRun: 1, // whether the copy's name is free
	"POST pods" + dryRun:       2, // the device's and a generator's, unless pods like them were welcome a moment ago
	"POST pods":                2,
	"POST jobs":                1,
	"PATCH loadtests/status":   10, // pods; runs; progress, four times; measured; and two to spare for a machine on which pods are placed and ready one long after the other
	"GET configmaps":           1,  // the Report
	"DELETE pods":              3,  // the third is the runner's, which the garbage collector deletes where there is one
	"DELETE configmaps":        1,  // the Plan, and with it the Job and what the runner made
	"DELETE jobs":              1,  // the garbage collector's, where there is one
	"POST events":              2,  // Running, Measured
}

// A whole life under the running operator, of which a minute is measured: it asks the API server for what stands in the ledger, and for nothing else.
func TestAPICallsOfATestsLife(t *testing.T) {
	l := newLab(t)
	stop := l.manage(nil)
	warm := minimal("warm")
	l.create(warm)
	l.awaitCondition("warm", "Scheduled=False NetworkMissing") // the operator runs
	l.must(admin.Delete(t.Context(), warm))
	l.wires(warm)
	for i, name := range []string{"life", "another"} {
		l.asked.take()
		l.wholeLife(name)
		l.await("events, which are on their way for a moment", func() bool { return l.asked.of("POST events") == ofALife["POST events"] })
		asked := l.asked.take()
		t.Logf("one life of a minute costs the API server %d requests of the manager:\n%s", asked.total(), asked)
		for what, n := range asked {
			if n > ofALife[what] {
				t.Errorf("%s: %d of %s, and %d are in the ledger", name, n, what, ofALife[what])
			}
		}
		if tried := asked["POST pods"+dryRun]; i > 0 && tried > 0 {
			t.Errorf("%d pods are tried that are like those of a test before", tried)
		}
	}
	stop()
}

// wholeLife carries a test from its creation until nothing is left of it but what it measured.
func (l *lab) wholeLife(name string) {
	l.t.Helper()
	l.create(minimal(name))
	l.awaitPods(name)
	l.schedule()
	l.start()
	l.awaitCondition(name, "Complete=False Running")
	l.await("the runner's Job", func() bool { return len(l.jobs()) == 1 })
	l.runJobs()
	l.schedule()
	l.start()
	r := l.runner(name, 1)
	for i, after := range []time.Duration{time.Second, 16 * time.Second, 16 * time.Second, 16 * time.Second} { // as the status has a minute's phases: at once, and each 15 s
		l.clock.advance(after)
		percent := int32(20 * (i + 1))
		r.tell([]string{"Preparing", "Ramping", "Refining", "Confirming"}[i], int(percent))
		l.await("progress", func() bool {
			p := l.get(name).Status.Progress
			return p != nil && p.Percent != nil && *p.Percent == percent
		})
	}
	r.report(r.measured(), true)
	l.awaitCondition(name, "Complete=True Measured")
	l.await("the end of all pods", func() bool { // the pass after that which says Complete deletes them
		l.reap()
		return len(l.pods()) == 0
	})
	l.await("the end of the Job", func() bool {
		l.reap()
		return len(l.jobs()) == 0
	})
}

// Of two operators one works; when it ends, the other takes over at once and continues.
func TestTheNextOperatorTakesOver(t *testing.T) {
	l := newLab(t)
	elected := func(o *ctrl.Options) {
		o.LeaderElection, o.LeaderElectionID, o.LeaderElectionNamespace = true, "linerate-manager", operatorNamespace
		o.LeaderElectionReleaseOnCancel = true
		o.RetryPeriod = new(200 * time.Millisecond)
	}
	stop := l.manage(elected, l.namespace)
	test := minimal("handed")
	l.wires(test)
	l.create(test)
	l.awaitPods("handed")
	l.manage(elected, l.namespace)
	stop()
	l.schedule()
	l.start()
	l.awaitCondition("handed", "Complete=False Running")
	l.await("the runner's Job", func() bool { return len(l.jobs()) == 1 })
}
