package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The program itself: it says what it was started with, is ready when its caches are filled, works, and ends in order when it is told to.
func TestTheProgram(t *testing.T) {
	l := newLab(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "manager")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/linerate-dev/linerate/cmd/manager").CombinedOutput(); err != nil {
		t.Fatalf("build it: %v\n%s", err, out)
	}
	health := freeAddress(t)
	manager := exec.CommandContext(t.Context(), program, "--image=registry.lab/linerate:test", "--namespaces="+l.namespace, "--health-address="+health,
		"--metrics-address=0", "--leader-election-namespace="+operatorNamespace)
	manager.Env = append(os.Environ(), "KUBECONFIG="+writeKubeconfig(t, dir))
	var talk bytes.Buffer
	manager.Stdout, manager.Stderr = &talk, &talk
	l.must(manager.Start())
	ended := make(chan error, 1)
	go func() { ended <- manager.Wait() }()

	l.await("alive", func() bool { return answers("http://" + health + "/healthz") })
	l.await("ready", func() bool { return answers("http://" + health + "/readyz") })
	test := minimal("program")
	l.wires(test)
	l.create(test)
	l.awaitPods("program")

	l.must(manager.Process.Signal(syscall.SIGTERM))
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it doesn't end")
	}
	l.wellSpoken(talk.String())
	lease := &coordinationv1.Lease{}
	l.must(admin.Get(t.Context(), client.ObjectKey{Namespace: operatorNamespace, Name: "linerate-manager"}, lease))
	if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
		t.Errorf("it is gone, and %s still leads", *lease.Spec.HolderIdentity)
	}
}

// wellSpoken fails unless each line is JSON, the first says the options, and none is an error.
func (l *lab) wellSpoken(talk string) {
	l.t.Helper()
	for i, line := range strings.Split(strings.TrimSpace(talk), "\n") {
		var said struct {
			Level, Msg string
			Options    map[string]any
		}
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Level == "ERROR" {
			l.t.Errorf("it said (%v): %s", err, line)
		}
		if i == 0 && (said.Msg != "starting" || said.Options["image"] != "registry.lab/linerate:test") {
			l.t.Errorf("the first line is %s", line)
		}
	}
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

func answers(url string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	return response.Body.Close() == nil && response.StatusCode == http.StatusOK
}

// writeKubeconfig writes what the program finds the cluster with, as the operator's account.
func writeKubeconfig(t *testing.T, dir string) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"] = &clientcmdapi.Cluster{Server: adminConfig.Host, CertificateAuthorityData: adminConfig.CAData}
	config.AuthInfos["operator"] = &clientcmdapi.AuthInfo{
		ClientCertificateData: adminConfig.CertData, ClientKeyData: adminConfig.KeyData,
		Impersonate:       fmt.Sprintf("system:serviceaccount:%s:%s", operatorNamespace, operatorAccount),
		ImpersonateGroups: []string{"system:serviceaccounts", "system:authenticated"},
	}
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "operator"}
	config.CurrentContext = "lab"
	path := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
