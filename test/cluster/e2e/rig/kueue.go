package rig

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/linerate-dev/linerate/hack/image/pack"
)

// KueueNamespace is where Kueue is installed.
const KueueNamespace = "kueue-system"

// UnqueuedLabel is of namespaces that Kueue is told to leave alone.
const UnqueuedLabel = "e2e.linerate.dev/unqueued"

// kueueImage is what its program is packed into.
const kueueImage = "example.com/linerate/kueue"

// kueueValues are the chart's, for its own program and no metrics: the proxy before them is an image of its
// own, in whose place stands one that does nothing. The configuration is the chart's, with pods looked after.
const kueueValues = `
controllerManager:
  manager:
    image: {repository: ` + kueueImage + `, tag: e2e, pullPolicy: Never}
    resources: {requests: {cpu: 100m, memory: 128Mi}, limits: {memory: 512Mi}}
    podSecurityContext: {runAsNonRoot: false} # it writes to /tmp, which in an image of one file is root's
  kubeRbacProxy: {image: {repository: linerate.dev/pause, tag: "1", pullPolicy: Never}}
  readinessProbe: {initialDelaySeconds: 1}
managerConfig:
  controllerManagerConfigYaml: |-
    apiVersion: config.kueue.x-k8s.io/v1beta1
    kind: Configuration
    health: {healthProbeBindAddress: ":8081"}
    metrics: {bindAddress: ":8080"}
    webhook: {port: 9443}
    leaderElection: {leaderElect: true, resourceName: c1f6bfd2.kueue.x-k8s.io}
    integrations:
      frameworks:
      - "batch/job"
      - "pod"
      podOptions:
        namespaceSelector:
          matchExpressions:
          - {key: kubernetes.io/metadata.name, operator: NotIn, values: [kube-system, ` + KueueNamespace + `]}
          - {key: ` + UnqueuedLabel + `, operator: DoesNotExist}
`

// InstallKueue brings in Kueue as its own chart does, of the version that hack/kube pins, and waits until it is
// ready. Its program is built once for all times; the chart is in the module that it is built from.
func (r *Rig) InstallKueue(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, "go", "run", "github.com/linerate-dev/linerate/hack/kube", "kueue")
	cmd.Stderr = r.Talk
	dir, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("build Kueue: %w", err)
	}
	program := map[string]string{"/manager": filepath.Join(strings.TrimSpace(string(dir)), "kueue")}
	if err := r.Load(ctx, kueueImage+":e2e", program, pack.Config{Entrypoint: []string{"/manager"}}); err != nil {
		return err
	}
	chart, err := kueueChart(ctx)
	if err != nil {
		return err
	}
	values := filepath.Join(r.Programs, "kueue.yaml")
	if err := os.WriteFile(values, []byte(kueueValues), 0o600); err != nil {
		return err
	}
	return r.helm(ctx, "upgrade", "--install", "kueue", chart, "--namespace", KueueNamespace, "--create-namespace",
		"--values", values, "--wait", "--timeout", "2m")
}

// UninstallKueue takes it away again. Its kinds go with it, and all queues.
func (r *Rig) UninstallKueue(ctx context.Context) error {
	return r.helm(ctx, "uninstall", "kueue", "--namespace", KueueNamespace, "--wait", "--timeout", "1m")
}

// kueueChart is the one that came with the pinned module.
func kueueChart(ctx context.Context) (string, error) {
	pinned, err := inProject("hack/kube/kueue")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "go", "-C", pinned, "mod", "download", "-json", "sigs.k8s.io/kueue")
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("find Kueue's chart: %w: %s", err, output)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(output, &module); err != nil {
		return "", fmt.Errorf("find Kueue's chart: %w", err)
	}
	return filepath.Join(module.Dir, "charts/kueue"), nil
}
