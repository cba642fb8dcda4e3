package operator

import (
	"context"
	"errors"
	"testing"

	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/test/api/operator/kube"
)

// The cluster that all tests share: its config and client as the administrator, who plays the rest of the cluster.
var (
	adminConfig *rest.Config
	admin       client.Client
	scheme      *runtime.Scheme
)

// OwnerReferencesPermissionEnforcement is not on by default, and is in OpenShift: references must be made without the right to set finalizers.
func TestMain(m *testing.M) {
	kube.MainWith(m, func(environment *envtest.Environment) (err error) {
		adminConfig = environment.Config
		if scheme, err = caches.NewScheme(); err != nil {
			return err
		}
		if err := apiextensionsv1.AddToScheme(scheme); err != nil {
			return err
		}
		if admin, err = client.New(adminConfig, client.Options{Scheme: scheme}); err != nil {
			return err
		}
		return prepare(context.Background())
	}, "OwnerReferencesPermissionEnforcement")
}

// prepare makes what a lab's cluster has besides: Multus' kind, nodes with devices, the operator's account, and what the samples name.
func prepare(ctx context.Context) error {
	return errors.Join(
		installMultus(), bindOperator(ctx), addNodes(ctx),
		admin.Create(ctx, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "lab-night"}}),
		admin.Create(ctx, &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "performance"}, Handler: "runc"}),
	)
}

// installMultus makes the kind of networks known; done when it is served.
func installMultus() error {
	_, err := envtest.InstallCRDs(adminConfig, envtest.CRDInstallOptions{Paths: []string{"testdata/network-attachment-definitions.yaml"}, ErrorIfPathMissing: true})
	return err
}
