package main

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestAnOperatorThatIsStartedAgainHasItsKey(t *testing.T) {
	c := fake.NewClientBuilder().Build()
	first, err := ownKey(t.Context(), c, "linerate-system")
	if err != nil || first.IsZero() {
		t.Fatal(err)
	}
	if second, err := ownKey(t.Context(), c, "linerate-system"); err != nil || second != first {
		t.Errorf("it has another key, or none: %v", err)
	}
	if foreign, err := ownKey(t.Context(), c, "another-system"); err != nil || foreign == first {
		t.Errorf("another operator has the same key, or none: %v", err)
	}
}

func TestTwoReplicasThatStartAtOnceHaveOneKey(t *testing.T) {
	shared := fake.NewClientBuilder().Build()
	first, err := ownKey(t.Context(), shared, "linerate-system")
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	late := interceptor.NewClient(shared, interceptor.Funcs{Get: func(ctx context.Context, c client.WithWatch,
		lookup client.ObjectKey, target client.Object, o ...client.GetOption) error {
		if asked++; asked == 1 { // before the other replica made it
			return apierrors.NewNotFound(schema.GroupResource{Resource: "configmaps"}, lookup.Name)
		}
		return c.Get(ctx, lookup, target, o...)
	}})
	if second, err := ownKey(t.Context(), late, "linerate-system"); err != nil || second != first {
		t.Errorf("the second replica has another key, or none: %v", err)
	}
}

func TestAKeyThatWasSpoiltIsNotUsed(t *testing.T) {
	for name, text := range map[string]string{"nothing": "", "half a key": "AbCd", "zeros": strings.Repeat("A", 43)} {
		c := fake.NewClientBuilder().WithObjects(&corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: "linerate-system", Name: keyName}, Data: map[string]string{keyData: text},
		}).Build()
		if key, err := ownKey(t.Context(), c, "linerate-system"); err == nil || !key.IsZero() ||
			!strings.Contains(err.Error(), "delete it") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
