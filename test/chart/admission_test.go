package chart

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type (
	policy  = admissionregistrationv1.ValidatingAdmissionPolicy
	binding = admissionregistrationv1.ValidatingAdmissionPolicyBinding
)

func TestAdmissionPolicy(t *testing.T) {
	const name = "linerate-linerate-system"
	k := objects(t, kustomize(t, "config/default"))
	want := find[*policy](t, k, "", "linerate-loadtests")
	h := objects(t, render(t, "").manifest)
	t.Run("the chart's is that of kustomize", func(t *testing.T) {
		if diff := cmp.Diff(want.Spec, find[*policy](t, h, "", name).Spec); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("it is bound, and what it refuses is denied", func(t *testing.T) {
		for policyName, b := range map[string]*binding{want.Name: find[*binding](t, k, "", "linerate-loadtests"), name: find[*binding](t, h, "", name)} {
			if b.Spec.PolicyName != policyName || len(b.Spec.ValidationActions) != 1 || b.Spec.ValidationActions[0] != admissionregistrationv1.Deny || b.Spec.MatchResources != nil {
				t.Errorf("%+v", b.Spec)
			}
		}
	})
	t.Run("it holds where the manager looks", func(t *testing.T) {
		b := find[*binding](t, objects(t, render(t, "watchNamespaces: [a, b]").manifest), "", name)
		chosen := b.Spec.MatchResources.NamespaceSelector.MatchExpressions
		if len(chosen) != 1 || chosen[0].Key != "kubernetes.io/metadata.name" || strings.Join(chosen[0].Values, " ") != "a b" {
			t.Errorf("%+v", chosen)
		}
	})
	t.Run("so are those of what is the operator's alone, and what they refuse is denied everywhere", func(t *testing.T) {
		for _, of := range []string{"pods", "suites", "kept-reports"} {
			for policyName, all := range map[string][]object{"linerate-" + of: k, name + "-" + of: h} {
				if diff := cmp.Diff(find[*policy](t, k, "", "linerate-"+of).Spec, find[*policy](t, all, "", policyName).Spec); diff != "" {
					t.Error(diff)
				}
				b := find[*binding](t, all, "", policyName)
				if b.Spec.PolicyName != policyName || len(b.Spec.ValidationActions) != 1 || b.Spec.ValidationActions[0] != admissionregistrationv1.Deny || b.Spec.MatchResources != nil {
					t.Errorf("%+v", b.Spec)
				}
			}
		}
	})
	t.Run("runners are held by that of kustomize, in the manager's own namespace, under the name that the manager gives them", func(t *testing.T) {
		want := find[*policy](t, k, "", "linerate-runners")
		if diff := cmp.Diff(want.Spec, find[*policy](t, h, "", name+"-runners").Spec); diff != "" {
			t.Error(diff)
		}
		if b := find[*binding](t, k, "", "linerate-runners"); b.Spec.PolicyName != "linerate-runners" || len(b.Spec.ValidationActions) != 1 || b.Spec.ValidationActions[0] != admissionregistrationv1.Deny {
			t.Errorf("%+v", b.Spec)
		}
		all := objects(t, render(t, "fullnameOverride: lab").manifest)
		b := find[*binding](t, all, "", "lab-"+releaseNamespace+"-runners")
		chosen := b.Spec.MatchResources.NamespaceSelector.MatchExpressions
		if len(chosen) != 1 || chosen[0].Key != "kubernetes.io/metadata.name" || strings.Join(chosen[0].Values, " ") != releaseNamespace || b.Spec.ValidationActions[0] != admissionregistrationv1.Deny {
			t.Errorf("%+v", b.Spec)
		}
		is := find[*policy](t, all, "", b.Spec.PolicyName).Spec.MatchConditions[0].Expression
		args := strings.Join(onlyDeployment(t, all).Spec.Template.Spec.Containers[0].Args, " ")
		if !strings.HasSuffix(is, ":lab-runner'") || !strings.Contains(args, "--runner-account=lab-runner") {
			t.Errorf("the policy is of %s, and the manager is given %s", is, args)
		}
	})
	t.Run("networks are the same to it and to the manager", func(t *testing.T) {
		for value, want := range map[string][2]string{
			"[default]": {"['default']", "default"}, "[a, b]": {"['a', 'b']", "a,b"}, "[]": {"[]", ""}, "['*']": {"['*']", "*"},
		} {
			all := objects(t, render(t, "allowedNetworkNamespaces: "+value).manifest)
			args := strings.Join(onlyDeployment(t, all).Spec.Template.Spec.Containers[0].Args, " ") + " "
			if !strings.Contains(args, "--network-namespaces="+want[1]+" ") {
				t.Errorf("%s: the manager is given %s", value, args)
			}
			for _, v := range find[*policy](t, all, "", name).Spec.Variables {
				if v.Name == "networkNamespaces" && v.Expression != want[0] {
					t.Errorf("%s: the policy has %s", value, v.Expression)
				}
			}
		}
	})
}

// Each policy sees every write that it judges, and where it can't be evaluated nothing is written. An API server doesn't play that: a policy that isn't asked refuses nothing, and one that works never fails.
func TestPoliciesSeeEveryWriteAndFailClosed(t *testing.T) {
	const name = "linerate-linerate-system"
	written, also := "CREATE UPDATE", "CREATE UPDATE DELETE"
	wants := map[string]struct{ group, resources, operations, only, unless string }{
		name:                   {"linerate.dev", "loadtests loadtestsuites", written, "", "a LoadTest or suite would become pods that its author may not create"},
		name + "-kept-reports": {"", "configmaps", written, "linerate.dev/role in (kept-report)", "a tenant would write the Reports that verdicts and baselines are made from"},
		name + "-pods":         {"", "pods pods/ephemeralcontainers", written, "linerate.dev/test-uid", "a tenant would put pods of its own in the place of a test's"},
		name + "-runners":      {"", "configmaps", also, "", "a runner would write, or delete, another run's documents"},
		name + "-suites":       {"linerate.dev", "loadtests", written, "", "a tenant would plant LoadTests in a suite"},
	}
	for _, o := range objects(t, render(t, "").manifest) {
		p, is := o.(*policy)
		if !is {
			continue
		}
		want, known := wants[p.Name]
		delete(wants, p.Name)
		if !known {
			t.Errorf("policy %s: nothing says here what it has to see", p.Name)
			continue
		}
		if fails := p.Spec.FailurePolicy; fails == nil || *fails != admissionregistrationv1.Fail {
			t.Errorf("policy %s: failurePolicy isn't Fail: where its expressions can't be evaluated, %s", p.Name, want.unless)
		}
		m := p.Spec.MatchConstraints
		only := metav1.FormatLabelSelector(m.ObjectSelector)
		if m.ObjectSelector == nil {
			only = ""
		}
		if m.MatchPolicy == nil || *m.MatchPolicy != admissionregistrationv1.Equivalent || m.NamespaceSelector != nil || len(m.ExcludeResourceRules) != 0 || only != want.only {
			t.Errorf("policy %s: matches as %v, in namespaces %v, objects %q without %v; want every version, namespace and object %q: otherwise %s", p.Name, m.MatchPolicy, m.NamespaceSelector, only, m.ExcludeResourceRules,
				want.only, want.unless)
		}
		var operations []string
		rule := m.ResourceRules[0]
		for _, o := range rule.Operations {
			operations = append(operations, string(o))
		}
		if len(m.ResourceRules) != 1 || strings.Join(rule.APIGroups, " ") != want.group || strings.Join(rule.APIVersions, " ") != "*" || strings.Join(rule.Resources, " ") != want.resources ||
			strings.Join(operations, " ") != want.operations || len(rule.ResourceNames) != 0 || rule.Scope != nil {
			t.Errorf("policy %s: is asked about %+v; want %s of %s in group %q, of every version: otherwise %s", p.Name, m.ResourceRules, want.operations, want.resources, want.group, want.unless)
		}
	}
	for name := range wants {
		t.Errorf("there is no policy %s", name)
	}
}
