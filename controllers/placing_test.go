package controllers

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/admission"
)

// Where the networks can't be listed, as for want of a right, a test that holds devices must still be stopped.
func TestWhoMakesNoPodsDoesNotWaitForNetworks(t *testing.T) {
	scheme, err := NewScheme()
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
		"runs":         {func(test *v1alpha1.LoadTest) { test.Status.StartedAt = &metav1.Time{} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			test := objects[0].LoadTest.DeepCopy()
			c.change(test)
			r := NewLoadTestReconciler(fake.NewClientBuilder().WithScheme(scheme).Build(), nil, Options{})
			r.networks = &networkWatch{}
			if _, err := r.lab(t.Context(), test); errors.Is(err, errNetworks) != c.waits || !c.waits && err != nil {
				t.Errorf("it waits: %v (%v), want %v", errors.Is(err, errNetworks), err, c.waits)
			}
		})
	}
}
