package doctor

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// askAdmin is the way out where it only takes somebody who may see more.
const askAdmin = "ask a cluster admin to run kubectl linerate doctor"

// runners are looked at where each operator has them.
func runners(lab Lab) (findings []Finding) {
	if lab.Operators.Err != nil {
		return unseen("runners", "the cluster's Deployments, which say where runners are and which account they have,", lab.Operators.Err, askAdmin)
	}
	var told []types.NamespacedName
	for i := range lab.Operators.Value {
		at := client.ObjectKeyFromObject(&lab.Operators.Value[i])
		if slices.Contains(told, at) {
			continue
		}
		told = append(told, at)
		runs := lab.Runs[at]
		findings = slices.Concat(findings, runs.writing(), runs.managing(), lab.holding(runs))
	}
	return findings
}

// duty is what an account is there for, and what it means for tests that it lacks a right to it.
type duty struct {
	check string
	whose string // who has the account
	files string // of config/rbac: what gives it its rights
	lacks []consequence
}

// consequence is what follows where an account lacks one of the rights that it is about.
type consequence struct {
	of    func(Right) bool
	level Level
	means string
}

func oneOf(verbs ...string) func(Right) bool {
	return func(r Right) bool { return slices.Contains(verbs, r.Verb) && r.Resource != disruptionBudgets }
}

func toGuard(r Right) bool { return r.Resource == disruptionBudgets }

// writing is whether runners are there, and may write what a test's result is made from.
func (r Runs) writing() []Finding {
	d := duty{"runners", "all runners have", "config/rbac/runner_*.yaml", []consequence{{oneOf("create", "update"), Fail, "no run's Report is written, and tests end without a figure"}}}
	findings := append(r.account(d), r.missing(r.Runner, d)...)
	if len(findings) == 0 {
		return one(OK, d.check, fmt.Sprintf("they have ServiceAccount %s, which may %s in its namespace", r.Runner, inWords(r.Runner.Rights)), "")
	}
	return findings
}

// account finds a missing ServiceAccount of runners, without which no runner's pod can be made.
func (r Runs) account(d duty) []Finding {
	a := r.Runner
	switch err := a.Object.Err; {
	case apierrors.IsNotFound(err):
		return one(Fail, d.check, fmt.Sprintf("ServiceAccount %s, which %s, isn't there: a test's Job makes no pod for its runner, and the test measures nothing until its deadline",
			a, d.whose), d.wayOut())
	case err != nil:
		return unseen(d.check, fmt.Sprintf("whether ServiceAccount %s, which %s, is there", a, d.whose), err,
			fmt.Sprintf("kubectl get serviceaccount %s -n %s; or %s", a.Name, a.Namespace, askAdmin))
	}
	return nil
}

// managing is whether the operator may make runners, follow them, and clear up after them.
func (r Runs) managing() []Finding {
	d := duty{"operator's rights", "the operator has", "config/rbac/runs_role*.yaml", []consequence{
		{oneOf("create"), Fail, "no runner is made: tests stand still when their pods are ready, and hold their devices"},
		{oneOf("get", "list", "watch"), Fail, "the operator doesn't see runners and what they write, and no test comes to a result"},
		{oneOf("delete"), Fail, "what is left of runs isn't cleared away, and their tests may not come to an end"},
		{oneOf("update"), Fail, "the runs of suites aren't stored: no suite goes on past its first run"},
		{toGuard, Warn, "drains don't wait for runners: a run whose runner is evicted begins anew"},
	}}
	findings := r.missing(r.Manager, d)
	if len(findings) == 0 {
		return one(OK, d.check, fmt.Sprintf("ServiceAccount %s may make runners in namespace %s, follow them, and clear up after them", r.Manager, r.Runner.Namespace), "")
	}
	return findings
}

// missing says what an account may not do and has to, each with what follows, and of what that can't be told. What the API server doesn't tell the person, the
// namespace's Roles may.
func (r Runs) missing(a Account, d duty) (findings []Finding) {
	in := r.Runner.Namespace
	var unknown []Right
	for _, right := range a.Rights {
		if right.Err != nil && !r.installed(a, right) {
			unknown = append(unknown, right)
		}
	}
	for _, c := range d.lacks {
		var lacks []Right
		for _, right := range a.Rights {
			if right.Err == nil && !right.Allowed && c.of(right) {
				lacks = append(lacks, right)
			}
		}
		if len(lacks) > 0 {
			findings = append(findings, Finding{c.level, d.check,
				fmt.Sprintf("ServiceAccount %s, which %s, may not %s in namespace %s%s: %s", a, d.whose, inWords(lacks), in, r.because(a), c.means), d.wayOut()})
		}
	}
	if len(unknown) > 0 {
		what := fmt.Sprintf("whether ServiceAccount %s, which %s, may %s in namespace %s", a, d.whose, inWords(unknown), in)
		findings = append(findings, unseen(d.check, what, unknown[0].Err, fmt.Sprintf("kubectl get roles,rolebindings -n %s -o yaml, beside %s; or %s", in, d.files, askAdmin))...)
	}
	return findings
}

func (d duty) wayOut() string {
	return "helm upgrade with rbac.create: true, or kubectl apply --server-side -k config/default; roles that were made in another way: as " + d.files + " have them"
}

// inWords are rights by resource: create, get jobs; delete pods.
func inWords(rights []Right) string {
	var resources []string
	by := map[string][]string{}
	for _, r := range rights {
		if by[r.Resource] == nil {
			resources = append(resources, r.Resource)
		}
		by[r.Resource] = append(by[r.Resource], r.Verb)
	}
	words := make([]string, len(resources))
	for i, r := range resources {
		words[i] = strings.Join(by[r], ", ") + " " + r
	}
	return strings.Join(words, "; ")
}

// because says what RoleBindings of the namespace give to an account that lacks a right; empty: they can't be read.
func (r Runs) because(a Account) string {
	if r.RoleBindings.Err != nil {
		return ""
	}
	var gives []string
	for _, ref := range r.rolesFor(a) {
		what := ref.Kind + " " + ref.Name
		if ref.Kind == "Role" && r.Roles.Err == nil && r.role(ref) == nil {
			what += ", which isn't there"
		}
		gives = append(gives, what)
	}
	if len(gives) == 0 {
		return " (no RoleBinding there names it)"
	}
	return " (RoleBindings there give it " + strings.Join(gives, ", and ") + ")"
}

// holding is whether a policy holds runners to the documents of their own runs. Tests run as well without one.
func (lab *Lab) holding(r Runs) []Finding {
	const check = "runners' policy"
	if lab.Policies.Err != nil {
		return unseen(check, "the cluster's ValidatingAdmissionPolicies", lab.Policies.Err, askAdmin)
	}
	loose := "none is there for ServiceAccount " + r.Runner.String()
	for _, p := range lab.Policies.Value {
		if !holdsRunners(p.Spec, r.Runner.Name) {
			continue
		}
		if lab.Bindings.Err != nil {
			return unseen(check, "whether "+p.Name+" is bound", lab.Bindings.Err, askAdmin)
		}
		why, known := lab.unbound(p.Name, r)
		switch {
		case why == "":
			return one(OK, check, fmt.Sprintf("%s holds runners in namespace %s to the documents of their own runs", p.Name, r.Runner.Namespace), "")
		case !known:
			return one(Unknown, check, why, askAdmin)
		}
		loose = p.Name + " is there, and " + why
	}
	const means = ": tests run all the same, but a runner that somebody took over, by what a generator answers, may write other runs' documents. " +
		"The operator still looks whether Plan, UID, attempt, times and signature fit (docs/security.md, Verdicts)"
	return one(Warn, check, loose+means, makePolicies)
}

// holdsRunners says whether a policy is about ConfigMaps that the account writes: its name is in the conditions.
func holdsRunners(policy admissionv1.ValidatingAdmissionPolicySpec, account string) bool {
	return policy.MatchConstraints != nil && slices.ContainsFunc(policy.MatchConstraints.ResourceRules, func(r admissionv1.NamedRuleWithOperations) bool {
		return slices.Contains(r.APIGroups, "") && slices.Contains(r.Resources, "configmaps") && slices.Contains(r.Operations, admissionv1.Update)
	}) && hasCondition(policy, ":"+account+"'")
}

// unbound says why no binding has a policy refuse anything in the runners' namespace; empty: one has. Where one may, which isn't known, what others do doesn't matter.
func (lab *Lab) unbound(policy string, r Runs) (why string, known bool) {
	why, known = "bound to nothing", true
	for _, b := range lab.Bindings.Value {
		if b.Spec.PolicyName != policy {
			continue
		}
		selects, sure := r.selects(b.Spec.MatchResources)
		denies := slices.Contains(b.Spec.ValidationActions, admissionv1.Deny)
		switch {
		case denies && sure && selects:
			return "", true
		case denies && !sure:
			why, known = fmt.Sprintf("whether binding %s of %s is for namespace %s can't be told, as its labels can't be read: %v", b.Name, policy, r.Runner.Namespace, r.Namespace.Err), false
		case known && !denies:
			why = "its binding " + b.Name + " has it deny nothing"
		case known:
			why = fmt.Sprintf("its binding %s isn't for namespace %s", b.Name, r.Runner.Namespace)
		}
	}
	return why, known
}

// selects says whether a binding is for the runners' namespace. Where its labels can't be read, its name is one that it has all the same.
func (r Runs) selects(match *admissionv1.MatchResources) (selects, known bool) {
	if match == nil || match.NamespaceSelector == nil {
		return true, true
	}
	selector, err := metav1.LabelSelectorAsSelector(match.NamespaceSelector)
	if err != nil {
		return false, true
	}
	has := labels.Set{}
	if r.Namespace.Err == nil && r.Namespace.Value != nil {
		has = labels.Set(r.Namespace.Value.Labels)
	}
	has = labels.Merge(has, labels.Set{corev1.LabelMetadataName: r.Runner.Namespace})
	requirements, _ := selector.Requirements()
	byName := !slices.ContainsFunc(requirements, func(l labels.Requirement) bool { return l.Key() != corev1.LabelMetadataName })
	return selector.Matches(has), r.Namespace.Err == nil || byName
}
