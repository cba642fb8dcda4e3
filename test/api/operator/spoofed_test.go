package operator

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// editor is somebody with Kubernetes' own role edit in the lab's namespace: of its parts, as nobody puts the whole together without a controller-manager.
func (l *lab) editor() client.Client {
	l.t.Helper()
	for _, role := range []string{"system:aggregate-to-view", "system:aggregate-to-edit"} {
		binding := &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, GenerateName: "editor-"},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "mallory"}},
		}
		l.must(admin.Create(l.t.Context(), binding))
	}
	config := rest.CopyConfig(adminConfig)
	config.Impersonate = rest.ImpersonationConfig{UserName: "mallory", Groups: []string{"system:authenticated"}}
	mallory, err := client.New(config, client.Options{Scheme: scheme})
	l.must(err)
	l.await("mallory to be an editor", func() bool {
		return mallory.List(l.t.Context(), &corev1.PodList{}, client.InNamespace(l.namespace)) == nil
	})
	return mallory
}

// generatorOf is the pod of a test's generator.
func (l *lab) generatorOf(test string) *corev1.Pod {
	l.t.Helper()
	pods := l.pods()
	i := slices.IndexFunc(pods, func(p corev1.Pod) bool {
		return p.Labels[v1alpha1.LabelTest] == test && p.Labels[v1alpha1.LabelRole] == "generator"
	})
	if i < 0 {
		l.t.Fatalf("%s has no generator", test)
	}
	return &pods[i]
}

// Whoever may change pods may write what Multus wrote, and can't have a test take the port of somebody else for it, nor leave its own to nobody.
func TestAPortsNameIsNotSpoofedByAnnotation(t *testing.T) {
	for name, annotations := range map[string]map[string]any{
		"another port's": {"k8s.v1.cni.cncf.io/network-status": []map[string]any{
			{"name": "lab/west", "interface": "west", "device-info": deviceInfo("victim")}, {"name": "lab/east", "interface": "east", "device-info": deviceInfo("victim-2")},
		}},
		"none any more": {"k8s.v1.cni.cncf.io/network-status": nil, "linerate.dev/links": nil, "k8s.v1.cni.cncf.io/networks": nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLab(t)
			l.wires(looped("any"))
			mallory := l.editor()
			l.onPorts("p0", "p1")
			l.create(looped("liar"))
			l.settle("liar")
			l.schedule()
			l.start()
			pod := l.generatorOf("liar")
			texts := map[string]any{}
			for key, value := range annotations {
				texts[key] = value
				if value != nil {
					text, err := json.Marshal(value)
					l.must(err)
					texts[key] = string(text)
				}
			}
			patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": texts}})
			l.must(err)
			l.must(mallory.Patch(t.Context(), pod, client.RawPatch(types.MergePatchType, patch)))
			if err := mallory.Status().Patch(t.Context(), pod, client.RawPatch(types.MergePatchType, []byte(`{"status": {"message": "mine"}}`))); !apierrors.IsForbidden(err) {
				t.Errorf("an editor writes a pod's status, which is the node's: %v", err)
			}
			for range 4 {
				l.pass("liar")
			}
			if held := l.leases(); !slices.Equal(held, []string{"p0 liar", "p1 liar"}) {
				t.Errorf("held are %v: the pod is on p0 and p1\n%s", held, l.describe("liar"))
			}
			var status []string
			for _, p := range l.get("liar").Status.Pods {
				for _, link := range p.Links {
					status = append(status, link.PhysicalPort)
				}
			}
			if want := []string{l.namespace + "/p0", l.namespace + "/p1"}; !slices.Equal(status, want) {
				t.Errorf("its status has the ports %v, want %v", status, want)
			}
		})
	}
}

// deviceInfo is Multus' device-info of a virtual function.
func deviceInfo(port string) map[string]any {
	return map[string]any{"type": "pci", "version": "1.1.0", "pci": map[string]any{"pci-address": "0000:99:02.0", "pf-pci-address": port}}
}

// Pods that say of themselves that they are a test's keep no port for it once it is gone, nor does a generator of its own that somebody keeps from going.
func TestAPodWithATestsLabelsKeepsNoPort(t *testing.T) {
	l := newLab(t)
	l.wires(looped("any"))
	mallory := l.editor()
	l.onPorts("p0", "p1")
	l.onItsWires(looped("gone"))
	l.awaitLeases("p0 gone", "p1 gone")
	test, generator := l.get("gone"), l.generatorOf("gone")
	forge := func(name string, owners ...metav1.OwnerReference) {
		forged := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: name, Labels: generator.Labels, OwnerReferences: owners, Finalizers: []string{"lab.example/kept"}},
			Spec:       corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{Name: "any", Image: "lab/any"}}},
		}
		l.must(mallory.Create(t.Context(), forged))
		t.Cleanup(func() { l.unfinalize(forged) })
	}
	forge("bare")
	forge("owned", metav1.OwnerReference{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.LoadTestKind, Name: "gone", UID: test.UID, Controller: new(true)})
	l.must(mallory.Patch(t.Context(), generator, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": ["lab.example/kept"], "ownerReferences": null, "labels": null}}`))))
	t.Cleanup(func() { l.unfinalize(generator) })
	l.must(admin.Delete(t.Context(), test))
	for range 3 {
		l.pass("gone")
	}
	l.must(admin.Get(t.Context(), client.ObjectKeyFromObject(generator), generator))
	if generator.DeletionTimestamp == nil {
		t.Error("the generator whose owner was removed isn't ended")
	}
	if held := l.leases(); !slices.Equal(held, []string{"p0 gone", "p1 gone"}) {
		t.Errorf("its generator may be sending, and of its ports are held %v", held)
	}
	l.clock.advance(3 * time.Minute)
	for range 3 {
		l.pass("gone")
	}
	if held := l.leases(); len(held) > 0 {
		t.Errorf("held are %v, by pods that only say that they are the test's", held)
	}
}

// unfinalize removes what keeps a pod.
func (l *lab) unfinalize(pod *corev1.Pod) {
	err := admin.Patch(context.Background(), pod, client.RawPatch(types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`)))
	if client.IgnoreNotFound(err) != nil {
		l.t.Error(err)
	}
}
