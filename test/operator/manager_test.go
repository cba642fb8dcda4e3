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
)

// manage runs the operator as it is run in a cluster, with caches and watches, until stop is called or the test ends. It looks after the
// namespaces given, or all.
func (l *lab) manage(change func(*ctrl.Options), namespaces ...string) (stop func()) {
	l.t.Helper()
	rights := as(operatorNamespace, operatorAccount)
	rights.Wrap(l.asked.Wrap)
	options := ctrl.Options{
		Scheme: scheme, Cache: caches.Options(namespaces), Metrics: metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // several live in this process, one after the other
	}
	if change != nil {
		change(&options)
	}
	mgr, err := ctrl.NewManager(rights, options)
	l.must(err)
	reconciler := loadtest.NewReconciler(mgr.GetClient(), mgr.GetEventRecorder("linerate.dev/manager"), loadtest.Options{
		Settings: testSettings(), Namespace: operatorNamespace, Namespaces: namespaces, NetworkNamespaces: []string{"*"}, Clock: l.clock.now,
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
func TestTestsGoOnWhenTheLabIsMended(t *testing.T) {
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

// mostRequests is the manager's share of what a test may cost the API server; the runner has the rest.
const mostRequests = 40

// A whole life under the running operator, of which a minute is measured: it counts what that costs.
func TestWhatALifeCosts(t *testing.T) {
	l := newLab(t)
	stop := l.manage(nil)
	warm := minimal("warm")
	l.create(warm)
	l.awaitCondition("warm", "Scheduled=False NetworkMissing") // the operator runs
	l.must(admin.Delete(t.Context(), warm))
	test := minimal("life")
	l.wires(test)
	l.asked.take()

	l.create(test)
	l.awaitPods("life")
	l.schedule()
	l.start()
	l.awaitCondition("life", "Complete=False Running")
	l.await("the runner's Job", func() bool { return len(l.jobs()) == 1 })
	l.runJobs()
	l.schedule()
	l.start()
	r := l.runner("life", 1)
	for percent := int32(10); percent <= 60; percent += 10 { // a minute; what the runner tells in between isn't copied
		l.clock.advance(10 * time.Second)
		r.tell("Ramping", int(percent))
		l.await("progress", func() bool {
			p := l.get("life").Status.Progress
			return p != nil && p.Percent != nil && *p.Percent == percent
		})
	}
	r.report(r.measured(), true)
	l.awaitCondition("life", "Complete=True Measured")
	l.await("the end of all pods", func() bool { // the pass after that which says Complete deletes them
		l.reap()
		return len(l.pods()) == 0
	})
	stop() // events are on their way until then

	asked := l.asked.take()
	t.Logf("one life of a minute costs the API server %d requests of the manager:\n%s", asked.total(), asked)
	if asked.total() > mostRequests {
		t.Errorf("more than %d", mostRequests)
	}
}

// Of two operators one works; when it ends, the other takes over at once and goes on where it stopped.
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
