package chart

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"golang.org/x/sys/unix"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const (
	// binariesVariable tells a child of ours where the program is that it stands for.
	binariesVariable = "LINERATE_TEST_KUBE_BINARIES"
	// startTimeout is for machines that do much else; otherwise a start takes 5 seconds.
	startTimeout = 2 * time.Minute
)

// kubeconfig is the file by which the real API server is reached.
var kubeconfig string

func TestMain(m *testing.M) {
	becomeServer()
	flag.Parse()
	code, err := serveAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		code = 1
	}
	os.Exit(code)
}

func serveAndRun(m *testing.M) (code int, err error) {
	log.SetLogger(logr.Discard()) // errors come back as values
	dir, err := os.MkdirTemp("", "linerate-chart")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	environment, err := newEnvironment(dir)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, environment.Stop()) }()
	if _, err := environment.Start(); err != nil {
		return 1, err
	}
	kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, environment.KubeConfig, 0o600); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// newEnvironment is a real kube-apiserver and etcd, built from Go modules where they aren't there yet. Both are started through this very program
// (becomeServer), so that they end when it does, even if it is killed.
func newEnvironment(dir string) (*envtest.Environment, error) {
	cmd := exec.Command("go", "run", "./hack/kube")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("kube-apiserver and etcd can't be built: %w (set KUBEBUILDER_ASSETS to a directory that has them)", err)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	etcd, server := filepath.Join(dir, "etcd"), filepath.Join(dir, "kube-apiserver")
	if err := errors.Join(os.Symlink(self, etcd), os.Symlink(self, server), os.Setenv(binariesVariable, strings.TrimSpace(string(out)))); err != nil {
		return nil, err
	}
	environment := &envtest.Environment{UseExistingCluster: new(false), ControlPlaneStartTimeout: startTimeout}
	environment.ControlPlane.Etcd = &envtest.Etcd{Path: etcd}
	environment.ControlPlane.GetAPIServer().Path = server
	return environment, nil
}

// becomeServer returns unless this process was started under the name of etcd or kube-apiserver: then it becomes that.
func becomeServer() {
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
