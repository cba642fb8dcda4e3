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

// Holder is the test that a port's Lease names.
type Holder struct {
	Namespace, Name string
	UID             types.UID
	Attempt         int32
}

func (h Holder) String() string { return h.Namespace + "/" + h.Name }

// Sender is a generator's pod that sends on a test's ports, named by the test's status and the port's Lease. Only the
// operator writes these two, so a pod that merely has the test's labels or owner reference is no Sender.
type Sender struct {
	Name string
	UID  types.UID
}

// PortClaim is a test's claim to a port, by the port's Lease.
type PortClaim struct {
	Port   Port
	Holder Holder
	// Lease is the Lease's namespace and name, UID its UID.
	Lease string
	UID   types.UID
	// Senders are the holder's generators, as the Lease names them. It names none where generators run outside the
	// cluster.
	Senders []Sender
	// Unseen says that the holder is in a namespace that this operator doesn't watch. Such a holder counts as existing.
	Unseen bool
	// Exists says that the holder's LoadTest exists, with the UID of the Lease. Finished is when the holder became
	// complete, or zero.
	Exists   bool
	Finished time.Time
	// Pods is how many of the senders could still send. They aren't counted while the test goes on.
	Pods int
}

// Waiter is a test that waits for ports with its pods in place.
type Waiter struct {
	Namespace, Name string
	Ports           []Port
}

// ObservedPorts are what is known of the cluster's physical ports.
type ObservedPorts struct {
	// Claims are those of all tests on the ports that matter to this test.
	Claims []PortClaim
	// Older are the waiting tests that were created before this one.
	Older []Waiter
}

// PortRequest is a port to claim before anything else is made. If that fails, nothing else is done. Replaces is the
// claim of a test that no longer needs the port, and is released first.
type PortRequest struct {
	Port     Port
	Holder   Holder
	Senders  []Sender
	Replaces *PortClaim
}

// portGrace is how long after its end a complete test may keep a port whose generators are still there (podRetention).
// Without a runner's heartbeat they stop sending sooner.
const portGrace = time.Minute

// lapse is why a claim no longer counts. Empty means that it counts. Tests release their ports when they end, and
// claims lapse of tests that couldn't.
func (c PortClaim) lapse(moment time.Time) string {
	switch {
	case !c.Exists && c.Pods == 0:
		return "which doesn't exist any more"
	case c.Exists && !c.Finished.IsZero() && (c.Pods == 0 || !moment.Before(c.Finished.Add(portGrace))):
		return "which is complete"
	}
	return ""
}

// MaySend says whether a pod of a test that is gone could still send at a moment. A pod that has ended can't. Neither
// can one whose deletion was due long ago, even if a finalizer keeps the object, since its containers were told to end,
// and no runner's heartbeat reaches them.
func MaySend(p *corev1.Pod, moment time.Time) bool {
	return !Ended(p) && (p.DeletionTimestamp == nil || !isOverdue(p, moment))
}

// portClaims answer which ports the test claims after a step, and which it releases.
type portClaims struct {
	test     *v1alpha1.LoadTest
	attempt  *attempt
	remnants *remnants
	ports    *ports
	// pods are those of all attempts.
	pods           []corev1.Pod
	completionTime *metav1.Time
	observedAt     time.Time
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
	for _, port := range pc.portsInUse(s) {
		c := pc.ports.claimOn(port)
		if c != nil && (c.Holder.UID != pc.test.UID && c.lapse(pc.observedAt) == "" ||
			c.Holder.UID == pc.test.UID && (!s.begins || c.Holder.Attempt == pc.attempt.number)) {
			continue
		}
		requests = append(requests, PortRequest{Port: port, Senders: pc.senders(), Replaces: c,
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
	for _, c := range pc.ports.claims {
		switch isOwn := c.Holder.UID == pc.test.UID; {
		case isOwn && slices.Contains(inUse, c.Port):
		case isOwn && quiet, !isOwn && pc.isNamesakes(c) && c.lapse(pc.observedAt) != "":
			claims = append(claims, c)
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
func (pc *portClaims) isNamesakes(c PortClaim) bool {
	return c.Holder.Namespace == pc.test.Namespace && c.Holder.Name == pc.test.Name
}

// isQuiet says whether none of the test's pods can still send. If one can, deadline is when that is over at the latest.
// Zero means that an observation will show its end.
func (pc *portClaims) isQuiet() (quiet bool, deadline time.Time) {
	quiet = !slices.ContainsFunc(pc.sendersOnPorts(), func(p corev1.Pod) bool { return pc.sends(&p) })
	if !quiet && pc.completionTime != nil {
		deadline = pc.completionTime.Add(portGrace)
		quiet = !pc.observedAt.Before(deadline)
	}
	return quiet, deadline
}

// sendersOnPorts are the pods that could send on the test's ports. Its Leases name them. Where generators run outside
// the cluster and a Lease names none, they are all pods that might send.
func (pc *portClaims) sendersOnPorts() []corev1.Pod {
	named := map[types.UID]bool{}
	for _, c := range pc.ports.claims {
		if c.Holder.UID != pc.test.UID {
			continue
		}
		if len(c.Senders) == 0 {
			return pc.possibleSenders()
		}
		for _, s := range c.Senders {
			named[s.UID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(pc.pods), func(p corev1.Pod) bool { return !named[p.UID] })
}

func (pc *portClaims) possibleSenders() []corev1.Pod {
	sending := slices.Clone(pc.remnants.pods)
	if pc.attempt.hasBegun() || pc.completionTime != nil {
		sending = append(sending, pc.attempt.pods...)
	}
	return append(sending, pc.attempt.runners...)
}

// sends says whether a pod could still send, or have others send. A pod whose node has been silent for long enough must
// have stopped.
func (pc *portClaims) sends(p *corev1.Pod) bool {
	role := roleOf(p)
	return (role == v1alpha1.RoleGenerator || role == v1alpha1.RoleRunner) && MaySend(p, pc.observedAt)
}

// takeovers are the events for ports that were taken over from tests that no longer need them.
func (pc *portClaims) takeovers(requests []PortRequest) []Event {
	var events []Event
	for _, r := range requests {
		if claim := r.Replaces; claim != nil && claim.Holder.UID != pc.test.UID {
			events = append(events, Event{Warning: true, Reason: v1alpha1.ReasonPortHeld, Message: fmt.Sprintf(
				"%s was still held by %s, %s: its Lease %s is taken over", r.Port,
				pc.ports.publicName(claim.Holder.Namespace,
					claim.Holder.Name), claim.lapse(pc.observedAt), claim.Lease)})
		}
	}
	return events
}
