package manifests

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/linerate-dev/linerate/test/operator/kube"
)

// namespace is the one of the golden files.
const namespace = "bench"

var server client.Client

func TestMain(m *testing.M) {
	kube.Become()
	code, err := serveAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "manifests:", err)
		code = 1
	}
	os.Exit(code)
}

func serveAndRun(m *testing.M) (code int, err error) {
	log.SetLogger(logr.Discard()) // errors come back as values
	environment, stop, err := kube.Start([]string{"../../config/crd/bases"})
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if server, err = client.New(environment.Config, client.Options{FieldOwner: "linerate", FieldValidation: metav1.FieldValidationStrict}); err != nil {
		return 1, err
	}
	if err := furnish(context.Background()); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// furnish makes what the samples' pods refer to: admission asks for it.
func furnish(ctx context.Context) error {
	var errs []error
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
		&nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: "performance"}, Handler: "runc"},
		&schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "lab-night"}, Value: 1000},
	} {
		errs = append(errs, server.Create(ctx, o))
	}
	return errors.Join(errs...)
}
