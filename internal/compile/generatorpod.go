package compile

import (
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// checkGeneratorPod refuses what no pod can have. The cluster's API server checks what depends on the cluster.
func (ts *templates) checkGeneratorPod() {
	pod := ts.spec.Generator.Pod
	if pod == nil {
		return
	}
	path := specPath().Child("generator", "pod")
	ts.checkLabels(path.Child("labels"), pod.Labels)
	ts.checkAnnotations(path.Child("annotations"), pod.Annotations)
	ts.errs = append(ts.errs, metav1validation.ValidateLabels(pod.NodeSelector, path.Child("nodeSelector"))...)
	ts.checkObjectName(path.Child("runtimeClassName"), pod.RuntimeClassName)
	ts.checkObjectName(path.Child("priorityClassName"), pod.PriorityClassName)
	for i, secret := range pod.ImagePullSecrets {
		if secretPath := path.Child("imagePullSecrets").Index(i).Child("name"); secret.Name == "" {
			ts.errs = append(ts.errs, field.Required(secretPath, "name the Secret"))
		} else {
			ts.checkObjectName(secretPath, secret.Name)
		}
	}
	for i, t := range pod.Tolerations {
		if !slices.Contains([]string{"", "Exists", "Equal", "Lt", "Gt"}, string(t.Operator)) {
			ts.refusef(path.Child("tolerations").Index(i).Child("operator"), string(t.Operator),
				"write Equal (with a value) or Exists, not %s", t.Operator)
		}
	}
}

// checkObjectName refuses an invalid object name. Whether the object exists shows in the cluster.
func (ts *templates) checkObjectName(path *field.Path, name string) {
	if name == "" {
		return
	}
	for _, wrong := range apivalidation.NameIsDNSSubdomain(name, false) {
		ts.refuse(path, name, wrong)
	}
}
