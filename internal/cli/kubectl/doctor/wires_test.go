package doctor

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestWhichNamespacesAnOperatorLooksAfter(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		env  string
		want []string
	}{
		"all": {[]string{"--log-level=info"}, "", nil},
		"as the chart writes them": {[]string{"--network-namespaces=default", "--namespaces=lab-a,lab-b"}, "",
			[]string{"lab-a", "lab-b"}},
		"in two words":              {[]string{"--namespaces", "lab-a"}, "", []string{"lab-a"}},
		"by the environment":        {nil, "lab-a,lab-b", []string{"lab-a", "lab-b"}},
		"a flag before environment": {[]string{"--namespaces=lab-a"}, "lab-b", []string{"lab-a"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := operatorOf("linerate-system", "linerate", 1)
			d.Spec.Template.Spec.Containers[0].Args = c.args
			if c.env != "" {
				d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LINERATE_NAMESPACES", Value: c.env}}
			}
			if got := namespacesOf(&d); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// What an operator looks after it gives back itself: only the Leases of others are looked into.
func TestOnlyLeasesThatNobodyGivesBackAreLookedInto(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	lease := func(namespace, name, holder string) client.Object {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name,
				Labels: map[string]string{v1alpha1.LabelWire: "true"},
				Annotations: map[string]string{v1alpha1.AnnotationWireNode: "node-1",
					v1alpha1.AnnotationWirePort: name}},
			Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder},
		}
	}
	leader := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: "linerate-system", Name: leaseName}}
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(leader, loadTest("uid", true),
		lease("linerate-system", "mine", "lab/second/uid-2/1"), lease("linerate-system", "left", "gone/first/uid/3"),
		lease("linerate-system", "odd", "somebody"),
		lease("elsewhere", "other", "gone/first/uid/3")).Build()
	lab := Lab{Operators: Answer[[]appsv1.Deployment]{Value: []appsv1.Deployment{operatorOf("linerate-system",
		"linerate", 1)}}}
	lab.Operators.Value[0].Spec.Template.Spec.Containers[0].Args = []string{"--namespaces=lab"}
	lab.readWires(t.Context(), c)
	answer := lab.Wires["linerate-system"]
	if answer.Err != nil || len(answer.Value) != 2 || len(lab.Wires) != 1 {
		t.Fatalf("%+v", lab.Wires)
	}
	foreign, odd := answer.Value[0], answer.Value[1]
	if foreign.Lease.Name != "left" || foreign.Node != "node-1" || foreign.Port != "left" || foreign.UID != "uid" ||
		foreign.Holder.Err != nil || foreign.Holder.Value.Name != "first" {
		t.Errorf("%+v", foreign)
	}
	if odd.Lease.Name != "odd" || odd.Test.Name != "" {
		t.Errorf("%+v", odd)
	}
}
