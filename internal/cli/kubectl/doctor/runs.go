package doctor

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/config/rbac"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

// Runs is what was seen of where an operator has its runners: in its own namespace, under an account that is theirs alone.
type Runs struct {
	Namespace Answer[*corev1.Namespace]
	Runner    Account // that all runners have
	Manager   Account // the operator's own
	// Roles and RoleBindings are the namespace's: they say why an account may not do something, and what it may where the API server doesn't tell the person.
	Roles        Answer[[]rbacv1.Role]
	RoleBindings Answer[[]rbacv1.RoleBinding]
}

// Account is a ServiceAccount, and whether it may do what this release has it do in its namespace.
type Account struct {
	types.NamespacedName
	Object Answer[*corev1.ServiceAccount]
	Rights []Right
}

// user is what the API server calls the account, and groups are those that it is in.
func (a Account) user() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Name }

func (a Account) groups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + a.Namespace, "system:authenticated"}
}

// lookAtRuns looks at each operator's.
func (lab *Lab) lookAtRuns(ctx context.Context, c client.Client) {
	lab.Runs = map[types.NamespacedName]Runs{}
	for i := range lab.Operators.Value {
		d := &lab.Operators.Value[i]
		lab.Runs[client.ObjectKeyFromObject(d)] = runsOf(ctx, c, d)
	}
}

func runsOf(ctx context.Context, c client.Client, d *appsv1.Deployment) Runs {
	r := Runs{Runner: runnersOf(d), Manager: managerOf(d)}
	in := r.Runner.Namespace
	r.Namespace = get(ctx, c, &corev1.Namespace{}, client.ObjectKey{Name: in})
	for _, a := range []*Account{&r.Runner, &r.Manager} {
		a.Object = get(ctx, c, &corev1.ServiceAccount{}, a.NamespacedName)
		a.askRights(ctx, c, in)
	}
	roles, bindings := &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}
	r.Roles.Err, r.RoleBindings.Err = list(ctx, c, roles, client.InNamespace(in)), list(ctx, c, bindings, client.InNamespace(in))
	r.Roles.Value, r.RoleBindings.Value = roles.Items, bindings.Items
	return r
}

// runnersOf is the account that an operator was told to give to its runners, in the namespace in which it runs them.
func runnersOf(d *appsv1.Deployment) Account {
	in, _ := toldOf(d, "--leader-election-namespace", "LINERATE_LEADER_ELECTION_NAMESPACE")
	name, _ := toldOf(d, "--runner-account", "LINERATE_RUNNER_ACCOUNT")
	at := types.NamespacedName{Namespace: cmp.Or(in, d.Namespace), Name: cmp.Or(name, manifests.DefaultRunnerAccount)}
	return Account{NamespacedName: at, Rights: rightsIn(rbac.RunnerRole())}
}

// managerOf is the operator's own account. An operator that puts up no disruption budgets needs no right to.
func managerOf(d *appsv1.Deployment) Account {
	at := types.NamespacedName{Namespace: d.Namespace, Name: cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default")}
	a := Account{NamespacedName: at, Rights: rightsIn(rbac.RunsRole())}
	if budgets, _ := toldOf(d, "--disruption-budgets", "LINERATE_DISRUPTION_BUDGETS"); budgets == "false" {
		a.Rights = slices.DeleteFunc(a.Rights, toGuard)
	}
	return a
}

const disruptionBudgets = "poddisruptionbudgets"

// rightsIn are a Role's rights, one by one; none if that can't be read, which a test rules out.
func rightsIn(manifest []byte) (rights []Right) {
	role := rbacv1.Role{}
	if err := yaml.Unmarshal(manifest, &role); err != nil {
		return nil
	}
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					rights = append(rights, Right{Verb: verb, Group: group, Resource: resource})
				}
			}
		}
	}
	return rights
}

// askRights asks the API server for each, in the namespace. The first refusal to answer is the others', too.
func (a *Account) askRights(ctx context.Context, c client.Client, namespace string) {
	var refused error
	for i := range a.Rights {
		right := &a.Rights[i]
		if refused == nil {
			right.Allowed, refused = a.asked(ctx, c, namespace, *right)
		}
		right.Err = refused
	}
}

func (a *Account) asked(ctx context.Context, c client.Client, namespace string, r Right) (allowed bool, err error) {
	ctx, end := context.WithTimeout(ctx, questionTimeout)
	defer end()
	review := &authorizationv1.LocalSubjectAccessReview{ObjectMeta: metav1.ObjectMeta{Namespace: namespace}, Spec: authorizationv1.SubjectAccessReviewSpec{
		User: a.user(), Groups: a.groups(),
		ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.Verb, Group: r.Group, Resource: r.Resource},
	}}
	err = c.Create(ctx, review)
	return review.Status.Allowed, err
}

// rolesFor are the roles that RoleBindings of the namespace give to an account.
func (r Runs) rolesFor(a Account) (roles []rbacv1.RoleRef) {
	for _, b := range r.RoleBindings.Value {
		if slices.ContainsFunc(b.Subjects, a.is) {
			roles = append(roles, b.RoleRef)
		}
	}
	return roles
}

// is says whether a binding's subject is the account, or a group that it is in.
func (a Account) is(s rbacv1.Subject) bool {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		return s.Namespace == a.Namespace && s.Name == a.Name
	case rbacv1.UserKind:
		return s.Name == a.user()
	}
	return s.Kind == rbacv1.GroupKind && slices.Contains(a.groups(), s.Name)
}

// role is a Role of the namespace; nil: it has none of that name, or it can't be seen.
func (r Runs) role(ref rbacv1.RoleRef) *rbacv1.Role {
	for i := range r.Roles.Value {
		if ref.Kind == "Role" && r.Roles.Value[i].Name == ref.Name {
			return &r.Roles.Value[i]
		}
	}
	return nil
}

// installed says whether a Role of the namespace gives a right to an account. That none does proves nothing: a ClusterRole may.
func (r Runs) installed(a Account, right Right) bool {
	return slices.ContainsFunc(r.rolesFor(a), func(ref rbacv1.RoleRef) bool {
		role := r.role(ref)
		return role != nil && slices.ContainsFunc(role.Rules, right.isIn)
	})
}

// isIn says whether a rule gives the right, whatever an object's name.
func (r Right) isIn(rule rbacv1.PolicyRule) bool {
	has := func(all []string, one string) bool { return slices.Contains(all, one) || slices.Contains(all, "*") }
	return len(rule.ResourceNames) == 0 && has(rule.APIGroups, r.Group) && has(rule.Resources, r.Resource) && has(rule.Verbs, r.Verb)
}
