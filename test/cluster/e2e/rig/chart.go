package rig

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Namespace is where the operator is installed.
const Namespace = "linerate-system"

// install brings in the chart, or upgrades it, and waits until the operator is available.
func (r *Rig) install(ctx context.Context) error { return r.Upgrade(ctx, r.Images.Tag) }

// Upgrade replaces the operator by one of another image tag, or of the same tag with other values, each
// name=value. Other values stay as at first.
func (r *Rig) Upgrade(ctx context.Context, tag string, values ...string) error {
	chart, err := inProject("charts/linerate")
	if err != nil {
		return err
	}
	args := []string{"upgrade", "--install", "linerate", chart, "--namespace", Namespace, "--create-namespace",
		"--wait", "--timeout", "2m"}
	for _, value := range append([]string{
		"image.tag=" + tag, "image.pullPolicy=Never",
		"allowedServers={10.244.0.0/16}", // tests' servers are pods
		"resources.requests.cpu=0",       // where a node has two processors, TRex asks for both
	}, values...) {
		args = append(args, "--set", value)
	}
	return r.helm(ctx, args...)
}

// Operators are the pods of the operator. Runners are in its namespace, too.
func (r *Rig) Operators(ctx context.Context) ([]corev1.Pod, error) {
	var pods corev1.PodList
	err := r.Client.List(ctx, &pods, client.InNamespace(Namespace),
		client.MatchingLabels{"app.kubernetes.io/component": "manager"})
	return pods.Items, err
}

// Uninstall takes the chart away again, and waits until Helm says that it's done. Upgrade brings it back.
func (r *Rig) Uninstall(ctx context.Context) error {
	return r.helm(ctx, "uninstall", "linerate", "--namespace", Namespace, "--wait", "--timeout", "1m")
}

// helm is the one beside kubectl that the cluster was built with.
func (r *Rig) helm(ctx context.Context, args ...string) error {
	env, err := r.Cluster.Run(ctx, "", "env")
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "bash", "-c", env+"\nexec helm \"$@\"", "helm")
	cmd.Args = append(cmd.Args, args...)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("helm %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}

// inProject is a path of the project, wherever the test runs.
func inProject(path string) (string, error) {
	output, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the project: %w", err)
	}
	full := strings.TrimSpace(string(output)) + "/" + path
	_, err = os.Stat(full)
	return full, err
}
