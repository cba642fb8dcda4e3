package loadtest

import (
	"context"
	"maps"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/linerate-dev/linerate/internal/compile"
)

// networksPause is how long the tests that name a namespace's networks aren't woken again. Otherwise anyone who
// may change a network could have all of them reconciled at each change.
const networksPause = time.Second

// changedNetworks are the networks that changed since the tests that name them were last woken. The first
// change of a namespace's networks wakes tests at once, and the changes of the next second wake tests together.
// It is safe for concurrent use.
type changedNetworks struct {
	// wake has the tests woken that name the due networks.
	wake func()

	mu  sync.Mutex
	due map[compile.NetworkKey]bool
	// later are the networks that change during the pause of their namespace. A namespace without a pause has
	// no entry.
	later map[string]map[compile.NetworkKey]bool
}

func newChangedNetworks(wake func()) *changedNetworks {
	return &changedNetworks{wake: wake, due: map[compile.NetworkKey]bool{},
		later: map[string]map[compile.NetworkKey]bool{}}
}

func (c *changedNetworks) add(network compile.NetworkKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if later, pauses := c.later[network.Namespace]; pauses {
		later[network] = true
		return
	}
	c.due[network] = true
	c.wakeAndPause(network.Namespace)
}

// wakeAndPause has tests woken, and delays the next ones of this namespace's networks. The caller holds c.mu.
func (c *changedNetworks) wakeAndPause(namespace string) {
	c.later[namespace] = map[compile.NetworkKey]bool{}
	time.AfterFunc(networksPause, func() { c.endPause(namespace) })
	c.wake()
}

func (c *changedNetworks) endPause(namespace string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed := c.later[namespace]
	delete(c.later, namespace)
	if len(changed) > 0 {
		maps.Copy(c.due, changed)
		c.wakeAndPause(namespace)
	}
}

func (c *changedNetworks) take() map[compile.NetworkKey]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	due := c.due
	c.due = map[compile.NetworkKey]bool{}
	return due
}

// testsOfNetworks are the tests that wait for something in the cluster, or for their turn, and name a network
// that has changed. A test that wasn't observed yet names none, and reads its networks at its first
// observation.
func (r *Reconciler) testsOfNetworks(ctx context.Context, _ client.Object) (requests []reconcile.Request) {
	named := map[types.NamespacedName]bool{}
	for network := range r.changedNetworks.take() {
		for _, test := range r.inventory.NamedBy(network) {
			named[test] = true
		}
	}
	for _, request := range append(r.testsConcernedBy(ctx, waitsForLab), r.testsConcernedBy(ctx, waitsInLine)...) {
		if named[request.NamespacedName] {
			requests = append(requests, request)
		}
	}
	return requests
}
