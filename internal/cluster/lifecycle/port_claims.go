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

// portClaims answer which ports the test claims after a step, and which it releases.
type portClaims struct {
	test     *v1alpha1.LoadTest
	attempt  *attempt
	remnants *remnants
	ports    *ports
	// pods are those of all attempts.
	pods       []corev1.Pod
	finishedAt *metav1.Time
	observedAt time.Time
}

// portsInUse are the ports that the test needs after a step, from when its runner is made until the test is over.
func (pc *portClaims) portsInUse(s *step) []Port {
	switch {
	case s.complete || s.void != nil || s.ending != nil && s.ending.complete:
		return nil
	case s.begins:
		return pc.ports.ports()
	case pc.attempt.hasBegun():
		return PortsOf(pc.attempt.recorded)
	}
	return nil
}

// requests are the ports that this test has to claim. When the runner is made these are all ports in use, and later
// those whose Leases were deleted. A Lease from an earlier attempt names generators that are gone, so the port is
// claimed anew, with the generators that send now.
func (pc *portClaims) requests(s *step) []PortRequest {
	var requests []PortRequest
	for _, w := range pc.portsInUse(s) {
		h := pc.ports.claimOn(w)
		if h != nil && (h.Holder.UID != pc.test.UID && h.lapse(pc.observedAt) == "" ||
			h.Holder.UID == pc.test.UID && (!s.begins || h.Holder.Attempt == pc.attempt.number)) {
			continue
		}
		requests = append(requests, PortRequest{Port: w, Senders: pc.senders(), Replaces: h,
			Holder: Holder{pc.test.Namespace, pc.test.Name, pc.test.UID, pc.attempt.number}})
	}
	return requests
}

// senders are this attempt's generators, those observed and those that only the status still lists.
func (pc *portClaims) senders() (senders []Sender) {
	for _, p := range pc.attempt.podStatuses() {
		if p.Role == v1alpha1.RoleGenerator && p.UID != "" {
			senders = append(senders, Sender{p.Name, types.UID(p.UID)})
		}
	}
	return senders
}

// released are claims to ports that the test no longer needs and can't be sending on, and those of an earlier test of
// its name. While a generator might still send, quietAt is when it surely doesn't. Zero means that an observation will
// show its end.
func (pc *portClaims) released(s *step) (claims []PortClaim, quietAt time.Time) {
	inUse := pc.portsInUse(s)
	quiet, quietAt := pc.isQuiet()
	mayBeSending := false
	for _, h := range pc.ports.claims {
		switch isOwn := h.Holder.UID == pc.test.UID; {
		case isOwn && slices.Contains(inUse, h.Port):
		case isOwn && quiet, !isOwn && pc.isNamesakes(h) && h.lapse(pc.observedAt) != "":
			claims = append(claims, h)
		case isOwn:
			mayBeSending = true
		}
	}
	if !mayBeSending {
		quietAt = time.Time{}
	}
	return claims, quietAt
}

// isNamesakes says whether an earlier test of this one's name has the claim.
func (pc *portClaims) isNamesakes(h PortClaim) bool {
	return h.Holder.Namespace == pc.test.Namespace && h.Holder.Name == pc.test.Name
}

// isQuiet says whether none of the test's pods can still send. If one can, deadline is when that is over at the latest.
// Zero means that an observation will show its end.
func (pc *portClaims) isQuiet() (quiet bool, deadline time.Time) {
	quiet = !slices.ContainsFunc(pc.sendersOnPorts(), func(p corev1.Pod) bool { return pc.sends(&p) })
	if !quiet && pc.finishedAt != nil {
		deadline = pc.finishedAt.Add(portGrace)
		quiet = !pc.observedAt.Before(deadline)
	}
	return quiet, deadline
}

// sendersOnPorts are the pods that could send on the test's ports. Its Leases name them. Where generators run outside
// the cluster and a Lease names none, they are all pods that might send.
func (pc *portClaims) sendersOnPorts() []corev1.Pod {
	named := map[types.UID]bool{}
	for _, h := range pc.ports.claims {
		if h.Holder.UID != pc.test.UID {
			continue
		}
		if len(h.Senders) == 0 {
			return pc.possibleSenders()
		}
		for _, s := range h.Senders {
			named[s.UID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(pc.pods), func(p corev1.Pod) bool { return !named[p.UID] })
}

func (pc *portClaims) possibleSenders() []corev1.Pod {
	sending := slices.Clone(pc.remnants.pods)
	if pc.attempt.hasBegun() || pc.finishedAt != nil {
		sending = append(sending, pc.attempt.pods...)
	}
	return append(sending, pc.attempt.runners...)
}

// sends says whether a pod could still send, or have others send. A pod whose node has been silent for long enough must have stopped.
func (pc *portClaims) sends(p *corev1.Pod) bool {
	role := roleOf(p)
	return (role == v1alpha1.RoleGenerator || role == v1alpha1.RoleRunner) && MaySend(p, pc.observedAt)
}

// takeovers are the events for ports that were taken over from tests that no longer need them.
func (pc *portClaims) takeovers(requests []PortRequest) []Event {
	var events []Event
	for _, t := range requests {
		if claim := t.Replaces; claim != nil && claim.Holder.UID != pc.test.UID {
			events = append(events, Event{Warning: true, Reason: v1alpha1.ReasonPortHeld, Message: fmt.Sprintf(
				"%s was still held by %s, %s: its Lease %s is taken over", t.Port, pc.ports.publicName(claim.Holder.Namespace,
					claim.Holder.Name), claim.lapse(pc.observedAt), claim.Lease)})
		}
	}
	return events
}
