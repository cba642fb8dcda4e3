package kubectl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cli"
	"github.com/linerate-dev/linerate/test/api/operator/kube"
)

// The cluster that all tests share, its administrator, and the folder with the programs' names.
var (
	environment *envtest.Environment
	admin       client.Client
	programs    string
)

func TestMain(m *testing.M) {
	kube.Become()
	become()
	code, err := serveAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kubectl:", err)
		code = 1
	}
	os.Exit(code)
}

// names are those that the program is installed under: linerate itself, kubectl's plugin, and what kubectl asks
// for completions.
func names() []string {
	return []string{"linerate", "kubectl-linerate", "kubectl_complete-linerate"}
}

// become lets this test's program be linerate, as a process of its own, when it is started under one of its names.
func become() {
	for _, name := range names() {
		if filepath.Base(os.Args[0]) == name {
			os.Exit(cli.Main(os.Args[0], os.Args[1:], cli.Streams{Stdin: os.Stdin, Stdout: os.Stdout,
				Stderr: os.Stderr}))
		}
	}
}

func serveAndRun(m *testing.M) (code int, err error) {
	ctrl.SetLogger(logr.Discard()) // errors come back as values
	if programs, err = install(); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(programs)) }()
	var stop func() error
	if environment, stop, err = kube.Start([]string{"../../../config/crd/bases"}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), appsv1.AddToScheme(scheme), coordinationv1.AddToScheme(scheme),
		rbacv1.AddToScheme(scheme),
		apiextensionsv1.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)); err != nil {
		return 1, err
	}
	if admin, err = client.New(environment.Config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// install links the names to this test's program.
func install() (dir string, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if dir, err = os.MkdirTemp("", "linerate-kubectl"); err != nil {
		return "", err
	}
	for _, name := range names() {
		err = errors.Join(err, os.Symlink(self, filepath.Join(dir, name)))
	}
	return dir, err
}
