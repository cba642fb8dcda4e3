package manifests_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
)

var lab1 = compile.NetworkKey{Namespace: "lab", Name: "west"}

func TestReadNetwork(t *testing.T) {
	device := map[string]string{"k8s.v1.cni.cncf.io/resourceName": "intel.com/sriov_west"}
	for name, c := range map[string]struct {
		annotations map[string]string
		config      string
		want        manifests.Network
	}{
		"a single plugin": {device, `{"type": "sriov", "capabilities": {"mac": true}}`,
			manifests.Network{Resource: "intel.com/sriov_west", Plugin: "sriov", MAC: true}},
		"the first of a list is the plugin, and any of it takes the MAC address": {nil,
			`{"name": "w", "plugins": [{"type": "macvlan"}, {"type": "tuning", "capabilities": {"mac": true}}]}`,
			manifests.Network{Plugin: "macvlan", MAC: true}},
		"addresses are wanted by the manager static": {nil,
			`{"type": "bridge", "capabilities": {"ips": true, "mac": false}, "ipam": {"type": "static"}}`,
			manifests.Network{Plugin: "bridge", IPs: true}},
		"addresses are given by a manager that has its own": {nil,
			`{"type": "bridge", "capabilities": {"ips": true}, "ipam": {"type": "host-local"}}`,
			manifests.Network{Plugin: "bridge"}},
		"static addresses of the network's own are left to it": {nil,
			`{"type": "bridge", "ipam": {"type": "static", "addresses": [{"address": "10.0.0.1/24"}]}}`,
			manifests.Network{Plugin: "bridge"}},
		"without a configuration Multus takes the node's": {device, " ",
			manifests.Network{Resource: "intel.com/sriov_west"}},
		"sriov with its device in the configuration": {nil, `{"type": "sriov", "deviceID": "0000:03:02.1"}`,
			manifests.Network{Plugin: "sriov"}},
		"a device of something else than sriov": {map[string]string{"k8s.v1.cni.cncf.io/resourceName": " linerate.dev/vf-west "}, `{"type": "linerate-vf"}`,
			manifests.Network{Resource: "linerate.dev/vf-west", Plugin: "linerate-vf"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := manifests.ReadNetwork(lab1, c.annotations, c.config)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Key = lab1
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestReadNetworkRefuses(t *testing.T) {
	for name, c := range map[string]struct{ resource, config, want string }{
		"what isn't JSON": {"", `type: sriov`,
			"network lab/west: its spec.config can't be read as a CNI configuration"},
		"a plugin without a type":  {"", `{"plugins": [{"type": "bridge"}, {}]}`, "plugin 1 has no type"},
		"a list":                   {"", `[]`, "can't be read"},
		"sriov without a resource": {"", `{"type": "sriov"}`, "add the annotation k8s.v1.cni.cncf.io/resourceName"},
		"a resource without domain": {"sriov_west", `{"type": "sriov"}`,
			`"sriov_west": write a device resource of the nodes, such as vendor.io/sriov_west`},
		"a resource with spaces": {"intel.com/sriov west", `{"type": "sriov"}`, "write a device resource"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := manifests.ReadNetwork(lab1, map[string]string{"k8s.v1.cni.cncf.io/resourceName": c.resource},
				c.config)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
}

// FuzzReadNetwork writes as a lab's administrator. Each text is either read or refused by the network's name.
func FuzzReadNetwork(f *testing.F) {
	for _, config := range []string{`{"type": "sriov"}`, `{"plugins": [{"type": "a"}]}`, `{"plugins": []}`, `null`,
		`{"ipam": null, "type": "x", "capabilities": null}`} {
		f.Add("intel.com/a", config)
	}
	f.Fuzz(func(t *testing.T, resource, config string) {
		n, err := manifests.ReadNetwork(lab1, map[string]string{"k8s.v1.cni.cncf.io/resourceName": resource}, config)
		if err != nil && !strings.HasPrefix(err.Error(), "network lab/west: ") {
			t.Errorf("refused without the network's name: %v", err)
		}
		if err == nil && n.Plugin == "" && strings.TrimSpace(config) != "" {
			t.Errorf("%q was read as a network without a plugin", config)
		}
	})
}
