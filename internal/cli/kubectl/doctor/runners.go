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
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// askAdmin is advice for a person who may not read what the check needs.
const askAdmin = "ask a cluster admin to run kubectl linerate doctor"

// runners checks each operator's runners.
func runners(lab Lab) (findings []Finding) {
	if lab.Operators.Err != nil {
		return unreadable("runners", "the cluster's Deployments, which say where runners are and which account they "+
			"have,",
			lab.Operators.Err, askAdmin)
	}
	for i := range lab.Operators.Value {
		runs := lab.Runs[client.ObjectKeyFromObject(&lab.Operators.Value[i])]
		findings = slices.Concat(findings, runs.checkRunner(), runs.checkManager(), lab.checkRunnerPolicy(runs))
	}
	return findings
}

// duty is what an account is for, and what follows for tests if it lacks rights.
type duty struct {
	check        string
	owners       string // who has the account
	manifests    string // the files of config/rbac that give the account its rights
	consequences []consequence
}

// consequence is what follows if an account lacks one of the rights that isAffected selects.
type consequence struct {
	isAffected func(Right) bool
	level      Level
	message    string
}

func hasVerb(verbs ...string) func(Right) bool {
	return func(r Right) bool { return slices.Contains(verbs, r.Verb) && !isForBudgets(r) }
}

func isForBudgets(r Right) bool { return r.Resource == disruptionBudgets }

// checkRunner checks that runners can exist, and may write what a test's result is made from.
func (r Runs) checkRunner() []Finding {
	d := duty{"runners", "all runners have", "config/rbac/runner_*.yaml", []consequence{
		{hasVerb("create", "update"), Fail, "no run's Report is written, and tests end without a figure"},
	}}
	findings := append(r.account(d), r.missing(r.Runner, d)...)
	if len(findings) == 0 {
		return single(OK, d.check, fmt.Sprintf("they have ServiceAccount %s, which may %s in its namespace", r.Runner,
			rightsText(r.Runner.Rights)), "")
	}
	return findings
}

// account finds a missing ServiceAccount of runners, without which no runner's pod can be made.
func (r Runs) account(d duty) []Finding {
	a := r.Runner
	switch err := a.Object.Err; {
	case apierrors.IsNotFound(err):
		return single(Fail, d.check, fmt.Sprintf("ServiceAccount %s, which %s, isn't there: a test's Job makes no "+
			"pod for its runner, and the test measures nothing until its deadline",
			a, d.owners), d.advice())
	case err != nil:
		return unreadable(d.check, fmt.Sprintf("whether ServiceAccount %s, which %s, is there", a, d.owners), err,
			fmt.Sprintf("kubectl get serviceaccount %s -n %s; or %s", a.Name, a.Namespace, askAdmin))
	}
	return nil
}

// checkManager checks that the operator may make runners, follow them, and delete what they leave.
func (r Runs) checkManager() []Finding {
	d := duty{"operator's rights", "the operator has", "config/rbac/runs_role*.yaml", []consequence{
		{hasVerb("create"), Fail, "no runner is made: tests stand still when their pods are ready, and hold their " +
			"devices"},
		{hasVerb("get", "list", "watch"), Fail,
			"the operator doesn't see runners and what they write, and no test comes to a result"},
		{hasVerb("delete"), Fail, "what is left of runs isn't cleared away, and their tests may not come to an end"},
		{hasVerb("update"), Fail, "the runs of suites aren't stored: no suite goes on past its first run"},
		{isForBudgets, Warn, "drains don't wait for runners: a run whose runner is evicted begins anew"},
	}}
	findings := r.missing(r.Manager, d)
	if len(findings) == 0 {
		return single(OK, d.check, fmt.Sprintf("ServiceAccount %s may make runners in namespace %s, follow them, and "+
			"clear up after them",
			r.Manager, r.Runner.Namespace), "")
	}
	return findings
}

// missing finds the rights that an account lacks, with their consequences, and the rights that neither the API
// server nor the namespace's Roles show.
func (r Runs) missing(a Account, d duty) (findings []Finding) {
	namespace := r.Runner.Namespace
	var unknown []Right
	for _, right := range a.Rights {
		if right.Err != nil && !r.installed(a, right) {
			unknown = append(unknown, right)
		}
	}
	for _, c := range d.consequences {
		var lacking []Right
		for _, right := range a.Rights {
			if right.Err == nil && !right.Allowed && c.isAffected(right) {
				lacking = append(lacking, right)
			}
		}
		if len(lacking) > 0 {
			findings = append(findings, Finding{c.level, d.check,
				fmt.Sprintf("ServiceAccount %s, which %s, may not %s in namespace %s%s: %s",
					a, d.owners, rightsText(lacking), namespace, r.bindingsText(a), c.message), d.advice()})
		}
	}
	if len(unknown) > 0 {
		subject := fmt.Sprintf("whether ServiceAccount %s, which %s, may %s in namespace %s", a, d.owners,
			rightsText(unknown), namespace)
		findings = append(findings, unreadable(d.check, subject, unknown[0].Err,
			fmt.Sprintf("kubectl get roles,rolebindings -n %s -o yaml, beside %s; or %s", namespace, d.manifests,
				askAdmin))...)
	}
	return findings
}

func (d duty) advice() string {
	return "helm upgrade with rbac.create: true, or kubectl apply --server-side -k config/default; roles that were " +
		"made in another way: as " +
		d.manifests + " have them"
}

// rightsText lists rights by resource, such as "create, get jobs; delete pods".
func rightsText(rights []Right) string {
	var resources []string
	verbs := map[string][]string{}
	for _, r := range rights {
		if verbs[r.Resource] == nil {
			resources = append(resources, r.Resource)
		}
		verbs[r.Resource] = append(verbs[r.Resource], r.Verb)
	}
	texts := make([]string, len(resources))
	for i, r := range resources {
		texts[i] = strings.Join(verbs[r], ", ") + " " + r
	}
	return strings.Join(texts, "; ")
}

// bindingsText lists the roles that RoleBindings of the namespace give to an account. Empty means that they
// can't be read.
func (r Runs) bindingsText(a Account) string {
	if r.RoleBindings.Err != nil {
		return ""
	}
	var roles []string
	for _, ref := range r.rolesFor(a) {
		role := ref.Kind + " " + ref.Name
		if ref.Kind == "Role" && r.Roles.Err == nil && r.role(ref) == nil {
			role += ", which isn't there"
		}
		roles = append(roles, role)
	}
	if len(roles) == 0 {
		return " (no RoleBinding there names it)"
	}
	return " (RoleBindings there give it " + strings.Join(roles, ", and ") + ")"
}

// checkRunnerPolicy checks that a policy lets a runner write the documents of its own run alone. Tests run
// without it, too.
func (lab *Lab) checkRunnerPolicy(r Runs) []Finding {
	const check = "runners' policy"
	if lab.Policies.Err != nil {
		return unreadable(check, "the cluster's ValidatingAdmissionPolicies", lab.Policies.Err, askAdmin)
	}
	fault := "none is there for ServiceAccount " + r.Runner.String()
	for _, p := range lab.Policies.Value {
		if !limitsRunners(p.Spec, r.Runner.Name) {
			continue
		}
		if lab.Bindings.Err != nil {
			return unreadable(check, "whether "+p.Name+" is bound", lab.Bindings.Err, askAdmin)
		}
		gap, certain := lab.bindingGap(p.Name, r)
		switch {
		case gap == "":
			return single(OK, check, fmt.Sprintf("%s holds runners in namespace %s to the documents of their own runs",
				p.Name, r.Runner.Namespace), "")
		case !certain:
			return single(Unknown, check, gap, askAdmin)
		}
		fault = p.Name + " is there, and " + gap
	}
	const consequence = ": tests run all the same, but a runner that somebody took over, by what a generator " +
		"answers, may write other runs' documents. " +
		"The operator still looks whether Plan, UID, attempt, times and signature fit (docs/security.md, Verdicts)"
	return single(Warn, check, fault+consequence, makePolicies)
}

// limitsRunners reports whether a policy covers updates of ConfigMaps and names the account in its conditions.
func limitsRunners(policy admissionv1.ValidatingAdmissionPolicySpec, account string) bool {
	return policy.MatchConstraints != nil && slices.ContainsFunc(policy.MatchConstraints.ResourceRules,
		func(r admissionv1.NamedRuleWithOperations) bool {
			return slices.Contains(r.APIGroups, "") && slices.Contains(r.Resources, "configmaps") &&
				slices.Contains(r.Operations, admissionv1.Update)
		}) && hasCondition(policy, ":"+account+"'")
}

// bindingGap says why no binding makes a policy refuse objects in the runners' namespace. Empty means that one
// does. The gap isn't certain where a binding may do so, and the namespace's labels can't be read.
func (lab *Lab) bindingGap(policy string, r Runs) (gap string, certain bool) {
	gap, certain = "bound to nothing", true
	for _, b := range lab.Bindings.Value {
		if b.Spec.PolicyName != policy {
			continue
		}
		selects, readable := r.selects(b.Spec.MatchResources)
		denies := slices.Contains(b.Spec.ValidationActions, admissionv1.Deny)
		switch {
		case denies && readable && selects:
			return "", true
		case denies && !readable:
			gap = fmt.Sprintf("whether binding %s of %s is for namespace %s can't be told, as its labels can't be "+
				"read: %v",
				b.Name, policy, r.Runner.Namespace, r.Namespace.Err)
			certain = false
		case certain && !denies:
			gap = "its binding " + b.Name + " has it deny nothing"
		case certain:
			gap = fmt.Sprintf("its binding %s isn't for namespace %s", b.Name, r.Runner.Namespace)
		}
	}
	return gap, certain
}

// selects reports whether a binding is for the runners' namespace. The answer isn't certain where the selector
// asks for other labels than the name, and the namespace's labels can't be read.
func (r Runs) selects(match *admissionv1.MatchResources) (selects, certain bool) {
	if match == nil || match.NamespaceSelector == nil {
		return true, true
	}
	selector, err := metav1.LabelSelectorAsSelector(match.NamespaceSelector)
	if err != nil {
		return false, true
	}
	namespace := labels.Set{}
	if r.Namespace.Err == nil && r.Namespace.Value != nil {
		namespace = labels.Set(r.Namespace.Value.Labels)
	}
	namespace = labels.Merge(namespace, labels.Set{corev1.LabelMetadataName: r.Runner.Namespace})
	requirements, _ := selector.Requirements()
	byName := !slices.ContainsFunc(requirements,
		func(l labels.Requirement) bool { return l.Key() != corev1.LabelMetadataName })
	return selector.Matches(namespace), r.Namespace.Err == nil || byName
}
