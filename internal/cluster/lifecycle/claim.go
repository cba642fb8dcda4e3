package lifecycle

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/compile"
)

// Want is one pod of a test that wants devices.
type Want struct {
	// Name is the pod's, as the attempt that it was made for has it; Role is which kind it is.
	Name string
	Role v1alpha1.PodRole
	queue.Pod
	// Filter is what Pod.Where stands for.
	Filter NodeFilter
}

// Wants are the pods of the current attempt that want devices; none where the test can't be made into pods. They follow from the spec, the
// attempt and the networks, and are costly to find out.
func Wants(o Observed) []Want {
	b := newSituation(o).blueprint
	if b.cluster() == nil {
		return nil
	}
	for _, e := range b.ends() {
		if _, exists := o.Lab.Networks[e.key]; !exists {
			return nil
		}
	}
	in := b.input()
	in.ExcludedNodes = nil // they change without the attempt; Claim has them
	var wants []Want
	pods := podsOf(in)
	for _, p := range pods {
		if of := Resources(p); len(of) > 0 {
			filter := filterOf(p)
			wants = append(wants, Want{p.Name, roleOf(p), queue.Pod{Name: p.Name, Where: filter.key, Apart: apartFrom(p, pods), Resources: of}, filter})
		}
	}
	return wants
}

// Attempt is the attempt that counts. It reads only the test and its children from Observed.
func Attempt(o Observed) int32 { return currentAttempt(o) }

// Resources are the requests that decide where a pod with devices can be placed; empty: the pod has no devices. A missing request equals the limit, as
// for the API server.
func Resources(p *corev1.Pod) queue.Resources {
	if len(devicesOf(p)) == 0 {
		return nil
	}
	asked := &corev1.Pod{Spec: corev1.PodSpec{Containers: withRequests(p.Spec.Containers), InitContainers: withRequests(p.Spec.InitContainers), Overhead: p.Spec.Overhead, Resources: p.Spec.Resources}}
	of := counted(resourcehelper.PodRequests(asked, resourcehelper.PodResourcesOptions{}))
	maps.DeleteFunc(of, func(_ string, amount int64) bool { return amount == 0 })
	return of
}

// counted are those of a list's resources that count for a place, in the units in which the line counts them.
func counted(list corev1.ResourceList) queue.Resources {
	out := queue.Resources{}
	for name, amount := range list {
		switch {
		case name == corev1.ResourceCPU:
			out[queue.CPU] = amount.MilliValue()
		case queue.IsCounted(string(name)):
			out[string(name)] = amount.Value()
		}
	}
	return out
}

func withRequests(containers []corev1.Container) []corev1.Container {
	out := slices.Clone(containers)
	for i := range out {
		requests := corev1.ResourceList{}
		maps.Copy(requests, out[i].Resources.Limits)
		maps.Copy(requests, out[i].Resources.Requests)
		out[i].Resources.Requests = requests
	}
	return out
}

// devicesOf are the devices that a pod requests.
func devicesOf(p *corev1.Pod) queue.Resources {
	var devices queue.Resources
	for name, amount := range scarce(p) {
		if queue.IsDevice(string(name)) && !amount.IsZero() {
			if devices == nil {
				devices = queue.Resources{}
			}
			devices[string(name)] = amount.Value()
		}
	}
	return devices
}

// Claim is a test's place in the queue, and what its other pods hold; claims: it is in the queue at all. A test that is over, ending or suspended
// isn't. Claim reads only the test and its pods from Observed.
func Claim(o Observed, wants []Want) (claim queue.Claim, held []queue.Holding, claims bool) {
	s, test, was := newSituation(o), o.Test, &o.Test.Status
	name := test.Namespace + "/" + test.Name
	claim = queue.Claim{ID: string(test.UID), Test: name, Created: test.CreationTimestamp.Time, Takes: compile.UsualDuration(&test.Spec), Avoid: was.ExcludedNodes}
	if back := was.GivenBack; back != nil {
		claim.GivenBack, claim.RetryAt = back.At.Time, back.Until.Time
	}
	claims = needsPods(test)
	claim.Stage = s.stage()
	for i := range o.Children.Pods {
		p := &o.Children.Pods[i]
		has := Resources(p)
		switch i := slices.IndexFunc(wants, func(w Want) bool { return w.Name == p.Name }); {
		case Ended(p) || len(has) == 0 || hasGate(p):
		case claims && i >= 0:
			pod := wants[i].Pod
			pod.Node, pod.Resources = p.Spec.NodeName, has
			claim.Pods = append(claim.Pods, pod)
		case p.Spec.NodeName != "":
			held = append(held, queue.Holding{Test: name, Node: p.Spec.NodeName, Resources: has})
		}
	}
	if s.kueue.queueName() != "" && claim.Stage != queue.Settled {
		claim.Stage = queue.Placing // Kueue says when it goes: what it admitted is placed
	} else if claims && claim.Stage != queue.Settled {
		claim.Pods = append(claim.Pods, s.unmade(wants)...)
	}
	return claim, held, claims
}

// unmade are the pods that are still to be made.
func (s *situation) unmade(wants []Want) (pods []queue.Pod) {
	for _, w := range wants {
		if s.attempt.pod(w.Name) == nil {
			pods = append(pods, w.Pod)
		}
	}
	return pods
}

// needsPods says whether a test has, or is to have, pods that measure.
func needsPods(test *v1alpha1.LoadTest) bool {
	return test.DeletionTimestamp == nil && !test.Spec.Suspend && !test.Spec.Stop && Ongoing(&test.Status)
}

// stage is how far the test is with its pods.
func (s *situation) stage() queue.Stage {
	switch {
	case s.attempt.hasBegun():
		return queue.Settled
	case s.attempt.isUsed():
		return queue.Placing
	}
	switch s.history.condition(v1alpha1.ConditionScheduled).Reason {
	case v1alpha1.ReasonMultusMissing, v1alpha1.ReasonNetworkMissing, v1alpha1.ReasonNetworkInvalid, v1alpha1.ReasonResourceMissing,
		v1alpha1.ReasonHugepages, v1alpha1.ReasonPodRefused, v1alpha1.ReasonNameTaken, v1alpha1.ReasonNodeRefused, v1alpha1.ReasonPortHeld:
		return queue.Stuck
	}
	return queue.Waiting
}

// QueueNodes are the nodes that pods can be placed on, with what counts for that.
func QueueNodes(nodes []Node) []queue.Node {
	out := make([]queue.Node, 0, len(nodes))
	for _, n := range nodes {
		if !n.Ready || !n.Schedulable {
			continue
		}
		out = append(out, queue.Node{Name: n.Name, Resources: counted(n.Allocatable)})
	}
	return out
}
