package operator

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/manifests"
)

// A runner that can't be given its access is told of before a pod takes a device, and the test goes on by itself when it can.
func TestATestWaitsForItsRunnersAccess(t *testing.T) {
	l := newLab(t)
	quota := l.forbidRoles()
	test := minimal("denied")
	l.wires(test)
	l.create(test)
	l.settle("denied")
	if words := l.want("denied", "Scheduled=False PodRefused"); !strings.Contains(words, "denied-runner") || !strings.Contains(words, "raise the ResourceQuota") {
		t.Errorf("the condition says %q", words)
	}
	if pods := l.pods(); len(pods) != 0 {
		t.Errorf("there are %d pods, and nobody who may write what they find", len(pods))
	}
	l.must(admin.Delete(t.Context(), quota))
	l.clock.advance(time.Minute)
	l.live("denied", "dut generator-0")
}

// The same under the running operator, whose passes don't wait for the API server's check: another controller does.
func TestTheRunningOperatorGrantsAccess(t *testing.T) {
	l := newLab(t)
	quota := l.forbidRoles()
	l.manage(nil, l.namespace)
	test := minimal("denied")
	l.wires(test)
	l.create(test)
	l.awaitCondition("denied", "Scheduled=False PodRefused")
	l.must(admin.Delete(t.Context(), quota))
	l.clock.advance(time.Minute)
	l.change("denied", func(test *v1alpha1.LoadTest) { test.Labels = map[string]string{"looked": "again"} })
	l.awaitPods("denied")
	bindings := &rbacv1.RoleBindingList{}
	l.list(t.Context(), bindings)
	if len(bindings.Items) != 1 {
		t.Fatalf("there are %d RoleBindings", len(bindings.Items))
	}
	l.owns(l.get("denied"), "RoleBinding", &bindings.Items[0])
}

// A name of the runner's access that is somebody else's is never touched.
func TestTheRunningOperatorTellsOfAccessThatIsSomebodyElses(t *testing.T) {
	l := newLab(t)
	foreign := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: manifests.RunnerName("taken")}}
	l.must(admin.Create(t.Context(), foreign))
	l.manage(nil, l.namespace)
	test := minimal("taken")
	l.wires(test)
	l.create(test)
	l.awaitCondition("taken", "Scheduled=False NameTaken")
	if words := l.want("taken", "Scheduled=False NameTaken"); !strings.Contains(words, "Role/taken-runner exists and doesn't belong to this LoadTest") {
		t.Errorf("the condition says %q", words)
	}
	left := &rbacv1.Role{}
	l.must(admin.Get(t.Context(), objectKey(foreign), left))
	if left.UID != foreign.UID || left.Rules != nil {
		t.Errorf("somebody else's Role was changed: %+v", left)
	}
}

// forbidRoles makes the API server refuse Roles in the lab's namespace, and returns what does.
func (l *lab) forbidRoles() client.Object {
	l.t.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "no-roles"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/roles.rbac.authorization.k8s.io": resource.MustParse("0")}},
	}
	l.must(admin.Create(l.t.Context(), quota))
	quota.Status.Hard = quota.Spec.Hard // as the quota controller would
	quota.Status.Used = corev1.ResourceList{"count/roles.rbac.authorization.k8s.io": resource.MustParse("0")}
	l.must(admin.Status().Update(l.t.Context(), quota))
	return quota
}
