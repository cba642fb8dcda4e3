package compile

import (
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The names of what linerate adds to users' pods. Nothing else in these pods may have such names.
const (
	reservedVariables = "LINERATE_"     // environment variables that describe the test and its links
	reservedNames     = "linerate"      // of containers and volumes: linerate itself, and linerate-…
	reservedDomain    = "linerate.dev/" // of labels and annotations
	managedBy         = "app.kubernetes.io/managed-by"
)

// reservedFolders are where linerate's own files are mounted.
func reservedFolders() []string { return []string{"/etc/linerate", "/etc/linerate-static"} }

// checkTemplate refuses fields that linerate sets in every pod.
func (ts *templates) checkTemplate(fieldPath *field.Path, t *corev1.PodTemplateSpec) {
	ts.checkMetadata(fieldPath.Child("metadata"), t.ObjectMeta)
	spec := fieldPath.Child("spec")
	if len(t.Spec.Containers) == 0 {
		ts.errs = append(ts.errs, field.Required(spec.Child("containers"), "a pod has at least one container"))
	}
	if p := t.Spec.RestartPolicy; p != "" && p != corev1.RestartPolicyNever {
		ts.refuse(spec.Child("restartPolicy"), p,
			"a pod that starts anew is another pod than the one that was measured: leave restartPolicy out (Never)")
	}
	if d := t.Spec.ActiveDeadlineSeconds; d != nil {
		ts.refuse(spec.Child("activeDeadlineSeconds"), *d,
			"linerate sets it, so that no pod outlives its test: leave it out")
	}
	for i, v := range t.Spec.Volumes {
		ts.checkName(spec.Child("volumes").Index(i).Child("name"), v.Name)
	}
	for i := range t.Spec.InitContainers {
		ts.checkContainer(spec.Child("initContainers").Index(i), &t.Spec.InitContainers[i])
	}
	for i := range t.Spec.Containers {
		ts.checkContainer(spec.Child("containers").Index(i), &t.Spec.Containers[i])
		if name := t.Spec.Containers[i].Name; slices.ContainsFunc(t.Spec.Containers[:i],
			func(o corev1.Container) bool { return o.Name == name }) {
			ts.errs = append(ts.errs, field.Duplicate(spec.Child("containers").Index(i).Child("name"), name))
		}
	}
}

// checkMetadata accepts labels and annotations, and refuses all other metadata, which linerate sets.
func (ts *templates) checkMetadata(fieldPath *field.Path, m metav1.ObjectMeta) {
	present := map[string]bool{
		"name": m.Name != "", "generateName": m.GenerateName != "", "namespace": m.Namespace != "",
		"finalizers": len(m.Finalizers) > 0, "ownerReferences": len(m.OwnerReferences) > 0,
	}
	for _, name := range []string{"name", "generateName", "namespace", "finalizers", "ownerReferences"} {
		if present[name] {
			ts.refuse(fieldPath.Child(name), noValue,
				"linerate names its pods, and deletes them: leave it out (labels and annotations may be set)")
		}
	}
	ts.checkLabels(fieldPath.Child("labels"), m.Labels)
	ts.checkAnnotations(fieldPath.Child("annotations"), m.Annotations)
}

func (ts *templates) checkLabels(fieldPath *field.Path, labels map[string]string) {
	ts.errs = append(ts.errs, metav1validation.ValidateLabels(labels, fieldPath)...)
	for _, key := range sortedKeys(labels) {
		if strings.HasPrefix(key, reservedDomain) || key == managedBy {
			ts.refuse(fieldPath.Key(key), labels[key],
				"linerate sets this label, to find its own pods by: leave it out")
		}
	}
}

func (ts *templates) checkAnnotations(fieldPath *field.Path, annotations map[string]string) {
	ts.errs = append(ts.errs, apivalidation.ValidateAnnotations(annotations, fieldPath)...)
	for _, key := range sortedKeys(annotations) {
		if strings.HasPrefix(key, reservedDomain) {
			ts.refuse(fieldPath.Key(key), annotations[key],
				"annotations of linerate.dev/ are linerate's own: use others")
		}
	}
}

func (ts *templates) checkContainer(fieldPath *field.Path, container *corev1.Container) {
	ts.checkName(fieldPath.Child("name"), container.Name)
	if container.Image == "" {
		ts.errs = append(ts.errs, field.Required(fieldPath.Child("image"), "a container is started from an image"))
	}
	for i, v := range container.Env {
		if strings.HasPrefix(v.Name, reservedVariables) {
			ts.refuse(fieldPath.Child("env").Index(i).Child("name"), v.Name,
				"variables that begin with LINERATE_ describe the test's links, and are set by linerate: use another "+
					"name")
		}
	}
	for i, m := range container.VolumeMounts {
		for _, folder := range reservedFolders() {
			if isInFolder(m.MountPath, folder) {
				ts.refusef(fieldPath.Child("volumeMounts").Index(i).Child("mountPath"), m.MountPath,
					"%s is where linerate puts links.json: mount it elsewhere", folder)
			}
		}
	}
}

func (ts *templates) checkName(fieldPath *field.Path, name string) {
	switch {
	case name == "":
		ts.errs = append(ts.errs, field.Required(fieldPath, "give it a name"))
	case name == reservedNames || strings.HasPrefix(name, reservedNames+"-"):
		ts.refuse(fieldPath, name, "names that begin with linerate- are those of linerate's own containers and "+
			"volumes: use another")
	}
}

// isInFolder says that a path is a folder, or below it.
func isInFolder(name, folder string) bool {
	name = path.Clean(name)
	return name == folder || strings.HasPrefix(name, folder+"/")
}
