package delivery

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

var (
	admin    *rest.Config          // of the API server that all tests ask
	cluster  *kubernetes.Clientset // the same as a client
	linerate string                // the built binary
)

// startTimeout is for machines that do much else; otherwise a start takes 5 seconds.
const startTimeout = 2 * time.Minute

func TestMain(m *testing.M) {
	becomeServer()
	code, err := buildAndServe(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "delivery:", err)
		code = 1
	}
	os.Exit(code)
}

func buildAndServe(m *testing.M) (code int, err error) {
	log.SetLogger(logr.Discard()) // errors come back as values
	dir, err := os.MkdirTemp("", "linerate-delivery")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	linerate = filepath.Join(dir, "linerate")
	build := exec.Command("go", "build", "-o", linerate, "github.com/linerate-dev/linerate/cmd/linerate")
	build.Env, build.Stderr = append(os.Environ(), "CGO_ENABLED=0"), os.Stderr
	if err := build.Run(); err != nil {
		return 1, fmt.Errorf("build linerate: %w", err)
	}
	binaries, err := assets()
	if err != nil {
		return 1, err
	}
	environment := &envtest.Environment{
		UseExistingCluster:       new(false), // whatever the environment variable says: nobody's cluster is tested upon
		ControlPlaneStartTimeout: startTimeout,
	}
	if err := endWithUs(environment, binaries, dir); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	if admin, err = environment.Start(); err != nil {
		return 1, err
	}
	if cluster, err = kubernetes.NewForConfig(admin); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// assets has the binaries built, if they aren't yet.
func assets() (string, error) {
	cmd := exec.Command("go", "run", "github.com/linerate-dev/linerate/hack/kube")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("kube-apiserver and etcd can't be built: %w (set KUBEBUILDER_ASSETS to a directory that has them)", err)
	}
	return filepath.Abs(strings.TrimSpace(string(out)))
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
