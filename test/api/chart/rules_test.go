package chart

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// role is a Role or ClusterRole.
type role struct {
	name  string
	rules []rbacv1.PolicyRule
}

func rolesOf(all []object) (roles []role) {
	for _, o := range all {
		switch r := o.(type) {
		case *rbacv1.ClusterRole:
			roles = append(roles, role{"ClusterRole " + r.Name, r.Rules})
		case *rbacv1.Role:
			roles = append(roles, role{fmt.Sprintf("Role %s/%s", r.Namespace, r.Name), r.Rules})
		}
	}
	return roles
}

// everyWay is each way to install, by what it has of roles.
func everyWay(t *testing.T) map[string][]object {
	t.Helper()
	return map[string][]object{
		"chart":                objects(t, render(t, "").manifest),
		"chart, in namespaces": objects(t, render(t, "watchNamespaces: [a, b]").manifest),
		"kustomize":            objects(t, kustomize(t, "config/default")),
	}
}

func TestNoRoleGoesTooFar(t *testing.T) {
	for way, all := range everyWay(t) {
		roles := rolesOf(all)
		if len(roles) < 4 {
			t.Errorf("%s: only %d roles were seen", way, len(roles))
		}
		for _, r := range roles {
			for _, rule := range r.rules {
				for _, fault := range faults(rule) {
					t.Errorf("%s: %s: %s in %v", way, r.name, fault, rule)
				}
			}
		}
	}
	t.Run("a rule that does is found", func(t *testing.T) {
		for _, rule := range []rbacv1.PolicyRule{
			{APIGroups: []string{"*"}, Resources: []string{"pods"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"*"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"pods/*"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"*"}},
			{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"pods/exec"}, Verbs: []string{"create"}},
			{APIGroups: []string{""}, Resources: []string{"serviceaccounts/token"}, Verbs: []string{"create"}},
			{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"roles"}, Verbs: []string{"escalate"}},
			{APIGroups: []string{"rbac.authorization.k8s.io"}, Resources: []string{"roles"}, Verbs: []string{"bind"}},
			{APIGroups: []string{""}, Resources: []string{"users"}, Verbs: []string{"impersonate"}},
			{NonResourceURLs: []string{"/metrics*"}, Verbs: []string{"get"}},
			{APIGroups: []string{""}, Resources: []string{"pods"}},
		} {
			if len(faults(rule)) == 0 {
				t.Errorf("%v passes", rule)
			}
		}
	})
}

func faults(rule rbacv1.PolicyRule) (found []string) {
	words := slices.Concat(rule.APIGroups, rule.Resources, rule.ResourceNames, rule.Verbs, rule.NonResourceURLs)
	if slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, "*") }) {
		found = append(found, "a wildcard")
	}
	for _, verb := range []string{"escalate", "bind", "impersonate"} {
		if slices.Contains(rule.Verbs, verb) {
			found = append(found, verb)
		}
	}
	for _, resource := range []string{"secrets", "pods/exec", "pods/attach", "pods/ephemeralcontainers", "nodes/proxy", "serviceaccounts/token"} {
		if slices.Contains(rule.Resources, resource) {
			found = append(found, resource)
		}
	}
	if len(rule.Verbs) == 0 || len(rule.Resources)+len(rule.NonResourceURLs) == 0 {
		found = append(found, "nothing")
	}
	return found
}

// grants is every single right of some rules: one group, resource, name and verb.
func grants(rules []rbacv1.PolicyRule) []string {
	var all []string
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, name := range names {
					for _, verb := range rule.Verbs {
						all = append(all, strings.Join([]string{verb, resource, group, name}, " "))
					}
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

func TestTheChartsRightsAreThoseOfKustomize(t *testing.T) {
	k := objects(t, kustomize(t, "config/default"))
	want := grants(find[*rbacv1.ClusterRole](t, k, "", "linerate-manager-role").Rules)
	const name = "linerate-linerate-system"
	t.Run("cluster-wide", func(t *testing.T) {
		got := grants(find[*rbacv1.ClusterRole](t, objects(t, render(t, "").manifest), "", name).Rules)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("in namespaces the same, in two parts", func(t *testing.T) {
		all := objects(t, render(t, "watchNamespaces: [a, b]").manifest)
		wide := find[*rbacv1.ClusterRole](t, all, "", name).Rules
		for _, namespace := range []string{"a", "b"} {
			narrow := find[*rbacv1.Role](t, all, namespace, name).Rules
			if diff := cmp.Diff(want, grants(slices.Concat(wide, narrow))); diff != "" {
				t.Error(diff)
			}
		}
	})
	t.Run("in namespaces nothing but reading is cluster-wide", func(t *testing.T) {
		got := grants(find[*rbacv1.ClusterRole](t, objects(t, render(t, "watchNamespaces: [a]").manifest), "", name).Rules)
		crd := " customresourcedefinitions apiextensions.k8s.io network-attachment-definitions.k8s.cni.cncf.io"
		if diff := cmp.Diff([]string{"get" + crd, "get nodes  ", "list" + crd, "list nodes  ", "watch" + crd, "watch nodes  "}, got); diff != "" {
			t.Error(diff)
		}
	})
	for kustomized, name := range map[string]string{"linerate-runs-role": "linerate-runs", "linerate-runner-role": "linerate-runner"} {
		t.Run("in the manager's own namespace: "+name, func(t *testing.T) {
			want := grants(find[*rbacv1.Role](t, k, releaseNamespace, kustomized).Rules)
			got := grants(find[*rbacv1.Role](t, objects(t, render(t, "").manifest), releaseNamespace, name).Rules)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("leader election", func(t *testing.T) {
		want := grants(find[*rbacv1.Role](t, k, releaseNamespace, "linerate-leader-election-role").Rules)
		got := grants(find[*rbacv1.Role](t, objects(t, render(t, "").manifest), releaseNamespace, "linerate-leader-election").Rules)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("to serve metrics to their readers alone", func(t *testing.T) {
		for ending, kustomized := range map[string]string{"-metrics-auth": "linerate-metrics-auth-role", "-metrics-reader": "linerate-metrics-reader"} {
			want := find[*rbacv1.ClusterRole](t, k, "", kustomized).Rules
			got := find[*rbacv1.ClusterRole](t, objects(t, render(t, "watchNamespaces: [a]").manifest), "", name+ending).Rules
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		for _, without := range []string{"metrics: {secure: false}", "metrics: {create: false}"} {
			for _, r := range rolesOf(objects(t, render(t, without).manifest)) {
				if strings.Contains(r.name, "metrics") {
					t.Errorf("%s: there is %s", without, r.name)
				}
			}
		}
	})
	for ending, kustomized := range map[string]string{"-edit": "linerate-loadtest-editor-role", "-view": "linerate-loadtest-viewer-role"} {
		t.Run("people"+ending, func(t *testing.T) {
			want := find[*rbacv1.ClusterRole](t, k, "", kustomized)
			got := find[*rbacv1.ClusterRole](t, objects(t, render(t, "").manifest), "", name+ending)
			if diff := cmp.Diff(grants(want.Rules), grants(got.Rules)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(aggregated(want), aggregated(got)); diff != "" || len(aggregated(got)) == 0 {
				t.Errorf("aggregated into %v: %s", aggregated(got), diff)
			}
		})
	}
}

func aggregated(r *rbacv1.ClusterRole) (into []string) {
	for label, value := range r.Labels {
		if strings.HasPrefix(label, rbacv1.GroupName+"/aggregate-to-") && value == "true" {
			into = append(into, label)
		}
	}
	slices.Sort(into)
	return into
}

// A binding to a role or account that doesn't exist wouldn't be noticed otherwise: the manager would only be refused.
func TestEveryBindingsRoleExists(t *testing.T) {
	for way, all := range everyWay(t) {
		bindings := 0
		for _, o := range all {
			switch b := o.(type) {
			case *rbacv1.ClusterRoleBinding:
				bindings++
				find[*rbacv1.ClusterRole](t, all, "", b.RoleRef.Name)
				bindsTheManager(t, all, b.Subjects)
			case *rbacv1.RoleBinding:
				bindings++
				find[*rbacv1.Role](t, all, b.Namespace, b.RoleRef.Name)
				if b.RoleRef.Name == "linerate-runner" || b.RoleRef.Name == "linerate-runner-role" {
					binds(t, b.Subjects, find[*corev1.ServiceAccount](t, all, releaseNamespace, manifests.DefaultRunnerAccount))
					continue
				}
				bindsTheManager(t, all, b.Subjects)
			}
		}
		if bindings < 2 {
			t.Errorf("%s: %d bindings", way, bindings)
		}
	}
}

func bindsTheManager(t *testing.T, all []object, subjects []rbacv1.Subject) {
	t.Helper()
	d := onlyDeployment(t, all)
	binds(t, subjects, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: d.Namespace, Name: d.Spec.Template.Spec.ServiceAccountName}})
}

func binds(t *testing.T, subjects []rbacv1.Subject, account *corev1.ServiceAccount) {
	t.Helper()
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Name: account.Name, Namespace: account.Namespace}}
	if diff := cmp.Diff(want, subjects); diff != "" {
		t.Error(diff)
	}
}
