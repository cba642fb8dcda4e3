package tenants

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// A reader of LoadTests sees their results, and can't begin, change or end any.
func TestAReaderChangesNothing(t *testing.T) {
	l := newLab(t)
	l.bind("loadtest-viewer-role", "reader")
	l.create("tester", written(t, "seen", links))
	reader := as(t, "reader")
	seen := &v1alpha1.LoadTest{}
	key := client.ObjectKey{Namespace: l.namespace, Name: "seen"}
	l.must(reader.Get(t.Context(), key, seen))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"stop":true},"status":{"summary":"forged"},"metadata":{"finalizers":["a/b"]}}`))
	for what, err := range map[string]error{
		"create a test":     l.try("reader", written(t, "own", links)),
		"stop one":          reader.Patch(t.Context(), seen.DeepCopy(), patch),
		"write a status":    reader.Status().Patch(t.Context(), seen.DeepCopy(), patch),
		"delete one":        reader.Delete(t.Context(), seen.DeepCopy()),
		"create a suite":    reader.Create(t.Context(), &v1alpha1.LoadTestSuite{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "own"}}),
		"write a ConfigMap": reader.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "seen-report"}}),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("to %s: %v; it should be forbidden", what, err)
		}
	}
}

// What is measured is the operator's to say: who may create, stop and delete LoadTests writes no status.
func TestAnEditorWritesNoStatus(t *testing.T) {
	l := newLab(t)
	l.create("author", written(t, "judged", links))
	judged := &v1alpha1.LoadTest{}
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: l.namespace, Name: "judged"}, judged))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"conditions":[{"type":"Passed","status":"True","reason":"CriteriaMet","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`))
	for _, who := range []string{"tester", "author", "engineer"} {
		if err := as(t, who).Status().Patch(t.Context(), judged.DeepCopy(), patch); !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v; it should be forbidden", who, err)
		}
		if err := as(t, who).Patch(t.Context(), judged.DeepCopy(), patch); err != nil && !apierrors.IsForbidden(err) {
			t.Fatal(err)
		}
	}
	l.must(admin.Get(t.Context(), client.ObjectKeyFromObject(judged), judged))
	if len(judged.Status.Conditions) > 0 {
		t.Errorf("the status says %+v", judged.Status.Conditions)
	}
}
