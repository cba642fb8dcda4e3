package doctor

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// makePolicies is the way out where a policy isn't there, or denies nothing.
const makePolicies = "helm upgrade with admissionPolicy.create: true, or kubectl apply --server-side -k config/default"

// owned is what only the operator makes, as long as a policy keeps everybody else from it.
type owned struct {
	what, means string
	keeps       func(admissionv1.ValidatingAdmissionPolicySpec) bool
}

func allOwned() []owned {
	return []owned{
		{"tests' pods", "whoever may create pods can make some that say they are a test's, and keep physical ports that are on no test", func(p admissionv1.ValidatingAdmissionPolicySpec) bool {
			return looksAt(p.MatchConstraints, "", "pods") && selectsLabel(p, v1alpha1.LabelUID, "")
		}},
		{"suites' LoadTests", "a LoadTest that somebody made in a suite's name is found out by its spec alone, once it is over", func(p admissionv1.ValidatingAdmissionPolicySpec) bool {
			return looksAt(p.MatchConstraints, v1alpha1.Group, "loadtests") && hasCondition(p, "LoadTestSuite")
		}},
		{"kept Reports", "whoever may create ConfigMaps can make one up, and gates and baselines take it", func(p admissionv1.ValidatingAdmissionPolicySpec) bool {
			return looksAt(p.MatchConstraints, "", "configmaps") && selectsLabel(p, v1alpha1.LabelRole, v1alpha1.RoleKeptReport)
		}},
	}
}

// ownership is whether policies keep from others what figures and verdicts are found by. What can't be seen of policies is told with those of LoadTests.
func ownership(lab Lab) (findings []Finding) {
	const check = "the operator's own"
	if lab.Policies.Err != nil || lab.Bindings.Err != nil {
		return nil
	}
	for _, o := range allOwned() {
		if !slices.ContainsFunc(lab.Policies.Value, func(p admissionv1.ValidatingAdmissionPolicy) bool { return o.keeps(p.Spec) && lab.denies(p.Name) }) {
			findings = append(findings, Finding{Warn, check, "no policy that denies keeps " + o.what + " the operator's to make: " + o.means,
				makePolicies + " (docs/security.md)"})
		}
	}
	if findings == nil {
		return one(OK, check, "policies keep tests' pods, suites' LoadTests and kept Reports the operator's to make", "")
	}
	return findings
}

// denies says whether a binding has the policy refuse anything.
func (lab *Lab) denies(policy string) bool {
	return slices.ContainsFunc(lab.Bindings.Value, func(b admissionv1.ValidatingAdmissionPolicyBinding) bool {
		return b.Spec.PolicyName == policy && slices.Contains(b.Spec.ValidationActions, admissionv1.Deny)
	})
}

// looksAt says whether one of a policy's rules is for all of these resources of a group.
func looksAt(match *admissionv1.MatchResources, group string, resources ...string) bool {
	return match != nil && slices.ContainsFunc(match.ResourceRules, func(r admissionv1.NamedRuleWithOperations) bool {
		other := func(resource string) bool { return !slices.Contains(r.Resources, resource) }
		return slices.Contains(r.APIGroups, group) && !slices.ContainsFunc(resources, other)
	})
}

// hasCondition says whether one of the conditions under which a policy looks at an object has these words.
func hasCondition(p admissionv1.ValidatingAdmissionPolicySpec, words string) bool {
	return slices.ContainsFunc(p.MatchConditions, func(c admissionv1.MatchCondition) bool { return strings.Contains(c.Expression, words) })
}

// selectsLabel says whether a policy is for objects with this label; empty: whatever its value.
func selectsLabel(p admissionv1.ValidatingAdmissionPolicySpec, label, value string) bool {
	s := p.MatchConstraints.ObjectSelector
	if s == nil {
		return false
	}
	if value != "" {
		return s.MatchLabels[label] == value
	}
	return slices.ContainsFunc(s.MatchExpressions, func(r metav1.LabelSelectorRequirement) bool {
		return r.Key == label && r.Operator == metav1.LabelSelectorOpExists
	})
}
