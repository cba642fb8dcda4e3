package operator

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/controllers/loadtest"
)

// guarded is an operator with its own rights that puts up guards.
func (l *lab) guarded() {
	l.reconciler = loadtest.NewReconciler(l.operator, l.events, loadtest.Options{
		Settings: testSettings(), Namespace: operatorNamespace, NetworkNamespaces: []string{"*"}, Clock: l.clock.now, NetworkPolicies: true, DisruptionBudgets: true,
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
	l.guarded()
	there := func() (found int) {
		for name, o := range map[string]client.Object{
			"linerate-ends": &networkingv1.NetworkPolicy{}, "linerate-generators": &networkingv1.NetworkPolicy{}, "linerate-vitals": &networkingv1.NetworkPolicy{}, "linerate-tests": &policyv1.PodDisruptionBudget{},
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
		t.Fatalf("without networks there are %d guards, %d pods", n, len(l.pods()))
	}
	l.wires(minimal("first"))
	l.settle("first")
	if n := there(); n != 4 || len(l.pods()) == 0 {
		t.Errorf("there are %d guards of 4, for %d pods", n, len(l.pods()))
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
		if n := there(); n != 4 {
			t.Errorf("there are %d guards of 4", n)
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
