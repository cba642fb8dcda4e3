package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/pass"
)

const (
	// mostSlowed is how many times as much as in a calm operator may be between an innocent test's creation and its pods beside a hostile namespace.
	mostSlowed = 3
	// innocents is how many innocent tests are measured at a time: their median counts.
	innocents = 15
	// changesEvery is how often the tenant changes something.
	changesEvery = 50 * time.Millisecond
)

// A tenant fills a namespace with tests that stand in line, each on other nodes, with deep and with wide templates, with a suite of such a template, and with tests of servers that run already, which it suspends and resumes while it changes
// its network. An innocent test in another namespace has its pods nearly as soon as without them.
//
// What is held is how many requests the operator makes from an innocent test's creation until its pods are made: its own, and those of the hostile namespace that the API server has to answer meanwhile. Their number hardly
// depends on what else the machine does. The time does, as the API server, the operator and the tenant share the machine's processors, so it is logged and not held.
func TestAHostileNamespaceSlowsAnInnocentTestLittle(t *testing.T) {
	l, tenant := newLab(t), newLab(t)
	newScarce(t, []int64{4}, tenant)
	l.manage(nil, l.namespace, tenant.namespace)
	l.wires(minimal("any"))
	watching, err := client.NewWithWatch(adminConfig, client.Options{Scheme: scheme})
	l.must(err)
	l.untilPods(watching, "warm") // the caches are filled, and the namespace is guarded
	before := l.medianUntilPods(watching, "before")
	tenant.attack(hostileTests)
	stop := tenant.keepChanging()
	during := l.medianUntilPods(watching, "during")
	stop()
	t.Logf("an innocent test has its pods after %s, and beside %d hostile tests after %s, %.1f times as long", before, hostileTests, during, during.took.Seconds()/before.took.Seconds())
	if during.requests > mostSlowed*before.requests {
		t.Errorf("beside a hostile namespace the operator makes %d requests until an innocent test has its pods, and %d without it: want %d times as many at most", during.requests, before.requests, mostSlowed)
	}
}

// beginning is what is between a test's creation and its pods.
type beginning struct {
	requests int
	took     time.Duration
}

func (w beginning) String() string {
	return fmt.Sprintf("%d requests of the operator, %s", w.requests, w.took)
}

// medianUntilPods is the median of innocent tests' waits, one after the other, of the requests and of the time.
func (l *lab) medianUntilPods(watching client.WithWatch, name string) beginning {
	var requests []int
	var took []time.Duration
	for i := range innocents {
		w := l.untilPods(watching, fmt.Sprintf("%s-%d", name, i))
		requests, took = append(requests, w.requests), append(took, w.took)
	}
	slices.Sort(requests)
	slices.Sort(took)
	l.t.Logf("%s: %v, %v", name, requests, took)
	return beginning{requests[innocents/2], took[innocents/2]}
}

// untilPods is a test's wait until its pods are made, as a watch shows them. The test is deleted then.
func (l *lab) untilPods(watching client.WithWatch, name string) beginning {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), awaitBound)
	defer cancel()
	made, err := watching.Watch(ctx, &corev1.PodList{}, client.InNamespace(l.namespace), client.MatchingLabels{v1alpha1.LabelTest: name})
	l.must(err)
	defer made.Stop()
	l.asked.take()
	begun := time.Now()
	test := l.create(minimal(name))
	for pods := 0; pods < 2; {
		event, some := <-made.ResultChan()
		if !some {
			l.t.Fatalf("%s has no pods after %s; status:\n%s", name, awaitBound, l.describe(name))
		}
		if event.Type == watch.Added {
			pods++
		}
	}
	w := beginning{l.asked.take().total(), time.Since(begun)}
	l.must(admin.Delete(l.t.Context(), test))
	l.must(admin.DeleteAllOf(l.t.Context(), &corev1.Pod{}, client.InNamespace(l.namespace), client.GracePeriodSeconds(0)))
	return w
}

// attack fills the namespace with so many tests.
func (l *lab) attack(tests int) {
	l.t.Helper()
	deep, wide := strings.Repeat("[", 3000)+strings.Repeat("]", 3000), "["+strings.TrimSuffix(strings.Repeat("{},", 2000), ",")+"]"
	failed := make([]error, tests)
	pass.SideBySide(tests, func(i int) {
		test := minimal(fmt.Sprintf("hostile-%d", i))
		test.Namespace = l.namespace
		switch i % 8 {
		case 0:
			test.Spec.DUT = v1alpha1.DUTSpec{Type: v1alpha1.DUTPod, Pod: &v1alpha1.DUTPodSpec{Template: withEnv(deep)}}
		case 1:
			test.Spec.DUT = v1alpha1.DUTSpec{Type: v1alpha1.DUTPod, Pod: &v1alpha1.DUTPodSpec{Template: withEnv(wide)}}
		case 2:
			external(test)
		default:
			test.Spec.Generator.Engine, test.Spec.Generator.Replicas = v1alpha1.EngineSoftware, 1
			test.Spec.Generator.Pod = &v1alpha1.GeneratorPodSpec{NodeSelector: map[string]string{"choice": fmt.Sprint(i)}}
		}
		failed[i] = admin.Create(l.t.Context(), test)
	})
	for _, err := range failed {
		l.must(err)
	}
	suite := &v1alpha1.LoadTestSuite{}
	suite.Namespace, suite.Name = l.namespace, "hostile"
	suite.Spec.Template.Spec = v1alpha1.Freeform{"dut": apiextensionsv1.JSON{Raw: []byte(deep)}}
	axis := v1alpha1.Axis{Name: "n"}
	for i := range 200 {
		axis.Values = append(axis.Values, v1alpha1.AxisValue{Name: v1alpha1.AxisName(fmt.Sprintf("v%d", i))})
	}
	suite.Spec.Axes = []v1alpha1.Axis{axis}
	l.must(admin.Create(l.t.Context(), suite))
	for i := range tests { // one after the other: a list of all of them has 20 MB where there are 2 000
		name := fmt.Sprintf("hostile-%d", i)
		l.await("the operator to know "+name, func() bool { return len(l.get(name).Status.Conditions) > 0 })
	}
}

// withEnv is a template whose container has this as its variables.
func withEnv(variables string) v1alpha1.Freeform {
	return v1alpha1.Freeform{"spec": apiextensionsv1.JSON{Raw: []byte(`{"containers": [{"name": "vpp", "image": "vpp:1", "env": ` + variables + `}]}`)}}
}

// external makes a test one of a TRex that already runs.
func external(test *v1alpha1.LoadTest) {
	test.Spec.Generator = v1alpha1.GeneratorSpec{Engine: v1alpha1.EngineTRex, Placement: &v1alpha1.PlacementSpec{Servers: []v1alpha1.GeneratorServer{{Address: "trex.lab:4501"}}}}
	test.Spec.DUT = v1alpha1.DUTSpec{Type: v1alpha1.DUTDevice}
	for i := range test.Spec.Links {
		test.Spec.Links[i].Network = ""
	}
}

// keepChanging suspends and resumes tests of servers that run already, and changes a network, until stop is called.
func (l *lab) keepChanging() (stop func()) {
	ctx, cancel := context.WithCancel(l.t.Context())
	var changing sync.WaitGroup
	changing.Go(func() {
		network := l.networkNamed("west")
		every := time.NewTicker(changesEvery)
		defer every.Stop()
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			suspend := fmt.Appendf(nil, `{"spec": {"suspend": %t}}`, i%4 < 2)
			test := &v1alpha1.LoadTest{}
			test.Namespace, test.Name = l.namespace, fmt.Sprintf("hostile-%d", 2+8*(i%2))
			note := fmt.Appendf(nil, `{"metadata": {"annotations": {"changed": "%d"}}}`, i)
			for _, err := range []error{
				admin.Patch(ctx, test, client.RawPatch("application/merge-patch+json", suspend)),
				admin.Patch(ctx, network, client.RawPatch("application/merge-patch+json", note)),
			} {
				if err != nil && ctx.Err() == nil {
					l.t.Errorf("the tenant can't change anything: %v", err)
					return
				}
			}
		}
	})
	return func() { cancel(); changing.Wait() }
}
