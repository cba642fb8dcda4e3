package operator

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// goesOn fails unless a test has pods now.
func (l *lab) goesOn(name string) {
	l.t.Helper()
	l.settle(name)
	if l.podNames(name) == "" {
		l.t.Fatalf("it doesn't go on; status:\n%s", l.describe(name))
	}
}

// waitsFor fails unless a test waits for a reason, says the way out, and has no pods.
func (l *lab) waitsFor(name, reason, wayOut string) {
	l.t.Helper()
	l.settle(name)
	if message := l.want(name, "Complete=False Waiting", "Scheduled=False "+reason); !strings.Contains(message, wayOut) {
		l.t.Errorf("the message %q doesn't say %q", message, wayOut)
	}
	if got := l.podNames(name); got != "" {
		l.t.Errorf("there are pods: %s", got)
	}
}

func TestMissingDevicesAreNamedAndWaitedFor(t *testing.T) {
	t.Run("a network", func(t *testing.T) {
		l := newLab(t)
		l.create(minimal("waits"))
		l.waitsFor("waits", "NetworkMissing", l.namespace+"/west")
		l.wireNamed("west")
		l.waitsFor("waits", "NetworkMissing", l.namespace+"/east")
		l.wireNamed("east")
		l.goesOn("waits")
	})
	t.Run("a network that can be read", func(t *testing.T) {
		l := newLab(t)
		l.create(minimal("waits"))
		l.wire(l.namespace, "west", "")
		l.wire(l.namespace, "east", "no-domain")
		l.waitsFor("waits", "NetworkInvalid", "k8s.v1.cni.cncf.io/resourceName")
	})
	t.Run("a network where the operator may look", func(t *testing.T) {
		l := newLab(t)
		l.manage(nil, l.namespace)
		l.create(minimal("waits", func(test *v1alpha1.LoadTest) { test.Spec.Links[0].Network = "default/west" }))
		l.awaitCondition("waits", "Scheduled=False NetworkInvalid")
		if message := l.want("waits", "Scheduled=False NetworkInvalid"); !strings.Contains(message, "--namespaces") {
			t.Errorf("the message is %q", message)
		}
	})
	t.Run("a device resource", func(t *testing.T) {
		l := newLab(t)
		l.create(minimal("waits"))
		l.wire(l.namespace, "west", "lab.example/nobody-has-it")
		l.wireNamed("east")
		l.waitsFor("waits", "ResourceMissing", "lab.example/nobody-has-it")
	})
}

func TestAForeignObjectIsNeverTouched(t *testing.T) {
	for _, object := range []client.Object{
		&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "busybox"}}}},
		&corev1.ConfigMap{},
	} {
		l := newLab(t)
		test := minimal("mine")
		l.wires(test)
		object.SetNamespace(l.namespace)
		object.SetName(map[bool]string{true: "mine-1-dut", false: "mine-report"}[isPod(object)])
		l.must(admin.Create(t.Context(), object))
		l.create(test)
		result := l.settle("mine")
		l.want("mine", "Scheduled=False NameTaken")
		if result.RequeueAfter <= 0 || result.RequeueAfter > time.Minute+spread {
			t.Errorf("nobody tells when the name is free, and it is looked at again after %s", result.RequeueAfter)
		}
		kept := object.DeepCopyObject().(client.Object)
		l.must(admin.Get(t.Context(), objectKey(object), kept))
		if kept.GetResourceVersion() != object.GetResourceVersion() {
			t.Errorf("%s was changed", object.GetName())
		}
		l.must(admin.Delete(t.Context(), object, client.GracePeriodSeconds(0)))
		l.goesOn("mine")
	}
}

func isPod(object client.Object) bool {
	_, is := object.(*corev1.Pod)
	return is
}

func TestAPIServerRefusalsAreReportedBeforeDevicesAreTaken(t *testing.T) {
	t.Run("by a ResourceQuota", func(t *testing.T) {
		l := newLab(t)
		test := minimal("refused")
		l.wires(test)
		quota := &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "none"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}},
		}
		l.must(admin.Create(t.Context(), quota))
		quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: quota.Spec.Hard}
		l.must(admin.Status().Update(t.Context(), quota)) // the quota controller's part
		l.create(test)
		l.waitsFor("refused", "PodRefused", "raise the ResourceQuota")
		if after := l.settle("refused").RequeueAfter; after <= 0 {
			t.Error("quotas aren't watched, and it isn't tried again")
		}
		l.must(admin.Delete(t.Context(), quota))
		l.eventuallyGoesOn("refused")
	})
	t.Run("by Pod Security", func(t *testing.T) {
		l := newLab(t)
		test := minimal("refused")
		l.wires(test)
		l.label("pod-security.kubernetes.io/enforce", "baseline")
		l.create(test)
		l.waitsFor("refused", "PodRefused", "pod-security.kubernetes.io/enforce=privileged")
		l.label("pod-security.kubernetes.io/enforce", "privileged")
		l.eventuallyGoesOn("refused")
	})
}

// eventuallyGoesOn is for what the API server itself learns by a watch: it may refuse a moment longer.
func (l *lab) eventuallyGoesOn(name string) {
	l.t.Helper()
	l.await("pods", func() bool {
		l.clock.advance(l.settle(name).RequeueAfter) // it is tried again when that is due
		return l.podNames(name) != ""
	})
}

func (l *lab) label(key, value string) {
	l.t.Helper()
	namespace := &corev1.Namespace{}
	l.must(admin.Get(l.t.Context(), client.ObjectKey{Name: l.namespace}, namespace))
	namespace.Labels[key] = value
	l.must(admin.Update(l.t.Context(), namespace))
}

// The way back: a refusal that comes only when the pods are made, as the quota held for the one that was tried.
func TestARefusalHalfWayIsReported(t *testing.T) {
	l := newLab(t)
	test := minimal("half", func(test *v1alpha1.LoadTest) {
		test.Spec.Generator = v1alpha1.GeneratorSpec{Engine: v1alpha1.EngineSoftware, Replicas: 2}
	})
	l.wires(test)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "two"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("2")}},
	}
	l.must(admin.Create(t.Context(), quota))
	quota.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}
	l.must(admin.Status().Update(t.Context(), quota))
	l.create(test)
	l.pass("half")
	l.pass("half")
	if message := l.want("half", "Scheduled=False PodRefused"); !strings.Contains(message, "exceeded quota") {
		t.Errorf("the message is %q", message)
	}
}
