package compile_test

import (
	"fmt"
	"testing"

	"github.com/linerate-dev/linerate/internal/compile"
)

// clusterOf compiles a spec for a cluster, in namespace lab.
func clusterOf(t *testing.T, spec string) *compile.Cluster {
	t.Helper()
	test := admit(t, newServer(t), spec)
	test.Namespace = "lab"
	cluster, errs := compile.ForCluster(test)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return cluster
}

// networked are n links, each with a network.
func networked(n int) string {
	links, directions := "", ""
	for i := range n {
		links += fmt.Sprintf("  - {name: l%d, network: n%d, lineRate: 10gbps}\n", i, i)
		directions += fmt.Sprintf("{from: l%d, to: l%d}, ", i, (i+1)%n)
	}
	return "  links:\n" + links + "  traffic: {directions: [" + directions + "]}\n"
}

func text(r compile.Resources) string {
	text := fmt.Sprintf("%d cores, %d CPUs, %s", r.Cores, r.CPUs, r.Memory.String())
	if r.HugepageSize != "" {
		text += fmt.Sprintf(", %s of %s", r.Hugepages.String(), r.HugepageSize)
	}
	return text
}

func TestGeneratorPodsRequest(t *testing.T) {
	const trex = "engine: TRex, trex: {image: trex}"
	for _, c := range []struct {
		name, generator string
		links           int
		devices, kernel string
	}{
		{"TRex as it comes", trex, 2, "4 cores, 6 CPUs, 4Gi, 4Gi of 1Gi", "1 cores, 0 CPUs, 4Gi"},
		{"TRex with an odd number of cores", trex + ", coresPerPortPair: 3", 2, "3 cores, 6 CPUs, 4Gi, 4Gi of 1Gi",
			"1 cores, 4 CPUs, 4Gi"},
		{"TRex with one core", trex + ", coresPerPortPair: 1", 2, "1 cores, 4 CPUs, 4Gi, 4Gi of 1Gi",
			"1 cores, 4 CPUs, 4Gi"},
		{"TRex on three links: two pairs", trex, 3, "4 cores, 10 CPUs, 4Gi, 4Gi of 1Gi", "1 cores, 0 CPUs, 4Gi"},
		{"TRex on eight links", trex + ", coresPerPortPair: 2", 8, "2 cores, 10 CPUs, 4Gi, 4Gi of 1Gi",
			"1 cores, 6 CPUs, 4Gi"},
		{"TRex with a pod per link: one pair", trex + ", layout: PerLink", 8, "4 cores, 6 CPUs, 4Gi, 4Gi of 1Gi",
			"1 cores, 0 CPUs, 4Gi"},
		{"TRex with all of its memory said", trex + ", memory: 8Gi, hugepages: {pageSize: 2Mi, total: 1026Mi}", 2,
			"4 cores, 6 CPUs, 8Gi, 1026Mi of 2Mi", "1 cores, 0 CPUs, 8Gi"},
		{"TRex with less than it wants by itself", "engine: TRex, trex: {image: trex, config: {limit_memory: \"100\"}}, " +
			"memory: 1Gi, hugepages: {pageSize: 2Mi, total: 128Mi}", 2, "4 cores, 6 CPUs, 1Gi, 128Mi of 2Mi",
			"1 cores, 0 CPUs, 1Gi"},
		{"the software engine as it comes", "engine: Software", 2, "1 cores, 0 CPUs, 512Mi", "1 cores, 0 CPUs, 512Mi"},
		{"the software engine with cores of its own", "engine: Software, coresPerPortPair: 2, memory: 1Gi", 4,
			"2 cores, 6 CPUs, 1Gi", "2 cores, 6 CPUs, 1Gi"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := clusterOf(t, "  generator: {"+c.generator+"}\n"+networked(c.links))
			if text(got.Generator) != c.devices || text(got.Kernel) != c.kernel {
				t.Errorf("on devices %s, want %s;\non the kernel %s, want %s", text(got.Generator), c.devices,
					text(got.Kernel), c.kernel)
			}
		})
	}
	t.Run("an external generator is no pod", func(t *testing.T) {
		got := clusterOf(t, "  dut: {type: Device}\n  generator: {engine: TRex, placement: {servers: [{address: trex.lab}]}}\n"+
			links)
		if got.Generator != (compile.Resources{}) || got.Kernel != (compile.Resources{}) {
			t.Errorf("%+v", got.Generator)
		}
	})
}

func TestHugepagesThatAreTooFewAreRefused(t *testing.T) {
	for hugepages, want := range map[string]string{
		"trex: {image: trex}, hugepages: {pageSize: 2Mi, total: 128Mi}":                                     `"128Mi": TRex doesn't start with less: set 1Gi or more`,
		"trex: {image: trex, config: {limit_memory: 200}}, hugepages: {pageSize: 2Mi, total: 128Mi}":        `"128Mi": generator.trex.config.limit_memory takes more: set 200Mi or more`,
		"trex: {image: trex, config: {limit_memory: half of it}}, hugepages: {pageSize: 2Mi, total: 128Mi}": `"128Mi": TRex doesn't start with less: set 1Gi or more`,
	} {
		test := admit(t, newServer(t), "  generator: {engine: TRex, "+hugepages+"}\n"+networked(2))
		test.Namespace = "lab"
		_, errs := compile.ForCluster(test)
		if len(errs) != 1 || errs[0].Error() != "spec.generator.hugepages.total: Invalid value: "+want {
			t.Errorf("%s: %v", hugepages, errs)
		}
	}
}
