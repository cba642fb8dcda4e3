package operator

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deviceResource is the device resource of a network in this lab.
func deviceResource(network string) corev1.ResourceName {
	return corev1.ResourceName("lab.example/" + network)
}

// addNodes makes two nodes that have enough of all, and the labels that the samples demand.
func addNodes(ctx context.Context) error {
	for name, role := range map[string]string{nodeName: "generator", "node-b": "dut"} {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"lab/role": role, "lab/nic": "e810"}}}
		if err := admin.Create(ctx, node); err != nil {
			return err
		}
		node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "Played"}}
		node.Status.Capacity = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"), corev1.ResourcePods: resource.MustParse("250"),
			"hugepages-1Gi": resource.MustParse("64Gi"), "hugepages-2Mi": resource.MustParse("64Gi"),
		}
		for _, network := range deviceNetworks() {
			node.Status.Capacity[deviceResource(network)] = resource.MustParse("8")
		}
		node.Status.Allocatable = node.Status.Capacity
		if err := admin.Status().Update(ctx, node); err != nil {
			return err
		}
	}
	return nil
}

// deviceNetworks are those of the samples' networks that have a device resource here.
func deviceNetworks() []string {
	return []string{"sriov-west", "sriov-east", "sriov-north", "sriov-south", "sriov-lab", "sriov-lab-netdev", "mlx5-west", "mlx5-east"}
}
