package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A test claims all its physical ports at once, or none, when its pods are ready and before its runner is made. While
// the test waits for ports its pods stay, but not for long. They hold CPUs and devices that the holder's own runner or
// teardown pod may need, and then the two tests would wait for each other for ever. After portPatience the pods are
// given back, and new ones are made when the holder is done.
//
//	pods ready ─▶ portsHeld? ──no──▶ take all, make the runner ─▶ run ─▶ pods gone ─▶ give back
//	                 │ yes
//	                 ├─ within portPatience: the holder ends ─▶ on it goes
//	                 └─ else: pods are given back ─▶ portsAwaited (no pods) ─▶ the holder ends ─▶ next attempt

// portPatience is how long pods stay in place while another test has claimed their ports.
const portPatience = 2 * time.Minute

// ports answer on which physical ports the test's pods are, and who else is on them.
type ports struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	history   *history
	blueprint *blueprint
	deadlines *deadlines
	claims    []PortClaim
	// older are older tests that wait for ports.
	older []Waiter
	// awaited are the ports that the status says the next attempt waits for.
	awaited    []v1alpha1.NodePort
	observedAt time.Time
}

// portShared is the rule for two ends of the links that are on one physical port, where the test doesn't allow that.
func (po *ports) portShared() *step {
	if po.attempt.hasBegun() || po.test.Spec.SharedPort == v1alpha1.SharedPortAllowed {
		return nil
	}
	shared := sharedPorts(po.ends())
	if len(shared) == 0 {
		return nil
	}
	return fail(v1alpha1.ReasonSharedPort, "%s: they would share its bandwidth, and frames between them may never "+
		"reach "+
		"a wire: use networks on ports of their own "+
		"(a device resource for each physical port), keep device and generators on nodes of their own "+
		"(generator.placement.separateNodes), or allow it with spec.sharedPort: Allowed, "+
		"which marks the result", wording.JoinNonEmpty("; ", shared...))
}

// portSpoofed is the rule for a pod that reported another device than its node gave it. Whoever can do that could keep
// others off a port, or hide the port that the pod uses.
func (po *ports) portSpoofed() *step {
	if po.attempt.hasBegun() {
		return nil
	}
	var spoofed []string
	for _, p := range po.attempt.measuringPods() {
		spoofed = append(spoofed, manifests.SpoofedPorts(po.blueprint.input(), p)...)
	}
	if len(spoofed) == 0 {
		return nil
	}
	return fail(v1alpha1.ReasonPortSpoofed, "%s: the pod or its status was changed, so its physical ports are "+
		"unknown: "+
		"find out who may change pods in the namespace, and create the test anew",
		wording.JoinNonEmpty("; ", spoofed...))
}

// portsAwaited is the rule for a test whose earlier attempt gave its pods back because another test had claimed its
// ports, and that test still has them.
func (po *ports) portsAwaited() *step {
	if po.attempt.isPlaced() {
		return nil
	}
	claims := po.claimsOfOthers(po.awaitedPorts())
	if len(claims) == 0 {
		return nil
	}
	return po.deadlines.wait(v1alpha1.ReasonPortHeld, po.claimWords(claims)+"; until then this test holds no pods")
}

// portsHeld is the rule for ready pods on a physical port that another test has claimed, or may claim first.
func (po *ports) portsHeld() *step {
	ports := po.ports()
	if po.attempt.hasBegun() || len(ports) == 0 {
		return nil
	}
	if claims := po.claimsOfOthers(ports); len(claims) > 0 {
		return po.waitForPorts(claims)
	}
	if first, port := po.olderWaiter(ports); first != nil {
		s := po.deadlines.wait(v1alpha1.ReasonPortHeld,
			fmt.Sprintf("%s is free, and %s, which is older, takes it first",
				port, po.publicName(first.Namespace, first.Name)))
		return s.waitUntil(po.observedAt.Add(yieldFor))
	}
	return nil
}

// waitForPorts waits with the pods in place for portPatience, and then gives them back.
func (po *ports) waitForPorts(claims []PortClaim) *step {
	waitStart := po.observedAt
	if po.history.condition(v1alpha1.ConditionScheduled).Reason == v1alpha1.ReasonPortHeld {
		waitStart = po.history.changedAt(v1alpha1.ConditionScheduled)
	}
	due, words := waitStart.Add(portPatience), po.claimWords(claims)
	if po.observedAt.Before(due) {
		return po.deadlines.wait(v1alpha1.ReasonPortHeld, words).waitUntil(due)
	}
	message := words + "; pods that wait would keep CPUs and devices from others: they are given back, and made anew " +
		"when it is over"
	return &step{
		reason: v1alpha1.ReasonPortHeld, message: message, activity: "Waiting",
		scheduled: isFalse(v1alpha1.ReasonPortHeld, message), void: &voided{awaitedPorts: portsOf(claims)},
	}
}

// publicName is how this test's messages name another test. A test of another namespace stays anonymous. Whoever may
// look into that namespace finds the test by the Lease.
func (po *ports) publicName(namespace, name string) string {
	if namespace != po.test.Namespace {
		return "a test of another namespace"
	}
	return "LoadTest " + namespace + "/" + name
}

// claimWords say which test has which port, and the way out.
func (po *ports) claimWords(claims []PortClaim) string {
	var words, unseen []string
	for _, c := range claims {
		words = append(words, fmt.Sprintf("%s is held by %s (Lease %s)", c.Port,
			po.publicName(c.Holder.Namespace, c.Holder.Name), c.Lease))
		if c.Unseen {
			unseen = append(unseen, c.Lease)
		}
	}
	if len(unseen) > 0 {
		return listed(words) + fmt.Sprintf(": virtual functions of one port share its bandwidth; of Lease %s nobody "+
			"sees "+
			"when its test is over, as this operator doesn't look after that namespace "+
			"(any more): an administrator finds that out, and how to remove it, with kubectl linerate doctor; or name "+
			"networks on another port in a new LoadTest", listed(unseen))
	}
	return listed(words) + ": virtual functions of one port share its bandwidth, so this test goes on by itself when " +
		"that one is over; stop it, or name networks on another port in a new LoadTest"
}

// ends are the links' ends of this attempt's pods, as observed.
func (po *ports) ends() []portEnd { return portEnds(po.attempt.measuringStatuses()) }

func (po *ports) ports() []Port { return PortsOf(po.attempt.measuringStatuses()) }

func (po *ports) awaitedPorts() []Port {
	var ports []Port
	for _, p := range po.awaited {
		ports = append(ports, Port{p.Node, p.Port})
	}
	return ports
}

// claimOn is the claim on a physical port. Nil means none.
func (po *ports) claimOn(port Port) *PortClaim {
	i := slices.IndexFunc(po.claims, func(c PortClaim) bool { return c.Port == port })
	if i < 0 {
		return nil
	}
	return &po.claims[i]
}

func (po *ports) claimsOfOthers(ports []Port) []PortClaim {
	var claims []PortClaim
	for _, port := range ports {
		if c := po.claimOn(port); c != nil && c.Holder.UID != po.test.UID && c.lapse(po.observedAt) == "" {
			claims = append(claims, *c)
		}
	}
	return claims
}

// olderWaiter is an older test that waits for one of these ports, and for nothing else, and so comes first. Nil means
// none.
func (po *ports) olderWaiter(ports []Port) (*Waiter, Port) {
	for i := range po.older {
		a := &po.older[i]
		j := slices.IndexFunc(a.Ports, func(p Port) bool { return slices.Contains(ports, p) })
		if j >= 0 && len(po.claimsOfOthers(a.Ports)) == 0 {
			return a, a.Ports[j]
		}
	}
	return nil, Port{}
}

// awaitedAfter are the ports that the next attempt waits for, after a step.
func (po *ports) awaitedAfter(s *step) []v1alpha1.NodePort {
	switch {
	case s.void != nil:
		return nodePortsOf(s.void.awaitedPorts)
	case po.attempt.isPlaced() || s.ending != nil:
		return nil
	}
	return nodePortsOf(portsOf(po.claimsOfOthers(po.awaitedPorts())))
}

func portsOf(claims []PortClaim) []Port {
	var ports []Port
	for _, c := range claims {
		ports = append(ports, c.Port)
	}
	return ports
}

// yieldFor is how soon the test checks again whether the older test took its turn. If that test ends, a watch
// says so earlier.
const yieldFor = 5 * time.Second
