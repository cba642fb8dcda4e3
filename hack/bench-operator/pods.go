package main

import (
	"hash/fnv"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// running is a pod's status while its containers run.
func running(pod *corev1.Pod, ready bool) corev1.PodStatus {
	timestamp, address := metav1.Now(), addressOf(pod)
	readiness := corev1.ConditionFalse
	if ready {
		readiness = corev1.ConditionTrue
	}
	status := corev1.PodStatus{
		Phase: corev1.PodRunning, PodIP: address, PodIPs: []corev1.PodIP{{IP: address}}, StartTime: &timestamp,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: timestamp},
			{Type: corev1.PodInitialized, Status: corev1.ConditionTrue, LastTransitionTime: timestamp},
			{Type: corev1.ContainersReady, Status: readiness, LastTransitionTime: timestamp},
			{Type: corev1.PodReady, Status: readiness, LastTransitionTime: timestamp},
		},
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Image: c.Image, Ready: ready, Started: new(true),
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: timestamp}},
		})
	}
	return status
}

// ended is a pod's status when all its containers have ended well.
func ended(pod *corev1.Pod) corev1.PodStatus {
	timestamp := metav1.Now()
	status := running(pod, false)
	status.Phase, status.StartTime = corev1.PodSucceeded, pod.Status.StartTime
	for i := range status.ContainerStatuses {
		status.ContainerStatuses[i].State = corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: "Completed", StartedAt: timestamp,
				FinishedAt: timestamp},
		}
	}
	return status
}

// addressOf is the pod's own in 10.0.0.0/8.
func addressOf(pod *corev1.Pod) string {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(pod.UID)) // it can't fail
	n := hash.Sum32()
	return netip.AddrFrom4([4]byte{10, byte(n >> 16), byte(n >> 8), byte(n)}).String()
}
