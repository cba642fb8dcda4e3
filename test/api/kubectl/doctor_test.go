package kubectl

import (
	"context"
	"os"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// installed is an operator's Deployment in a namespace of its own, with what config has for runners.
type installed struct {
	*person
	namespace string
}

// wanted are config's files, which doctor looks for.
func wanted() []string {
	return []string{"admission/pods_policy", "admission/pods_binding", "admission/suites_policy", "admission/suites_binding", "admission/kept_reports_policy", "admission/kept_reports_binding",
		"rbac/runner_service_account", "rbac/runner_role", "rbac/runner_role_binding", "rbac/runs_role", "rbac/runs_role_binding", "admission/runner_policy", "admission/runner_binding"}
}

func (p *person) installs() installed {
	p.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "linerate-"}}
	p.must(admin.Create(p.Context(), namespace))
	o := installed{p, namespace.Name}
	names := map[string]string{"app": "linerate"}
	o.made(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: o.namespace, Name: "linerate"}, Spec: appsv1.DeploymentSpec{
		Selector: &metav1.LabelSelector{MatchLabels: names},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: names}, Spec: corev1.PodSpec{ServiceAccountName: "controller-manager",
			Containers: []corev1.Container{{Name: "manager", Image: "linerate:v0.1.0", Env: []corev1.EnvVar{{Name: "LINERATE_IMAGE", Value: "linerate:v0.1.0"}}}}}},
	}})
	for _, file := range wanted() {
		o.made(o.of(file))
	}
	return o
}

// of is what a file of config has, in the operator's namespace. The runners' account has the name that kustomize gives it.
func (o installed) of(file string) *unstructured.Unstructured {
	o.Helper()
	text, err := os.ReadFile("../../../config/" + file + ".yaml")
	o.must(err)
	object := &unstructured.Unstructured{}
	o.must(yaml.Unmarshal([]byte(strings.NewReplacer("namespace: system\n", "namespace: "+o.namespace+"\n", "name: runner\n", "name: linerate-runner\n").Replace(string(text))), object))
	return object
}

// made makes an object, until the test is over.
func (o installed) made(object client.Object) {
	o.Helper()
	o.must(admin.Create(o.Context(), object))
	o.Cleanup(func() {
		if err := client.IgnoreNotFound(admin.Delete(context.WithoutCancel(o.Context()), object)); err != nil {
			o.Error(err)
		}
	})
}

// says waits until doctor says all of some lines: the API server takes a moment to see roles.
func (o installed) says(lines ...string) {
	o.Helper()
	o.until(strings.Join(lines, ", "), func() bool {
		said := o.types("kubectl linerate doctor").out
		for _, l := range lines {
			if !strings.Contains(said, strings.ReplaceAll(l, "NAMESPACE", o.namespace)) {
				return false
			}
		}
		return true
	})
}

func TestDoctorLooksForWhatRunnersNeed(t *testing.T) {
	o := newPerson(t).installs()
	well := []string{
		"ok      runners: they have ServiceAccount NAMESPACE/linerate-runner, which may ",
		"ok      operator's rights: ServiceAccount NAMESPACE/controller-manager may make runners in namespace NAMESPACE, follow them, and clear up after them",
		"ok      runners' policy: runners holds runners in namespace NAMESPACE to the documents of their own runs",
	}
	well = append(well, "ok      the operator's own: policies keep tests' pods, suites' LoadTests and kept Reports the operator's to make")
	o.says(well...)
	for file, says := range map[string]string{
		"rbac/runner_service_account": "fail    runners: ServiceAccount NAMESPACE/linerate-runner, which all runners have, isn't there",
		"rbac/runner_role":            "configmaps in namespace NAMESPACE (RoleBindings there give it Role runner-role, which isn't there): no run's Report is written",
		"rbac/runner_role_binding":    "configmaps in namespace NAMESPACE (no RoleBinding there names it): no run's Report is written",
		"rbac/runs_role":              "fail    operator's rights: ServiceAccount NAMESPACE/controller-manager, which the operator has, may not create jobs; create configmaps in namespace NAMESPACE (RoleBindings there give it Role runs-role, which isn't there)",
		"rbac/runs_role_binding":      "warn    operator's rights: ServiceAccount NAMESPACE/controller-manager, which the operator has, may not create poddisruptionbudgets in namespace NAMESPACE (no RoleBinding there names it)",
		"admission/runner_policy":     "warn    runners' policy: none is there for ServiceAccount NAMESPACE/linerate-runner: tests run all the same",
		"admission/runner_binding":    "warn    runners' policy: runners is there, and bound to nothing",
		"admission/suites_policy":     "warn    the operator's own: no policy that denies keeps suites' LoadTests the operator's to make",
	} {
		t.Run("without config/"+file+".yaml", func(t *testing.T) {
			person := *o.person
			person.T = t
			without := installed{&person, o.namespace}
			without.must(admin.Delete(t.Context(), without.of(file)))
			without.says(says)
			without.must(admin.Create(t.Context(), without.of(file)))
			without.says(well...)
		})
	}
}

// A user who may only see that there is an operator gets no list of what is missing.
func TestDoctorReportsNothingAsMissingThatItMayNotRead(t *testing.T) {
	o := newPerson(t).installs()
	o.made(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "see-deployments"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, Verbs: []string{"list"}}}})
	o.made(&rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "see-deployments"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "see-deployments"},
		Subjects: []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "visitor"}}})
	o.must(admin.Delete(t.Context(), o.of("rbac/runner_service_account")))
	o.must(admin.Delete(t.Context(), o.of("rbac/runner_role_binding")))
	o.become("visitor")
	o.says(
		"unknown runners: whether ServiceAccount NAMESPACE/linerate-runner, which all runners have, is there can't be read: ",
		"unknown runners: whether ServiceAccount NAMESPACE/linerate-runner, which all runners have, may ",
		"unknown operator's rights: whether ServiceAccount NAMESPACE/controller-manager, which the operator has, may ",
		"unknown runners' policy: the cluster's ValidatingAdmissionPolicies can't be read: ",
	)
	said := o.types("kubectl linerate doctor").out
	for _, never := range []string{"fail    runners", "fail    operator's rights", "warn    runners' policy"} {
		if strings.Contains(said, never) {
			t.Errorf("%q is said to who may not see it:\n%s", never, said)
		}
	}
}
