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

// Runs is what Look read of the namespace in which an operator has its runners, under an account of their own.
type Runs struct {
	Namespace Answer[*corev1.Namespace]
	Runner    Account // that all runners have
	Manager   Account // the operator's own
	// Roles and RoleBindings of the namespace explain a missing right. They also show rights where the API server
	// doesn't let the person ask for an account's.
	Roles        Answer[[]rbacv1.Role]
	RoleBindings Answer[[]rbacv1.RoleBinding]
}

// Account is a ServiceAccount, and the rights that this release needs in the runners' namespace.
type Account struct {
	types.NamespacedName
	Object Answer[*corev1.ServiceAccount]
	Rights []Right
}

// user is the account's name for the API server.
func (a Account) user() string { return "system:serviceaccount:" + a.Namespace + ":" + a.Name }

func (a Account) groups() []string {
	return []string{"system:serviceaccounts", "system:serviceaccounts:" + a.Namespace, "system:authenticated"}
}

// readRuns reads the Runs of each operator.
func (lab *Lab) readRuns(ctx context.Context, c client.Client) {
	lab.Runs = map[types.NamespacedName]Runs{}
	for i := range lab.Operators.Value {
		d := &lab.Operators.Value[i]
		lab.Runs[client.ObjectKeyFromObject(d)] = runsOf(ctx, c, d)
	}
}

func runsOf(ctx context.Context, c client.Client, d *appsv1.Deployment) Runs {
	r := Runs{Runner: runnersOf(d), Manager: managerOf(d)}
	namespace := r.Runner.Namespace
	r.Namespace = get(ctx, c, &corev1.Namespace{}, client.ObjectKey{Name: namespace})
	for _, a := range []*Account{&r.Runner, &r.Manager} {
		a.Object = get(ctx, c, &corev1.ServiceAccount{}, a.NamespacedName)
		a.askRights(ctx, c, namespace)
	}
	roles, bindings := &rbacv1.RoleList{}, &rbacv1.RoleBindingList{}
	r.Roles.Err = list(ctx, c, roles, client.InNamespace(namespace))
	r.RoleBindings.Err = list(ctx, c, bindings, client.InNamespace(namespace))
	r.Roles.Value, r.RoleBindings.Value = roles.Items, bindings.Items
	return r
}

// runnersOf is the account that an operator gives to its runners, in the runners' namespace.
func runnersOf(d *appsv1.Deployment) Account {
	namespace, _ := settingOf(d, "--leader-election-namespace", "LINERATE_LEADER_ELECTION_NAMESPACE")
	name, _ := settingOf(d, "--runner-account", "LINERATE_RUNNER_ACCOUNT")
	key := types.NamespacedName{Namespace: cmp.Or(namespace, d.Namespace),
		Name: cmp.Or(name, manifests.DefaultRunnerAccount)}
	return Account{NamespacedName: key, Rights: rightsIn(rbac.RunnerRole())}
}

// managerOf is the operator's own account. An operator that makes no disruption budgets needs no rights for them.
func managerOf(d *appsv1.Deployment) Account {
	key := types.NamespacedName{Namespace: d.Namespace, Name: cmp.Or(d.Spec.Template.Spec.ServiceAccountName,
		"default")}
	a := Account{NamespacedName: key, Rights: rightsIn(rbac.RunsRole())}
	if budgets, _ := settingOf(d, "--disruption-budgets", "LINERATE_DISRUPTION_BUDGETS"); budgets == "false" {
		a.Rights = slices.DeleteFunc(a.Rights, isForBudgets)
	}
	return a
}

const disruptionBudgets = "poddisruptionbudgets"

// rightsIn are the single rights of a Role. Nil means that the manifest can't be decoded, which a test rules out.
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

// askRights asks the API server for each right in the namespace. After the first error it asks for no other.
func (a *Account) askRights(ctx context.Context, c client.Client, namespace string) {
	var refused error
	for i := range a.Rights {
		right := &a.Rights[i]
		if refused == nil {
			right.Allowed, refused = a.ask(ctx, c, namespace, *right)
		}
		right.Err = refused
	}
}

func (a *Account) ask(ctx context.Context, c client.Client, namespace string, r Right) (allowed bool, err error) {
	ctx, end := context.WithTimeout(ctx, questionTimeout)
	defer end()
	review := &authorizationv1.LocalSubjectAccessReview{ObjectMeta: metav1.ObjectMeta{Namespace: namespace},
		Spec: authorizationv1.SubjectAccessReviewSpec{
			User: a.user(), Groups: a.groups(),
			ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: r.Verb, Group: r.Group,
				Resource: r.Resource},
		}}
	err = c.Create(ctx, review)
	return review.Status.Allowed, err
}

// rolesFor are the roles that RoleBindings of the namespace give to an account.
func (r Runs) rolesFor(a Account) (roles []rbacv1.RoleRef) {
	for _, b := range r.RoleBindings.Value {
		if slices.ContainsFunc(b.Subjects, a.matches) {
			roles = append(roles, b.RoleRef)
		}
	}
	return roles
}

// matches reports whether a binding's subject is the account, or one of its groups.
func (a Account) matches(s rbacv1.Subject) bool {
	switch s.Kind {
	case rbacv1.ServiceAccountKind:
		return s.Namespace == a.Namespace && s.Name == a.Name
	case rbacv1.UserKind:
		return s.Name == a.user()
	}
	return s.Kind == rbacv1.GroupKind && slices.Contains(a.groups(), s.Name)
}

// role is the Role of a reference. Nil means that the namespace has none of that name, or it can't be read.
func (r Runs) role(ref rbacv1.RoleRef) *rbacv1.Role {
	for i := range r.Roles.Value {
		if ref.Kind == "Role" && r.Roles.Value[i].Name == ref.Name {
			return &r.Roles.Value[i]
		}
	}
	return nil
}

// installed reports whether a Role of the namespace gives a right to an account. A ClusterRole may give it, too.
func (r Runs) installed(a Account, right Right) bool {
	return slices.ContainsFunc(r.rolesFor(a), func(ref rbacv1.RoleRef) bool {
		role := r.role(ref)
		return role != nil && slices.ContainsFunc(role.Rules, right.isIn)
	})
}

// isIn reports whether a rule gives the right for objects of all names.
func (r Right) isIn(rule rbacv1.PolicyRule) bool {
	contains := func(names []string, name string) bool {
		return slices.Contains(names, name) || slices.Contains(names, "*")
	}
	return len(rule.ResourceNames) == 0 && contains(rule.APIGroups, r.Group) && contains(rule.Resources, r.Resource) &&
		contains(rule.Verbs, r.Verb)
}
