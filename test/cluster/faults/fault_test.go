//go:build full

package faults

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/test/cluster/e2e/rig"
)

// deed is how a fault is done.
type deed struct {
	// ready waits until it can be done while a test is starting; it returns at the moment for it.
	ready func(*play)
	// strike does it. What takes some time to be done returns when it is.
	strike func(*play)
	// outage is how long it lasts before mend; without mend it ends by itself.
	outage time.Duration
	mend   func(*play)
}

// The pods' roles, as their labels say them.
const (
	runnerRole    = "runner"
	generatorRole = "generator"
	dutRole       = "dut"
)

// deeds are how all faults are done.
var deeds = map[fault]deed{
	killRunner:    killing(runnerRole, "runner"),
	killGenerator: killing(generatorRole, "generator"),
	killDUT:       killing(dutRole, "forwarder"),
	killOperator: {
		ready: func(p *play) { p.placed(generatorRole) },
		strike: func(p *play) {
			var pods corev1.PodList
			p.check(lab.Client.List(p.Context(), &pods, client.InNamespace(rig.Namespace), client.MatchingLabels{"control-plane": "controller-manager"}))
			for i := range pods.Items {
				p.kill(&pods.Items[i], "manager")
			}
		},
	},
	deletePod: {
		ready: func(p *play) { p.placed(generatorRole) },
		strike: func(p *play) {
			p.check(lab.Client.Delete(p.Context(), p.placed(generatorRole)))
		},
	},
	killKubelet: {
		ready:  func(p *play) { p.placed(generatorRole) },
		strike: func(p *play) { p.cluster("kill", p.placed(generatorRole).Spec.NodeName, "kubelet") },
		outage: 5 * time.Second,
		mend:   func(p *play) { p.cluster("start", p.generatorNode, "kubelet") },
	},
	killAPIServer: {
		ready:  func(p *play) { p.placed(generatorRole) },
		strike: func(p *play) { p.cluster("kill", "kube-apiserver") },
		outage: 5 * time.Second,
		mend:   func(p *play) { p.cluster("start", "kube-apiserver") },
	},
	// etcd with its space used up takes no write until somebody makes room, and lets everything be read. Nothing that the operator, the runner or a kubelet has
	// to say can be stored meanwhile, the Report among it, and the operator loses its lease. etcd is told so, rather than filled: it raises the same alarm by
	// itself (etcd, "Maintenance", space quota).
	fillStore: {
		ready: func(p *play) { p.placed(generatorRole) },
		strike: func(p *play) {
			p.alarm("ACTIVATE")
			err := lab.Client.Create(p.Context(), &corev1.ConfigMap{ObjectMeta: p.object("one-more")})
			if err == nil || !strings.Contains(err.Error(), "space exceeded") {
				p.Errorf("a full store took a ConfigMap, or refused it for something else: %v", err)
			}
		},
		outage: 15 * time.Second,
		mend:   func(p *play) { p.alarm("DEACTIVATE") },
	},
	pullCable: {
		strike: func(p *play) { p.check(lab.Fabric.SetPort("west", p.port("west"), false)) },
		outage: 2 * time.Second,
		mend:   func(p *play) { p.check(lab.Fabric.SetPort("west", p.port("west"), true)) },
	},
	cutNode: {
		strike: func(p *play) { p.cluster("exec", "control", "--", "ip", "link", "set", p.generatorNode, "down") },
		outage: 40 * time.Second,
		mend:   func(p *play) { p.cluster("exec", "control", "--", "ip", "link", "set", p.generatorNode, "up") },
	},
}

// killing kills the container of the pod of this role.
func killing(role, container string) deed {
	return deed{
		ready:  func(p *play) { p.placed(role) },
		strike: func(p *play) { p.kill(p.placed(role), container) },
	}
}

// alarm asks etcd for its alarm of no space, over its JSON gateway; bash is in every box, and no client of etcd's.
func (p *play) alarm(action string) {
	p.Helper()
	body := fmt.Sprintf(`{"action": %q, "memberID": "0", "alarm": "NOSPACE"}`, action)
	request := fmt.Sprintf(`POST /v3/maintenance/alarm HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s`, len(body), body)
	p.cluster("exec", "control", "--", "bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/2379 && printf '"+request+"' >&3 && read -r answer <&3 && [[ $answer == *' 200 '* ]]")
}

// kill sends SIGKILL to a container's process, as soon as there is one: the node knows it before the API server does.
func (p *play) kill(pod *corev1.Pod, container string) {
	p.Helper()
	p.await(fmt.Sprintf("a process of container %s of pod %s", container, pod.Name), time.Minute, func() (string, error) {
		return lab.Kill(p.Context(), pod, container)
	})
}

// placed waits until the pod of this role has a node, and is that pod.
func (p *play) placed(role string) (pod *corev1.Pod) {
	p.Helper()
	p.await(fmt.Sprintf("a node of the pod of role %s", role), time.Minute, func() (string, error) {
		var pods corev1.PodList
		where, of := p.namespace, client.MatchingLabels{lineratev1alpha1.LabelRole: role}
		if role == runnerRole {
			where, of[lineratev1alpha1.LabelNamespace] = rig.Namespace, p.namespace
		}
		if err := lab.Client.List(p.Context(), &pods, client.InNamespace(where), of); err != nil {
			return "", err
		}
		for i := range pods.Items {
			if pods.Items[i].Spec.NodeName != "" && pods.Items[i].DeletionTimestamp == nil {
				pod = &pods.Items[i]
				return "", nil
			}
		}
		return fmt.Sprintf("%d pods, none has a node", len(pods.Items)), nil
	})
	return pod
}

// port is the number of the generator's node on a wire.
func (p *play) port(wire string) int {
	for _, w := range lab.Fabric.Wires {
		for i, port := range w.Ports {
			if w.Name == wire && port.Node == p.generatorNode {
				return i
			}
		}
	}
	p.Fatalf("wire %s has no port in node %s", wire, p.generatorNode)
	return -1
}

// object names one of the namespace's objects.
func (p *play) object(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: p.namespace, Name: name}
}
