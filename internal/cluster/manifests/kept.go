package manifests

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

// KeptReport is a Report as it is to be kept beyond its test.
type KeptReport struct {
	// Envelope and Packed are the Report's own, as the runner wrote them.
	Envelope delivery.Envelope
	Packed   []byte
	// Method is that of the Report's Plan, and Finished when the run ended.
	Method   string
	Finished time.Time
}

// KeptName is the name of the ConfigMap that keeps a Report of this digest. The same Report has the same name, and no
// other has.
func KeptName(test, digest string) string {
	const digits = 16
	hex := strings.TrimPrefix(digest, "sha256:")
	return nameWith(test, hex[:min(digits, len(hex))])
}

// KeptConfigMap is the ConfigMap that keeps a Report. It has no owner, so that it stays when its test is
// deleted, and is immutable. It has all of the test's labels that are linerate's own, by which a suite finds
// its Reports.
func KeptConfigMap(test *v1alpha1.LoadTest, r KeptReport) *corev1.ConfigMap {
	labels := map[string]string{}
	for name, value := range test.Labels {
		if strings.HasPrefix(name, v1alpha1.GroupVersion.Group+"/") {
			labels[name] = value
		}
	}
	annotations := r.Envelope.Annotations()
	annotations[v1alpha1.AnnotationFinished] = r.Finished.UTC().Format(time.RFC3339)
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: KeptName(test.Name, r.Envelope.Digest), Namespace: test.Namespace, Annotations: annotations,
			Labels: merge(labels, map[string]string{
				labelManagedBy:     "linerate",
				v1alpha1.LabelTest: test.Name,
				v1alpha1.LabelUID:  string(test.UID),
				v1alpha1.LabelRole: v1alpha1.RoleKeptReport,
				v1alpha1.LabelPlan: r.Method,
				v1alpha1.LabelDate: r.Finished.UTC().Format(time.DateOnly),
			}),
		},
		Immutable:  new(true),
		BinaryData: map[string][]byte{delivery.KeyReport: r.Packed},
	}
}

// IsKept says whether an object is a kept Report. Such an object has the labels of one, and a name that follows from
// its digest.
func IsKept(object metav1.Object) bool {
	labels := object.GetLabels()
	envelope, sealed := delivery.ReadEnvelope(object.GetAnnotations())
	return sealed && labels[v1alpha1.LabelRole] == v1alpha1.RoleKeptReport && labels[labelManagedBy] == "linerate" &&
		object.GetName() == KeptName(labels[v1alpha1.LabelTest], envelope.Digest)
}
