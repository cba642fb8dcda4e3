package e2e

import (
	"context"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// operators sets how many pods the operator has, and waits until it is so, and they are available.
func (s *scene) operators(replicas int) {
	s.Helper()
	ctx := context.WithoutCancel(s.Context())
	deployment := s.operator(ctx)
	patch := client.RawPatch(types.MergePatchType, []byte(map[bool]string{false: `{"spec": {"replicas": 0}}`, true: `{"spec": {"replicas": 1}}`}[replicas > 0]))
	if err := lab.Client.Patch(ctx, deployment, patch); err != nil {
		s.Fatal(err)
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var pods corev1.PodList
		err := lab.Client.List(ctx, &pods, client.InNamespace(rig.Namespace), client.MatchingLabels(deployment.Spec.Selector.MatchLabels))
		return len(pods.Items) == replicas && int(s.operator(ctx).Status.AvailableReplicas) == replicas, err
	})
	if err != nil {
		s.Fatalf("the operator hasn't %d pods: %v", replicas, err)
	}
}

// operator is the chart's Deployment.
func (s *scene) operator(ctx context.Context) *appsv1.Deployment {
	s.Helper()
	var all appsv1.DeploymentList
	if err := lab.Client.List(ctx, &all, client.InNamespace(rig.Namespace)); err != nil {
		s.Fatal(err)
	}
	if len(all.Items) != 1 {
		s.Fatalf("%d deployments in %s, want the operator's", len(all.Items), rig.Namespace)
	}
	return &all.Items[0]
}
