package operator

import (
	"context"
	"errors"
	"os"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// The operator runs as a service account with its own ClusterRole and nothing else.
const (
	operatorNamespace = "linerate-system"
	operatorAccount   = "linerate-manager"
	runnerAccount     = "linerate-runner"
)

// bindOperator gives the operator's account, and the runners', the roles that config/rbac has, and holds runners to their policy.
func bindOperator(ctx context.Context) error {
	role := &rbacv1.ClusterRole{}
	policy, binding := &admissionv1.ValidatingAdmissionPolicy{}, &admissionv1.ValidatingAdmissionPolicyBinding{}
	if err := errors.Join(read("rbac/role.yaml", role), read("admission/runner_policy.yaml", policy), read("admission/runner_binding.yaml", binding)); err != nil {
		return err
	}
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: operatorNamespace, Name: operatorAccount}}
	return errors.Join(
		admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}}),
		admin.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorAccount}}),
		admin.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: runnerAccount}}),
		admin.Create(ctx, policy), admin.Create(ctx, binding),
		bindInOwnNamespace(ctx, "rbac/leader_election_role.yaml", operatorAccount),
		bindInOwnNamespace(ctx, "rbac/runs_role.yaml", operatorAccount),
		bindInOwnNamespace(ctx, "rbac/runner_role.yaml", runnerAccount),
		admin.Create(ctx, role),
		admin.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: operatorAccount}, Subjects: subjects,
			RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		}),
	)
}

// bindInOwnNamespace gives an account of the operator's own namespace a Role of config.
func bindInOwnNamespace(ctx context.Context, file, account string) error {
	role := &rbacv1.Role{}
	if err := read(file, role); err != nil {
		return err
	}
	role.Namespace = operatorNamespace
	return errors.Join(admin.Create(ctx, role), admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: operatorNamespace, Name: account}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}))
}

// read reads a file of config.
func read(file string, into any) error {
	text, err := os.ReadFile("../../../config/" + file)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(text, into)
}

// as is the cluster as a service account sees it.
func as(namespace, account string) *rest.Config {
	config := rest.CopyConfig(adminConfig)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + namespace + ":" + account,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}
	config.QPS = -1
	return config
}

func TestTheOperatorsRightsAreMinimal(t *testing.T) {
	l := newLab(t)
	ctx := t.Context()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "anything"}}
	everything := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: l.namespace, Name: "everything"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"*"}}},
	}
	for what, err := range map[string]error{
		"read secrets":                   l.operator.Get(ctx, objectKey(secret), secret),
		"create secrets":                 l.operator.Create(ctx, secret),
		"grant any rights":               l.operator.Create(ctx, everything),
		"make Jobs in tests' namespaces": l.operator.Create(ctx, &batchv1.Job{ObjectMeta: secret.ObjectMeta}),
		"make ServiceAccounts":           l.operator.Create(ctx, &corev1.ServiceAccount{ObjectMeta: secret.ObjectMeta}),
		"make RoleBindings":              l.operator.Create(ctx, &rbacv1.RoleBinding{ObjectMeta: secret.ObjectMeta}),
		"update pods":                    l.operator.Update(ctx, &corev1.Pod{ObjectMeta: secret.ObjectMeta}),
		"change a LoadTest's spec":       l.operator.Update(ctx, l.create(minimal("mine"))),
		"see nodes' heartbeats":          l.operator.List(ctx, &coordinationv1.LeaseList{}, client.InNamespace("kube-node-lease")),
		"delete service accounts":        l.operator.Delete(ctx, &corev1.ServiceAccount{ObjectMeta: secret.ObjectMeta}),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("to %s: %v; it should be forbidden", what, err)
		}
	}
}
