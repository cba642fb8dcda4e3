package lifecycle

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

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

// wiresInUse are the wires that the test holds after a step: from when its runner is made until the test is over.
func (le *leases) wiresInUse(s *step) []Wire {
	switch {
	case s.complete || s.void != nil || s.ending != nil && s.ending.complete:
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
		take := Take{Wire: w, Holder: Holder{le.test.Namespace, le.test.Name, le.test.UID, le.attempt.number},
			Senders: le.senders()}
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

// onWires are the pods that could send on the test's wires: those that its Leases name or, where generators run outside the cluster and a
// Lease names none, all that might.
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
	return (role == v1alpha1.RoleGenerator || role == v1alpha1.RoleRunner) && !Ended(p) &&
		(p.DeletionTimestamp == nil || !stuck(p, le.now))
}

// takeovers are the events for wires that were taken over from tests that no longer need them.
func (le *leases) takeovers(takes []Take) []Event {
	var out []Event
	for _, t := range takes {
		if over := t.Over; over != nil && over.Holder.UID != le.test.UID {
			out = append(out, Event{Warning: true, Reason: v1alpha1.ReasonPortHeld, Message: fmt.Sprintf(
				"%s was still held by %s, %s: its Lease %s is taken over", t.Wire, le.ports.publicName(over.Holder.Namespace,
					over.Holder.Name), over.dead(le.now), over.Lease)})
		}
	}
	return out
}
