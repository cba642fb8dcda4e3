package rig

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

// Process is where this machine sees the first process of a container that runs in a pod, as in /proc/123.
func (r *Rig) Process(ctx context.Context, pod *corev1.Pod, container string) (string, error) {
	ids, err := r.containers(ctx, pod, container)
	if err != nil {
		return "", err
	}
	tasks, err := r.Cluster.Run(ctx, "", "exec", pod.Spec.NodeName, "--", "ctr", "-n", "k8s.io", "tasks", "ls")
	if err != nil {
		return "", err
	}
	nodes, err := r.Cluster.Nodes()
	if err != nil {
		return "", err
	}
	index := slices.IndexFunc(nodes, func(n fabric.Node) bool { return n.Name == pod.Spec.NodeName })
	for line := range strings.Lines(tasks) { // TASK PID STATUS
		task := strings.Fields(line)
		if index >= 0 && len(task) == 3 && task[2] == "RUNNING" && slices.Contains(ids, task[0]) {
			return filepath.Join(nodes[index].Root, "proc", task[1]), nil
		}
	}
	return "", fmt.Errorf("container %s of pod %s on %s: it doesn't run", container, pod.Name, pod.Spec.NodeName)
}

// containers are the ids of a pod's container: also of those that have ended.
func (r *Rig) containers(ctx context.Context, pod *corev1.Pod, container string) ([]string, error) {
	ids, err := r.Cluster.Run(ctx, "", "exec", pod.Spec.NodeName, "--", "ctr", "-n", "k8s.io", "containers", "ls", "-q",
		fmt.Sprintf("labels.%q==%s,labels.%q==%s,labels.%q==%s", "io.kubernetes.pod.uid", pod.UID,
			"io.kubernetes.container.name", container, "io.cri-containerd.kind", "container"))
	return strings.Fields(ids), err
}
