package inventory

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/controllers/caches"
	"github.com/linerate-dev/linerate/internal/cluster/lifecycle"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
)

// Inventory reads what the cluster has. It works with a client without a cache, and Watch gives it caches. It
// is safe for concurrent use.
type Inventory struct {
	client   client.Reader
	bounds   Bounds
	networks networkReader
	compiled *compiledTests

	mu sync.Mutex
	// names are the networks that each test's spec names.
	names map[types.NamespacedName]networkNames
}

// Bounds are which parts of the cluster the operator sees, and which of these each namespace's tests may use.
type Bounds struct {
	// Namespaces are those whose LoadTests the operator reconciles.
	Namespaces caches.Namespaces
	// Shared are the namespaces whose networks the LoadTests of all namespaces may use. "*" means all.
	Shared []string
	// PortsUnguarded says that the operator reconciles some namespaces only, and doesn't know where other
	// operators keep the Leases of physical ports. Nothing would keep its tests off ports that other operators'
	// tests use, so its tests get no devices that may share a port.
	PortsUnguarded bool
	// Tests bound what the tests' specs may name.
	Tests compile.Bounds
}

// New makes an inventory that reads from the API server each time.
func New(c client.Reader, bounds Bounds) *Inventory {
	return &Inventory{client: c, bounds: bounds, networks: liveNetworks{c}, compiled: newCompiledTests(bounds.Tests),
		names: map[types.NamespacedName]networkNames{}}
}

// networkNames are the networks that the links (keys) and the templates of one generation of a test's spec
// name.
type networkNames struct {
	uid             types.UID
	generation      int64
	keys, templates []compile.NetworkKey
}

// Compiled is the test compiled for a cluster, once for each generation of its spec, as far as there is memory
// for it. It must not be changed.
func (i *Inventory) Compiled(test *v1alpha1.LoadTest) *compile.Compiled { return i.compiled.get(test) }

// namesOf are the networks that the test names. They are found once for each generation of its spec. NamedBy
// searches them.
func (i *Inventory) namesOf(test *v1alpha1.LoadTest) (keys, templates []compile.NetworkKey) {
	name := client.ObjectKeyFromObject(test)
	i.mu.Lock()
	names := i.names[name]
	i.mu.Unlock()
	if names.generation == 0 || names.generation != test.Generation || names.uid != test.UID {
		keys, templates := networkKeys(i.Compiled(test))
		names = networkNames{test.UID, test.Generation, keys, templates}
		i.mu.Lock()
		i.names[name] = names
		i.mu.Unlock()
	}
	return names.keys, names.templates
}

// Named are the networks that the test's links name, whether they exist or not.
func (i *Inventory) Named(test *v1alpha1.LoadTest) []compile.NetworkKey {
	keys, _ := i.namesOf(test)
	return keys
}

// NamedBy are the tests whose links name a network, among those that were read. The zero value stands for all
// networks.
func (i *Inventory) NamedBy(network compile.NetworkKey) (tests []types.NamespacedName) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for name, of := range i.names {
		if network == (compile.NetworkKey{}) || slices.Contains(of.keys, network) {
			tests = append(tests, name)
		}
	}
	return tests
}

// Forget drops a deleted test.
func (i *Inventory) Forget(test types.NamespacedName) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.compiled.forget(i.names[test].uid)
	delete(i.names, test)
}

// NetworksOf are the networks that the test names, as far as they exist.
func (i *Inventory) NetworksOf(ctx context.Context, test *v1alpha1.LoadTest) (lab lifecycle.Inventory, err error) {
	keys, templates := i.namesOf(test)
	lab.Faults = i.outOfBounds(test.Namespace, slices.Concat(templates, keys))
	if len(keys) == 0 {
		return lab, nil
	}
	lab.Multus, err = i.networks.kindServed(ctx)
	if err == nil && lab.Multus {
		err = i.readNetworks(ctx, keys, &lab)
	}
	return lab, err
}

// networkKeys are the networks that the test's links (keys) and templates name. There are none if the test
// doesn't compile.
func networkKeys(test *compile.Compiled) (keys, templates []compile.NetworkKey) {
	if test.Cluster == nil {
		return nil, nil
	}
	for _, link := range test.Cluster.Networks {
		for _, key := range []compile.NetworkKey{link.Generator, link.DUT} {
			if key.Name != "" {
				keys = append(keys, key)
			}
		}
	}
	return keys, test.Cluster.OwnNetworks
}

// outOfBounds says why a namespace's tests may not use certain networks. A network leads to a tenant's wires,
// and namespaces keep tenants apart.
func (i *Inventory) outOfBounds(namespace string, keys []compile.NetworkKey) map[compile.NetworkKey]string {
	shared, faults := i.bounds.Shared, map[compile.NetworkKey]string{}
	for _, key := range keys {
		if key.Namespace != namespace && !slices.Contains(shared, "*") && !slices.Contains(shared, key.Namespace) {
			faults[key] = fmt.Sprintf("tests of namespace %s may use networks of %s only: use one of those, or have "+
				"an administrator add %s to the chart's allowedNetworkNamespaces (the operator's option "+
				"--network-namespaces)",
				namespace, strings.Join(slices.Concat([]string{namespace}, shared), ", "), key.Namespace)
		}
	}
	return faults
}

const unguarded = "it gives devices of physical ports that another operator's tests may be on, too: this operator " +
	"looks after some namespaces only, and doesn't know where all operators of the " +
	"cluster keep these ports' Leases: an administrator says it, also where there is no other operator, by the " +
	"chart's physicalPorts.namespace (the option --port-leases-namespace)"

func (i *Inventory) readNetworks(ctx context.Context, keys []compile.NetworkKey, lab *lifecycle.Inventory) error {
	lab.Networks = map[compile.NetworkKey]manifests.Network{}
	for _, key := range keys {
		if lab.Faults[key] != "" {
			continue
		}
		if !i.bounds.Namespaces.Contains(key.Namespace) {
			lab.Faults[key] = fmt.Sprintf("the operator sees the namespaces %s only (its option --namespaces), and "+
				"the network is in %s",
				strings.Join(i.bounds.Namespaces, ", "), key.Namespace)
			continue
		}
		definition, err := i.networks.get(ctx, key)
		if err != nil {
			return fmt.Errorf("get network %s: %w", key, err)
		}
		if definition == nil {
			continue
		}
		config, _, err := unstructured.NestedString(definition.Object, "spec", "config")
		if err != nil { // can't happen, since the schema demands a string
			return err
		}
		network, err := manifests.ReadNetwork(key, definition.GetAnnotations(), config)
		if err != nil {
			lab.Faults[key] = err.Error()
			continue
		}
		if i.bounds.PortsUnguarded && network.MayShare() {
			lab.Faults[key] = unguarded
			continue
		}
		lab.Networks[key] = network
	}
	return nil
}
