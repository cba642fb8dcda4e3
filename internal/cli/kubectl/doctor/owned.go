package doctor

import (
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// makePolicies is advice where a policy is missing, or denies nothing.
const makePolicies = "helm upgrade with admissionPolicy.create: true, or kubectl apply --server-side -k config/default"

// owned is a kind of object that only the operator creates, as long as a policy denies it to others.
type owned struct {
	objects, consequence string
	protects             func(admissionv1.ValidatingAdmissionPolicySpec) bool
}

func allOwned() []owned {
	return []owned{
		{"tests' pods", "whoever may create pods can make some that say they are a test's, and keep physical ports " +
			"that are on no test", func(p admissionv1.ValidatingAdmissionPolicySpec) bool {
			return coversResources(p.MatchConstraints, "", "pods") && selectsLabel(p, v1alpha1.LabelUID, "")
		}},
		{"suites' LoadTests", "a LoadTest that somebody made in a suite's name is found out by its spec alone, once " +
			"it is over", func(p admissionv1.ValidatingAdmissionPolicySpec) bool {
			return coversResources(p.MatchConstraints, v1alpha1.Group, "loadtests") && hasCondition(p, "LoadTestSuite")
		}},
		{"kept Reports", "whoever may create ConfigMaps can make one up, and gates and baselines take it",
			func(p admissionv1.ValidatingAdmissionPolicySpec) bool {
				return coversResources(p.MatchConstraints, "", "configmaps") && selectsLabel(p, v1alpha1.LabelRole,
					v1alpha1.RoleKeptReport)
			}},
	}
}

// ownership checks that policies protect the objects on which figures and verdicts rest. The check admission
// reports policies that can't be read.
func ownership(lab Lab) (findings []Finding) {
	const check = "the operator's own"
	if lab.Policies.Err != nil || lab.Bindings.Err != nil {
		return nil
	}
	for _, o := range allOwned() {
		protects := func(p admissionv1.ValidatingAdmissionPolicy) bool {
			return o.protects(p.Spec) &&
				lab.denies(p.Name)
		}
		if !slices.ContainsFunc(lab.Policies.Value, protects) {
			findings = append(findings, Finding{Warn, check,
				"no policy that denies keeps " + o.objects + " the operator's to make: " + o.consequence, makePolicies +
					" (docs/security.md)"})
		}
	}
	if findings == nil {
		return single(OK, check, "policies keep tests' pods, suites' LoadTests and kept Reports the operator's to make",
			"")
	}
	return findings
}

// denies reports whether a binding makes the policy refuse objects.
func (lab *Lab) denies(policy string) bool {
	return slices.ContainsFunc(lab.Bindings.Value, func(b admissionv1.ValidatingAdmissionPolicyBinding) bool {
		return b.Spec.PolicyName == policy && slices.Contains(b.Spec.ValidationActions, admissionv1.Deny)
	})
}

// coversResources reports whether one rule of a policy covers all of these resources of a group.
func coversResources(match *admissionv1.MatchResources, group string, resources ...string) bool {
	return match != nil && slices.ContainsFunc(match.ResourceRules, func(r admissionv1.NamedRuleWithOperations) bool {
		isMissing := func(resource string) bool { return !slices.Contains(r.Resources, resource) }
		return slices.Contains(r.APIGroups, group) && !slices.ContainsFunc(resources, isMissing)
	})
}

// hasCondition reports whether one of a policy's match conditions contains a text.
func hasCondition(p admissionv1.ValidatingAdmissionPolicySpec, text string) bool {
	return slices.ContainsFunc(p.MatchConditions,
		func(c admissionv1.MatchCondition) bool { return strings.Contains(c.Expression, text) })
}

// selectsLabel reports whether a policy selects objects by this label and value. Any value matches an empty one.
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
