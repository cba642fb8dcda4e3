package tenants

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// selection is what a guard selects pods by: a value for each label that they must have (empty: any other than none), and the labels that they must not have.
type selection struct {
	guard string
	has   map[string]string
	lacks []string
}

// selections are those of all guards that the operator makes.
func selections(t *testing.T) (all []selection) {
	t.Helper()
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "first", UID: "2e5b1c3d"}}
	test.Spec.Generator.Engine = v1alpha1.EngineTRex
	own, needed := manifests.OwnRunnerPolicy(test, managerNamespace)
	if !needed {
		t.Fatal("a TRex has no policy of its test's own")
	}
	for _, o := range append(manifests.NetworkPolicies("lab", managerNamespace), own, manifests.DisruptionBudget("lab")) {
		switch o := o.(type) {
		case *networkingv1.NetworkPolicy:
			all = append(all, selected(t, o.Name, &o.Spec.PodSelector))
			for _, in := range o.Spec.Ingress { // of pods in the operator's namespace, by which nobody there may pose as a runner
				for _, peer := range in.From {
					all = append(all, selected(t, o.Name+"'s callers", peer.PodSelector))
				}
			}
		case *policyv1.PodDisruptionBudget:
			all = append(all, selected(t, o.Name, o.Spec.Selector))
		default:
			t.Fatalf("nothing says here what %T selects by", o)
		}
	}
	return all
}

func selected(t *testing.T, guard string, by *metav1.LabelSelector) selection {
	t.Helper()
	s := selection{guard: guard, has: map[string]string{}}
	for key, value := range by.MatchLabels {
		s.has[key] = value
	}
	for _, r := range by.MatchExpressions {
		switch r.Operator {
		case metav1.LabelSelectorOpIn:
			s.has[r.Key] = r.Values[0]
		case metav1.LabelSelectorOpDoesNotExist:
			s.lacks = append(s.lacks, r.Key)
		default:
			t.Fatalf("%s: nothing says here what %s means", guard, r.Operator)
		}
	}
	return s
}

// Every label by which a NetworkPolicy or a disruption budget of linerate's selects pods is the operator's: who may edit the namespace neither removes nor changes it, and adds none that takes a
// pod out of a selection.
func TestNoEditorChangesALabelThatAGuardSelectsBy(t *testing.T) {
	l := editedLab(t)
	manager, mallory := asAccount(t, managerNamespace, managerAccount), as(t, editor)
	tried := 0
	for i, s := range selections(t) {
		t.Run(s.guard, func(t *testing.T) {
			pod := l.generator(fmt.Sprintf("guarded-%d", i))
			for key, value := range s.has {
				pod.Labels[key] = value
			}
			l.must(manager.Create(t.Context(), pod))
			l.await("the policy", func() bool {
				return mallory.Patch(t.Context(), pod.DeepCopy(), labelPatch(t, map[string]any{v1alpha1.LabelUID: "other"}), client.DryRunAll) != nil
			})
			l.must(mallory.Patch(t.Context(), pod.DeepCopy(), labelPatch(t, map[string]any{"team": "a"}), client.DryRunAll))
			for key := range s.has {
				for _, to := range []any{nil, "", "other"} {
					tried++
					answers(t, mallory.Patch(t.Context(), pod.DeepCopy(), labelPatch(t, map[string]any{key: to}), client.DryRunAll), "NetworkPolicies select by them")
				}
			}
			for _, key := range s.lacks {
				tried++
				answers(t, mallory.Patch(t.Context(), pod.DeepCopy(), labelPatch(t, map[string]any{key: "x"}), client.DryRunAll), "NetworkPolicies select by them")
			}
			changed := pod.DeepCopy() // all at once, by an update
			for key := range s.has {
				delete(changed.Labels, key)
			}
			answers(t, mallory.Update(t.Context(), changed, client.DryRunAll), "NetworkPolicies select by them")
			for _, subresource := range []string{"status", "resize"} {
				if err := mallory.SubResource(subresource).Patch(t.Context(), pod.DeepCopy(), labelPatch(t, map[string]any{"app.kubernetes.io/managed-by": nil}), client.DryRunAll); err == nil {
					t.Errorf("it is changed through the subresource %s", subresource)
				}
			}
		})
	}
	if tried < 40 {
		t.Errorf("only %d changes were tried", tried)
	}
	t.Run("nor the name of a namespace by which callers are known", func(t *testing.T) {
		namespace := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: l.namespace}}
		l.must(admin.Patch(t.Context(), namespace, labelPatch(t, map[string]any{"kubernetes.io/metadata.name": managerNamespace})))
		l.must(admin.Get(t.Context(), client.ObjectKey{Name: l.namespace}, namespace))
		if got := namespace.Labels["kubernetes.io/metadata.name"]; got != l.namespace {
			t.Errorf("even an administrator names it %q", got)
		}
	})
	if keys := slices.Sorted(func(yield func(string) bool) {
		for _, s := range selections(t) {
			for key := range s.has {
				if !yield(key) {
					return
				}
			}
		}
	}); !slices.Contains(keys, v1alpha1.LabelAdmits) || !slices.Contains(keys, v1alpha1.LabelEnd) {
		t.Errorf("the guards select by %v", slices.Compact(keys))
	}
}

func labelPatch(t *testing.T, labels map[string]any) client.Patch {
	t.Helper()
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	if err != nil {
		t.Fatal(err)
	}
	return client.RawPatch(types.MergePatchType, text)
}
