package manifests

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PodMetadata are labels and annotations that an administrator wants on every pod of every test, such as a cost
// centre, or that no sidecar is injected. A test's own labels and annotations override them, and linerate's
// override both.
type PodMetadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Check refuses what Kubernetes wouldn't accept, and labels and annotations that linerate, Multus, Kueue, Jobs
// and autoscalers read.
func (m PodMetadata) Check() error {
	var errs []error
	for _, err := range slices.Concat(metav1validation.ValidateLabels(m.Labels, field.NewPath("labels")),
		apivalidation.ValidateAnnotations(m.Annotations, field.NewPath("annotations"))) {
		errs = append(errs, err)
	}
	for kind, keys := range map[string]map[string]string{"label": m.Labels, "annotation": m.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if reader := readerOf(key); reader != "" {
				errs = append(errs, fmt.Errorf("%s %s: %s reads it on the pods of tests: leave it out",
					kind, key, reader))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// readerOf says what program reads a label or annotation on tests' pods. Empty means none.
func readerOf(key string) string {
	switch domain, _, _ := strings.Cut(key, "/"); {
	case key == labelManagedBy || domain == "linerate.dev" || strings.HasSuffix(domain, ".linerate.dev"):
		return "linerate"
	case domain == "k8s.v1.cni.cncf.io":
		return "Multus"
	case domain == "kueue.x-k8s.io":
		return "Kueue"
	case domain == "batch.kubernetes.io", key == "controller-uid", key == "job-name":
		return "Kubernetes' Job controller"
	}
	if _, ok := withoutAutoscaling(nil)[key]; ok {
		return "an autoscaler, which would remove a test's pods,"
	}
	return ""
}

// withSettings is the metadata that every pod has, overridden by a pod's own.
func withSettings(input Input, meta metav1.ObjectMeta) metav1.ObjectMeta {
	meta.Labels = merge(input.Settings.Pods.Labels, meta.Labels)
	meta.Annotations = merge(input.Settings.Pods.Annotations, withoutAutoscaling(meta.Annotations))
	return meta
}
