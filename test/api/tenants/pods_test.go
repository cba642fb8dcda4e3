package tenants

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

const editor = "editor"

// editedLab is a lab with somebody who has Kubernetes' own role edit: its parts, as nobody puts it together without a controller-manager.
func editedLab(t *testing.T) *lab {
	t.Helper()
	l := newLab(t)
	for _, role := range []string{"system:aggregate-to-view", "system:aggregate-to-edit"} {
		l.bind(role, editor)
	}
	return l
}

// generator is a generator's pod as the operator makes it, of a test that isn't there.
func (l *lab) generator(name string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: l.namespace, Name: name,
			Labels:      map[string]string{v1alpha1.LabelUID: "2e5b1c3d", v1alpha1.LabelTest: "first", v1alpha1.LabelRole: "generator", v1alpha1.LabelAttempt: "1", "app.kubernetes.io/managed-by": "linerate"},
			Annotations: map[string]string{"linerate.dev/links": "west", "k8s.v1.cni.cncf.io/networks": `[{"name":"west","namespace":"lab","interface":"west"}]`},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{Name: "linerate-ports", Image: "linerate"}}, Containers: []corev1.Container{{Name: "generator", Image: "linerate"}},
		},
	}
}

// Whoever may create and change pods makes none that says it is a test's, and changes nothing in one that is which the operator believes.
func TestOnlyTheOperatorMakesItsPods(t *testing.T) {
	l := editedLab(t)
	manager, mallory := asAccount(t, managerNamespace, managerAccount), as(t, editor)
	l.must(wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
		plain := l.generator("plain")
		plain.Labels = nil
		return mallory.Create(ctx, plain, client.DryRunAll) == nil && apierrors.IsForbidden(mallory.Create(ctx, l.generator("probe"), client.DryRunAll)), nil
	}))
	pod := l.generator("first-1-generator-0")
	l.must(manager.Create(t.Context(), pod))
	owner := metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestKind, Name: "first", UID: "2e5b1c3d", Controller: new(true)}

	t.Run("forged", func(t *testing.T) {
		for name, change := range map[string]func(*corev1.Pod){
			"by its labels":     func(*corev1.Pod) {},
			"as a test's child": func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{owner} },
			"as the device":     func(p *corev1.Pod) { p.Labels[v1alpha1.LabelRole] = "dut" },
			"as a Job's runner": func(p *corev1.Pod) { p.OwnerReferences = []metav1.OwnerReference{jobOwner(true)} },
			"as a runner":       func(p *corev1.Pod) { p.Labels[v1alpha1.LabelRole] = "runner" },
			"as one of servers": func(p *corev1.Pod) { p.Labels[v1alpha1.LabelRole] = "external-runner" },
			"as a Job's, beside": func(p *corev1.Pod) {
				p.Labels[v1alpha1.LabelRole], p.OwnerReferences = "runner", []metav1.OwnerReference{jobOwner(false)}
			},
		} {
			t.Run(name, func(t *testing.T) {
				forged := l.generator("forged")
				change(forged)
				answers(t, mallory.Create(t.Context(), forged, client.DryRunAll), "operator makes")
			})
		}
	})
	t.Run("changed", func(t *testing.T) {
		for name, c := range map[string]struct{ patch, says string }{
			"the annotation of Multus":        {`{"metadata": {"annotations": {"k8s.v1.cni.cncf.io/network-status": "[]"}}}`, "Multus' to write"},
			"what it wrote under an old name": {`{"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks-status": "[]"}}}`, "Multus' to write"},
			"the networks":                    {`{"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": null}}}`, "Multus' to write"},
			"the links":                       {`{"metadata": {"annotations": {"linerate.dev/links": "east"}}}`, "Multus' to write"},
			"a label":                         {`{"metadata": {"labels": {"linerate.dev/attempt": "2"}}}`, "labels that begin with linerate.dev/"},
			"its UID's label":                 {`{"metadata": {"labels": {"linerate.dev/test-uid": null}}}`, "labels that begin with linerate.dev/"},
			"the label that NetworkPolicies select by": {`{"metadata": {"labels": {"app.kubernetes.io/managed-by": null}}}`, "NetworkPolicies select by them"},
			"… with another value":                     {`{"metadata": {"labels": {"app.kubernetes.io/managed-by": "me"}}}`, "NetworkPolicies select by them"},
			"another label of linerate's":              {`{"metadata": {"labels": {"linerate.dev/more": "x"}}}`, "labels that begin with linerate.dev/"},
			"the image that reports the ports":         {`{"spec": {"initContainers": [{"name": "linerate-ports", "image": "mallory/ports"}]}}`, "images of a LoadTest's pod"},
			"what sends":                               {`{"spec": {"containers": [{"name": "generator", "image": "mallory/generator"}]}}`, "images of a LoadTest's pod"},
			"whose it is":                              {`{"metadata": {"ownerReferences": [{"apiVersion": "linerate.dev/v1alpha1", "kind": "LoadTest", "name": "x", "uid": "y"}]}}`, "owner by the operator alone"},
			"nothing of the operator's":                {`{"metadata": {"labels": {"team": "a"}, "annotations": {"seen": "yes"}, "finalizers": ["lab.example/kept"]}}`, ""},
		} {
			t.Run(name, func(t *testing.T) {
				err := mallory.Patch(t.Context(), pod.DeepCopy(), client.RawPatch(types.StrategicMergePatchType, []byte(c.patch)), client.DryRunAll)
				if c.says == "" {
					l.must(err)
					return
				}
				answers(t, err, c.says)
			})
		}
	})
	t.Run("a plain pod isn't made one", func(t *testing.T) {
		plain := l.generator("plain")
		plain.Labels = nil
		l.must(mallory.Create(t.Context(), plain))
		answers(t, mallory.Patch(t.Context(), plain, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"labels": {"linerate.dev/test-uid": "2e5b1c3d"}}}`))), "labels that begin with linerate.dev/")
	})
	t.Run("looked into by one more container", func(t *testing.T) {
		l.grant("debug", []string{editor}, debugRule())
		l.must(wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, 20*time.Second, true, func(ctx context.Context) (bool, error) {
			debugged := pod.DeepCopy()
			debugged.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "look", Image: "busybox"}}}
			err := mallory.SubResource("ephemeralcontainers").Update(ctx, debugged)
			return err != nil && strings.Contains(err.Error(), "no containers are added"), nil
		}))
	})
	t.Run("other changes are allowed", func(t *testing.T) {
		runner := l.generator("first-1-runner-x7k2p")
		runner.Labels[v1alpha1.LabelRole], runner.OwnerReferences = "runner", []metav1.OwnerReference{jobOwner(true)}
		l.must(mallory.Create(t.Context(), runner, client.DryRunAll)) // as the Job controller does
		status := client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"annotations": {"k8s.v1.cni.cncf.io/network-status": "[]"}}, "status": {"message": "attached"}}`))
		l.must(admin.Status().Patch(t.Context(), pod.DeepCopy(), status, client.DryRunAll)) // as Multus and kubelets do
		if err := mallory.Status().Patch(t.Context(), pod.DeepCopy(), status, client.DryRunAll); !apierrors.IsForbidden(err) {
			t.Errorf("an editor writes a pod's status: %v", err)
		}
		l.must(mallory.Delete(t.Context(), pod.DeepCopy(), client.DryRunAll))
	})
}

// debugRule is what kubectl debug takes.
func debugRule() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"pods/ephemeralcontainers"}, Verbs: []string{"update", "patch"}}
}

func jobOwner(controller bool) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Name: "first-1-runner", UID: "9f86d081", Controller: &controller}
}

func answers(t *testing.T, err error, says string) {
	t.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), says) {
		t.Errorf("the answer is %v, want one that says %q", err, says)
	}
}
