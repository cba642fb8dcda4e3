package portclaims

import (
	"maps"
	"slices"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/pass"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// leasesIn are the Leases in a cluster that has only what is given.
func leasesIn(t *testing.T, stored ...client.Object) *Leases {
	t.Helper()
	scheme, err := caches.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored...).Build()
	return New(c, Options{Namespace: "linerate-system", Clock: time.Now})
}

// requests are a test's wish for ports of a node.
func requests(test, node string, ports ...string) (claims []lifecycle.PortRequest) {
	for _, port := range ports {
		holder := lifecycle.Holder{Namespace: "lab", Name: test, UID: types.UID("uid-of-" + test), Attempt: 2}
		claims = append(claims, lifecycle.PortRequest{Port: lifecycle.Port{Node: node, Name: port}, Holder: holder})
	}
	return claims
}

// heldIn says who holds which port, as "NODE PORT".
func heldIn(t *testing.T, r *Leases) map[string]string {
	t.Helper()
	claims, err := r.list(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ports := map[string]string{}
	for _, h := range claims {
		ports[h.Port.Node+" "+h.Port.Name] = h.Holder.String()
	}
	return ports
}

func TestPortsAreClaimedAllOrNone(t *testing.T) {
	r := leasesIn(t)
	if err := r.Claim(t.Context(), requests("a", "n1", "p0", "p1")); err != nil {
		t.Fatal(err)
	}
	if err := r.Claim(t.Context(), requests("a", "n1", "p0", "p1")); err != nil {
		t.Errorf("what is the test's own already: %v", err)
	}
	if wait, err := pass.Next(t.Context(), time.Time{}, time.Now(),
		r.Claim(t.Context(), requests("b", "n1", "p8", "p1", "p9"))); err != nil || wait.RequeueAfter == 0 ||
		wait.RequeueAfter > time.Minute {
		t.Errorf("another test's port is waited for: %v, %v", wait, err)
	}
	if err := r.Claim(t.Context(), requests("b", "n2", "p0")); err != nil {
		t.Errorf("the port of that name of another node: %v", err)
	}
	want := map[string]string{"n1 p0": "lab/a", "n1 p1": "lab/a", "n2 p0": "lab/b"}
	if ports := heldIn(t, r); !maps.Equal(ports, want) {
		t.Errorf("held are %v, want %v", ports, want)
	}
}

func TestAWireIsTakenOverFromWhoNeedsItNoMore(t *testing.T) {
	r := leasesIn(t)
	if err := r.Claim(t.Context(), requests("dead", "n1", "p0")); err != nil {
		t.Fatal(err)
	}
	claims, err := r.list(t.Context())
	if err != nil || len(claims) != 1 {
		t.Fatalf("%v, %v", claims, err)
	}
	next := requests("next", "n1", "p0")
	next[0].Replaces = &claims[0]
	if err := r.Claim(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if ports := heldIn(t, r); ports["n1 p0"] != "lab/next" {
		t.Errorf("held are %v", ports)
	}
}

// TestALeaseFromTheFutureHoldsNoPort: whether a Lease counts depends on its holder and generators alone. An
// operator whose clock was ahead, and one that renews Leases, leave times that others haven't reached, and the
// port of a test that is gone is free all the same.
func TestALeaseFromTheFutureHoldsNoPort(t *testing.T) {
	ahead := metav1.NewMicroTime(time.Now().Add(1000 * time.Second))
	lease := leaseOf("linerate-system", requests("gone", "n1", "p0")[0], ahead.Time)
	lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &ahead, new(int32(3600))
	next := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "next", UID: "uid-of-next"}}
	next.Status.Operator.AwaitedPorts = []v1alpha1.NodePort{{Node: "n1", Port: "p0"}}
	r := leasesIn(t, lease)
	observed, err := r.Observe(t.Context(), next, nil)
	if err != nil || len(observed.Claims) != 1 || observed.Claims[0].Exists || observed.Claims[0].Pods != 0 {
		t.Fatalf("%+v, %v: its holder is gone", observed.Claims, err)
	}
	if err := r.ReleaseOf(t.Context(), types.NamespacedName{Namespace: "lab", Name: "gone"}); err != nil {
		t.Fatal(err)
	}
	if ports := heldIn(t, r); len(ports) != 0 {
		t.Errorf("held are %v", ports)
	}
}

// A Lease that the test's earlier attempt left names generators that are gone: it isn't taken for this
// attempt's, and is made anew.
func TestALeaseOfAnEarlierAttemptIsNotThisOnes(t *testing.T) {
	r := leasesIn(t)
	if err := r.Claim(t.Context(), requests("a", "n1", "p0")); err != nil {
		t.Fatal(err)
	}
	next := requests("a", "n1", "p0")
	next[0].Holder.Attempt, next[0].Senders = 3, []lifecycle.Sender{{Name: "a-3-generator-0", UID: "sends"}}
	if wait, err := pass.Next(t.Context(), time.Time{}, time.Now(), r.Claim(t.Context(), next)); err != nil ||
		wait.RequeueAfter == 0 {
		t.Errorf("until the Lease is seen: %v, %v", wait, err)
	}
	claims, err := r.list(t.Context())
	if err != nil || len(claims) != 1 {
		t.Fatalf("%v, %v", claims, err)
	}
	next[0].Replaces = &claims[0]
	if err := r.Claim(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	if claims, err = r.list(t.Context()); err != nil || len(claims) != 1 || claims[0].Holder.Attempt != 3 ||
		!slices.Equal(claims[0].Senders, next[0].Senders) {
		t.Errorf("held is %+v, %v", claims, err)
	}
}

func TestWithoutANamespaceNoWireIsTaken(t *testing.T) {
	r := leasesIn(t)
	r.options.Namespace = ""
	if err := r.Claim(t.Context(), requests("a", "n1", "p0")); err == nil {
		t.Error("a port is taken that nobody could see taken")
	}
}

func TestLeasesThatAreNotOurs(t *testing.T) {
	lease := func(name string, identity *string, labels map[string]string) *coordinationv1.Lease {
		return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "linerate-system", Name: name,
			Labels: labels}, Spec: coordinationv1.LeaseSpec{HolderIdentity: identity}}
	}
	ours := map[string]string{v1alpha1.LabelWire: "true"}
	r := leasesIn(t, lease("linerate-manager", new("pod-1_uid"), nil), lease("nobodys", nil, ours),
		lease("odd", new("a/b"), ours), lease("no-number", new("a/b/c/d"), ours),
		lease("ours", new("lab/test/uid/3"), ours))
	claims, err := r.list(t.Context())
	if err != nil || len(claims) != 1 || claims[0].Holder != (lifecycle.Holder{Namespace: "lab", Name: "test", UID: "uid",
		Attempt: 3}) {
		t.Errorf("%+v, %v", claims, err)
	}
}

func TestEachWireHasALeaseOfItsOwn(t *testing.T) {
	ports := map[string]lifecycle.Port{}
	for _, w := range []lifecycle.Port{{Node: "a", Name: "0000:3b:00.0"}, {Node: "b", Name: "0000:3b:00.0"},
		{Node: "a", Name: "0000:3b:00.1"}, {Node: "a0000", Name: ":3b:00.0"}} {
		name := leaseName(w)
		if earlier, ok := ports[name]; ok || len(name) > 63 {
			t.Errorf("%s and %s are both %s", w, earlier, name)
		}
		ports[name] = w
	}
}

// podOf is a pod that says of itself that it is a test's: it has its labels, and an owner, who is its controller.
func podOf(name string, owner types.UID, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "lab", Name: name, UID: types.UID("uid-of-" + name),
			Labels: map[string]string{v1alpha1.LabelUID: "uid", v1alpha1.LabelRole: "generator"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: v1alpha1.GroupVersion.String(),
				Kind: v1alpha1.LoadTestKind, Name: "test", UID: owner, Controller: new(true)}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

func phase(phase corev1.PodPhase) func(*corev1.Pod) {
	return func(p *corev1.Pod) { p.Status.Phase = phase }
}

func orphan(p *corev1.Pod) { p.OwnerReferences = nil }

func unlabelled(p *corev1.Pod) { p.Labels = nil }

// going was to be gone by so long ago, and something keeps it.
func going(ago time.Duration) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		deletion := metav1.NewTime(time.Now().Add(-ago))
		p.DeletionTimestamp, p.Finalizers = &deletion, []string{"lab.example/kept"}
	}
}

// Who keeps a port for a test that is gone are the generators that its Lease names, and no pod that only says
// of itself that it is the test's: anybody who may create pods could keep a port so for ever.
func TestWhatIsKnownOfAHolder(t *testing.T) {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "test", UID: "uid"}}
	complete := test.DeepCopy()
	end := metav1.NewTime(time.Unix(1_700_000_000, 0))
	complete.Status.Conditions = []metav1.Condition{{Type: v1alpha1.ConditionComplete, Status: metav1.ConditionTrue,
		Reason: v1alpha1.ReasonMeasured, LastTransitionTime: end}}
	later := test.DeepCopy()
	later.UID = "uid-of-another"
	objects := func(pods ...*corev1.Pod) (stored []client.Object) {
		for _, p := range pods {
			stored = append(stored, p)
		}
		return stored
	}
	named := []lifecycle.Sender{{Name: "g0", UID: "uid-of-g0"}, {Name: "g1", UID: "uid-of-g1"}}
	for name, c := range map[string]struct {
		stored  []client.Object
		senders []lifecycle.Sender
		want    lifecycle.PortClaim
	}{
		"it runs": {append(objects(podOf("g0", "uid"), podOf("g1", "uid")), test), named,
			lifecycle.PortClaim{Exists: true}},
		"it is complete": {append(objects(podOf("g0", "uid")), complete), named,
			lifecycle.PortClaim{Exists: true, Finished: end.Time, Pods: 1}},
		"it is gone, and its pods": {nil, named, lifecycle.PortClaim{}},
		"it is gone, its generators aren't": {objects(podOf("g0", "uid"), podOf("g1", "uid", phase(corev1.PodFailed))),
			named, lifecycle.PortClaim{Pods: 1}},
		"another one has its name":      {[]client.Object{later}, named, lifecycle.PortClaim{}},
		"a pod with its labels":         {objects(podOf("forged", "", orphan)), named, lifecycle.PortClaim{}},
		"a pod that calls it its owner": {objects(podOf("forged", "uid")), named, lifecycle.PortClaim{}},
		"a pod of a generator's name": {objects(podOf("g0", "uid", func(p *corev1.Pod) { p.UID = "another" })),
			named, lifecycle.PortClaim{}},
		"a generator that lost its labels": {objects(podOf("g0", "uid", orphan, unlabelled)), named,
			lifecycle.PortClaim{Pods: 1}},
		"a generator that is ending": {objects(podOf("g0", "uid", going(0))), named, lifecycle.PortClaim{Pods: 1}},
		"a generator that a finalizer keeps": {objects(podOf("g0", "uid", going(2*time.Minute))), named,
			lifecycle.PortClaim{}},
	} {
		t.Run(name, func(t *testing.T) {
			claim := lifecycle.PortClaim{Holder: lifecycle.Holder{Namespace: "lab", Name: "test", UID: "uid"},
				Senders: c.senders}
			if err := leasesIn(t, c.stored...).observeHolder(t.Context(), &claim); err != nil {
				t.Fatal(err)
			}
			if claim.Exists != c.want.Exists || claim.Pods != c.want.Pods || !claim.Finished.Equal(c.want.Finished) {
				t.Errorf("%+v, want %+v", claim, c.want)
			}
		})
	}
	t.Run("it is where this operator doesn't look", func(t *testing.T) {
		r := leasesIn(t)
		r.options.Namespaces = []string{"elsewhere"}
		claim := lifecycle.PortClaim{Holder: lifecycle.Holder{Namespace: "lab", Name: "test", UID: "uid"}}
		if err := r.observeHolder(t.Context(), &claim); err != nil || !claim.Exists || !claim.Unseen {
			t.Errorf("%+v, %v: what can't be seen isn't gone", claim, err)
		}
	})
}

// The Lease says whose generators are on a port, and reads as it was written.
func TestALeaseNamesTheGenerators(t *testing.T) {
	r := leasesIn(t)
	wish := requests("a", "n1", "p0")
	wish[0].Senders = []lifecycle.Sender{{Name: "a-1-generator-0", UID: "1"}, {Name: "a-1-generator-1", UID: "2"}}
	if err := r.Claim(t.Context(), append(wish, requests("a", "n1", "p1")...)); err != nil {
		t.Fatal(err)
	}
	claims, err := r.list(t.Context())
	if err != nil || len(claims) != 2 {
		t.Fatalf("%v, %v", claims, err)
	}
	for _, claim := range claims {
		want := wish[0].Senders
		if claim.Port.Name == "p1" {
			want = nil
		}
		if !slices.Equal(claim.Senders, want) {
			t.Errorf("on %s are %v, want %v", claim.Port, claim.Senders, want)
		}
	}
}

// A test that is gone gives its ports back though a pod bears its labels, and as soon as its generators have
// ended; one that nobody else ends is ended.
func TestWhatATestLeftThatIsGone(t *testing.T) {
	test := types.NamespacedName{Namespace: "lab", Name: "test"}
	for name, c := range map[string]struct {
		stored  []client.Object
		free    bool
		deleted bool
	}{
		"nothing": {nil, true, false},
		"a pod with its labels": {[]client.Object{podOf("forged", "uid"), podOf("bare", "", orphan)}, true,
			false},
		"a generator that will be gone":   {[]client.Object{podOf("g0", "uid")}, false, false},
		"a generator with other owners":   {[]client.Object{podOf("g0", "somebody")}, false, true},
		"a generator that nobody deletes": {[]client.Object{podOf("g0", "uid", orphan, unlabelled)}, false, true},
		"a generator that is kept":        {[]client.Object{podOf("g0", "uid", orphan, going(time.Hour))}, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := leasesIn(t, c.stored...)
			wish := requests("test", "n1", "p0")
			wish[0].Holder.UID, wish[0].Senders = "uid", []lifecycle.Sender{{Name: "g0", UID: "uid-of-g0"}}
			if err := r.Claim(t.Context(), wish); err != nil {
				t.Fatal(err)
			}
			wait, err := pass.Next(t.Context(), time.Time{}, time.Now(), r.ReleaseOf(t.Context(), test))
			if err != nil || (wait.RequeueAfter > 0) == c.free {
				t.Errorf("%v, %v", wait, err)
			}
			if ports := heldIn(t, r); (len(ports) == 0) != c.free {
				t.Errorf("held are %v", ports)
			}
			for _, pod := range c.stored {
				err := r.client.Get(t.Context(), client.ObjectKeyFromObject(pod), &corev1.Pod{})
				if deleted := apierrors.IsNotFound(err); deleted != c.deleted {
					t.Errorf("%s is gone: %v", pod.GetName(), deleted)
				}
			}
		})
	}
}
