package manifests_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

func TestSamplesCanBeHadInTheLab(t *testing.T) {
	ofEverySample(t, func(t *testing.T, input manifests.Input) {
		if errs := manifests.Check(input); errs != nil {
			t.Error(errs)
		}
	})
}

func TestCheckRefuses(t *testing.T) {
	west := compile.NetworkKey{Namespace: "bench", Name: "sriov-west"}
	for name, c := range map[string]struct {
		sample string
		change func(*manifests.Input)
		want   []string
	}{
		"devices beside kernel interfaces": {"loadtest_trex_intel_pod", func(input *manifests.Input) {
			input.Networks[west] = manifests.Network{Key: west, Plugin: "macvlan", MAC: true}
		}, []string{"the networks of links east have a device resource (annotation k8s.v1.cni.cncf.io/resourceName), " +
			"those of links west have none: TRex drives all its ports alike, so give all links networks of one kind"}},
		"percent of a speed that a virtual interface doesn't have": {"loadtest_trex_loopback",
			func(input *manifests.Input) {
				for key := range input.Networks {
					input.Networks[key] = manifests.Network{Key: key, Plugin: "macvlan"}
				}
			}, []string{"link west: the test asks for percent of line rate, and the interfaces of network " +
				"bench/sriov-west have no speed of their own: say what 100 % is, such as lineRate: 10gbps", "link " +
				"east: "}},
		"a Reference that can't know where frames go": {"loadtest_software_reference", func(input *manifests.Input) {
			input.Compiled.Plan.DUT.Forwarding = plan.MACRewrite
			for key, n := range input.Networks {
				n.MAC = false
				input.Networks[key] = n
			}
		}, []string{"link east: with forwarding MACRewrite the Reference must know the generator's MAC address " +
			"before it runs, and network bench/west accepts none", "link west: "}},
		"a tunnel's cable that is a link's network": {"loadtest_reference_tunnel", func(input *manifests.Input) {
			input.Compiled.Networks[2].DUT = input.Compiled.Networks[1].DUT
		}, []string{"dut.reference.mode.tunnel.network: bench/east is link east's network, too, and the cable " +
			"between the gateways must not be a link"}},
	} {
		t.Run(name, func(t *testing.T) {
			input := sample(t, c.sample)
			c.change(&input)
			errs := manifests.Check(input)
			if len(errs) != len(c.want) {
				t.Fatalf("%d faults, want %d: %v", len(errs), len(c.want), errs)
			}
			for i, err := range errs {
				got := strings.ReplaceAll(err.Error(), "bench/east accepts", "bench/west accepts")
				if !strings.Contains(got, c.want[i]) {
					t.Errorf("%q doesn't say %q", err, c.want[i])
				}
			}
		})
	}
}

func TestCheckTakes(t *testing.T) {
	t.Run("pods of one kind each, with layout PerLink", func(t *testing.T) {
		input := sample(t, "loadtest_per_link")
		key := compile.NetworkKey{Namespace: "bench", Name: "sriov-east"}
		input.Networks[key] = manifests.Network{Key: key, Plugin: "macvlan"}
		if errs := manifests.Check(input); errs != nil {
			t.Error(errs)
		}
	})
	t.Run("the speed of a node's own interface, which the software engine asks for", func(t *testing.T) {
		input := sample(t, "loadtest_software_device")
		input.Compiled.SpeedOf = []string{"west", "east"}
		if errs := manifests.Check(input); errs != nil {
			t.Error(errs)
		}
		input.Test.Spec.Generator.Engine = v1alpha1.EngineTRex
		if errs := manifests.Check(input); len(errs) != 2 {
			t.Errorf("TRex takes every kernel interface for one of 10 Gb/s: %v", errs)
		}
	})
}

// A pod group of Kueue's is of eight kinds of pods at most. A kind is where pods may run and what they request.
func TestAGroupOfKueuesIsOfAFewKinds(t *testing.T) {
	for _, c := range []struct {
		name     string
		replicas int
		layout   v1alpha1.Layout
		dut      string
		want     string
	}{
		{"replicas with all links are of one kind, and the device of another", 8, v1alpha1.LayoutPaired,
			"{type: Reference}", ""},
		{"eight generators that each avoid another machine", 4, v1alpha1.LayoutPerLink, "{type: Device}", ""},
		{"with a device beside them they are too many", 4, v1alpha1.LayoutPerLink, "{type: Reference}",
			"of 9 kinds, and Kueue admits a group of 8 at most"},
		{"ten", 5, v1alpha1.LayoutPerLink, "{type: Device}", "of 10 kinds"},
	} {
		t.Run(c.name, func(t *testing.T) {
			input := inputOfText(t, fmt.Sprintf(`
apiVersion: linerate.dev/v1alpha1
kind: LoadTest
metadata: {name: kinds}
spec:
  generator: {engine: Software, replicas: %d, layout: %s}
  dut: %s
  links: [{name: west, network: west, lineRate: 1gbps}, {name: east, network: east, lineRate: 1gbps}]
`, c.replicas, c.layout, c.dut))
			if err := manifests.CheckGroup(input); err != nil {
				t.Errorf("without the label: %v", err)
			}
			input.Test.Labels = map[string]string{v1alpha1.LabelKueueQueue: "team-a"}
			err := manifests.CheckGroup(input)
			if c.want == "" && err != nil {
				t.Error(err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}
