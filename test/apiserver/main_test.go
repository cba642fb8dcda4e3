package apiserver

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
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// The server that all tests ask: typed, and as the bytes that a person wrote.
var (
	typed client.Client
	raw   *rest.RESTClient
)

// startTimeout is for machines that do much else; otherwise a start takes 5 seconds.
const startTimeout = 2 * time.Minute

func TestMain(m *testing.M) {
	becomeServer()
	code, err := serveAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "apiserver:", err)
		code = 1
	}
	os.Exit(code)
}

func serveAndRun(m *testing.M) (code int, err error) {
	log.SetLogger(logr.Discard()) // errors come back as values
	binaries, err := assets()
	if err != nil {
		return 1, err
	}
	links, err := os.MkdirTemp("", "linerate-apiserver")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(links)) }()
	environment := &envtest.Environment{
		CRDInstallOptions:        envtest.CRDInstallOptions{Paths: []string{"../../config/crd/bases"}, ErrorIfPathMissing: true},
		UseExistingCluster:       new(false), // whatever the environment variable says: nobody's cluster is tested upon
		ControlPlaneStartTimeout: startTimeout,
	}
	if err := endWithUs(environment, binaries, links); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	config, err := environment.Start()
	if err != nil {
		return 1, err
	}
	if err := connect(config); err != nil {
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

func connect(config *rest.Config) (err error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return err
	}
	if typed, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	ours := rest.CopyConfig(config)
	ours.APIPath, ours.GroupVersion = "/apis", &v1alpha1.GroupVersion
	ours.NegotiatedSerializer = clientgoscheme.Codecs.WithoutConversion()
	raw, err = rest.RESTClientFor(ours)
	return err
}
