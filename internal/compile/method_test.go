package compile_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
)

// Runs are repetitions of each other by their Plans' method: whose test it is must not matter to it.
// Only a rate in percent is a share of it.
func TestBurstsAtAnAbsoluteRateNeedNoLineRate(t *testing.T) {
	const spec = "  links: [{name: west}, {name: east}]\n  procedure: {type: BackToBack, backToBack: {rate: 20kpps}}\n"
	if p := compiled(t, admit(t, newServer(t), spec)); p.Procedure.BackToBack.Rate.String() != "20kpps" {
		t.Errorf("%+v", p.Procedure.BackToBack)
	}
}

func TestAnotherTestOfTheSameSpecMeasuresTheSameWay(t *testing.T) {
	server := newServer(t)
	method := func(name string, change func(*v1alpha1.LoadTest)) string {
		test := admit(t, server, "  dut: {type: Reference, reference: {limit: {packetsPerSecond: 10000}}}\n"+links)
		test.Name, test.UID, test.Labels = name, types.UID(name), map[string]string{v1alpha1.LabelProduct: name}
		change(test)
		return compiled(t, test).Method()
	}
	original := method("a", func(*v1alpha1.LoadTest) {})
	for name, c := range map[string]struct {
		change    func(*v1alpha1.LoadTest)
		unchanged bool
	}{
		"another name":        {func(*v1alpha1.LoadTest) {}, true},
		"another limit":       {func(t *v1alpha1.LoadTest) { t.Spec.DUT.Reference.Limit.PacketsPerSecond++ }, true},
		"another deadline":    {func(t *v1alpha1.LoadTest) { t.Spec.ActiveDeadline = "3h" }, true},
		"another target rate": {func(t *v1alpha1.LoadTest) { t.Spec.Procedure.Ramp.TargetRate = "90%" }, false},
		"all directions together, " +
			"said": {func(t *v1alpha1.LoadTest) { t.Spec.Procedure.Directions = v1alpha1.DirectionsTogether }, true},
		"one direction after " +
			"another": {func(t *v1alpha1.LoadTest) { t.Spec.Procedure.Directions = v1alpha1.DirectionsEach }, false},
		"other flows": {func(t *v1alpha1.LoadTest) {
			t.Spec.Traffic.Flows = &v1alpha1.FlowsSpec{Count: 100, Fields: []v1alpha1.FlowField{"SourceAddress"}}
		}, false},
	} {
		if unchanged := method("b", c.change) == original; unchanged != c.unchanged {
			t.Errorf("%s: the same method: %t, want %t", name, unchanged, c.unchanged)
		}
	}
	test := admit(t, server, "  dut: {type: Pod, pod: {template: {spec: {containers: [{name: vpp, image: vpp}]}}}}\n "+
		" links: [{name: west, network: w, lineRate: 1gbps, generator: {address: 198.18.0.2/24}, dut: {address: "+
		"198.18.0.1/24}}, {name: east, network: e, lineRate: 1gbps, generator: {address: 198.18.1.2/24}, dut: "+
		"{address: 198.18.1.1/24}}]\n")
	methods := map[string]bool{}
	for _, name := range []string{"first", "second"} {
		test.Name, test.Namespace, test.UID = name, name, types.UID(name)
		cluster, errs := compile.ForCluster(test)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		methods[cluster.Plan.Method()] = true
	}
	if len(methods) != 1 {
		t.Error("in a cluster the method depends on whose test it is")
	}
}
