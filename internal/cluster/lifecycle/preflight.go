package lifecycle

import (
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/cluster/manifests"
	"github.com/linerate-dev/linerate/internal/compile"
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
	// grows says that an autoscaler adds nodes for pods that wait.
	grows bool
}

// invalid is the rule for a spec that can't be measured. A run that has begun goes on even if a newer operator rejects
// its spec, since its Plan is written.
func (pre *preflight) invalid() *step {
	if pre.attempt.hasRunner() || pre.blueprint.cluster() != nil {
		return nil
	}
	return pre.refuses(joinedErrors(pre.blueprint.errs))
}

// refuses ends a test whose spec can't be measured.
func (pre *preflight) refuses(message string) *step {
	e := &ending{reason: v1alpha1.ReasonInvalid, message: message, complete: true}
	s := stepToEnd(e, activityDone)
	s.accepted, s.del = isFalse(v1alpha1.ReasonInvalid, message), pre.cleanup.release(e)
	return s
}

// nameTaken is the rule for an object that doesn't belong to the test and has the name of one of its children. The
// operator never touches it.
func (pre *preflight) nameTaken() *step {
	objects := pre.observers.namesTaken()
	if len(objects) == 0 {
		return nil
	}
	return pre.deadlines.wait(v1alpha1.ReasonNameTaken,
		fmt.Sprintf("%s exists and doesn't belong to this LoadTest: delete it, or create the LoadTest under another "+
			"name",
			listed(objects)))
}

// networksMissing is the rule for links that name networks which this cluster lacks, or which can't be used.
func (pre *preflight) networksMissing() *step {
	if pre.attempt.isPlaced() {
		return nil
	}
	ends := pre.blueprint.ends()
	if len(ends) > 0 && !pre.hasMultus {
		return pre.deadlines.wait(v1alpha1.ReasonMultusMissing,
			"this cluster has no NetworkAttachmentDefinitions, and pods need "+
				"one for each link: install Multus (it brings the CustomResourceDefinition "+
				"network-attachment-definitions.k8s.cni.cncf.io)")
	}
	for _, e := range ends {
		if problem := pre.networkFaults[e.key]; problem != "" {
			return pre.deadlines.wait(v1alpha1.ReasonNetworkInvalid, fmt.Sprintf("%s: %s", e, problem))
		}
	}
	for _, key := range pre.blueprint.cluster().OwnNetworks {
		if problem := pre.networkFaults[key]; problem != "" {
			return pre.deadlines.wait(v1alpha1.ReasonNetworkInvalid, fmt.Sprintf("network %s (in the annotation of a "+
				"template): %s", key, problem))
		}
	}
	if missing := pre.missing(ends); len(missing) > 0 {
		return pre.deadlines.wait(v1alpha1.ReasonNetworkMissing, strings.Join(missing, "; ")+
			": create the NetworkAttachmentDefinition (kubectl get net-attach-def -A lists those that exist)")
	}
	if errs := manifests.Check(pre.blueprint.input()); len(errs) > 0 {
		return pre.deadlines.wait(v1alpha1.ReasonNetworkInvalid, joinedErrors(errs))
	}
	if err := manifests.CheckGroup(pre.blueprint.input()); err != nil {
		return pre.refuses(err.Error())
	}
	return nil
}

// missing says which networks don't exist, each once.
func (pre *preflight) missing(ends []end) []string {
	var sentences []string
	named := map[compile.NetworkKey]bool{}
	for _, e := range ends {
		if _, ok := pre.blueprint.networks[e.key]; ok || named[e.key] {
			continue
		}
		named[e.key] = true
		text := e.String() + " doesn't exist"
		if e.key.Namespace != pre.test.Namespace {
			text += " (a network of another namespace also needs Multus without namespaceIsolation)"
		}
		sentences = append(sentences, text)
	}
	return sentences
}

// resourcesMissing is the rule for pods that need more devices or huge pages than any node has. Devices that others use
// at the moment count, since the scheduler waits for those. Where nodes are added for pods that wait, the pods wait,
// since such a node may come.
func (pre *preflight) resourcesMissing() *step {
	if pre.attempt.isPlaced() || len(pre.nodes.items) == 0 || pre.grows {
		return nil
	}
	if words := pre.nodes.exhausted(); words != "" {
		return pre.deadlines.wait(v1alpha1.ReasonNodeRefused, words)
	}
	needs := pre.blueprint.needs()
	for _, n := range needs {
		if reason, message := pre.nodes.lacks(n); message != "" {
			return pre.deadlines.wait(reason, message)
		}
	}
	if message := pre.nodes.lacksTogether(needs); message != "" {
		return pre.deadlines.wait(v1alpha1.ReasonResourceMissing, message)
	}
	return nil
}

// joinedErrors are errors in one line.
func joinedErrors[E error](errs []E) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}
