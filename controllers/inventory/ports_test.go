package inventory

import (
	"context"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/linerate-dev/linerate/internal/admission"
	"github.com/linerate-dev/linerate/internal/compile"
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
	return unstructured.SetNestedField(definition.Object, `{"cniVersion": "1.0.0", "type": "`+n.plugin+`"}`, "spec", "config")
}

// An operator that doesn't know where others keep the Leases of physical ports gives its tests no devices that may share one, and says what is to be done. What
// can't share one it gives.
func TestDevicesThatNobodyKeepsOthersOffAreRefused(t *testing.T) {
	server, err := admission.NewServer()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := server.Load("test.yaml", strings.NewReader(`
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: t, namespace: lab}
spec: {dut: {type: Reference}, links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of        networks
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
			lab, err := New(c.of, Bounds{PortsUnguarded: c.unguarded}).NetworksOf(t.Context(), objects[0].LoadTest)
			if err != nil {
				t.Fatal(err)
			}
			west := compile.NetworkKey{Namespace: "lab", Name: "west"}
			_, given := lab.Networks[west]
			why := lab.Faults[west]
			if given == c.refused || strings.Contains(why, "physicalPorts.namespace") != c.refused || strings.Contains(why, "--port-leases-namespace") != c.refused {
				t.Errorf("given %v, and told %q", given, why)
			}
		})
	}
}
