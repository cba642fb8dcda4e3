package wires

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

// Leases are the Leases of wires. Their client need not have a cache; Watch gives them caches. They are safe for concurrent use once they are set
// up.
type Leases struct {
	options Options
	// client writes, and reads through the cache where there is one; live reads past it, leases reads Leases.
	client       client.Client
	live, leases client.Reader
	// waiting lists the tests that wait for something, and possibly others.
	waiting func() []client.ListOption
	// ofHolder lists the Leases of tests of a name, and possibly others.
	ofHolder func(holder types.NamespacedName) []client.ListOption
}

// Options are what the operator was started with.
type Options struct {
	// Namespace is where the Leases are kept: the operator's own, or one that it shares with the cluster's other operators. Empty: no test can take any wire.
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

// list lists holds, without observing their holders.
func (l *Leases) list(ctx context.Context, options ...client.ListOption) (holds []lifecycle.PortClaim, err error) {
	if l.options.Namespace == "" {
		return nil, nil
	}
	var leases coordinationv1.LeaseList
	options = append([]client.ListOption{client.InNamespace(l.options.Namespace), client.HasLabels{v1alpha1.LabelWire}, client.UnsafeDisableDeepCopy}, options...)
	if err := l.leases.List(ctx, &leases, options...); err != nil {
		return nil, fmt.Errorf("list the Leases of physical ports: %w", err)
	}
	for i := range leases.Items {
		if hold, ok := holdOf(ctx, &leases.Items[i]); ok {
			holds = append(holds, hold)
		}
	}
	return holds, nil
}

// of are the holds of the test of this name, and of earlier tests of the same name.
func (l *Leases) of(ctx context.Context, holder types.NamespacedName) ([]lifecycle.PortClaim, error) {
	holds, err := l.list(ctx, l.ofHolder(holder)...)
	return slices.DeleteFunc(holds, func(h lifecycle.PortClaim) bool { return nameOf(h.Holder) != holder }), err
}

// whose is the hold on a physical port; false: no test holds it.
func (l *Leases) whose(ctx context.Context, wire lifecycle.Port) (hold lifecycle.PortClaim, held bool, err error) {
	if l.options.Namespace == "" {
		return hold, false, nil
	}
	lease := &coordinationv1.Lease{}
	if err := l.leases.Get(ctx, client.ObjectKey{Namespace: l.options.Namespace, Name: leaseName(wire)}, lease); err != nil {
		return hold, false, client.IgnoreNotFound(err)
	}
	hold, held = holdOf(ctx, lease)
	return hold, held, nil
}

// Of observes the wires that concern a test: those that it holds, those of its pods, and those that it waits for. It also deletes orphaned generators that an
// earlier test of the same name left.
func (l *Leases) Of(ctx context.Context, test *v1alpha1.LoadTest, pods []corev1.Pod) (seen lifecycle.ObservedPorts, err error) {
	if seen.Claims, err = l.of(ctx, client.ObjectKeyFromObject(test)); err != nil {
		return seen, err
	}
	concerned := lifecycle.PortsOf(test.Status.Pods)
	if test.Status.StartedAt == nil {
		concerned = lifecycle.PortsOf(lifecycle.PodStatuses(pods))
		if len(concerned) > 0 {
			if seen.Older, err = l.ahead(ctx, test); err != nil {
				return seen, err
			}
		}
	}
	for _, port := range test.Status.AwaitedPorts {
		concerned = append(concerned, lifecycle.Port{Node: port.Node, Name: port.Port})
	}
	for _, waiter := range seen.Older {
		concerned = append(concerned, waiter.Ports...)
	}
	for _, wire := range concerned {
		if slices.ContainsFunc(seen.Claims, func(h lifecycle.PortClaim) bool { return h.Port == wire }) {
			continue
		}
		hold, held, err := l.whose(ctx, wire)
		if err != nil {
			return seen, fmt.Errorf("look whose %s is: %w", wire, err)
		}
		if held {
			seen.Claims = append(seen.Claims, hold)
		}
	}
	for i := range seen.Claims {
		if hold := &seen.Claims[i]; hold.Holder.UID != test.UID {
			if err := l.observeOther(ctx, test, hold); err != nil {
				return seen, err
			}
		}
	}
	return seen, nil
}

// ahead are the tests that wait for wires with their pods in place, and were created before this one.
func (l *Leases) ahead(ctx context.Context, test *v1alpha1.LoadTest) ([]lifecycle.Waiter, error) {
	var tests v1alpha1.LoadTestList
	if err := l.client.List(ctx, &tests, append(l.waiting(), client.UnsafeDisableDeepCopy)...); err != nil {
		return nil, fmt.Errorf("list the tests that wait: %w", err)
	}
	var out []lifecycle.Waiter
	for i := range tests.Items {
		other := &tests.Items[i]
		if !waitsForPort(other) || compareAge(other, test) >= 0 || other.DeletionTimestamp != nil {
			continue
		}
		if wires := lifecycle.PortsOf(other.Status.Pods); len(wires) > 0 {
			out = append(out, lifecycle.Waiter{Namespace: other.Namespace, Name: other.Name, Ports: wires})
		}
	}
	return out, nil
}

// compareAge puts the test that was created first before the other.
func compareAge(a, b *v1alpha1.LoadTest) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
}
