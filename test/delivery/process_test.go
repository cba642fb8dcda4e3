package delivery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// binariesVariable tells a child of ours where the program is that it stands for.
const binariesVariable = "LINERATE_TEST_KUBE_BINARIES"

// endWithUs lets the environment's processes end when this one does, even if it is killed. The environment starts them in process groups of
// their own, so that neither Ctrl-C nor a test's timeout would reach them. Only a process can ask to be ended with its parent, so the
// environment is given this very program under the names of the two, and it becomes them:
//
//	test ──starts──▶ links/etcd (the test's program) ──prctl(PR_SET_PDEATHSIG), execve──▶ binaries/etcd
func endWithUs(environment *envtest.Environment, binaries, links string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	etcd, server := filepath.Join(links, "etcd"), filepath.Join(links, "kube-apiserver")
	if err := errors.Join(os.Symlink(self, etcd), os.Symlink(self, server), os.Setenv(binariesVariable, binaries)); err != nil {
		return err
	}
	environment.ControlPlane.Etcd = &envtest.Etcd{Path: etcd}
	environment.ControlPlane.GetAPIServer().Path = server
	return nil
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
