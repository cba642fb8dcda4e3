package loadtest

import (
	"context"
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/controllers/inventory"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// listsNoNetworks never lists the networks.
var listsNoNetworks = interceptor.Funcs{List: func(ctx context.Context, c client.WithWatch, list client.ObjectList,
	options ...client.ListOption) error {
	if _, networks := list.(*unstructured.UnstructuredList); networks {
		return inventory.ErrListing
	}
	return c.List(ctx, list, options...)
}}

// If networks can't be listed, for example for lack of a right, a test that holds devices can still be stopped.
func TestWhoMakesNoPodsDoesNotWaitForNetworks(t *testing.T) {
	scheme, err := caches.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := server.Load("test.yaml", strings.NewReader(`
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: t}
spec: {dut: {type: Reference}, links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*v1alpha1.LoadTest)
		waits  bool
	}{
		"makes pods":   {func(*v1alpha1.LoadTest) {}, true},
		"is stopped":   {func(test *v1alpha1.LoadTest) { test.Spec.Stop = true }, false},
		"is suspended": {func(test *v1alpha1.LoadTest) { test.Spec.Suspend = true }, false},
		"runs":         {func(test *v1alpha1.LoadTest) { test.Status.StartTime = &metav1.Time{} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			test := objects[0].LoadTest.DeepCopy()
			c.change(test)
			r := NewReconciler(fake.NewClientBuilder().WithScheme(scheme).WithInterceptorFuncs(listsNoNetworks).Build(),
				nil, Options{})
			if _, err := r.lab(t.Context(), test); errors.Is(err, inventory.ErrListing) != c.waits || !c.waits &&
				err != nil {
				t.Errorf("it waits: %v (%v), want %v", errors.Is(err, inventory.ErrListing), err, c.waits)
			}
		})
	}
}
