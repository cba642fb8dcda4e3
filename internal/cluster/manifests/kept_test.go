package manifests_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/document/delivery"
)

func TestAKeptReportBelongsToNobody(t *testing.T) {
	test := &v1alpha1.LoadTest{ObjectMeta: metav1.ObjectMeta{Name: strings.Repeat("n", 40), Namespace: "lab", UID: "1",
		Labels: map[string]string{
			v1alpha1.LabelProduct: "VPP", "linerate.dev/suite": "night", "team": "a", v1alpha1.LabelRole: "mine",
		}}}
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	configMap := manifests.KeptConfigMap(test, manifests.KeptReport{
		Envelope: delivery.Envelope{Digest: digest, Ending: "Completed", Attempt: 2, Final: true},
		Packed:   []byte("packed"), Method: strings.Repeat("ab", 16),
		Finished: time.Date(2026, 3, 14, 23, 30, 0, 0, time.FixedZone("", -3600)),
	})
	if len(configMap.OwnerReferences) > 0 || configMap.Immutable == nil || !*configMap.Immutable ||
		string(configMap.BinaryData[delivery.KeyReport]) != "packed" {
		t.Errorf("%+v", configMap)
	}
	for label, want := range map[string]string{
		v1alpha1.LabelRole: v1alpha1.RoleKeptReport, v1alpha1.LabelTest: test.Name, v1alpha1.LabelProduct: "VPP",
		"linerate.dev/suite": "night", "team": "",
		v1alpha1.LabelDate: "2026-03-15", v1alpha1.LabelPlan: strings.Repeat("ab", 16),
	} {
		if got := configMap.Labels[label]; got != want {
			t.Errorf("%s is %q, want %q", label, got, want)
		}
		if wrong := validation.IsValidLabelValue(configMap.Labels[label]); len(wrong) > 0 {
			t.Errorf("%s: %v", label, wrong)
		}
	}
	if wrong := validation.IsDNS1123Label(configMap.Name); len(wrong) > 0 || !strings.HasSuffix(configMap.Name,
		"-0123456789abcdef") {
		t.Errorf("its name is %s: %v", configMap.Name, wrong)
	}
	if e, sealed := delivery.ReadEnvelope(configMap.Annotations); !sealed || e.Attempt != 2 ||
		configMap.Annotations[v1alpha1.AnnotationFinished] != "2026-03-15T00:30:00Z" {
		t.Errorf("its annotations are %v", configMap.Annotations)
	}
	if !manifests.IsKept(configMap) {
		t.Error("it isn't taken for a kept Report")
	}
	for name, spoil := range map[string]func(){
		"another name":   func() { configMap.Name = "precious" },
		"no seal":        func() { configMap.Annotations = nil },
		"another's role": func() { configMap.Labels[v1alpha1.LabelRole] = "report" },
	} {
		original := configMap.DeepCopy()
		spoil()
		if manifests.IsKept(configMap) {
			t.Errorf("%s: it is taken for a kept Report", name)
		}
		configMap = original
	}
}
