package lifecycle

import (
	"fmt"
	"slices"
	"time"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A test claims all its wires at once, or none, when its pods are ready and before its runner is made. While it
// waits for wires its pods stay, but not for long: they hold CPUs and devices that the holder's own runner or
// teardown pod may need, and then the two tests would wait for each other for ever. After portPatience the pods
// are given back, and new ones are made when the holder is done.
//
//	pods ready ─▶ portsHeld? ──no──▶ take all, make the runner ─▶ run ─▶ pods gone ─▶ give back
//	                 │ yes
//	                 ├─ within portPatience: the holder ends ─▶ on it goes
//	                 └─ else: pods are given back ─▶ portsAwaited (no pods) ─▶ the holder ends ─▶ next attempt

// portPatience is how long pods stay in place while another test holds their wires.
const portPatience = 2 * time.Minute

// ports answer on which physical ports the test's pods are, and who else is on them.
type ports struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	history   *history
	blueprint *blueprint
	deadlines *deadlines
	holds     []Hold
	// ahead are older tests that wait for ports.
	ahead []Waiter
	// awaited are the ports that the status says the next attempt waits for.
	awaited []v1alpha1.NodePort
	now     time.Time
}

// portShared: two ends of the links are on one physical port, and the test doesn't allow that.
func (po *ports) portShared() *step {
	if po.attempt.hasBegun() || po.test.Spec.SharedPort == v1alpha1.SharedPortAllowed {
		return nil
	}
	shared := sharedWires(po.wireEnds())
	if len(shared) == 0 {
		return nil
	}
	return fail(v1alpha1.ReasonSharedPort, "%s: they would share its bandwidth, and frames between them may never reach "+
		"a wire: use networks on ports of their own "+
		"(a device resource for each physical port), keep device and generators on nodes of their own "+
		"(generator.placement.separateNodes), or allow it with spec.sharedPort: Allowed, "+
		"which marks the result", wording.JoinNonEmpty("; ", shared...))
}

// portSpoofed: a pod reported another device than its node gave it. Whoever can do that could keep others off a
// port, or hide the port that the pod uses.
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
	return fail(v1alpha1.ReasonPortSpoofed, "%s: the pod or its status was changed, so its physical ports are unknown: "+
		"find out who may change pods in the namespace, and create the test anew",
		wording.JoinNonEmpty("; ", spoofed...))
}

// portsAwaited: an earlier attempt gave its pods back because another test held its ports, and that test still does.
func (po *ports) portsAwaited() *step {
	if po.attempt.isPlaced() {
		return nil
	}
	holds := po.heldByOthers(po.awaitedWires())
	if len(holds) == 0 {
		return nil
	}
	return po.deadlines.waits(v1alpha1.ReasonPortHeld, po.heldWords(holds)+"; until then this test holds no pods")
}

// portsHeld: all pods are ready, and another test is on a physical port of theirs, or its turn comes first.
func (po *ports) portsHeld() *step {
	wires := po.wires()
	if po.attempt.hasBegun() || len(wires) == 0 {
		return nil
	}
	if holds := po.heldByOthers(wires); len(holds) > 0 {
		return po.waitForPorts(holds)
	}
	if first, wire := po.olderWaiter(wires); first != nil {
		s := po.deadlines.waits(v1alpha1.ReasonPortHeld, fmt.Sprintf("%s is free, and %s, which is older, takes it first",
			wire, po.publicName(first.Namespace, first.Name)))
		return s.waitUntil(po.now.Add(yieldFor))
	}
	return nil
}

// waitForPorts waits with the pods in place for portPatience, and then gives them back.
func (po *ports) waitForPorts(holds []Hold) *step {
	waitStart := po.now
	if po.history.condition(v1alpha1.ConditionScheduled).Reason == v1alpha1.ReasonPortHeld {
		waitStart = po.history.since(v1alpha1.ConditionScheduled)
	}
	due, words := waitStart.Add(portPatience), po.heldWords(holds)
	if po.now.Before(due) {
		return po.deadlines.waits(v1alpha1.ReasonPortHeld, words).waitUntil(due)
	}
	var wires []Wire
	for _, h := range holds {
		wires = append(wires, h.Wire)
	}
	message := words + "; pods that wait would keep CPUs and devices from others: they are given back, and made anew " +
		"when it is over"
	return &step{
		reason: v1alpha1.ReasonPortHeld, message: message, activity: "Waiting",
		scheduled: isFalse(v1alpha1.ReasonPortHeld, message), void: &voided{awaits: wires},
	}
}

// publicName is how this test's messages name another test. A test of another namespace stays anonymous:
// whoever may look there finds it by the Lease.
func (po *ports) publicName(namespace, name string) string {
	if namespace != po.test.Namespace {
		return "a test of another namespace"
	}
	return "LoadTest " + namespace + "/" + name
}

// heldWords say who is on which wire, and the way out.
func (po *ports) heldWords(holds []Hold) string {
	var words, unseen []string
	for _, h := range holds {
		words = append(words, fmt.Sprintf("%s is held by %s (Lease %s)", h.Wire,
			po.publicName(h.Holder.Namespace, h.Holder.Name), h.Lease))
		if h.Unseen {
			unseen = append(unseen, h.Lease)
		}
	}
	if len(unseen) > 0 {
		return listed(words) + fmt.Sprintf(": virtual functions of one port share its bandwidth; of Lease %s nobody sees "+
			"when its test is over, as this operator doesn't look after that namespace "+
			"(any more): an administrator finds that out, and how to remove it, with kubectl linerate doctor; or name "+
			"networks on another port in a new LoadTest", listed(unseen))
	}
	return listed(words) + ": virtual functions of one port share its bandwidth, so this test goes on by itself when " +
		"that one is over; stop it, or name networks on another port in a new LoadTest"
}

// wireEnds are the ends of this attempt's pods, as observed.
func (po *ports) wireEnds() []wireEnd { return wireEnds(po.attempt.measuringStatuses()) }

func (po *ports) wires() []Wire { return WiresOf(po.attempt.measuringStatuses()) }

func (po *ports) awaitedWires() []Wire {
	var wires []Wire
	for _, p := range po.awaited {
		wires = append(wires, Wire{p.Node, p.Port})
	}
	return wires
}

// hold says which test holds a physical port; nil: none does.
func (po *ports) hold(w Wire) *Hold {
	i := slices.IndexFunc(po.holds, func(h Hold) bool { return h.Wire == w })
	if i < 0 {
		return nil
	}
	return &po.holds[i]
}

func (po *ports) heldByOthers(wires []Wire) []Hold {
	var holds []Hold
	for _, w := range wires {
		if h := po.hold(w); h != nil && h.Holder.UID != po.test.UID && h.dead(po.now) == "" {
			holds = append(holds, *h)
		}
	}
	return holds
}

// olderWaiter is an older test that waits for one of these ports, and for nothing else, and so comes first;
// nil: there is none.
func (po *ports) olderWaiter(wires []Wire) (*Waiter, Wire) {
	for i := range po.ahead {
		a := &po.ahead[i]
		j := slices.IndexFunc(a.Wires, func(w Wire) bool { return slices.Contains(wires, w) })
		if j >= 0 && len(po.heldByOthers(a.Wires)) == 0 {
			return a, a.Wires[j]
		}
	}
	return nil, Wire{}
}

// awaitedAfter are the ports that the next attempt waits for, after a step.
func (po *ports) awaitedAfter(s *step) []v1alpha1.NodePort {
	switch {
	case s.void != nil:
		return nodePorts(s.void.awaits)
	case po.attempt.isPlaced() || s.ending != nil:
		return nil
	}
	var wires []Wire
	for _, h := range po.heldByOthers(po.awaitedWires()) {
		wires = append(wires, h.Wire)
	}
	return nodePorts(wires)
}

// yieldFor is how soon the test checks again whether the older test took its turn. If that test ends, a watch
// says so earlier.
const yieldFor = 5 * time.Second
