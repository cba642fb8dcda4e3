package manifests

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// avoiding adds to an affinity that none of the nodes may be used.
func avoiding(a *corev1.Affinity, nodes []string) *corev1.Affinity {
	requirements := make([]corev1.NodeSelectorRequirement, len(nodes))
	for i, node := range nodes {
		requirements[i] = nodeNamed(corev1.NodeSelectorOpNotIn, node)
	}
	return requiring(a, requirements...)
}

// onNode adds to an affinity that only this node may be used. An empty name adds nothing.
func onNode(a *corev1.Affinity, node v1alpha1.NodeName) *corev1.Affinity {
	if node == "" {
		return a
	}
	return requiring(a, nodeNamed(corev1.NodeSelectorOpIn, string(node)))
}

// nodeNamed selects nodes by name, from which the label kubernetes.io/hostname may differ. Each requirement on a name
// has a single value.
func nodeNamed(operator corev1.NodeSelectorOperator, node string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: metav1.ObjectNameField, Operator: operator, Values: []string{node}}
}

// requiring adds requirements on the node's name to an affinity. Terms of a node selector are alternatives, so each of
// them gets the requirements.
func requiring(a *corev1.Affinity, requirements ...corev1.NodeSelectorRequirement) *corev1.Affinity {
	if len(requirements) == 0 {
		return a
	}
	a = copyOrNew(a)
	if a.NodeAffinity == nil {
		a.NodeAffinity = &corev1.NodeAffinity{}
	}
	required := a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil {
		required = &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{}}}
	} else {
		// A term without conditions matches no node. It must not become one that matches all nodes but these.
		terms := slices.DeleteFunc(required.NodeSelectorTerms,
			func(t corev1.NodeSelectorTerm) bool { return len(t.MatchExpressions)+len(t.MatchFields) == 0 })
		if len(terms) == 0 {
			return a
		}
		required.NodeSelectorTerms = terms
	}
	for i := range required.NodeSelectorTerms {
		t := &required.NodeSelectorTerms[i]
		t.MatchFields = append(t.MatchFields, requirements...)
	}
	a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = required
	return a
}

// NodeOf is the node that the spec names for a pod of an attempt. It is empty where the scheduler chooses, as for a
// tunnel's second gateway.
func NodeOf(test *v1alpha1.LoadTest, attempt int32, pod *corev1.Pod) string {
	placement := test.Spec.Generator.Placement
	switch role := pod.Labels[v1alpha1.LabelRole]; {
	case role == roleGenerator && placement != nil:
		return string(placement.Nodes[pod.Labels[v1alpha1.LabelGenerator]])
	case role == roleDUT && pod.Name == DUTPodName(test.Name, attempt):
		return string(test.Spec.DUT.Node)
	}
	return ""
}

// avoidingPods adds to an affinity that the node must have none of the pods.
func avoidingPods(a *corev1.Affinity, pods *metav1.LabelSelector) *corev1.Affinity {
	a = copyOrNew(a)
	if a.PodAntiAffinity == nil {
		a.PodAntiAffinity = &corev1.PodAntiAffinity{}
	}
	required := &a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	*required = append(*required, corev1.PodAffinityTerm{LabelSelector: pods, TopologyKey: corev1.LabelHostname})
	return a
}

// copyOrNew is a copy of an affinity, or an empty one, so that the template's own isn't changed.
func copyOrNew(a *corev1.Affinity) *corev1.Affinity {
	if a == nil {
		return &corev1.Affinity{}
	}
	return a.DeepCopy()
}

// generatorAffinity is the user's affinity with the test's demands added. It has the generator's node if the spec names
// it, and excludes nodes to avoid, with separateNodes the DUT's node, and with layout PerLink the node of the port at
// the other end of a direction.
func generatorAffinity(input Input, g plan.Generator) *corev1.Affinity {
	a := avoiding(input.Compiled.Affinity, input.ExcludedNodes)
	if p := input.Test.Spec.Generator.Placement; p != nil {
		a = onNode(a, p.Nodes[g.Name])
		if p.SeparateNodes && hasDUTPod(input) {
			a = avoidingPods(a, siblings(input, roleDUT))
		}
	}
	if far := farEnds(input, g); len(far) > 0 {
		pods := siblings(input, roleGenerator)
		pods.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: v1alpha1.LabelGenerator,
			Operator: metav1.LabelSelectorOpIn, Values: far}}
		a = avoidingPods(a, pods)
	}
	return a
}

// farEnds are the generators that a generator of layout PerLink must not share a machine with, which are those of the
// same replica at the other end of its directions. Which replica a generator belongs to follows from its place in the
// Plan, which lists them link by link, replica by replica.
func farEnds(input Input, g plan.Generator) []string {
	if !compile.PerLink(&input.Test.Spec) || len(g.Ports) != 1 {
		return nil
	}
	link := g.Ports[0].Link
	var far []string
	for _, d := range input.Compiled.Plan.Directions {
		farLink := d.To
		switch link {
		case d.From:
		case d.To:
			farLink = d.From
		default:
			continue
		}
		if name, ok := sameReplicaOn(input, g, farLink); ok && !slices.Contains(far, name) {
			far = append(far, name)
		}
	}
	return far
}

// sameReplicaOn is the generator of g's replica on another link. Both have the same place among the generators of their
// links.
func sameReplicaOn(input Input, g plan.Generator, link string) (string, bool) {
	siblings, candidates := generatorsOn(input, g.Ports[0].Link), generatorsOn(input, link)
	r := slices.IndexFunc(siblings, func(p generatorPort) bool { return p.generator == g.Name })
	if r < 0 || r >= len(candidates) {
		return "", false
	}
	return candidates[r].generator, true
}

// spread prefers nodes without a generator of the same test. Replicas may share a node that has devices for them.
func spread(input Input) []corev1.TopologySpreadConstraint {
	if len(input.Compiled.Plan.Generators) < 2 {
		return nil
	}
	return []corev1.TopologySpreadConstraint{{
		MaxSkew: 1, TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector: siblings(input, roleGenerator),
	}}
}
