package doctor

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/config/rbac"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
)

func TestWhichAccountsAnOperatorIsToldOf(t *testing.T) {
	for name, c := range map[string]struct {
		args            []string
		account         string
		runner, manager string
		budgets         bool
	}{
		"nothing": {nil, "", "linerate-system/linerate-runner", "linerate-system/default", true},
		"as the chart writes it": {[]string{"--runner-account=lab-runner", "--disruption-budgets=true"}, "lab",
			"linerate-system/lab-runner", "linerate-system/lab", true},
		"runners in another place": {[]string{"--leader-election-namespace", "runs"}, "lab", "runs/linerate-runner",
			"linerate-system/lab", true},
		"no budgets for disruption": {[]string{"--disruption-budgets=false"}, "lab", "linerate-system/linerate-runner",
			"linerate-system/lab", false},
	} {
		t.Run(name, func(t *testing.T) {
			d := operatorOf("linerate-system", "linerate", 1)
			d.Spec.Template.Spec.Containers[0].Args, d.Spec.Template.Spec.ServiceAccountName = c.args, c.account
			runner, manager := runnersOf(&d), managerOf(&d)
			if runner.String() != c.runner || manager.String() != c.manager {
				t.Errorf("runners have %s and the operator %s, want %s and %s", runner, manager, c.runner, c.manager)
			}
			if got := slices.ContainsFunc(manager.Rights, isForBudgets); got != c.budgets {
				t.Errorf("the right to make budgets is looked for: %v, want %v", got, c.budgets)
			}
		})
	}
}

// What an account that is installed lacks is told, whichever right it is: no right is looked for that means nothing.
func TestEachRightThatIsMissingIsTold(t *testing.T) {
	for role, c := range map[string]struct {
		rights  []Right
		account func(*Runs) *Account
	}{
		"runner_role.yaml": {rightsIn(rbac.RunnerRole()), func(r *Runs) *Account { return &r.Runner }},
		"runs_role.yaml":   {rightsIn(rbac.RunsRole()), func(r *Runs) *Account { return &r.Manager }},
	} {
		if len(c.rights) < 2 {
			t.Fatalf("%s has %d rights", role, len(c.rights))
		}
		for lacking, right := range c.rights {
			t.Run(fmt.Sprintf("%s: %s %s", role, right.Verb, right.Resource), func(t *testing.T) {
				lab := healthy()
				lab.runs(func(r *Runs) {
					a := c.account(r)
					a.Rights = slices.Clone(c.rights)
					for i := range a.Rights {
						a.Rights[i].Allowed = i != lacking
					}
				})
				ill := slices.DeleteFunc(runners(lab), func(f Finding) bool { return f.Level == OK })
				if len(ill) != 1 || !strings.Contains(ill[0].Message, "may not "+right.Verb+" "+right.Resource+
					" in namespace linerate-system") {
					t.Errorf("got\n%s", lines(ill))
				}
			})
		}
	}
}

// Who may not ask the API server what others may do sees it by Roles of the namespace, as far as these tell.
func TestRolesTellWhereTheAPIServerDoesNot(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Runs)
		want   Level
	}{
		"a Role that gives all":             {func(*Runs) {}, OK},
		"a Role that gives all by wildcard": {func(r *Runs) { r.Roles.Value[0].Rules[0].Verbs = []string{"*"} }, OK},
		"a binding of a group": {func(r *Runs) {
			r.binds(rbacv1.Subject{Kind: "Group",
				Name: "system:serviceaccounts:linerate-system"})
		}, OK},
		"a binding of a user": {func(r *Runs) {
			r.binds(rbacv1.Subject{Kind: "User", Name: "system:serviceaccount:linerate-system:linerate-runner"})
		}, OK},
		"a binding of another account": {func(r *Runs) {
			r.binds(rbacv1.Subject{Kind: "ServiceAccount", Namespace: "lab", Name: "linerate-runner"})
		}, Unknown},
		"a Role without a verb": {func(r *Runs) { r.Roles.Value[0].Rules[0].Verbs = []string{"update"} }, Unknown},
		"a Role for one object": {func(r *Runs) { r.Roles.Value[0].Rules[0].ResourceNames = []string{"one"} },
			Unknown},
		"a Role of another group": {func(r *Runs) { r.Roles.Value[0].Rules[0].APIGroups = []string{"apps"} },
			Unknown},
		"a ClusterRole":              {func(r *Runs) { r.RoleBindings.Value[0].RoleRef.Kind = "ClusterRole" }, Unknown},
		"Roles that may not be read": {func(r *Runs) { r.Roles = Answer[[]rbacv1.Role]{Err: forbidden()} }, Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			r := runsAt("linerate-system")
			r.Runner.unasked()
			c.change(&r)
			if got := r.checkRunner(); len(got) != 1 || got[0].Level != c.want {
				t.Errorf("got\n%swant %s", lines(got), c.want)
			}
		})
	}
}

// binds is for one subject only.
func (r *Runs) binds(s rbacv1.Subject) { r.RoleBindings.Value[0].Subjects = []rbacv1.Subject{s} }

func TestWhoMayNotLookIntoTheOperatorsNamespaceIsToldSo(t *testing.T) {
	lab, refused := healthy(), forbidden()
	lab.Bindings = Answer[[]admissionv1.ValidatingAdmissionPolicyBinding]{Err: refused}
	lab.runs(func(r *Runs) {
		r.Namespace, r.Runner.Object = Answer[*corev1.Namespace]{Err: refused},
			Answer[*corev1.ServiceAccount]{Err: refused}
		r.Roles, r.RoleBindings = Answer[[]rbacv1.Role]{Err: refused}, Answer[[]rbacv1.RoleBinding]{Err: refused}
		r.Runner.unasked()
		r.Manager.unasked()
	})
	findings := runners(lab)
	for _, f := range findings {
		if f.Level != Unknown || f.Fix == "" {
			t.Errorf("%+v", f)
		}
	}
	if len(findings) != 4 {
		t.Errorf("got\n%s", lines(findings))
	}
}

// The policies that are installed: one holds runners, by the account's own name.
func TestThePolicyOfRunnersIsKnownByItsAccount(t *testing.T) {
	for file, want := range map[string]bool{"runner_policy": true, "policy": false, "pods_policy": false} {
		text, err := os.ReadFile("../../../../config/admission/" + file + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		p := admissionv1.ValidatingAdmissionPolicy{}
		if err := yaml.UnmarshalStrict(text, &p); err != nil {
			t.Fatal(err)
		}
		if got := limitsRunners(p.Spec, manifests.DefaultRunnerAccount); got != want {
			t.Errorf("%s holds runners: %v, want %v", file, got, want)
		}
		if limitsRunners(p.Spec, "runner") || limitsRunners(p.Spec, "lab-linerate-runner") {
			t.Errorf("%s holds the runners of an account that it doesn't name", file)
		}
	}
}

// apiServer answers questions about rights: yes to all but what is refused, and not at all where it is silent.
type apiServer struct {
	silent  bool
	refused string // VERB RESOURCE
	asked   []authorizationv1.SubjectAccessReviewSpec
}

func (s *apiServer) client(t *testing.T, objects ...client.Object) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, o client.Object, _ ...client.CreateOption) error {
			review := o.(*authorizationv1.LocalSubjectAccessReview)
			s.asked = append(s.asked, review.Spec)
			if s.silent {
				return forbidden()
			}
			asks := review.Spec.ResourceAttributes
			review.Status.Allowed = asks.Verb+" "+asks.Resource != s.refused && asks.Namespace == review.Namespace
			return nil
		},
	}).Build()
}

func TestBothAccountsAreAskedFor(t *testing.T) {
	meta := metav1.ObjectMeta{Namespace: "linerate-system", Name: "linerate-runner"}
	s := &apiServer{refused: "update configmaps"}
	lab := healthy()
	lab.Operators.Value[0].Spec.Template.Spec.ServiceAccountName = "linerate"
	lab.readRuns(t.Context(), s.client(t, &corev1.ServiceAccount{ObjectMeta: meta}, &rbacv1.Role{ObjectMeta: meta},
		&rbacv1.RoleBinding{ObjectMeta: meta}))
	runs := lab.Runs[client.ObjectKeyFromObject(&lab.Operators.Value[0])]
	if err := runs.Runner.Object.Err; err != nil {
		t.Error(err)
	}
	if !apierrors.IsNotFound(runs.Namespace.Err) || len(runs.Roles.Value) != 1 || len(runs.RoleBindings.Value) != 1 {
		t.Errorf("%+v", runs)
	}
	for _, r := range slices.Concat(runs.Runner.Rights, runs.Manager.Rights) {
		if r.Err != nil || r.Allowed != (r.Verb+" "+r.Resource != s.refused) {
			t.Errorf("%+v", r)
		}
	}
	users := map[string]int{}
	for _, q := range s.asked {
		users[q.User+" "+strings.Join(q.Groups, " ")]++
	}
	const groups = " system:serviceaccounts system:serviceaccounts:linerate-system system:authenticated"
	if users["system:serviceaccount:linerate-system:linerate-runner"+groups] != len(rightsIn(rbac.RunnerRole())) ||
		users["system:serviceaccount:linerate-system:linerate"+groups] != len(rightsIn(rbac.RunsRole())) ||
		len(users) != 2 {
		t.Errorf("%v", users)
	}
}

func TestWhoMayNotAskForOthersRightsAsksOnce(t *testing.T) {
	s := &apiServer{silent: true}
	lab := healthy()
	lab.readRuns(t.Context(), s.client(t))
	if len(s.asked) != 2 { // once for each account
		t.Errorf("%d questions", len(s.asked))
	}
	runs := lab.Runs[client.ObjectKeyFromObject(&lab.Operators.Value[0])]
	for _, r := range slices.Concat(runs.Runner.Rights, runs.Manager.Rights) {
		if r.Err == nil || r.Allowed {
			t.Errorf("%+v", r)
		}
	}
}
