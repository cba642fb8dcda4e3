package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/linerate-dev/linerate/test/rigs/built"
)

// program is the manager as a process of its own, and what it says.
type program struct {
	*exec.Cmd
	l     *lab
	ended chan struct{}
	err   error // how it ended
	mu    sync.Mutex
	talk  bytes.Buffer
}

// Write implements io.Writer for what the process says.
func (p *program) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.talk.Write(b)
}

func (p *program) said() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Split(strings.TrimSpace(p.talk.String()), "\n")
}

// startProgram starts the manager for the lab's namespace, unless flags say another; it ends with the test, and if that failed, tells what it said.
func (l *lab) startProgram(kubeconfig string, flags ...string) *program {
	l.t.Helper()
	file, err := built.Program("manager")
	l.must(err)
	p := &program{l: l, ended: make(chan struct{})}
	flags = append([]string{"--image=registry.lab/linerate:test", "--namespaces=" + l.namespace, "--leader-election-namespace=" + operatorNamespace, "--port-leases-namespace=" + operatorNamespace}, flags...)
	p.Cmd = exec.Command(file, flags...)
	p.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	p.Stdout, p.Stderr = p, p
	l.must(p.Start())
	go func() {
		p.err = p.Wait()
		close(p.ended)
	}()
	l.t.Cleanup(func() {
		if err := p.end(); err != nil {
			l.t.Error(err)
		}
		if l.t.Failed() {
			l.t.Logf("the manager said\n%s", strings.Join(p.said(), "\n"))
		}
	})
	return p
}

// flag is the value of one of its flags.
func (p *program) flag(name string) string {
	for _, arg := range p.Args {
		if value, is := strings.CutPrefix(arg, name+"="); is {
			return value
		}
	}
	p.l.t.Fatalf("it has no flag %s", name)
	return ""
}

// end lets the manager end in order; a second time it does nothing.
func (p *program) end() error {
	select {
	case <-p.ended:
		return p.err
	default:
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-p.ended:
		return p.err
	case <-time.After(awaitBound):
		return fmt.Errorf("the manager doesn't end within %s (%w)", awaitBound, p.Process.Kill())
	}
}

// await waits until it is so, and no longer than the manager lives.
func (p *program) await(what string, so func() bool) {
	p.l.t.Helper()
	p.l.await(what, func() bool {
		select {
		case <-p.ended:
			p.l.t.Fatalf("%s: the manager ended: %v", what, p.err)
		default:
		}
		return so()
	})
}

// healthAddress is where it says that it tells of its health; empty: it hasn't said so yet.
func (p *program) healthAddress() string {
	for _, line := range p.said() {
		var said struct{ Name, Addr string }
		if err := json.Unmarshal([]byte(line), &said); err == nil && said.Name == "health probe" && said.Addr != "" {
			return said.Addr
		}
	}
	return ""
}

// freeAddress is one that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

// writeKubeconfig writes what the program finds the cluster with, as the operator's account.
func writeKubeconfig(t *testing.T) string {
	t.Helper()
	return kubeconfigOf(t, &clientcmdapi.Cluster{Server: adminConfig.Host, CertificateAuthorityData: adminConfig.CAData}, &clientcmdapi.AuthInfo{
		Token:             adminConfig.BearerToken,
		Impersonate:       fmt.Sprintf("system:serviceaccount:%s:%s", operatorNamespace, operatorAccount),
		ImpersonateGroups: []string{"system:serviceaccounts", "system:authenticated"},
	})
}

func kubeconfigOf(t *testing.T, cluster *clientcmdapi.Cluster, user *clientcmdapi.AuthInfo) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"], config.AuthInfos["operator"] = cluster, user
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "operator"}
	config.CurrentContext = "lab"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
