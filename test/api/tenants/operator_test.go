package tenants

import (
	"context"
	"net/netip"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/loadtest"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/test/api/tenants/tries"
)

// bounds are those of the policy that main_test.go installs.
func bounds(t *testing.T) (b compile.Bounds) {
	t.Helper()
	var err error
	if b.Servers, err = compile.ParseServerRanges([]string{"192.0.2.0/24", "[2001:db8:7::/64]:4511"}); err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(compile.DefaultPrefixes, ",") {
		b.Prefixes = append(b.Prefixes, netip.MustParsePrefix(text))
	}
	return b
}

// operate runs the operator, with its own rights, until it has nothing more to do for a test.
func (l *lab) operate(name string, shared ...string) *v1alpha1.LoadTest {
	l.t.Helper()
	r := loadtest.NewReconciler(asAccount(l.t, managerNamespace, managerAccount), events.NewFakeRecorder(100), loadtest.Options{
		Settings: manifests.Settings{Image: "registry.lab/linerate:test", Namespace: managerNamespace}, NetworkNamespaces: shared, Bounds: bounds(l.t),
	})
	key := client.ObjectKey{Namespace: l.namespace, Name: name}
	for range 6 {
		if _, err := r.Reconcile(l.t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
			l.t.Fatal(err)
		}
	}
	test := &v1alpha1.LoadTest{}
	l.must(admin.Get(l.t.Context(), key, test))
	return test
}

// holdsUp fails unless a condition is False for a reason, in these words, and there are no pods.
func (l *lab) holdsUp(test *v1alpha1.LoadTest, condition, reason string, says ...string) {
	l.t.Helper()
	c := meta.FindStatusCondition(test.Status.Conditions, condition)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != reason {
		l.t.Fatalf("want %s=False %s, have %+v", condition, reason, test.Status.Conditions)
	}
	for _, words := range says {
		if !strings.Contains(c.Message, words) {
			l.t.Errorf("it should say %q, and says: %s", words, c.Message)
		}
	}
	var pods corev1.PodList
	l.must(admin.List(l.t.Context(), &pods, client.InNamespace(l.namespace), client.MatchingLabels{v1alpha1.LabelUID: string(test.UID)}))
	if len(pods.Items) > 0 {
		l.t.Errorf("there are %d pods", len(pods.Items))
	}
}

// network makes a network.
func (l *lab) network(namespace, name string) {
	l.t.Helper()
	n := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"config": `{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"bridge"}]}`}}}
	n.SetGroupVersionKind(schema.GroupVersionKind{Group: "k8s.cni.cncf.io", Version: "v1", Kind: "NetworkAttachmentDefinition"})
	n.SetNamespace(namespace)
	n.SetName(name)
	l.must(admin.Create(l.t.Context(), n))
}

// node makes a node with room for a test.
func (l *lab) node() {
	l.t.Helper()
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{GenerateName: "node-"}}
	l.must(admin.Create(l.t.Context(), n))
	l.t.Cleanup(func() { l.must(admin.Delete(context.Background(), n)) })
}

// create creates a LoadTest as a user.
func (l *lab) create(who string, test *v1alpha1.LoadTest) {
	l.t.Helper()
	test.Namespace = l.namespace
	l.must(as(l.t, who).Create(l.t.Context(), test))
}

// The policy isn't all that stands between tenants: this holds without it, too.
func TestTheOperatorRefusesNetworksOfOthers(t *testing.T) {
	l, other := newLab(t), newLab(t)
	other.network(other.namespace, "west")
	l.network(l.namespace, "west")
	l.network(l.namespace, "east")
	refusal := "tests of namespace " + l.namespace + " may use networks of " + l.namespace + ", default only"
	t.Run("on a link", func(t *testing.T) {
		test := written(t, "on-a-link", strings.ReplaceAll(links, "network: west", "network: "+other.namespace+"/west"))
		test.Namespace = l.namespace
		l.must(l.withoutThePolicy(test))
		l.holdsUp(l.operate("on-a-link", "default"), "Scheduled", "NetworkInvalid", other.namespace+"/west", refusal, "allowedNetworkNamespaces")
	})
	for _, try := range tries.ForeignAnnotations(other.namespace) {
		t.Run("in the annotation of a template, as "+try.Name, func(t *testing.T) {
			for _, part := range []string{"pod", "setup", "teardown"} {
				name := "own-" + try.Name + "-" + part
				l.create("author", written(t, name, links+tries.WithAnnotation(part, try.Spec)))
				l.holdsUp(l.operate(name, "default"), "Scheduled", "NetworkInvalid", try.Refusal, refusal)
			}
		})
	}
	for _, try := range tries.DoctoredAnnotations(l.namespace, other.namespace) {
		t.Run("in the annotation of a template that says two things, as "+try.Name, func(t *testing.T) {
			for _, part := range []string{"pod", "setup", "teardown"} {
				name := "two-" + try.Name + "-" + part
				l.create("author", written(t, name, links+tries.WithAnnotation(part, try.Spec)))
				l.holdsUp(l.operate(name, "default"), "Accepted", "Invalid", try.Refusal)
			}
		})
	}
	t.Run("but those that the chart allows", func(t *testing.T) {
		for _, shared := range []string{"*", other.namespace} {
			c := meta.FindStatusCondition(l.operate("on-a-link", shared).Status.Conditions, "Scheduled")
			if c != nil && c.Reason == "NetworkInvalid" {
				t.Errorf("%s: %s", shared, c.Message)
			}
		}
	})
}

// withoutThePolicy creates a LoadTest in a moment in which the policy isn't bound: what was made before it was installed.
func (l *lab) withoutThePolicy(test *v1alpha1.LoadTest) error {
	l.t.Helper()
	l.setPolicy(false)
	defer l.setPolicy(true)
	return admin.Create(l.t.Context(), test)
}

// Labels by which the operator deletes, and by which a NetworkPolicy lets in, can't be set by users.
func TestLabelsOfOthers(t *testing.T) {
	l := newLab(t)
	for label, value := range map[string]string{
		"linerate.dev/test-uid": "3f1c", "linerate.dev/role": "runner", "linerate.dev/test": "other", "app.kubernetes.io/managed-by": "linerate",
	} {
		name := strings.NewReplacer("linerate.dev/", "", "app.kubernetes.io/", "").Replace(label)
		l.create("author", written(t, name, links+"dut: {type: Pod, pod: {template: {metadata: {labels: {"+label+": '"+value+"'}}, spec: {containers: [{name: c, image: i}]}}}}"))
		l.holdsUp(l.operate(name), "Accepted", "Invalid", label, "linerate sets this label")
		l.create("author", written(t, "g-"+name, links+"generator: {engine: Software, pod: {labels: {"+label+": '"+value+"'}}}"))
		l.holdsUp(l.operate("g-"+name), "Accepted", "Invalid", "spec.generator.pod.labels", "are linerate's own: use others")
	}
}

func TestNamesOfOthersObjects(t *testing.T) {
	l := newLab(t)
	l.node()
	l.network(l.namespace, "west")
	l.network(l.namespace, "east")
	theirs := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "sales-report"}, Data: map[string]string{"secret": "figures"}}
	l.must(admin.Create(t.Context(), theirs))
	l.create("tester", written(t, "sales", links))
	l.holdsUp(l.operate("sales"), "Scheduled", "NameTaken", "ConfigMap/sales-report", "create the LoadTest under another name")
	kept := &corev1.ConfigMap{}
	l.must(admin.Get(t.Context(), client.ObjectKeyFromObject(theirs), kept))
	if kept.ResourceVersion != theirs.ResourceVersion {
		t.Error("it was changed")
	}
	if err := asAccount(t, managerNamespace, runnerAccount).Get(t.Context(), client.ObjectKeyFromObject(theirs), kept); err == nil {
		t.Error("runners may read it")
	}
}
