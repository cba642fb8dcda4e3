package e2e

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
	"github.com/linerate-dev/linerate/test/rigs/fabric"
)

// generator is a pod with the software engine that belongs to no LoadTest: a server that runs already. It returns its
// address once it answers.
func (s *scene) generator(name string, flags ...string) string {
	s.Helper()
	one := resource.MustParse("1")
	devices := corev1.ResourceList{corev1.ResourceName(fabric.ResourceOf("west")): one, corev1.ResourceName(fabric.ResourceOf("east")): one}
	const networks = `[{"name": "west", "namespace": "default", "interface": "west"}, {"name": "east", "namespace": "default", "interface": "east"}]`
	s.stranger(name, "", devices, networks, "west,east", flags...)
	return fmt.Sprintf("%s:4501", s.ready(name, patience).Status.PodIP)
}

// holder makes a foreign pod that holds all of a node's functions of the wire west, and does nothing with them. It returns the function that removes it.
func (s *scene) holder(node string) (letGo func()) {
	s.Helper()
	all := resource.MustParse(fmt.Sprint(lab.Functions))
	pod := s.stranger("holder-"+node, node, corev1.ResourceList{corev1.ResourceName(s.resource("west")): all}, "[]", "eth0")
	s.ready(pod.Name, patience)
	return func() {
		if err := lab.Client.Delete(s.Context(), pod); err != nil {
			s.Fatal(err)
		}
	}
}

// stranger makes a pod that belongs to no LoadTest, with these devices, in which the software engine has these interfaces. Node "": on any.
func (s *scene) stranger(name, node string, devices corev1.ResourceList, networks, ports string, flags ...string) *corev1.Pod {
	s.Helper()
	return s.engine(name, node, devices, networks, nil, append([]string{"generator", "--ports", ports, "--listen", ":4501", "--speed", "1gbps", "--secret-file", "", "--open"}, flags...)...)
}

// engine makes a pod that belongs to no LoadTest and runs linerate with these arguments, and the rights that the software engine needs.
func (s *scene) engine(name, node string, devices corev1.ResourceList, networks string, variables []corev1.EnvVar, args ...string) *corev1.Pod {
	s.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace, Annotations: map[string]string{"k8s.v1.cni.cncf.io/networks": networks}},
		Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: new(int64(1)), Containers: []corev1.Container{{
			Name: "generator", Image: rig.Repository + ":" + lab.Images.Tag, ImagePullPolicy: corev1.PullNever,
			Args: args, Env: variables,
			Resources:       corev1.ResourceRequirements{Limits: devices, Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}},
			SecurityContext: &corev1.SecurityContext{RunAsUser: new(int64(0)), Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"BPF", "IPC_LOCK", "NET_ADMIN", "NET_RAW", "SYS_NICE"}}},
			ReadinessProbe:  &corev1.Probe{PeriodSeconds: 1, ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"/linerate", "generator", "probe"}}}},
		}}},
	}
	if node != "" {
		pod.Spec.NodeSelector = map[string]string{corev1.LabelHostname: node}
	}
	return s.starts(pod)
}

// starts creates a pod that goes with the scene.
func (s *scene) starts(pod *corev1.Pod) *corev1.Pod {
	s.Helper()
	if err := lab.Client.Create(s.Context(), pod); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		if err := lab.Client.Delete(context.WithoutCancel(s.Context()), pod); client.IgnoreNotFound(err) != nil {
			s.Error(err)
		}
	})
	return pod
}

// ready waits until a pod is.
func (s *scene) ready(name string, bound time.Duration) *corev1.Pod {
	s.Helper()
	return await(s, &corev1.PodList{}, name, "Ready", bound, func(p *corev1.Pod) bool {
		return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
	}, podState)
}

func podState(p *corev1.Pod) string {
	if p == nil {
		return "(never seen)"
	}
	return fmt.Sprintf("%s %+v", p.Status.Phase, p.Status.Conditions)
}
