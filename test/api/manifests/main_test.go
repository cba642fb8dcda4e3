package manifests

import (
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/test/api/operator/kube"
)

// namespace is the one of the golden files.
const namespace = "bench"

var server client.Client

func TestMain(m *testing.M) {
	kube.Main(m, func(config *rest.Config) (err error) {
		if server, err = client.New(config, client.Options{FieldOwner: "linerate", FieldValidation: metav1.FieldValidationStrict}); err != nil {
			return err
		}
		return furnish(context.Background())
	})
}

// furnish makes what the samples' pods refer to: admission asks for it.
func furnish(ctx context.Context) error {
	var errs []error
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "linerate-system"}}, // the operator's own, where runs are
		&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "performance"}, Handler: "runc"},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "lab-night"}, Value: 1000},
	} {
		errs = append(errs, server.Create(ctx, o))
	}
	return errors.Join(errs...)
}
