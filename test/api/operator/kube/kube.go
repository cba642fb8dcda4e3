package kube

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/linerate-dev/linerate/test/rigs/built"
)

// binariesVariable tells a child of ours where the program is that it stands for.
const binariesVariable = "LINERATE_TEST_KUBE_BINARIES"

// token is the administrator's, whose every request would cost the API server a signature to check if he had a
// certificate: a fifteenth of its time.
const token = "administrator"

// startTimeout is for machines that do much else; otherwise a start takes 5 seconds.
const startTimeout = 2 * time.Minute

// Start starts the two with the CRDs of these paths, and returns how to stop them. The binaries are built if
// they aren't yet; with KUBEBUILDER_ASSETS set, that directory's are taken. Further admission plugins may be
// named.
func Start(crds []string, admission ...string) (environment *envtest.Environment, stop func() error, err error) {
	return StartWith(crds, func(server *envtest.APIServer) {
		if len(admission) > 0 {
			server.Configure().Append("enable-admission-plugins", admission...)
		}
	})
}

// StartWith is Start with an API server whose arguments are changed first.
func StartWith(crds []string, configure func(*envtest.APIServer)) (environment *envtest.Environment, stop func() error,
	err error) {
	binaries, err := assets()
	if err != nil {
		return nil, nil, err
	}
	links, err := os.MkdirTemp("", "linerate-kube")
	if err != nil {
		return nil, nil, err
	}
	environment = &envtest.Environment{
		UseExistingCluster:       new(false), // whatever the environment variable says: nobody's cluster is tested upon
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  startTimeout,
	}
	if err := endWithUs(environment, binaries, links); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(links))
	}
	tokens := filepath.Join(links, "tokens")
	if err := os.WriteFile(tokens, []byte(token+",admin,admin,system:masters\n"), 0o600); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(links))
	}
	configure(environment.ControlPlane.GetAPIServer())
	environment.ControlPlane.GetAPIServer().Configure().Set("token-auth-file", tokens)
	if _, err := environment.Start(); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(links))
	}
	if err := install(environment.Config, crds); err != nil {
		return nil, nil, errors.Join(err, environment.Stop(), os.RemoveAll(links))
	}
	environment.Config.BearerToken, environment.Config.CertData, environment.Config.KeyData = token, nil, nil
	return environment, func() error { return errors.Join(environment.Stop(), os.RemoveAll(links)) }, nil
}

// install creates the CRDs of these paths. An API server refuses a request that it has worked on for 34 s. A
// machine that compiles twenty programs meanwhile takes longer for a CRD of many rules, so the request is made
// again until startTimeout is over.
func install(config *rest.Config, crds []string) error {
	options := envtest.CRDInstallOptions{Paths: crds, ErrorIfPathMissing: true, MaxTime: startTimeout}
	var err error
	if waited := wait.PollUntilContextTimeout(context.Background(), time.Second, startTimeout, true,
		func(context.Context) (bool, error) {
			_, err = envtest.InstallCRDs(config, options)
			return !apierrors.IsTimeout(err), nil
		}); waited != nil {
		return errors.Join(err, waited)
	}
	return err
}

// assets has the binaries built, if they aren't yet. Which versions they are stands in the project's go.mod,
// whatever module the test is of.
func assets() (string, error) {
	if dir := os.Getenv("KUBEBUILDER_ASSETS"); filepath.IsAbs(dir) {
		return dir, nil
	}
	project, err := built.Project()
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "run", "./hack/kube")
	cmd.Dir, cmd.Stderr = project, os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("kube-apiserver and etcd can't be built: %w (set KUBEBUILDER_ASSETS to a directory that has them)", err)
	}
	dir := strings.TrimSpace(string(output))
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(cmd.Dir, dir)
	}
	return dir, nil
}

// endWithUs lets the environment's processes end when this one does, even if it is killed. The environment
// starts them in process groups of their own, so that neither Ctrl-C nor a test's timeout would reach them.
// Only a process can ask to be ended with its parent, so the environment is given this very program under the
// names of the two, and it becomes them:
//
//	test ──starts──▶ links/etcd (the test's program) ──prctl(PR_SET_PDEATHSIG), execve──▶ binaries/etcd
func endWithUs(environment *envtest.Environment, binaries, links string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	etcd, server := filepath.Join(links, "etcd"), filepath.Join(links, "kube-apiserver")
	if err := errors.Join(os.Symlink(self, etcd), os.Symlink(self, server), os.Setenv(binariesVariable,
		binaries)); err != nil {
		return err
	}
	environment.ControlPlane.Etcd = &envtest.Etcd{Path: etcd}
	environment.ControlPlane.GetAPIServer().Path = server
	return nil
}

// Become returns unless this process was started under the name of etcd or kube-apiserver: then it becomes
// that. TestMain calls it first.
func Become() {
	name := filepath.Base(os.Args[0])
	if name != "etcd" && name != "kube-apiserver" {
		return
	}
	runtime.LockOSThread() // the request is the thread's
	err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
	if err == nil {
		err = syscall.Exec(filepath.Join(os.Getenv(binariesVariable), name), os.Args, os.Environ())
	}
	fmt.Fprintf(os.Stderr, "become %s: %v\n", name, err)
	os.Exit(1)
}
