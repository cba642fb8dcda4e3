package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

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

// leases answer which ports' Leases the test claims after a step, and which it gives back.
type leases struct {
	test     *v1alpha1.LoadTest
	attempt  *attempt
	remnants *remnants
	ports    *ports
	// pods are those of all attempts.
	pods       []corev1.Pod
	finishedAt *metav1.Time
	now        time.Time
}

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
func (po *ports) portShared() *step {
	if po.attempt.hasBegun() || po.test.Spec.SharedPort == v1alpha1.SharedPortAllowed {
		return nil
	}
	shared := sharedWires(po.wireEnds())
	if len(shared) == 0 {
		return nil
	}
	return fail(v1alpha1.ReasonSharedPort, "%s: they would share its bandwidth, and frames between them may never reach a wire: use networks on ports of their own "+
		"(a device resource for each physical port), keep device and generators on nodes of their own (generator.placement.separateNodes), or allow it with spec.sharedPort: Allowed, "+
		"which marks the result", wording.JoinNonEmpty("; ", shared...))
}

// portSpoofed: a pod reported another device than its node gave it. Whoever can do that could keep others off a port, or hide the port that the pod uses.
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
	return fail(v1alpha1.ReasonPortSpoofed, "%s: the pod or its status was changed, so its physical ports are unknown: find out who may change pods in the namespace, and create the test anew",
		wording.JoinNonEmpty("; ", spoofed...))
}

// portsAwaited: an earlier attempt gave its pods back because another test held its ports, and that test still does.
func (po *ports) portsAwaited() *step {
	if po.attempt.isPlaced() {
		return nil
	}
	held := po.heldByOthers(po.awaitedWires())
	if len(held) == 0 {
		return nil
	}
	return po.deadlines.waits(v1alpha1.ReasonPortHeld, po.heldWords(held)+"; until then this test holds no pods")
}

// portsHeld: all pods are ready, and another test is on a physical port of theirs, or its turn comes first.
func (po *ports) portsHeld() *step {
	wires := po.wires()
	if po.attempt.hasBegun() || len(wires) == 0 {
		return nil
	}
	if held := po.heldByOthers(wires); len(held) > 0 {
		return po.waitForPorts(held)
	}
	if first, wire := po.olderWaiter(wires); first != nil {
		s := po.deadlines.waits(v1alpha1.ReasonPortHeld, fmt.Sprintf("%s is free, and %s, which is older, takes it first", wire, po.publicName(first.Namespace, first.Name)))
		return s.waitUntil(po.now.Add(yieldFor))
	}
	return nil
}

// yieldFor is how soon the test checks again whether the older test took its turn. If that test ends, a watch says so earlier.
const yieldFor = 5 * time.Second

// waitForPorts waits with the pods in place for portPatience, and then gives them back.
func (po *ports) waitForPorts(held []Hold) *step {
	since := po.now
	if po.history.condition(v1alpha1.ConditionScheduled).Reason == v1alpha1.ReasonPortHeld {
		since = po.history.since(v1alpha1.ConditionScheduled)
	}
	due, words := since.Add(portPatience), po.heldWords(held)
	if po.now.Before(due) {
		return po.deadlines.waits(v1alpha1.ReasonPortHeld, words).waitUntil(due)
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
func (po *ports) publicName(namespace, name string) string {
	if namespace != po.test.Namespace {
		return "a test of another namespace"
	}
	return "LoadTest " + namespace + "/" + name
}

// heldWords say who is on which wire, and the way out.
func (po *ports) heldWords(held []Hold) string {
	var words, unseen []string
	for _, h := range held {
		words = append(words, fmt.Sprintf("%s is held by %s (Lease %s)", h.Wire, po.publicName(h.Holder.Namespace, h.Holder.Name), h.Lease))
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
func (po *ports) wireEnds() []wireEnd { return wireEnds(po.attempt.measuringStatuses()) }

func (po *ports) wires() []Wire { return WiresOf(po.attempt.measuringStatuses()) }

func (a *attempt) measuringStatuses() []v1alpha1.PodStatus {
	var out []v1alpha1.PodStatus
	for _, p := range a.measuringPods() {
		out = append(out, podStatus(p))
	}
	return out
}

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
	var held []Hold
	for _, w := range wires {
		if h := po.hold(w); h != nil && h.Holder.UID != po.test.UID && h.dead(po.now) == "" {
			held = append(held, *h)
		}
	}
	return held
}

// olderWaiter is an older test that waits for one of these ports, and for nothing else, and so comes first; nil: there is none.
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

// wiresInUse are the wires that the test holds after a step: from when its runner is made until the test is over.
func (le *leases) wiresInUse(s *step) []Wire {
	switch {
	case s.over || s.void != nil || s.ending != nil && s.ending.complete:
		return nil
	case s.begins:
		return le.ports.wires()
	case le.attempt.hasBegun():
		return WiresOf(le.attempt.recorded)
	}
	return nil
}

// takes are the physical ports whose Leases this test has to claim: when the runner is made all ports that it uses, later those whose Leases were deleted. A Lease
// from an earlier attempt names generators that are gone, so it is claimed anew, with those that send now.
func (le *leases) takes(s *step) []Take {
	var out []Take
	for _, w := range le.wiresInUse(s) {
		take := Take{Wire: w, Holder: Holder{le.test.Namespace, le.test.Name, le.test.UID, le.attempt.number}, Senders: le.senders()}
		switch h := le.ports.hold(w); {
		case h == nil:
		case h.Holder.UID == le.test.UID && s.begins && h.Holder.Attempt != le.attempt.number:
			take.Over = h
		case h.Holder.UID == le.test.UID, h.dead(le.now) == "":
			continue
		default:
			take.Over = h
		}
		out = append(out, take)
	}
	return out
}

// senders are this attempt's generators: those observed, and those that only the status still lists.
func (le *leases) senders() (all []Sender) {
	for _, p := range le.attempt.podStatuses() {
		if p.Role == v1alpha1.RoleGenerator && p.UID != "" {
			all = append(all, Sender{p.Name, types.UID(p.UID)})
		}
	}
	return all
}

// givenBack are wires that the test no longer needs and can't be sending on, and those of an earlier test of its name. While a generator might still
// send, at is when it surely doesn't; zero: an observation will show its end.
func (le *leases) givenBack(s *step) (out []Hold, at time.Time) {
	inUse := le.wiresInUse(s)
	quiet, at := le.isQuiet()
	held := false
	for _, h := range le.ports.holds {
		switch own := h.Holder.UID == le.test.UID; {
		case own && slices.Contains(inUse, h.Wire):
		case own && quiet, !own && le.isNamesakes(h) && h.dead(le.now) != "":
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

// isNamesakes says whether an earlier test of this one's name has the hold.
func (le *leases) isNamesakes(h Hold) bool {
	return h.Holder.Namespace == le.test.Namespace && h.Holder.Name == le.test.Name
}

// isQuiet says whether none of the test's pods can still send. If one can, until is when that is over at the latest; zero: an observation will show its end.
func (le *leases) isQuiet() (quiet bool, until time.Time) {
	quiet = !slices.ContainsFunc(le.onWires(), func(p corev1.Pod) bool { return le.sends(&p) })
	if !quiet && le.finishedAt != nil {
		until = le.finishedAt.Add(wireGrace)
		quiet = !le.now.Before(until)
	}
	return quiet, until
}

// onWires are the pods that could send on the test's wires: those that its Leases name or, where an earlier release's Lease names none, all that might.
func (le *leases) onWires() []corev1.Pod {
	named := map[types.UID]bool{}
	for _, h := range le.ports.holds {
		if h.Holder.UID != le.test.UID {
			continue
		}
		if len(h.Senders) == 0 {
			return le.possibleSenders()
		}
		for _, s := range h.Senders {
			named[s.UID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(le.pods), func(p corev1.Pod) bool { return !named[p.UID] })
}

func (le *leases) possibleSenders() []corev1.Pod {
	sending := slices.Clone(le.remnants.pods)
	if le.attempt.hasBegun() || le.finishedAt != nil {
		sending = append(sending, le.attempt.pods...)
	}
	return append(sending, le.attempt.runners...)
}

// sends says whether a pod could still send, or have others send. A pod whose node has been silent for long enough must have stopped.
func (le *leases) sends(p *corev1.Pod) bool {
	role := roleOf(p)
	return (role == v1alpha1.RoleGenerator || role == v1alpha1.RoleRunner) && !Ended(p) && (p.DeletionTimestamp == nil || !stuck(p, le.now))
}

// takeovers are the events for wires that were taken over from tests that no longer need them.
func (le *leases) takeovers(takes []Take) []Event {
	var out []Event
	for _, t := range takes {
		if over := t.Over; over != nil && over.Holder.UID != le.test.UID {
			out = append(out, Event{Warning: true, Reason: v1alpha1.ReasonPortHeld, Message: fmt.Sprintf(
				"%s was still held by %s, %s: its Lease %s is taken over", t.Wire, le.ports.publicName(over.Holder.Namespace, over.Holder.Name), over.dead(le.now), over.Lease)})
		}
	}
	return out
}
