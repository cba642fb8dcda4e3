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
	t.Run("networks of traffic and servers are the same to it and to the manager", func(t *testing.T) {
		all := objects(t, render(t, `{allowedTrafficPrefixes: [10.1.0.0/16, "fd00::/8"], allowedServers: [192.0.2.0/28, 192.0.2.77, "198.51.100.7:4511", "198.51.100.0/28:4512", "2001:db8::7", "[2001:db8::/64]:4511", "[2001:db8::9]"]}`).manifest)
		args := strings.Join(onlyDeployment(t, all).Spec.Template.Spec.Containers[0].Args, " ") + " "
		for _, want := range []string{
			"--traffic-prefixes=10.1.0.0/16,fd00::/8 ",
			"--allowed-servers=192.0.2.0/28,192.0.2.77,198.51.100.7:4511,198.51.100.0/28:4512,2001:db8::7,[2001:db8::/64]:4511,[2001:db8::9] ",
		} {
			if !strings.Contains(args, want) {
				t.Errorf("the manager is given %s, want %s", args, want)
			}
		}
		servers := "[{'prefix': '192.0.2.0/28', 'port': '4501'}, {'prefix': '192.0.2.77/32', 'port': '4501'}, {'prefix': '198.51.100.7/32', 'port': '4511'}, {'prefix': '198.51.100.0/28', 'port': '4512'}, " +
			"{'prefix': '2001:db8::7/128', 'port': '4501'}, {'prefix': '2001:db8::/64', 'port': '4511'}, {'prefix': '2001:db8::9/128', 'port': '4501'}]"
		for _, v := range find[*policy](t, all, "", name).Spec.Variables {
			if want := map[string]string{"trafficPrefixes": "['10.1.0.0/16', 'fd00::/8']", "allowedServers": servers}[v.Name]; want != "" && v.Expression != want {
				t.Errorf("the policy has %s as %s, want %s", v.Name, v.Expression, want)
			}
		}
	})
}

// Each policy sees every write that it judges, and where it can't be evaluated nothing is written. An API server doesn't show that: a policy that isn't asked refuses nothing, and one that works never
// fails.
func TestPoliciesSeeEveryWriteAndFailClosed(t *testing.T) {
	const name = "linerate-linerate-system"
	operations := []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	sees := func(group string, operations []admissionregistrationv1.OperationType, only *metav1.LabelSelector, resources ...string) *admissionregistrationv1.MatchResources {
		rule := admissionregistrationv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: resources}
		return &admissionregistrationv1.MatchResources{MatchPolicy: new(admissionregistrationv1.Equivalent), ObjectSelector: only, ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{
			{RuleWithOperations: admissionregistrationv1.RuleWithOperations{Operations: operations, Rule: rule}}}}
	}
	ofATest := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "linerate.dev/test-uid", Operator: metav1.LabelSelectorOpExists}}}
	wants := map[string]struct {
		sees   *admissionregistrationv1.MatchResources
		unless string
	}{
		name: {sees("linerate.dev", operations, nil, "loadtests", "loadtestsuites"), "a LoadTest or suite may become pods that its author may not create"},
		name + "-kept-reports": {sees("", operations, &metav1.LabelSelector{MatchLabels: map[string]string{"linerate.dev/role": "kept-report"}}, "configmaps"),
			"a tenant may write the Reports that verdicts and baselines are made from"},
		name + "-pods":    {sees("", operations, ofATest, "pods", "pods/ephemeralcontainers"), "a tenant may put pods of its own in the place of a test's"},
		name + "-runners": {sees("", append(operations, admissionregistrationv1.Delete), nil, "configmaps"), "a runner may write, or delete, another run's documents"},
		name + "-suites":  {sees("linerate.dev", operations, nil, "loadtests"), "a tenant may plant LoadTests in a suite"},
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
			t.Errorf("policy %s: failurePolicy isn't Fail: while it can't be evaluated, %s", p.Name, want.unless)
		}
		if diff := cmp.Diff(want.sees, p.Spec.MatchConstraints); diff != "" {
			t.Errorf("policy %s doesn't see what it has to (-want +got), so %s:\n%s", p.Name, want.unless, diff)
		}
	}
	for name := range wants {
		t.Errorf("there is no policy %s", name)
	}
}
