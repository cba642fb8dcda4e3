package wires

import (
	"maps"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/lifecycle"
)

// wired are the Leases in a cluster that has only what is given.
func wired(t *testing.T, stored ...client.Object) *Leases {
	t.Helper()
	scheme, err := caches.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored...).Build()
	ofTest := func(test types.UID) client.ListOption { return client.MatchingLabels{v1alpha1.LabelUID: string(test)} }
	return New(c, ofTest, Options{Namespace: "linerate-system", Clock: time.Now})
}

// takes are a test's wish for ports of a node.
func takes(test, node string, ports ...string) (all []lifecycle.Take) {
	for _, port := range ports {
		holder := lifecycle.Holder{Namespace: "lab", Name: test, UID: types.UID("uid-of-" + test), Attempt: 2}
		all = append(all, lifecycle.Take{Wire: lifecycle.Wire{Node: node, Port: port}, Holder: holder})
	}
	return all
}

// heldIn says who holds which port, as "NODE PORT".
func heldIn(t *testing.T, r *Leases) map[string]string {
	t.Helper()
	all, err := r.holds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := map[string]string{}
	for _, h := range all {
		held[h.Wire.Node+" "+h.Wire.Port] = h.Holder.String()
	}
	return held
}

func TestWiresAreTakenAllOrNone(t *testing.T) {
	r := wired(t)
	if err := r.Take(t.Context(), takes("a", "n1", "p0", "p1")); err != nil {
		t.Fatal(err)
	}
	if err := r.Take(t.Context(), takes("a", "n1", "p0", "p1")); err != nil {
		t.Errorf("what is the test's own already: %v", err)
	}
	if wait, err := pass.Next(t.Context(), time.Time{}, time.Now(), r.Take(t.Context(), takes("b", "n1", "p8", "p1", "p9"))); err != nil || wait.RequeueAfter == 0 || wait.RequeueAfter > time.Minute {
		t.Errorf("another test's port is waited for: %v, %v", wait, err)
	}
	if err := r.Take(t.Context(), takes("b", "n2", "p0")); err != nil {
		t.Errorf("the port of that name of another node: %v", err)
	}
	want := map[string]string{"n1 p0": "lab/a", "n1 p1": "lab/a", "n2 p0": "lab/b"}
	if held := heldIn(t, r); !maps.Equal(held, want) {
		t.Errorf("held are %v, want %v", held, want)
	}
}

func TestAWireIsTakenOverFromWhoNeedsItNoMore(t *testing.T) {
	r := wired(t)
	if err := r.Take(t.Context(), takes("dead", "n1", "p0")); err != nil {
		t.Fatal(err)
	}
	all, err := r.holds(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	next := takes("next", "n1", "p0")
	next[0].Over = &all[0]
	if err := r.Take(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if held := heldIn(t, r); held["n1 p0"] != "lab/next" {
		t.Errorf("held are %v", held)
	}
}

func TestWithoutANamespaceNoWireIsTaken(t *testing.T) {
	r := wired(t)
	r.options.Namespace = ""
	if err := r.Take(t.Context(), takes("a", "n1", "p0")); err == nil {
		t.Error("a port is taken that nobody could see taken")
	}
}

func TestLeasesThatAreNotOurs(t *testing.T) {
	lease := func(name string, identity *string, labels map[string]string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "linerate-system", Name: name, Labels: labels}, Spec: coordinationv1.LeaseSpec{HolderIdentity: identity}}
	}
	ours := map[string]string{v1alpha1.LabelWire: "true"}
	r := wired(t, lease("linerate-manager", new("pod-1_uid"), nil), lease("nobodys", nil, ours), lease("odd", new("a/b"), ours), lease("no-number", new("a/b/c/d"), ours),
		lease("ours", new("lab/test/uid/3"), ours))
	all, err := r.holds(t.Context())
	if err != nil || len(all) != 1 || all[0].Holder != (lifecycle.Holder{Namespace: "lab", Name: "test", UID: "uid", Attempt: 3}) {
		t.Errorf("%+v, %v", all, err)
	}
}

func TestEachWireHasALeaseOfItsOwn(t *testing.T) {
	seen := map[string]lifecycle.Wire{}
	for _, w := range []lifecycle.Wire{{Node: "a", Port: "0000:3b:00.0"}, {Node: "b", Port: "0000:3b:00.0"}, {Node: "a", Port: "0000:3b:00.1"}, {Node: "a0000", Port: ":3b:00.0"}} {
		name := leaseName(w)
		if other, taken := seen[name]; taken || len(name) > 63 {
			t.Errorf("%s and %s are both %s", w, other, name)
		}
		seen[name] = w
	}
}

func TestWhatIsKnownOfAHolder(t *testing.T) {
	pod := func(name, role string, phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name, Labels: map[string]string{v1alpha1.LabelUID: "uid", v1alpha1.LabelRole: role}},
			Status:     corev1.PodStatus{Phase: phase},
		}
	}
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "test", UID: "uid"}}
	done := test.DeepCopy()
	at := metav1.NewTime(time.Unix(1_700_000_000, 0))
	done.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonMeasured, LastTransitionTime: at}}
	later := test.DeepCopy()
	later.UID = "uid-of-another"
	pods := []client.Object{
		pod("generator", "generator", corev1.PodRunning), pod("runner", "runner", corev1.PodPending), pod("dut", "dut", corev1.PodRunning), pod("over", "generator", corev1.PodFailed),
	}
	for name, c := range map[string]struct {
		stored []client.Object
		want   lifecycle.Hold
	}{
		"it runs":                     {append(pods, test), lifecycle.Hold{Exists: true, Pods: 2}},
		"it is complete":              {append(pods, done), lifecycle.Hold{Exists: true, Finished: at.Time, Pods: 2}},
		"it is gone, and its pods":    {nil, lifecycle.Hold{}},
		"it is gone, its pods aren't": {pods, lifecycle.Hold{Pods: 2}},
		"another one has its name":    {[]client.Object{later}, lifecycle.Hold{}},
	} {
		t.Run(name, func(t *testing.T) {
			hold := lifecycle.Hold{Holder: lifecycle.Holder{Namespace: "lab", Name: "test", UID: "uid"}}
			if err := wired(t, c.stored...).observeHolder(t.Context(), &hold); err != nil {
				t.Fatal(err)
			}
			if hold.Exists != c.want.Exists || hold.Pods != c.want.Pods || !hold.Finished.Equal(c.want.Finished) {
				t.Errorf("%+v, want %+v", hold, c.want)
			}
		})
	}
	t.Run("it is where this operator doesn't look", func(t *testing.T) {
		r := wired(t)
		r.options.Namespaces = []string{"elsewhere"}
		hold := lifecycle.Hold{Holder: lifecycle.Holder{Namespace: "lab", Name: "test", UID: "uid"}}
		if err := r.observeHolder(t.Context(), &hold); err != nil || !hold.Exists || !hold.Unseen {
			t.Errorf("%+v, %v: what can't be seen isn't gone", hold, err)
		}
	})
}
