package manifests

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// ReportCopy is the ConfigMap in the test's namespace that holds a copy of the Report that counted, for people and
// programs there. Whoever edits the namespace may replace it. Readers, the operator included, believe it only if its
// digest is the one in the LoadTest's status.
func ReportCopy(test *v1alpha1.LoadTest, e delivery.Envelope, packed []byte) *corev1.ConfigMap {
	e.Runner, e.RunnerUID = "", ""
	copied := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: testMeta(Input{Test: test}, ReportName(test.Name), roleReport),
		Immutable:  new(true),
		BinaryData: map[string][]byte{delivery.KeyReport: packed},
	}
	copied.Annotations = e.Annotations()
	return copied
}

// EmptyReportCopy is a copy without a Report. With it a dry run finds out in time whether the copy's name is free.
func EmptyReportCopy(test *v1alpha1.LoadTest) *corev1.ConfigMap {
	return &corev1.ConfigMap{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: testMeta(Input{Test: test}, ReportName(test.Name), roleReport)}
}
