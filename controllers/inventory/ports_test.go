package inventory

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/compile/admission"
)

// networks are a cluster with networks of a plugin, or with a device resource.
type networks struct{ plugin, resource string }

func (n networks) List(context.Context, client.ObjectList, ...client.ListOption) error { return nil }

func (n networks) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	definition := object.(*unstructured.Unstructured)
	definition.SetName(key.Name)
	definition.SetNamespace(key.Namespace)
	if n.resource != "" {
		definition.SetAnnotations(map[string]string{"k8s.v1.cni.cncf.io/resourceName": n.resource})
	}
	return unstructured.SetNestedField(definition.Object, `{"cniVersion": "1.0.0", "type": "`+n.plugin+`"}`, "spec",
		"config")
}

// A test that is made again under the name of another has networks of its own, although both are of the first
// generation.
func TestATestOfTheSameNameHasNetworksOfItsOwn(t *testing.T) {
	inventory := New(networks{"bridge", ""}, Bounds{})
	for uid, network := range map[types.UID]string{"first": "north", "second": "south"} {
		test := aTest(t, network)
		test.UID, test.Generation = uid, 1
		lab, err := inventory.NetworksOf(t.Context(), test)
		if _, found := lab.Networks[compile.NetworkKey{Namespace: "lab", Name: network}]; err != nil || !found {
			t.Errorf("of network %s: %+v, %v", network, lab.Networks, err)
		}
	}
}

// aTest names a network, and one named east.
func aTest(t *testing.T, network string) *v1alpha1.LoadTest {
	t.Helper()
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := server.Load("test.yaml", strings.NewReader(`
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: t, namespace: lab}
spec: {dut: {type: Reference}, links: [{name: west, network: `+network+`, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	return objects[0].LoadTest
}

// An operator that doesn't know where others keep the Leases of physical ports gives its tests no devices that
// may share one, and says the fix. It gives devices that can't share one.
func TestDevicesThatNobodyKeepsOthersOffAreRefused(t *testing.T) {
	test := aTest(t, "west")
	for name, c := range map[string]struct {
		networks  networks
		unguarded bool
		refused   bool
	}{
		"devices, guarded":         {networks{"sriov", "intel.com/sriov"}, false, false},
		"devices, unguarded":       {networks{"sriov", "intel.com/sriov"}, true, true},
		"an interface, unguarded":  {networks{"host-device", ""}, true, true},
		"a bridge, unguarded":      {networks{"bridge", ""}, true, false},
		"a veth pair, unguarded":   {networks{"ptp", ""}, true, false},
		"an interface, guarded":    {networks{"host-device", ""}, false, false},
		"a bridge's, if it has it": {networks{"bridge", "lab.example/port"}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			lab, err := New(c.networks, Bounds{PortsUnguarded: c.unguarded}).NetworksOf(t.Context(), test)
			if err != nil {
				t.Fatal(err)
			}
			west := compile.NetworkKey{Namespace: "lab", Name: "west"}
			_, found := lab.Networks[west]
			fault := lab.Faults[west]
			if found == c.refused || strings.Contains(fault, "physicalPorts.namespace") != c.refused ||
				strings.Contains(fault, "--port-leases-namespace") != c.refused {
				t.Errorf("given %v, and told %q", found, fault)
			}
		})
	}
}
