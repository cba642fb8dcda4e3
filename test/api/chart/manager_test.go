package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// endsWithin is more than the manager takes to end, and less than its pod's grace.
const endsWithin = 25 * time.Second

// manager starts the program as the release's Deployment says, with the rights that the release gives it, and returns what a kubelet does to end it.
func (m *midway) manager() (end func()) {
	m.Helper()
	deployment := &appsv1.Deployment{}
	must(m.T, m.client.Get(m.Context(), client.ObjectKey{Namespace: releaseNamespace, Name: releaseName}, deployment))
	container := deployment.Spec.Template.Spec.Containers[0]
	cmd := exec.Command(m.program, append(container.Args, "--health-address=0", "--metrics-address=0", "--leader-election-namespace="+releaseNamespace)...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+m.asManager(deployment.Spec.Template.Spec.ServiceAccountName))
	for _, variable := range container.Env {
		if variable.ValueFrom == nil {
			cmd.Env = append(cmd.Env, variable.Name+"="+variable.Value)
		}
	}
	var log strings.Builder
	cmd.Stdout, cmd.Stderr = &log, &log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	must(m.T, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	var once sync.Once
	end = func() {
		once.Do(func() {
			_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended already, which is checked below
			select {
			case err := <-ended:
				if err != nil {
					m.Errorf("the manager ends with %v:\n%s", err, &log)
				}
			case <-time.After(endsWithin):
				_ = cmd.Process.Kill() // it may end just now
				m.Errorf("the manager doesn't end within %s, but killed (%v):\n%s", endsWithin, <-ended, &log)
			}
		})
	}
	m.Cleanup(end)
	return end
}

// asManager is a kubeconfig of the manager's ServiceAccount.
func (m *midway) asManager(account string) string {
	m.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	must(m.T, err)
	for _, user := range config.AuthInfos {
		user.Impersonate = "system:serviceaccount:" + releaseNamespace + ":" + account
		user.ImpersonateGroups = []string{"system:serviceaccounts", "system:serviceaccounts:" + releaseNamespace, "system:authenticated"}
	}
	file := filepath.Join(m.TempDir(), "kubeconfig")
	must(m.T, clientcmd.WriteToFile(*config, file))
	return file
}
