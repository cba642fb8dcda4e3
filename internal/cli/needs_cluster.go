package cli

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/pod/job"
)

// needsCluster refuses what a LoadTest can't have on one machine, where no pods run. It ignores fields about
// the placement of pods, so that one file works in both places.
func needsCluster(spec *v1alpha1.LoadTestSpec) field.ErrorList {
	var errs field.ErrorList
	refuse := func(isSet bool, message string, path ...string) {
		if isSet {
			errs = append(errs, field.Invalid(field.NewPath("spec", path...), field.OmitValueType{}, message))
		}
	}
	generator, dut := spec.Generator, spec.DUT
	sender := compile.SenderOf(spec)
	_, local := localKinds[sender]
	refuse(!local && job.CheckSender(sender) == nil, onlyInPods(string(generator.Engine)), "generator", "engine")
	refuse(generator.Layout == v1alpha1.LayoutPerLink && !compile.AlwaysPerLink(spec),
		"layout PerLink spreads pods over nodes, which needs a cluster (kubectl apply): leave layout out", "generator",
		"layout")
	refuse(dut.Type == v1alpha1.DUTPod, "a device under test in a pod needs a cluster (kubectl apply): use dut.type "+
		"Device for software that already forwards between ports of this machine, or Reference", "dut", "type")
	refuse(dut.Setup != nil && len(dut.Setup.Command) == 0,
		"a setup pod needs a cluster (kubectl apply): say what program does it here (command), or remove it", "dut",
		"setup")
	refuse(dut.Teardown != nil && len(dut.Teardown.Command) == 0,
		"a teardown pod needs a cluster (kubectl apply): say what program does it here (command), or remove it", "dut",
		"teardown")
	refuse(spec.Suspend, "only a cluster can hold a test back (kubectl apply): here it would never begin; remove "+
		"suspend", "suspend")
	refuse(spec.Stop, "it would end before it began: remove stop (here Ctrl-C stops a run)", "stop")
	return errs
}
