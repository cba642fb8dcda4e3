package tenants

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/test/api/operator/kube"
)

// The cluster that all tests share, and its administrator.
var (
	adminConfig *rest.Config
	admin       client.Client
	scheme      *runtime.Scheme
)

func TestMain(m *testing.M) {
	kube.Main(m, func(config *rest.Config) (err error) {
		adminConfig = config
		if scheme, err = caches.NewScheme(); err != nil {
			return err
		}
		if err := admissionregistrationv1.AddToScheme(scheme); err != nil {
			return err
		}
		if admin, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
			return err
		}
		return prepare(context.Background())
	})
}

// prepare installs Multus' kind, the manager's and the runners' accounts with their roles, the policies and the roles for people.
func prepare(ctx context.Context) error {
	if _, err := envtest.InstallCRDs(adminConfig, envtest.CRDInstallOptions{Paths: []string{"../operator/testdata/network-attachment-definitions.yaml"}, ErrorIfPathMissing: true}); err != nil {
		return err
	}
	manager := &rbacv1.ClusterRole{}
	return errors.Join(
		install(ctx, "rbac/role.yaml", manager),
		install(ctx, "rbac/loadtest_editor_role.yaml", &rbacv1.ClusterRole{}),
		install(ctx, "rbac/loadtest_viewer_role.yaml", &rbacv1.ClusterRole{}),
		install(ctx, "admission/privileged_role.yaml", &rbacv1.ClusterRole{}),
		install(ctx, "admission/policy.yaml", &admissionregistrationv1.ValidatingAdmissionPolicy{}),
		install(ctx, "admission/binding.yaml", &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}),
		install(ctx, "admission/pods_policy.yaml", &admissionregistrationv1.ValidatingAdmissionPolicy{}),
		install(ctx, "admission/pods_binding.yaml", &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}),
		install(ctx, "admission/suites_policy.yaml", &admissionregistrationv1.ValidatingAdmissionPolicy{}),
		install(ctx, "admission/suites_binding.yaml", &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}),
		install(ctx, "admission/kept_reports_policy.yaml", &admissionregistrationv1.ValidatingAdmissionPolicy{}),
		install(ctx, "admission/kept_reports_binding.yaml", &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}),
		admin.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: managerNamespace}}),
		install(ctx, "admission/runner_policy.yaml", &admissionregistrationv1.ValidatingAdmissionPolicy{}),
		install(ctx, "admission/runner_binding.yaml", &admissionregistrationv1.ValidatingAdmissionPolicyBinding{}),
		admin.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: runnerAccount}}),
		bindThere(ctx, "rbac/runs_role.yaml", managerAccount),
		bindThere(ctx, "rbac/runner_role.yaml", runnerAccount),
		admin.Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: managerAccount},
			Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: managerNamespace, Name: managerAccount}},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: manager.Name},
		}),
	)
}

// install creates an object of a file of config.
func install(ctx context.Context, file string, into client.Object) error {
	return errors.Join(read(file, into), admin.Create(ctx, into))
}

func read(file string, into client.Object) error {
	text, err := os.ReadFile("../../../config/" + file)
	if err != nil {
		return err
	}
	if file == "admission/policy.yaml" { // as the chart does with allowedServers
		text = bytes.Replace(text, []byte(`name: allowedServers
    expression: "[]"`), []byte(`name: allowedServers
    expression: "[{'prefix': '192.0.2.0/24', 'port': '4501'}, {'prefix': '2001:db8:7::/64', 'port': '4511'}]"`), 1)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// bindThere gives an account of the manager's namespace a Role of config.
func bindThere(ctx context.Context, file, account string) error {
	role := &rbacv1.Role{}
	if err := read(file, role); err != nil {
		return err
	}
	role.Namespace = managerNamespace
	return errors.Join(admin.Create(ctx, role), admin.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: managerNamespace, Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: managerNamespace, Name: account}},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}))
}
