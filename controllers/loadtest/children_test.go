package loadtest

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/delivery"
)

// A runner may change its two ConfigMaps as it likes, also to look as if they were another test's.
func TestDocumentsUnderAnotherNameAreNotTheTests(t *testing.T) {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "t", UID: "uid"}}
	progress, err := delivery.EncodeProgress(delivery.Progress{Attempt: 1, Run: 1, Phase: "Ramping"})
	if err != nil {
		t.Fatal(err)
	}
	document := func(name, role string) *corev1.ConfigMap {
		return &corev1.ConfigMap{Data: progress, ObjectMeta: metav1.ObjectMeta{
			Namespace: "lab", Name: name, Labels: map[string]string{v1alpha1.LabelUID: "uid", v1alpha1.LabelRole: role},
			OwnerReferences: []metav1.OwnerReference{{Kind: "LoadTest", Name: "t", UID: "uid", Controller: new(true)}},
			Annotations: map[string]string{
				delivery.AnnotationDigest: "sha256:0", delivery.AnnotationEnding: "Completed", delivery.AnnotationAttempt: "1", delivery.AnnotationFinal: "true",
			},
		}}
	}
	for _, c := range []struct {
		test string
		ours bool
	}{{"t", true}, {"other", false}} {
		scheme, err := caches.NewScheme()
		if err != nil {
			t.Fatal(err)
		}
		stored := []client.Object{document(c.test+"-progress", "progress"), document(c.test+"-report", "report")}
		r := NewReconciler(fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored...).Build(), nil, Options{})
		found, err := r.children(t.Context(), test)
		if err != nil {
			t.Fatal(err)
		}
		if got := found.children.Progress != nil; got != c.ours {
			t.Errorf("%s-progress is taken for the test's: %v", c.test, got)
		}
		if got := found.children.Envelope != nil; got != c.ours {
			t.Errorf("%s-report is taken for the test's: %v", c.test, got)
		}
	}
}
