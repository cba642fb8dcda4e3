package rig

import (
	"context"

	corev1 "k8s.io/api/core/v1"
)

// Kill sends SIGKILL to a container's process. The node knows of it before the API server does; where it has
// none, or none that runs, left says so: try again.
func (r *Rig) Kill(ctx context.Context, pod *corev1.Pod, container string) (remains string, err error) {
	ids, err := r.containers(ctx, pod, container)
	if err != nil {
		return "", err
	}
	remains = "it has none"
	for _, id := range ids {
		if _, err := r.Cluster.Run(ctx, "", "exec", pod.Spec.NodeName, "--", "ctr", "-n", "k8s.io", "tasks", "kill",
			"-s", "SIGKILL", id); err == nil {
			return "", nil
		}
		remains = "it doesn't run"
	}
	return remains, nil
}
