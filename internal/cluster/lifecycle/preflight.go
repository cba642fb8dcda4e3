package lifecycle

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units/wording"
)

// preflight answers whether the test can be measured as it is written, and in this cluster.
type preflight struct {
	test      *v1alpha1.LoadTest
	attempt   *attempt
	blueprint *blueprint
	nodes     *nodes
	deadlines *deadlines
	observers *observers
	cleanup   *cleanup
	hasMultus bool
	// networkFaults say why networks that exist can't be used.
	networkFaults map[compile.NetworkKey]string
	// grows: an autoscaler adds nodes for pods that wait.
	grows bool
}

// invalid: the spec can't be measured. A run that has begun goes on even if a newer operator rejects its spec: its Plan is written.
func (pre *preflight) invalid() *step {
	if pre.attempt.hasRunner() || pre.blueprint.cluster() != nil {
		return nil
	}
	return pre.refuses(specErrors(pre.blueprint.errs))
}

// refuses ends a test whose spec can't be measured.
func (pre *preflight) refuses(message string) *step {
	e := &ending{reason: v1alpha1.ReasonInvalid, message: message, complete: true}
	s := stepToEnd(e, activityDone)
	s.accepted, s.del = no(v1alpha1.ReasonInvalid, message), pre.cleanup.release(e)
	return s
}

// specErrors are all errors of a spec, as a person would list them.
func specErrors(errs field.ErrorList) string {
	words := make([]string, len(errs))
	for i, err := range errs {
		words[i] = err.Error()
	}
	return wording.JoinNonEmpty("; ", words...)
}

// waits is a step of a test that the cluster can't place now, and that goes on by itself once it can.
func (d *deadlines) waits(reason, message string) *step {
	s := &step{reason: reason, message: message, activity: "Waiting", scheduled: no(reason, message)}
	return s.waitUntil(d.placedUntil())
}

// isPlaced says whether pods were made already: what they need was looked at before.
func (a *attempt) isPlaced() bool { return a.hasBegun() || len(a.measuringPods()) > 0 }

// nameTaken: an object that doesn't belong to the test has the name of one of its children. The operator never touches it.
func (pre *preflight) nameTaken() *step {
	taken := pre.observers.namesTaken()
	if len(taken) == 0 {
		return nil
	}
	return pre.deadlines.waits(v1alpha1.ReasonNameTaken, fmt.Sprintf(
		"%s exists and doesn't belong to this LoadTest: delete it, or create the LoadTest under another name", listed(taken)))
}

// networksMissing: the links name networks that this cluster lacks, or that can't be used.
func (pre *preflight) networksMissing() *step {
	if pre.attempt.isPlaced() {
		return nil
	}
	ends := pre.blueprint.ends()
	if len(ends) > 0 && !pre.hasMultus {
		return pre.deadlines.waits(v1alpha1.ReasonMultusMissing, "this cluster has no NetworkAttachmentDefinitions, and pods need one for each link: "+
			"install Multus (it brings the CustomResourceDefinition network-attachment-definitions.k8s.cni.cncf.io)")
	}
	for _, e := range ends {
		if why := pre.networkFaults[e.key]; why != "" {
			return pre.deadlines.waits(v1alpha1.ReasonNetworkInvalid, fmt.Sprintf("%s: %s", e, why))
		}
	}
	for _, key := range pre.blueprint.cluster().OwnNetworks {
		if why := pre.networkFaults[key]; why != "" {
			return pre.deadlines.waits(v1alpha1.ReasonNetworkInvalid, fmt.Sprintf("network %s (in the annotation of a template): %s", key, why))
		}
	}
	if missing := pre.missing(ends); len(missing) > 0 {
		return pre.deadlines.waits(v1alpha1.ReasonNetworkMissing, strings.Join(missing, "; ")+
			": create the NetworkAttachmentDefinition (kubectl get net-attach-def -A lists those that exist)")
	}
	if errs := manifests.Check(pre.blueprint.input()); len(errs) > 0 {
		return pre.deadlines.waits(v1alpha1.ReasonNetworkInvalid, joinedErrors(errs))
	}
	if err := manifests.CheckGroup(pre.blueprint.input()); err != nil {
		return pre.refuses(err.Error())
	}
	return nil
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

// ends are the links' ends that pods of ours have.
func (b *blueprint) ends() []end {
	var out []end
	for _, n := range b.cluster().Networks {
		if n.Generator.Name != "" {
			out = append(out, end{n.Link, "generator", n.Generator})
		}
		if n.DUT.Name != "" {
			out = append(out, end{n.Link, "DUT", n.DUT})
		}
	}
	return out
}

// missing says which networks don't exist, each once.
func (pre *preflight) missing(ends []end) []string {
	var out []string
	told := map[compile.NetworkKey]bool{}
	for _, e := range ends {
		if _, ok := pre.blueprint.networks[e.key]; ok || told[e.key] {
			continue
		}
		told[e.key] = true
		text := e.String() + " doesn't exist"
		if e.key.Namespace != pre.test.Namespace {
			text += " (a network of another namespace also needs Multus without namespaceIsolation)"
		}
		out = append(out, text)
	}
	return out
}

func joinedErrors(errs []error) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}
