package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// A test claims all its wires at once, or none, when its pods are ready and before its runner is made. While it waits for wires its pods stay, but not for
// long: they hold CPUs and devices that the holder's own runner or teardown pod may need, and then the two tests would wait for each other for ever. After
// portPatience the pods are given back, and new ones are made when the holder is done.
//
//	pods ready ─▶ portsHeld? ──no──▶ take all, make the runner ─▶ run ─▶ pods gone ─▶ give back
//	                 │ yes
//	                 ├─ within portPatience: the holder ends ─▶ on it goes
//	                 └─ else: pods are given back ─▶ portsAwaited (no pods) ─▶ the holder ends ─▶ next attempt

// portPatience is how long pods stay in place while another test holds their wires.
const portPatience = 2 * time.Minute

// portShared: two ends of the links are on one physical port, and the test doesn't allow that.
func portShared(v *view) *step {
	if v.begun() || v.spec.SharedPort == v1alpha1.SharedPortAllowed {
		return nil
	}
	shared := sharedWires(v.wireEnds())
	if len(shared) == 0 {
		return nil
	}
	return v.fail(v1alpha1.ReasonSharedPort, "%s: they would share its bandwidth, and frames between them may never reach a wire: use networks on ports of their own "+
		"(a device resource for each physical port), keep device and generators on nodes of their own (generator.placement.separateNodes), or allow it with spec.sharedPort: Allowed, "+
		"which marks the result", wording.JoinNonEmpty("; ", shared...))
}

// portSpoofed: a pod reported another device than its node gave it. Whoever can do that could keep others off a port, or hide the port that the pod uses.
func portSpoofed(v *view) *step {
	if v.begun() {
		return nil
	}
	var spoofed []string
	for _, p := range v.measuringPods() {
		spoofed = append(spoofed, manifests.SpoofedPorts(v.input(), p)...)
	}
	if len(spoofed) == 0 {
		return nil
	}
	return v.fail(v1alpha1.ReasonPortSpoofed, "%s: the pod or its status was changed, so its physical ports are unknown: find out who may change pods in the namespace, and create the test anew",
		wording.JoinNonEmpty("; ", spoofed...))
}

// portsAwaited: an earlier attempt gave its pods back because another test held its ports, and that test still does.
func portsAwaited(v *view) *step {
	if v.placed() {
		return nil
	}
	held := v.heldByOthers(v.awaitedWires())
	if len(held) == 0 {
		return nil
	}
	return v.waits(v1alpha1.ReasonPortHeld, v.heldWords(held)+"; until then this test holds no pods")
}

// portsHeld: all pods are ready, and another test is on a physical port of theirs, or its turn comes first.
func portsHeld(v *view) *step {
	wires := v.wires()
	if v.begun() || len(wires) == 0 {
		return nil
	}
	if held := v.heldByOthers(wires); len(held) > 0 {
		return v.awaitPorts(held)
	}
	if first, wire := v.olderWaiter(wires); first != nil {
		s := v.waits(v1alpha1.ReasonPortHeld, fmt.Sprintf("%s is free, and %s, which is older, takes it first", wire, v.publicName(first.Namespace, first.Name)))
		return s.waitUntil(v.Now.Add(yieldFor))
	}
	return nil
}

// yieldFor is how soon the test checks again whether the older test took its turn. If that test ends, a watch says so earlier.
const yieldFor = 5 * time.Second

// awaitPorts waits with the pods in place for portPatience, and then gives them back.
func (v *view) awaitPorts(held []Hold) *step {
	since := v.Now
	if v.previousCondition(v1alpha1.ConditionScheduled).Reason == v1alpha1.ReasonPortHeld {
		since = v.since(v1alpha1.ConditionScheduled)
	}
	due, words := since.Add(portPatience), v.heldWords(held)
	if v.Now.Before(due) {
		return v.waits(v1alpha1.ReasonPortHeld, words).waitUntil(due)
	}
	var wires []Wire
	for _, h := range held {
		wires = append(wires, h.Wire)
	}
	message := words + "; pods that wait would keep CPUs and devices from others: they are given back, and made anew when it is over"
	return &step{
		reason: v1alpha1.ReasonPortHeld, message: message, activity: "Waiting",
		scheduled: no(v1alpha1.ReasonPortHeld, message), void: &voided{awaits: wires},
	}
}

// publicName is how this test's messages name another test. A test of another namespace stays anonymous: whoever may look there finds it by the Lease.
func (v *view) publicName(namespace, name string) string {
	if namespace != v.Test.Namespace {
		return "a test of another namespace"
	}
	return "LoadTest " + namespace + "/" + name
}

// heldWords say who is on which wire, and the way out.
func (v *view) heldWords(held []Hold) string {
	var words, unseen []string
	for _, h := range held {
		words = append(words, fmt.Sprintf("%s is held by %s (Lease %s)", h.Wire, v.publicName(h.Holder.Namespace, h.Holder.Name), h.Lease))
		if h.Unseen {
			unseen = append(unseen, h.Lease)
		}
	}
	if len(unseen) > 0 {
		return listed(words) + fmt.Sprintf(": virtual functions of one port share its bandwidth; of Lease %s nobody sees when its test is over, as this operator doesn't look after that namespace "+
			"(any more): an administrator finds that out, and how to remove it, with kubectl linerate doctor; or name networks on another port in a new LoadTest", listed(unseen))
	}
	return listed(words) + ": virtual functions of one port share its bandwidth, so this test goes on by itself when that one is over; stop it, or name networks on another port in a new LoadTest"
}

// wireEnds are the ends of this attempt's pods, as observed.
func (v *view) wireEnds() []wireEnd { return wireEnds(v.measuringStatuses()) }

func (v *view) wires() []Wire { return WiresOf(v.measuringStatuses()) }

func (v *view) measuringStatuses() []v1alpha1.PodStatus {
	var out []v1alpha1.PodStatus
	for _, p := range v.measuringPods() {
		out = append(out, podStatus(p))
	}
	return out
}

func (v *view) awaitedWires() []Wire {
	var wires []Wire
	for _, p := range v.was.AwaitedPorts {
		wires = append(wires, Wire{p.Node, p.Port})
	}
	return wires
}

// hold says which test holds a physical port; nil: none does.
func (v *view) hold(w Wire) *Hold {
	i := slices.IndexFunc(v.Wires.Holds, func(h Hold) bool { return h.Wire == w })
	if i < 0 {
		return nil
	}
	return &v.Wires.Holds[i]
}

func (v *view) heldByOthers(wires []Wire) []Hold {
	var held []Hold
	for _, w := range wires {
		if h := v.hold(w); h != nil && h.Holder.UID != v.Test.UID && h.dead(v.Now) == "" {
			held = append(held, *h)
		}
	}
	return held
}

// olderWaiter is an older test that waits for one of these ports, and for nothing else, and so comes first; nil: there is none.
func (v *view) olderWaiter(wires []Wire) (*Waiter, Wire) {
	for i := range v.Wires.Ahead {
		a := &v.Wires.Ahead[i]
		j := slices.IndexFunc(a.Wires, func(w Wire) bool { return slices.Contains(wires, w) })
		if j >= 0 && len(v.heldByOthers(a.Wires)) == 0 {
			return a, a.Wires[j]
		}
	}
	return nil, Wire{}
}

// awaits are the ports that the next attempt waits for, after a step.
func (v *view) awaits(s *step) []v1alpha1.NodePort {
	switch {
	case s.void != nil:
		return nodePorts(s.void.awaits)
	case v.placed() || s.ending != nil:
		return nil
	}
	var wires []Wire
	for _, h := range v.heldByOthers(v.awaitedWires()) {
		wires = append(wires, h.Wire)
	}
	return nodePorts(wires)
}

// wiresInUse are the wires that the test holds after a step: from when its runner is made until the test is over.
func (v *view) wiresInUse(s *step) []Wire {
	switch {
	case s.over || s.void != nil || s.ending != nil && s.ending.complete:
		return nil
	case s.begins:
		return v.wires()
	case v.begun():
		return WiresOf(v.was.Pods)
	}
	return nil
}

// takes are the physical ports whose Leases this test has to claim: when the runner is made all ports that it uses, later those whose Leases were deleted. A Lease
// from an earlier attempt names generators that are gone, so it is claimed anew, with those that send now.
func (v *view) takes(s *step) []Take {
	var out []Take
	for _, w := range v.wiresInUse(s) {
		take := Take{Wire: w, Holder: Holder{v.Test.Namespace, v.Test.Name, v.Test.UID, v.attempt}, Senders: v.senders()}
		switch h := v.hold(w); {
		case h == nil:
		case h.Holder.UID == v.Test.UID && s.begins && h.Holder.Attempt != v.attempt:
			take.Over = h
		case h.Holder.UID == v.Test.UID, h.dead(v.Now) == "":
			continue
		default:
			take.Over = h
		}
		out = append(out, take)
	}
	return out
}

// senders are this attempt's generators: those observed, and those that only the status still lists.
func (v *view) senders() (all []Sender) {
	for _, p := range podStatuses(v) {
		if p.Role == v1alpha1.RoleGenerator && p.UID != "" {
			all = append(all, Sender{p.Name, types.UID(p.UID)})
		}
	}
	return all
}

// givesBack are wires that the test no longer needs and can't be sending on, and those of an earlier test of its name. While a generator might still
// send, at is when it surely doesn't; zero: an observation will show its end.
func (v *view) givesBack(s *step) (out []Hold, at time.Time) {
	inUse := v.wiresInUse(s)
	quiet, at := v.quiet()
	held := false
	for _, h := range v.Wires.Holds {
		switch own := h.Holder.UID == v.Test.UID; {
		case own && slices.Contains(inUse, h.Wire):
		case own && quiet, !own && v.namesake(h) && h.dead(v.Now) != "":
			out = append(out, h)
		case own:
			held = true
		}
	}
	if !held {
		at = time.Time{}
	}
	return out, at
}

// namesake says whether an earlier test of this one's name has the hold.
func (v *view) namesake(h Hold) bool {
	return h.Holder.Namespace == v.Test.Namespace && h.Holder.Name == v.Test.Name
}

// quiet says whether none of the test's pods can still send. If one can, until is when that is over at the latest; zero: an observation will show its end.
func (v *view) quiet() (quiet bool, until time.Time) {
	quiet = !slices.ContainsFunc(v.onWires(), func(p corev1.Pod) bool { return v.sends(&p) })
	if !quiet && v.was.FinishedAt != nil {
		until = v.was.FinishedAt.Add(wireGrace)
		quiet = !v.Now.Before(until)
	}
	return quiet, until
}

// onWires are the pods that could send on the test's wires: those that its Leases name or, where an earlier release's Lease names none, all that might.
func (v *view) onWires() []corev1.Pod {
	named := map[types.UID]bool{}
	for _, h := range v.Wires.Holds {
		if h.Holder.UID != v.Test.UID {
			continue
		}
		if len(h.Senders) == 0 {
			return v.allThatSend()
		}
		for _, s := range h.Senders {
			named[s.UID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(v.Children.Pods), func(p corev1.Pod) bool { return !named[p.UID] })
}

func (v *view) allThatSend() []corev1.Pod {
	sending := slices.Clone(v.oldPods)
	if v.begun() || v.was.FinishedAt != nil {
		sending = append(sending, v.pods...)
	}
	return append(sending, v.runners...)
}

// sends says whether a pod could still send, or have others send. A pod whose node has been silent for long enough must have stopped.
func (v *view) sends(p *corev1.Pod) bool {
	role := roleOf(p)
	return (role == v1alpha1.RoleGenerator || role == v1alpha1.RoleRunner) && !Ended(p) && (p.DeletionTimestamp == nil || !v.stuck(p))
}

// takeovers are the events for wires that were taken over from tests that no longer need them.
func (v *view) takeovers(takes []Take) []Event {
	var out []Event
	for _, t := range takes {
		if over := t.Over; over != nil && over.Holder.UID != v.Test.UID {
			out = append(out, Event{Warning: true, Reason: v1alpha1.ReasonPortHeld, Message: fmt.Sprintf(
				"%s was still held by %s, %s: its Lease %s is taken over", t.Wire, v.publicName(over.Holder.Namespace, over.Holder.Name), over.dead(v.Now), over.Lease)})
		}
	}
	return out
}
