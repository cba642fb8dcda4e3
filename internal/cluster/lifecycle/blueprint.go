package lifecycle

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// blueprint answers what the test is to be made into.
type blueprint struct {
	test *v1alpha1.LoadTest
	// compiled is the test as it was compiled already. Nil means that cluster compiles it.
	compiled *compile.Compiled
	networks map[compile.NetworkKey]manifests.Network
	attempt  int32
	excluded []string
	settings manifests.Settings
	// result is the compiled test. It is nil before cluster is called, and where the spec can't be compiled, as errs
	// say.
	result *compile.Cluster
	errs   field.ErrorList
}

// cluster is the test compiled for a cluster, once, and only where a rule asks for it. Nil means that the spec can't
// be measured.
func (b *blueprint) cluster() *compile.Cluster {
	switch {
	case b.result != nil || b.errs != nil:
	case b.compiled != nil:
		b.result, b.errs = b.compiled.Cluster, b.compiled.Errs
	default:
		b.result, b.errs = compile.ForCluster(b.test)
	}
	return b.result
}

// input is what manifests are made from.
func (b *blueprint) input() manifests.Input {
	return manifests.Input{
		Test: b.test, Compiled: b.cluster(), Networks: b.networks, Attempt: b.attempt,
		ExcludedNodes: b.excluded, Settings: b.settings,
	}
}

// pods are the attempt's pods, the DUT's first.
func (b *blueprint) pods() []*corev1.Pod {
	input := b.input()
	return append(manifests.Devices(input), manifests.Generators(input)...)
}

// ends are the links' ends that pods of ours have.
func (b *blueprint) ends() []end {
	var ends []end
	for _, n := range b.cluster().Networks {
		if n.Generator.Name != "" {
			ends = append(ends, end{n.Link, "generator", n.Generator})
		}
		if n.DUT.Name != "" {
			ends = append(ends, end{n.Link, "DUT", n.DUT})
		}
	}
	return ends
}

// needs are what the attempt's pods need.
func (b *blueprint) needs() []need {
	pods := b.pods()
	needs := make([]need, 0, len(pods))
	for _, p := range pods {
		if resources := scarce(p); len(resources) > 0 {
			needs = append(needs, need{p.Name, resources})
		}
	}
	return needs
}

// end is a link's end at a pod of ours, and its network.
type end struct {
	link, side string
	key        compile.NetworkKey
}

func (e end) String() string {
	if e.link == plan.TunnelCable {
		return fmt.Sprintf("network %s (dut.reference.mode.tunnel.network)", e.key)
	}
	return fmt.Sprintf("network %s (link %s, the %s's end)", e.key, e.link, e.side)
}
