package lifecycle

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/queue"
	"github.com/linerate-dev/linerate/internal/compile"
)

// Want is one pod of a test that wants devices. Name is the pod's, as the attempt that it was made for has it.
type Want struct {
	Name    string
	Devices queue.Devices
}

// Wants are the pods of the current attempt that want devices. A test that can't be made into pods has none. They
// follow from the spec, the attempt and the networks, and are costly to find out.
func Wants(o Observed) []Want {
	b := newSituation(o).blueprint
	if b.cluster() == nil {
		return nil
	}
	for _, e := range b.ends() {
		if _, exists := o.Inventory.Networks[e.key]; !exists {
			return nil
		}
	}
	var wants []Want
	for _, p := range b.pods() {
		if devices := Devices(p); len(devices) > 0 {
			wants = append(wants, Want{p.Name, devices})
		}
	}
	return wants
}

// Attempt is the attempt that counts. It reads only the test and its children from Observed.
func Attempt(o Observed) int32 { return currentAttempt(o) }

// Devices are those that a pod requests. Empty means none.
func Devices(p *corev1.Pod) queue.Devices {
	devices := queue.Devices{}
	for _, c := range p.Spec.Containers {
		for name, limit := range c.Resources.Limits {
			if queue.IsDevice(string(name)) && !limit.IsZero() {
				devices[string(name)] += limit.Value()
			}
		}
	}
	return devices
}

// Claim is a test's claim to devices, what its other pods hold, and whether the test is in the queue at all. A test
// that is over, ending or suspended isn't. Claim reads only the test and its pods from Observed.
func Claim(o Observed, wants []Want) (claim queue.Claim, holdings []queue.Holding, claims bool) {
	s, test, status := newSituation(o), o.Test, &o.Test.Status
	name := test.Namespace + "/" + test.Name
	claim = queue.Claim{
		ID: string(test.UID), Test: name, Created: test.CreationTimestamp.Time,
		Takes: compile.UsualDuration(&test.Spec),
	}
	if givenBack := status.Operator.GivenBack; givenBack != nil {
		claim.GivenBack, claim.RetryAt = givenBack.LastTime.Time, givenBack.RetryTime.Time
	}
	claims = needsPods(test)
	claim.Stage = s.stage()
	for i := range o.Children.Pods {
		p := &o.Children.Pods[i]
		devices := Devices(p)
		switch {
		case Ended(p) || len(devices) == 0 || hasGate(p):
		case claims && attemptOf(p.Labels) == s.attempt.number:
			claim.Pods = append(claim.Pods, queue.Pod{Node: p.Spec.NodeName, Devices: devices})
			claim.Began = earliest(claim.Began, p.CreationTimestamp.Time)
		case p.Spec.NodeName != "":
			holdings = append(holdings, queue.Holding{Test: name, Node: p.Spec.NodeName, Devices: devices})
		}
	}
	if s.kueue.queueName() != "" && claim.Stage != queue.Settled {
		claim.Stage = queue.Placing // Kueue says when it goes: what it admitted is placed
	} else if claims && claim.Stage != queue.Settled {
		claim.Pods = append(claim.Pods, s.missingPods(wants)...)
	}
	return claim, holdings, claims
}

// missingPods are the pods that are still to be made.
func (s *situation) missingPods(wants []Want) (pods []queue.Pod) {
	for _, w := range wants {
		if s.attempt.pod(w.Name) == nil {
			pods = append(pods, queue.Pod{Devices: w.Devices})
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
	case v1alpha1.ReasonMultusMissing, v1alpha1.ReasonNetworkMissing, v1alpha1.ReasonNetworkInvalid,
		v1alpha1.ReasonResourceMissing, v1alpha1.ReasonHugepages, v1alpha1.ReasonPodRefused, v1alpha1.ReasonNameTaken,
		v1alpha1.ReasonNodeRefused, v1alpha1.ReasonPortHeld:
		return queue.Stuck
	}
	return queue.Waiting
}

// QueueNodes are the nodes that take pods, with their devices.
func QueueNodes(nodes []Node) []queue.Node {
	var queueNodes []queue.Node
	for _, n := range nodes {
		if !n.Ready || !n.Schedulable {
			continue
		}
		devices := queue.Devices{}
		for name, amount := range n.Allocatable {
			if queue.IsDevice(string(name)) {
				devices[string(name)] = amount.Value()
			}
		}
		queueNodes = append(queueNodes, queue.Node{Name: n.Name, Devices: devices})
	}
	return queueNodes
}
