package loadtest

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/linerate-dev/linerate/internal/compile"
)

// changedNetworks are those that changed since the tests that name them were last woken. It is safe for concurrent use.
type changedNetworks struct {
	mu       sync.Mutex
	networks map[compile.NetworkKey]bool
}

func (c *changedNetworks) add(network compile.NetworkKey) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.networks == nil {
		c.networks = map[compile.NetworkKey]bool{}
	}
	c.networks[network] = true
}

func (c *changedNetworks) take() map[compile.NetworkKey]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	networks := c.networks
	c.networks = nil
	return networks
}

// testsOfNetworks are the tests that wait for something in the cluster, or for their turn, and name a network that has changed. A test that hasn't been observed yet names none, and reads its networks
// when it is.
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
