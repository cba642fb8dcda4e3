package portclaims

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
)

// Leases are the Leases of ports. Their client may lack a cache, and Watch gives them caches. They are safe for
// concurrent use once they are set up.
type Leases struct {
	options Options
	// client writes, and reads through the cache where there is one. live reads past it, and leases reads
	// Leases.
	client       client.Client
	live, leases client.Reader
	// waiting lists the tests that wait for something, and possibly others.
	waiting func() []client.ListOption
	// ofHolder lists the Leases of tests of a name, and possibly others.
	ofHolder func(holder types.NamespacedName) []client.ListOption
}

// Options are what the operator was started with.
type Options struct {
	// Namespace is where the Leases are stored. It is the operator's own, or one that the operator shares with
	// the cluster's other operators. If it is empty, no test can claim a port.
	Namespace string
	// Namespaces are those whose LoadTests the operator reconciles.
	Namespaces caches.Namespaces
	Clock      func() time.Time
}

// New makes Leases that are read and written through one client.
func New(c client.Client, options Options) *Leases {
	return &Leases{
		options: options, client: c, live: c, leases: c, waiting: func() []client.ListOption { return nil },
		ofHolder: func(types.NamespacedName) []client.ListOption { return nil },
	}
}

// list lists claims, without observing their holders.
func (l *Leases) list(ctx context.Context, options ...client.ListOption) (claims []lifecycle.PortClaim, err error) {
	if l.options.Namespace == "" {
		return nil, nil
	}
	var leases coordinationv1.LeaseList
	options = append([]client.ListOption{client.InNamespace(l.options.Namespace), client.HasLabels{v1alpha1.LabelWire},
		client.UnsafeDisableDeepCopy}, options...)
	if err := l.leases.List(ctx, &leases, options...); err != nil {
		return nil, fmt.Errorf("list the Leases of physical ports: %w", err)
	}
	for i := range leases.Items {
		if claim, ok := claimOf(ctx, &leases.Items[i]); ok {
			claims = append(claims, claim)
		}
	}
	return claims, nil
}

// claimsOf are the claims of the test of this name, and of earlier tests of the same name.
func (l *Leases) claimsOf(ctx context.Context, holder types.NamespacedName) ([]lifecycle.PortClaim, error) {
	claims, err := l.list(ctx, l.ofHolder(holder)...)
	return slices.DeleteFunc(claims, func(h lifecycle.PortClaim) bool { return nameOf(h.Holder) != holder }), err
}

// claimOn is the claim on a physical port. It is false if no test holds the port.
func (l *Leases) claimOn(ctx context.Context, port lifecycle.Port) (claim lifecycle.PortClaim, ok bool, err error) {
	if l.options.Namespace == "" {
		return claim, false, nil
	}
	lease := &coordinationv1.Lease{}
	if err := l.leases.Get(ctx, client.ObjectKey{Namespace: l.options.Namespace, Name: leaseName(port)},
		lease); err != nil {
		return claim, false, client.IgnoreNotFound(err)
	}
	claim, ok = claimOf(ctx, lease)
	return claim, ok, nil
}

// Observe observes the ports that concern a test, which are those that it holds, those of its pods, and those
// that it waits for. It also deletes orphaned generators that an earlier test of the same name left.
func (l *Leases) Observe(ctx context.Context, test *v1alpha1.LoadTest,
	pods []corev1.Pod) (ports lifecycle.ObservedPorts, err error) {
	if ports.Claims, err = l.claimsOf(ctx, client.ObjectKeyFromObject(test)); err != nil {
		return ports, err
	}
	concerned := lifecycle.PortsOf(test.Status.Pods)
	if test.Status.StartTime == nil {
		concerned = lifecycle.PortsOf(lifecycle.PodStatuses(pods))
		if len(concerned) > 0 {
			if ports.Older, err = l.olderWaiters(ctx, test); err != nil {
				return ports, err
			}
		}
	}
	for _, port := range test.Status.Operator.AwaitedPorts {
		concerned = append(concerned, lifecycle.Port{Node: port.Node, Name: port.Port})
	}
	for _, waiter := range ports.Older {
		concerned = append(concerned, waiter.Ports...)
	}
	for _, port := range concerned {
		if slices.ContainsFunc(ports.Claims, func(h lifecycle.PortClaim) bool { return h.Port == port }) {
			continue
		}
		claim, ok, err := l.claimOn(ctx, port)
		if err != nil {
			return ports, fmt.Errorf("look whose %s is: %w", port, err)
		}
		if ok {
			ports.Claims = append(ports.Claims, claim)
		}
	}
	for i := range ports.Claims {
		if claim := &ports.Claims[i]; claim.Holder.UID != test.UID {
			if err := l.observeOther(ctx, test, claim); err != nil {
				return ports, err
			}
		}
	}
	return ports, nil
}

// olderWaiters are the tests that wait for ports with their pods in place, and were created before this one.
func (l *Leases) olderWaiters(ctx context.Context, test *v1alpha1.LoadTest) ([]lifecycle.Waiter, error) {
	var tests v1alpha1.LoadTestList
	if err := l.client.List(ctx, &tests, append(l.waiting(), client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("list the tests that wait: %w", err)
	}
	var waiters []lifecycle.Waiter
	for i := range tests.Items {
		candidate := &tests.Items[i]
		if !waitsForPort(candidate) || compareAge(candidate, test) >= 0 || candidate.DeletionTimestamp != nil {
			continue
		}
		if ports := lifecycle.PortsOf(candidate.Status.Pods); len(ports) > 0 {
			waiters = append(waiters, lifecycle.Waiter{Namespace: candidate.Namespace, Name: candidate.Name,
				Ports: ports})
		}
	}
	return waiters, nil
}

// compareAge puts the older test first.
func compareAge(a, b *v1alpha1.LoadTest) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
}
