package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

// process is a program that runs until stop, or as long as we do.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error
	log   string
}

// start starts a program whose words go to a file.
func start(dir, name string, environment []string, program string, args ...string) (*process, error) {
	p := &process{ended: make(chan struct{}), log: filepath.Join(dir, name+".log")}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	p.cmd = exec.Command(program, args...)
	p.cmd.Env = append(os.Environ(), environment...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	go func() { p.err = p.cmd.Wait(); close(p.ended) }()
	return p, nil
}

// stop asks it to end, and waits.
func (p *process) stop() error {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	return p.err
}

// alive is an error if the process has ended by itself.
func (p *process) alive() error {
	select {
	case <-p.ended:
		return fmt.Errorf("%s ended (%w): %s", filepath.Base(p.log), p.err, lastLine(p.log))
	default:
		return nil
	}
}

func lastLine(file string) string {
	text, _ := os.ReadFile(file)
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(lines[len(lines)-1])
}

// memory is a figure of /proc/PID/status in bytes: VmHWM is the most that was resident, VmRSS what is.
func (p *process) memory(figure string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, figure+": %d kB", &kib); n == 1 {
			return kib << 10, nil
		}
	}
	return 0, fmt.Errorf("no %s in the status of process %d", figure, p.cmd.Process.Pid)
}

// manager is the operator, running.
type manager struct {
	*process
	metrics, profiles string // where they are served
}

// buildManager builds the operator, before anything is measured.
func buildManager(ctx context.Context, dir string) (program string, err error) {
	program = filepath.Join(dir, "manager")
	arguments := []string{"build", "-trimpath", "-tags", pack.Tags, "-ldflags", "-s -w", "-o", program, "./cmd/manager"}
	build := exec.CommandContext(ctx, "go", arguments...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the manager: %w\n%s", err, output)
	}
	return program, nil
}

// startManager starts the operator as its own account, as its Deployment does.
func (c *cluster) startManager(ctx context.Context, program string) (*manager, error) {
	config, err := c.managerConfig(ctx)
	if err != nil {
		return nil, err
	}
	health, err1 := freeAddress()
	metrics, err2 := freeAddress()
	profiles, err3 := freeAddress()
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	p, err := start(c.dir, "manager", []string{"KUBECONFIG=" + config}, program, "--image=registry.lab/linerate:bench",
		"--leader-election-namespace="+operatorNamespace,
		"--health-address="+health, "--metrics-secure=false", "--metrics-address="+metrics, "--profile-address="+
			profiles)
	if err != nil {
		return nil, err
	}
	m := &manager{p, "http://" + metrics + "/metrics", "http://" + profiles + "/debug/pprof/"}
	return m, await(ctx, func() (bool, error) { return answers(ctx, "http://"+health+"/readyz"), p.alive() })
}

// managerConfig writes a kubeconfig with the token of the operator's account.
func (c *cluster) managerConfig(ctx context.Context) (string, error) {
	token, err := c.token(ctx, operatorNamespace, operatorAccount, nil)
	if err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["lab"] = &clientcmdapi.Cluster{Server: c.config.Host, CertificateAuthorityData: c.config.CAData}
	config.AuthInfos["operator"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["lab"] = &clientcmdapi.Context{Cluster: "lab", AuthInfo: "operator"}
	config.CurrentContext = "lab"
	path := filepath.Join(c.dir, "manager.kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

// startJobController starts Kubernetes' own controllers of Jobs and garbage. Their limits of requests are
// lifted, or they would be the bottleneck: by default each gets 20 a second.
func (c *cluster) startJobController(ctx context.Context) (*process, error) {
	find := exec.CommandContext(ctx, "go", "run", "./hack/kube", "cluster")
	find.Stderr = os.Stderr
	output, err := find.Output()
	if err != nil {
		return nil, fmt.Errorf("build kube-controller-manager: %w", err)
	}
	user, err := c.environment.AddUser(envtest.User{Name: jobController, Groups: []string{"system:masters"}}, nil)
	if err != nil {
		return nil, err
	}
	config, err := user.KubeConfig()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(c.dir, "controllers.kubeconfig")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		return nil, err
	}
	return start(c.dir, "kube-controller-manager", nil, filepath.Join(strings.TrimSpace(string(output)),
		"kube-controller-manager"),
		"--kubeconfig="+path, "--controllers=job-controller,garbage-collector-controller", "--leader-elect=false",
		"--secure-port=0",
		"--kube-api-qps=2000", "--kube-api-burst=2000", "--concurrent-gc-syncs=20")
}

// between is how long it is from one look at what is awaited to the next.
const between = 100 * time.Millisecond

// await looks again and again until it is so, something is wrong, or there is no time left.
func await(ctx context.Context, condition func() (bool, error)) error {
	ticker := time.NewTicker(between)
	defer ticker.Stop()
	for {
		if yes, err := condition(); yes || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}

// freeAddress is one that nothing listens on.
func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func answers(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	response, err := http.DefaultClient.Do(request)
	return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
}
