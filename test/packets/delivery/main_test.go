package delivery

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/linerate-dev/linerate/test/api/operator/kube"
	"github.com/linerate-dev/linerate/test/rigs/built"
)

var (
	admin    *rest.Config          // of the API server that all tests ask
	cluster  *kubernetes.Clientset // the same as a client
	linerate string                // the built binary
)

func TestMain(m *testing.M) {
	kube.Become()
	code, err := buildAndServe(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "delivery:", err)
		code = 1
	}
	os.Exit(code)
}

func buildAndServe(m *testing.M) (code int, err error) {
	log.SetLogger(logr.Discard()) // errors come back as values
	if linerate, err = built.Program("linerate"); err != nil {
		return 1, err
	}
	environment, stop, err := kube.Start(nil)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	admin = environment.Config
	if cluster, err = kubernetes.NewForConfig(admin); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// needRoot skips where namespaces can't be made; in CI that is a failure, for a gate that measures nothing must not be green.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("these tests make network namespaces: run them as root")
	}
	t.Skip("needs root: it makes network namespaces")
}
