package operator

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/loadtest"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
)

// lab is a namespace with an operator of its own, which works when it is told to.
type lab struct {
	t         *testing.T
	namespace string
	operator  client.Client // the operator's own, counted
	asked     *requests
	events    *events
	clock     *clock
	// forgetful restarts the operator before each pass.
	forgetful bool
	// physical are the ports that pods get virtual functions of, by link; none: they get none.
	physical   map[string]string
	reconciler *loadtest.Reconciler
}

func newLab(t *testing.T) *lab {
	t.Helper()
	l := &lab{t: t, asked: &requests{}, events: &events{}, clock: &clock{}}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "lab-"}}
	l.must(admin.Create(t.Context(), namespace))
	l.namespace = namespace.Name
	t.Cleanup(l.clear)
	config := as(operatorNamespace, operatorAccount)
	config.Wrap(l.asked.Wrap)
	var err error
	l.operator, err = client.New(config, client.Options{Scheme: scheme})
	l.must(err)
	l.restart()
	return l
}

// clear takes what the lab has off the nodes that all labs share.
func (l *lab) clear() {
	for _, kind := range []client.Object{&v1alpha1.LoadTest{}, &corev1.Pod{}} {
		if err := admin.DeleteAllOf(context.Background(), kind, client.InNamespace(l.namespace), client.GracePeriodSeconds(0)); err != nil {
			l.t.Error(err)
		}
	}
	for _, kind := range []client.Object{&batchv1.Job{}, &corev1.Pod{}, &corev1.ConfigMap{}} {
		if err := admin.DeleteAllOf(context.Background(), kind, client.InNamespace(operatorNamespace), l.runs(), client.GracePeriodSeconds(0), client.PropagationPolicy("Background")); err != nil {
			l.t.Error(err)
		}
	}
}

// runs selects what the runs of the lab's tests are made of, in the operator's own namespace.
func (l *lab) runs() client.MatchingLabels {
	return client.MatchingLabels{v1alpha1.LabelNamespace: l.namespace}
}

// restart replaces the operator by one that remembers nothing.
func (l *lab) restart() {
	l.reconciler = loadtest.NewReconciler(l.operator, l.events, loadtest.Options{Settings: testSettings(), Namespace: operatorNamespace, NetworkNamespaces: []string{"*"}, Bounds: testBounds(), Clock: l.clock.now})
}

func testSettings() manifests.Settings {
	return manifests.Settings{Image: "registry.lab/linerate:test", PullPolicy: corev1.PullIfNotPresent}
}

func (l *lab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// pass lets the operator look at a test once.
func (l *lab) pass(name string) ctrl.Result {
	l.t.Helper()
	if l.forgetful {
		l.restart()
	}
	result, err := l.reconciler.Reconcile(l.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: l.namespace, Name: name}})
	l.must(err)
	return result
}

// mostPasses is more than any change takes to be answered.
const mostPasses = 12

// spread is how much later than due a test is looked at, at most: each in a moment of the second that is its own.
const spread = time.Second

// settle lets the operator look at a test until it has nothing more to do, and proves that: from then on it writes nothing. The clock stands still
// meanwhile: time that passes is a change, too, and a delay that ends between two looks is an answer to it.
func (l *lab) settle(name string) ctrl.Result {
	l.t.Helper()
	defer l.clock.release()
	for range mostPasses {
		l.asked.take()
		l.clock.hold()
		l.pass(name)
		if l.asked.take().writes().total() > 0 {
			continue
		}
		result := l.pass(name)
		if wrote := l.asked.take().writes(); wrote.total() > 0 {
			l.t.Fatalf("nothing changed, and the operator writes:\n%s", wrote)
		}
		l.lint(name)
		return result
	}
	l.t.Fatalf("after %d passes the operator still writes; status:\n%s", mostPasses, l.describe(name))
	return ctrl.Result{}
}

// testBounds are what the samples need; the servers that they name are judged by the runner.
func testBounds() compile.Bounds {
	return compile.Bounds{Servers: compile.ServerRanges{{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Port: 4501}}, Prefixes: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
}

// create makes a LoadTest as a person would.
func (l *lab) create(test *v1alpha1.LoadTest) *v1alpha1.LoadTest {
	l.t.Helper()
	test.Namespace = l.namespace
	l.must(admin.Create(l.t.Context(), test))
	return test
}

func (l *lab) get(name string) *v1alpha1.LoadTest {
	l.t.Helper()
	test := &v1alpha1.LoadTest{}
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: name}, test))
	return test
}

// change changes a LoadTest as a person would: by a patch, which minds nothing that the operator writes meanwhile.
func (l *lab) change(name string, f func(*v1alpha1.LoadTest)) {
	l.t.Helper()
	was := l.get(name)
	is := was.DeepCopy()
	f(is)
	l.must(admin.Patch(l.t.Context(), is, client.MergeFrom(was)))
}

// describe is the status as a person would read it.
func (l *lab) describe(name string) string {
	text, err := yaml.Marshal(l.get(name).Status)
	l.must(err)
	return string(text)
}

// want fails unless a condition is as said, such as "Complete=True Measured". It returns the condition's message.
func (l *lab) want(name string, conditions ...string) (message string) {
	l.t.Helper()
	test := l.get(name)
	for _, want := range conditions {
		kind, _, _ := strings.Cut(want, "=")
		c := meta.FindStatusCondition(test.Status.Conditions, kind)
		if c == nil || fmt.Sprintf("%s=%s %s", c.Type, c.Status, c.Reason) != want {
			l.t.Fatalf("want %s; status:\n%s", want, l.describe(name))
		}
		message = c.Message
	}
	return message
}

// wire makes a network that pods are attached to; resource is the device resource of its pods, if it has one.
func (l *lab) wire(namespace, name, resource string) {
	l.t.Helper()
	network := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"config": `{"cniVersion":"1.0.0","name":"` + name + `","plugins":[{"type":"host-device","capabilities":{"mac":true}}]}`,
	}}}
	network.SetGroupVersionKind(networkKind)
	network.SetNamespace(namespace)
	network.SetName(name)
	if resource != "" {
		network.SetAnnotations(map[string]string{"k8s.v1.cni.cncf.io/resourceName": resource})
	}
	l.must(admin.Create(l.t.Context(), network))
}

// networkNamed is a network of the lab's namespace, by its name alone.
func (l *lab) networkNamed(name string) *unstructured.Unstructured {
	network := &unstructured.Unstructured{}
	network.SetGroupVersionKind(networkKind)
	network.SetNamespace(l.namespace)
	network.SetName(name)
	return network
}

var networkKind = schema.GroupVersionKind{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition"}

// sample reads a LoadTest of config/samples.
func (l *lab) sample(file string) *v1alpha1.LoadTest {
	l.t.Helper()
	text, err := os.ReadFile("../../../config/samples/" + file)
	l.must(err)
	test := &v1alpha1.LoadTest{}
	l.must(yaml.UnmarshalStrict(text, test))
	return test
}

// minimal is the shortest LoadTest for a cluster: the software engine against the built-in forwarder over networks west and east.
func minimal(name string, options ...func(*v1alpha1.LoadTest)) *v1alpha1.LoadTest {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: name}}
	test.Spec.DUT.Type = v1alpha1.DUTReference
	for _, link := range []string{"west", "east"} {
		test.Spec.Links = append(test.Spec.Links, v1alpha1.LinkSpec{Name: v1alpha1.LinkName(link), Network: v1alpha1.NetworkName(link), LineRate: "1gbps"})
	}
	for _, o := range options {
		o(test)
	}
	return test
}

func objectKey(o client.Object) client.ObjectKey { return client.ObjectKeyFromObject(o) }

// clock is the real one, some way ahead, unless it is held.
type clock struct {
	ahead atomic.Int64
	held  atomic.Pointer[time.Time] // what the real one showed when it was held; nil: it runs
}

func (c *clock) now() time.Time {
	at := time.Now()
	if held := c.held.Load(); held != nil {
		at = *held
	}
	return at.Add(time.Duration(c.ahead.Load()))
}

// hold stops the clock at what is now, even if it was held before.
func (c *clock) hold() {
	at := time.Now()
	c.held.Store(&at)
}

func (c *clock) release()                { c.held.Store(nil) }
func (c *clock) advance(d time.Duration) { c.ahead.Add(int64(d)) }

// events keeps the tests' events.
type events struct {
	mu   sync.Mutex
	told []string
}

// Eventf implements the recorder of client-go.
func (e *events) Eventf(_, _ runtime.Object, kind, reason, action, note string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = append(e.told, fmt.Sprintf("%s %s (%s): %s", kind, reason, action, fmt.Sprintf(note, args...)))
}

// list is a shorthand for all objects of a kind in the lab.
func (l *lab) list(ctx context.Context, list client.ObjectList, options ...client.ListOption) {
	l.t.Helper()
	l.must(admin.List(ctx, list, append(options, client.InNamespace(l.namespace))...))
}
