package manifests

import (
	"maps"
	"strconv"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// The roles of a test's objects, as LabelRole says them.
const (
	roleGenerator = "generator"
	roleDUT       = "dut"
	roleVitals    = "vitals"
	roleCollector = "collector"
	roleSetup     = "setup"
	roleTeardown  = "teardown"
	roleRunner    = "runner"
	// roleExternalRunner is the runner's of a test whose generators run already. It dials an address that the
	// test's author wrote, so no namespace's NetworkPolicy admits it to anything.
	roleExternalRunner = "external-runner"
	rolePlan           = "plan"
	rolePolicy         = "network-policy"
	roleLinks          = "links"
	roleProgress       = "progress"
	roleReport         = "report"
	roleRun            = "run"
)

// runnerRole is the role of the test's runner.
func runnerRole(input Input) string {
	if hasGeneratorPods(input) {
		return roleRunner
	}
	return roleExternalRunner
}

// annotationPlanUID is on runners' pods, and is the UID of the ConfigMap of their Plan.
const annotationPlanUID = "linerate.dev/plan-uid"

// labelManagedBy is Kubernetes' recommended label for who made an object.
const labelManagedBy = "app.kubernetes.io/managed-by"

// testMeta is the metadata of an object of the test, for all its attempts.
//
// Its owner and controller is the test, with which it is deleted. The reference doesn't block the test's deletion. That
// would need the right to set finalizers (admission plugin OwnerReferencesPermissionEnforcement), and no object here
// must be gone before the test is.
func testMeta(input Input, name, role string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name:      name,
		Namespace: input.Test.Namespace,
		Labels: map[string]string{
			labelManagedBy:     "linerate",
			v1alpha1.LabelTest: input.Test.Name,
			v1alpha1.LabelUID:  string(input.Test.UID),
			v1alpha1.LabelRole: role,
		},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1alpha1.GroupVersion.String(),
			Kind:       "LoadTest",
			Name:       input.Test.Name,
			UID:        input.Test.UID,
			Controller: new(true),
		}},
	}
}

// attemptMeta is the metadata of an object of this attempt.
func attemptMeta(input Input, name, role string) metav1.ObjectMeta {
	meta := testMeta(input, name, role)
	meta.Labels[v1alpha1.LabelAttempt] = strconv.Itoa(int(input.Attempt))
	return meta
}

// runMeta is the metadata of an object of this attempt in the operator's own namespace. The test can't own it, since
// Kubernetes treats an owner in another namespace as missing, and would delete the object. The Plan's ConfigMap owns
// the others (OwnedByPlan), and the operator deletes that, by its labels.
func runMeta(input Input, name, role string) metav1.ObjectMeta {
	meta := attemptMeta(input, name, role)
	meta.Namespace, meta.OwnerReferences = input.Settings.Namespace, nil
	meta.Labels[v1alpha1.LabelNamespace] = input.Test.Namespace
	return meta
}

// OwnedByPlan makes the Plan's ConfigMap, which exists by then, the owner of an object of its run. It also
// gives the runner's pods the UID, for the documents that they create.
func OwnedByPlan(o Object, plan string, uid types.UID) {
	o.SetOwnerReferences([]metav1.OwnerReference{planOwner(plan, uid)})
	if job, ok := o.(*batchv1.Job); ok {
		job.Spec.Template.Annotations = merge(job.Spec.Template.Annotations,
			map[string]string{annotationPlanUID: string(uid)})
	}
}

func planOwner(plan string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: "v1", Kind: "ConfigMap", Name: plan, UID: uid, Controller: new(true)}
}

// IsOfRun says whether an object's labels say that it belongs to a run. In the operator's own namespace that is true.
func IsOfRun(o metav1.Object) bool { return o.GetLabels()[v1alpha1.LabelNamespace] != "" }

// IsPlan says whether an object of a run is the Plan's ConfigMap, which owns the others.
func IsPlan(o metav1.Object) bool { return IsOfRun(o) && o.GetLabels()[v1alpha1.LabelRole] == rolePlan }

// templated is the metadata of a pod made from a user's template. It has the template's labels and annotations, and
// over them our own.
func templated(meta metav1.ObjectMeta, template metav1.ObjectMeta) metav1.ObjectMeta {
	meta.Labels = merge(template.Labels, meta.Labels)
	meta.Annotations = merge(template.Annotations, meta.Annotations)
	return meta
}

// merge merges two maps, of which above wins. Nil means that both are empty.
func merge(base, overrides map[string]string) map[string]string {
	if len(base)+len(overrides) == 0 {
		return nil
	}
	merged := maps.Clone(base)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, overrides)
	return merged
}

// siblings selects the test's pods of a role in this attempt.
func siblings(input Input, role string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{
		v1alpha1.LabelUID:     string(input.Test.UID),
		v1alpha1.LabelAttempt: strconv.Itoa(int(input.Attempt)),
		v1alpha1.LabelRole:    role,
	}}
}
