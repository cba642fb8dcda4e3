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

// PodMetadata is what whoever installs linerate wants to see on every pod of every test: whose costs they are, that no sidecar is injected. A test may say something
// else of its own pods, and what linerate needs is above both.
type PodMetadata struct {
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Check refuses what Kubernetes wouldn't take, and what linerate, Multus, Kueue, Jobs and autoscalers know pods by.
func (m PodMetadata) Check() error {
	var errs []error
	for _, err := range slices.Concat(metav1validation.ValidateLabels(m.Labels, field.NewPath("labels")), apivalidation.ValidateAnnotations(m.Annotations, field.NewPath("annotations"))) {
		errs = append(errs, err)
	}
	for kind, keys := range map[string]map[string]string{"label": m.Labels, "annotation": m.Annotations} {
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if who := knownBy(key); who != "" {
				errs = append(errs, fmt.Errorf("%s %s: %s reads it on the pods of tests: leave it out", kind, key, who))
			}
		}
	}
	slices.SortFunc(errs, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(errs...)
}

// knownBy says who knows pods of tests by a label or annotation; empty: nobody.
func knownBy(key string) string {
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
	if _, is := undisturbed(nil)[key]; is {
		return "an autoscaler, which would take a test's pods away,"
	}
	return ""
}

// onEveryPod is a pod's metadata over what every pod has.
func onEveryPod(in Input, meta metav1.ObjectMeta) metav1.ObjectMeta {
	meta.Labels = over(in.Settings.Pods.Labels, meta.Labels)
	meta.Annotations = over(in.Settings.Pods.Annotations, undisturbed(meta.Annotations))
	return meta
}
