package operator

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/loadtest"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// installPolicies runs an operator with its own rights, which installs its network policies.
func (l *lab) installPolicies() {
	l.reconciler = loadtest.NewReconciler(l.operator, l.events, loadtest.Options{
		Settings: testSettings(), Namespace: operatorNamespace, NetworkNamespaces: []string{"*"}, Bounds: testBounds(), Clock: l.clock.now, NetworkPolicies: true, DisruptionBudgets: true,
	})
}

// disrupted is Kubernetes' disruption controller: it counts the pods of the budget.
func (l *lab) disrupted() {
	l.t.Helper()
	budget := &policyv1.PodDisruptionBudget{}
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "linerate-tests"}, budget))
	budget.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: budget.Generation, CurrentHealthy: 2, DesiredHealthy: budget.Spec.MinAvailable.IntVal, ExpectedPods: 2, DisruptionsAllowed: 0,
	}
	l.must(admin.Status().Update(l.t.Context(), budget))
}

func TestEachNamespaceOfTestsIsGuardedBeforeItsFirstPods(t *testing.T) {
	l := newLab(t)
	l.installPolicies()
	there := func() (found int) {
		for name, o := range map[string]client.Object{
			"linerate-ends": &networkingv1.NetworkPolicy{}, "linerate-generators": &networkingv1.NetworkPolicy{}, "linerate-vitals": &networkingv1.NetworkPolicy{}, "linerate-own-runners": &networkingv1.NetworkPolicy{}, "linerate-tests": &policyv1.PodDisruptionBudget{},
		} {
			switch err := admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: name}, o); {
			case err == nil:
				found++
			case !apierrors.IsNotFound(err):
				t.Fatal(err)
			}
		}
		return found
	}
	l.create(minimal("first"))
	l.settle("first")
	if n := there(); n != 0 || len(l.pods()) != 0 {
		t.Fatalf("without networks there are %d policies, %d pods", n, len(l.pods()))
	}
	l.wires(minimal("first"))
	l.settle("first")
	if n := there(); n != 5 || len(l.pods()) == 0 {
		t.Errorf("there are %d policies of 5, for %d pods", n, len(l.pods()))
	}

	t.Run("and no drain takes a pod that is Ready", func(t *testing.T) {
		l.schedule()
		l.start()
		l.settle("first")
		l.disrupted()
		evict := func(pod *corev1.Pod) error {
			return admin.SubResource("eviction").Create(t.Context(), pod, &policyv1.Eviction{})
		}
		generator := l.pod("generator")
		if err := evict(generator); !apierrors.IsTooManyRequests(err) || !strings.Contains(err.Error(), "disruption budget") {
			t.Errorf("it is evicted: %v", err)
		}
		l.setStatus(generator, corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}})
		if err := evict(generator); err != nil {
			t.Errorf("one that isn't Ready can't be evicted: %v", err)
		}
		l.clear()
	})
	t.Run("once", func(t *testing.T) {
		l.asked.take()
		l.create(minimal("second"))
		for range 4 {
			l.pass("second")
		}
		if asked := l.asked.take(); asked["POST pods"] == 0 || asked["POST networkpolicies"] > 0 {
			t.Errorf("they are made again:\n%s", asked)
		}
	})
	t.Run("and again where they were deleted", func(t *testing.T) {
		l.must(admin.DeleteAllOf(t.Context(), &networkingv1.NetworkPolicy{}, client.InNamespace(l.namespace)))
		l.clock.advance(11 * time.Minute)
		l.create(minimal("third"))
		l.settle("third")
		if n := there(); n != 5 {
			t.Errorf("there are %d policies of 5", n)
		}
	})
	t.Run("changes by a user stay", func(t *testing.T) {
		theirs := &networkingv1.NetworkPolicy{}
		key := client.ObjectKey{Namespace: l.namespace, Name: "linerate-generators"}
		l.must(admin.Get(t.Context(), key, theirs))
		theirs.Spec.Ingress = nil
		l.must(admin.Update(t.Context(), theirs))
		l.clock.advance(11 * time.Minute)
		l.create(minimal("fourth"))
		l.settle("fourth")
		l.must(admin.Get(t.Context(), key, theirs))
		if len(theirs.Spec.Ingress) != 0 {
			t.Error("it was changed")
		}
	})
}

// A real TRex can't ask who calls it for a secret. So before its pod there is a NetworkPolicy that admits its own test's runner alone. Where the API server doesn't take the policy, there is no
// pod, and the status says why.
func TestATRexIsGuardedByAPolicyOfItsTestBeforeItsPods(t *testing.T) {
	l := newLab(t)
	l.installPolicies()
	trex := func(name string) *v1alpha1.LoadTest {
		return minimal(name, func(test *v1alpha1.LoadTest) {
			test.Spec.DUT.Type = v1alpha1.DUTLoopback
			test.Spec.Generator = v1alpha1.GeneratorSpec{Engine: v1alpha1.EngineTRex, TRex: &v1alpha1.TRexSpec{Image: "registry.lab/trex:3.08"}}
		})
	}
	l.wires(trex("full"))
	full := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "full"}, Spec: corev1.ResourceQuotaSpec{
		Hard: corev1.ResourceList{"count/networkpolicies.networking.k8s.io": resource.MustParse("4")},
	}}
	l.must(admin.Create(t.Context(), full))
	full.Status = corev1.ResourceQuotaStatus{Hard: full.Spec.Hard, Used: corev1.ResourceList{"count/networkpolicies.networking.k8s.io": resource.MustParse("0")}}
	l.must(admin.Status().Update(t.Context(), full)) // as the quota controller would
	l.create(trex("full"))
	for range 4 { // each asks the API server again
		l.pass("full")
	}
	c := meta.FindStatusCondition(l.get("full").Status.Conditions, v1alpha1.ConditionScheduled)
	if c == nil || c.Reason != v1alpha1.ReasonPodRefused || !strings.Contains(c.Message, "exceeded quota") || len(l.pods()) > 0 {
		t.Fatalf("without room for its policy there are %d pods, and the test says %+v", len(l.pods()), c)
	}

	l.must(admin.Delete(t.Context(), full))
	l.clock.advance(11 * time.Minute)
	l.settle("full")
	test := l.get("full")
	policy := &networkingv1.NetworkPolicy{}
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: manifests.OwnRunnerPolicyName(test)}, policy))
	if owner := metav1.GetControllerOf(policy); owner == nil || owner.UID != test.UID {
		t.Errorf("it doesn't go with its test: %+v", policy.OwnerReferences)
	}
	covers, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	l.must(err)
	if generator := l.pod("generator"); !covers.Matches(labels.Set(generator.Labels)) {
		t.Errorf("it covers %s, and the pod has %v", covers, generator.Labels)
	}
	l.asked.take()
	l.create(trex("second"))
	for range 6 {
		l.pass("second")
	}
	if asked := l.asked.take(); asked["POST networkpolicies"] != 1 {
		t.Errorf("the second test has one policy of its own:\n%s", asked)
	}
}
