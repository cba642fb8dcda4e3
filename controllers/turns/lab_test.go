package turns

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// lineLab is what the caches have of a lab with two nodes, which have devices for one LoadTest each. Each change has a
// version of its own.
type lineLab struct {
	client.Client
	t     *testing.T
	first v1alpha1.LoadTest

	mu      sync.Mutex
	version int
	now     time.Time
	tests   map[string]*v1alpha1.LoadTest
	pods    map[string]*corev1.Pod
	nodes   []corev1.Node
	// resource is what the devices of all networks are.
	resource string
	lists    int
	// barrier holds up who has listed tests, until it is closed; heldNetworks who has read one of these networks.
	barrier      chan struct{}
	heldNetworks map[string]chan struct{}
	// read are the networks that were read.
	read []string
}

func newLineLab(t *testing.T) *lineLab {
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := server.Load("test.yaml", strings.NewReader(`
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: t}
spec: {dut: {type: Reference}, links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	l := &lineLab{
		t: t, first: *objects[0].LoadTest, now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), resource: "lab.example/a",
		tests: map[string]*v1alpha1.LoadTest{}, pods: map[string]*corev1.Pod{},
	}
	four := resource.MustParse("4")
	for _, name := range []string{"rack-1", "rack-2"} {
		node := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
		node.Status.Allocatable = corev1.ResourceList{"lab.example/a": four, "lab.example/b": four}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		l.nodes = append(l.nodes, node)
	}
	return l
}

// line is a new line of this lab. A watched line lists by an index.
func (l *lineLab) line(watched bool) *Line {
	line := New(l, inventory.New(l, inventory.Bounds{}), manifests.Settings{},
		func() time.Time { l.mu.Lock(); defer l.mu.Unlock(); return l.now })
	if line.watched = watched; watched {
		line.notOver = func() []client.ListOption {
			return []client.ListOption{client.MatchingFields{"lab": "not over"}}
		}
	}
	return line
}

// List has all objects of a kind; of tests those that aren't over, where a field is asked for.
func (l *lineLab) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	var asked client.ListOptions
	asked.ApplyOptions(options)
	l.mu.Lock()
	barrier := l.barrier
	switch list := list.(type) {
	case *v1alpha1.LoadTestList:
		l.lists++
		for _, test := range l.tests {
			if asked.FieldSelector == nil || !meta.IsStatusConditionTrue(test.Status.Conditions,
				v1alpha1.ConditionComplete) {
				list.Items = append(list.Items, *test)
			}
		}
		defer wait(barrier)
	case *corev1.PodList:
		for _, pod := range l.pods {
			list.Items = append(list.Items, *pod)
		}
	case *corev1.NodeList:
		list.Items = slices.Clone(l.nodes)
	}
	l.mu.Unlock()
	return nil
}

func wait(barrier chan struct{}) {
	if barrier != nil {
		<-barrier
	}
}

// Get has the tests that there are, and each network that is asked for.
func (l *lineLab) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	l.mu.Lock()
	barrier := l.heldNetworks[key.Name]
	defer func() { l.mu.Unlock(); wait(barrier) }()
	if asked, ok := object.(*v1alpha1.LoadTest); ok {
		test := l.tests[key.Name]
		if test == nil || test.Namespace != key.Namespace {
			return apierrors.NewNotFound(schema.GroupResource{Group: v1alpha1.GroupVersion.Group,
				Resource: "loadtests"}, key.Name)
		}
		test.DeepCopyInto(asked)
		return nil
	}
	l.read = append(l.read, key.Name)
	definition := object.(*unstructured.Unstructured)
	definition.SetName(key.Name)
	definition.SetNamespace(key.Namespace)
	definition.SetAnnotations(map[string]string{"k8s.v1.cni.cncf.io/resourceName": l.resource})
	return unstructured.SetNestedField(definition.Object, `{"cniVersion": "1.0.0", "type": "sriov"}`, "spec", "config")
}

// hold delays drawings until the returned function is called.
func (l *lineLab) hold() (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	barrier := make(chan struct{})
	l.barrier = barrier
	return func() {
		l.mu.Lock()
		l.barrier = nil
		l.mu.Unlock()
		close(barrier)
	}
}

// holdNetwork delays readers of a network until the returned function is called.
func (l *lineLab) holdNetwork(name string) (release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	barrier := make(chan struct{})
	l.heldNetworks = map[string]chan struct{}{name: barrier}
	return func() {
		l.mu.Lock()
		l.heldNetworks = nil
		l.mu.Unlock()
		close(barrier)
	}
}

// reads are the networks that were read since the last call.
func (l *lineLab) reads() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	read := l.read
	l.read = nil
	return read
}

// addTo adds a test of a namespace whose links are in a network of its own.
func (l *lineLab) addTo(namespace, name, network string, seconds int) {
	l.add(name, seconds)
	l.change(name, func(test *v1alpha1.LoadTest) {
		test.Namespace, test.Generation = namespace, 1
		for i := range test.Spec.Links {
			test.Spec.Links[i].Network = v1alpha1.NetworkName(network)
		}
	})
}

// drawn is how often the tests were listed.
func (l *lineLab) drawn() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lists
}

// add adds a test of this age.
func (l *lineLab) add(name string, seconds int) *v1alpha1.LoadTest {
	l.mu.Lock()
	defer l.mu.Unlock()
	test := l.first.DeepCopy()
	test.Namespace, test.Name, test.UID, test.ResourceVersion = "lab", name, types.UID("uid-"+name), l.next()
	test.CreationTimestamp = metav1.NewTime(time.Date(2026, 1, 1, 0, 0, seconds, 0, time.UTC))
	l.tests[name] = test
	return test
}

func (l *lineLab) next() string {
	l.version++
	return fmt.Sprint(l.version)
}

// change changes a test, as a new object. Listed objects aren't changed.
func (l *lineLab) change(name string, f func(*v1alpha1.LoadTest)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.tests[name]; old != nil {
		test := old.DeepCopy()
		f(test)
		test.ResourceVersion = l.next()
		l.tests[name] = test
	}
}

// place gives a test the pods of an attempt, on a node, or without a node.
func (l *lineLab) place(name string, attempt int, node string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	two := corev1.ResourceList{corev1.ResourceName(l.resource): resource.MustParse("2")}
	for _, role := range []string{"dut", "generator"} {
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: fmt.Sprintf("%s-%d-%s", name, attempt,
			role), Labels: map[string]string{
			v1alpha1.LabelUID: "uid-" + name, v1alpha1.LabelTest: name, v1alpha1.LabelRole: role,
			v1alpha1.LabelAttempt: fmt.Sprint(attempt),
		}}}
		if role == "generator" {
			pod.Name += "-0"
		}
		pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(),
			Kind: v1alpha1.LoadTestKind, Name: name, UID: types.UID("uid-" + name), Controller: new(true)}}
		pod.UID, pod.ResourceVersion, pod.Spec.NodeName = types.UID(pod.Name), l.next(), node
		pod.Spec.Containers = []corev1.Container{{Name: role, Resources: corev1.ResourceRequirements{Limits: two,
			Requests: two}}}
		l.pods[pod.Name] = pod
	}
}
