package compile

import (
	"maps"
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// networksAnnotation is Multus' list of a pod's networks.
const networksAnnotation = "k8s.v1.cni.cncf.io/networks"

// checkAttached refuses what would keep the links out of the pod under test.
func (ts *templates) checkAttached(fieldPath *field.Path, t *corev1.PodTemplateSpec) {
	spec := fieldPath.Child("spec")
	if t.Spec.HostNetwork {
		ts.refuse(spec.Child("hostNetwork"), true,
			"a pod in its node's network gets no interfaces for the links: remove it, or use dut.type Device for "+
				"software that runs on a node")
	}
	if t.Spec.NodeName != "" {
		ts.refuse(spec.Child("nodeName"), t.Spec.NodeName, "it goes round the scheduler, which counts devices: use "+
			"nodeSelector {kubernetes.io/hostname: "+t.Spec.NodeName+"}")
	}
	ts.checkOwnNetworks(fieldPath, t)
}

// readOwnNetworks reads a template's list of networks, or refuses it, and replaces the annotation by what it read, so
// that the pod gets exactly the networks that were checked.
func (ts *templates) readOwnNetworks(fieldPath *field.Path, t *corev1.PodTemplateSpec) (*field.Path, []Attachment) {
	fieldPath = fieldPath.Child("metadata", "annotations").Key(networksAnnotation)
	annotation, found := t.Annotations[networksAnnotation]
	if !found {
		return fieldPath, nil
	}
	networks, err := ReadAttachments(annotation, ts.namespace)
	if err != nil {
		ts.refusef(fieldPath, annotation, "it can't be read which networks it asks Multus for: %s; write a JSON list "+
			"such as [{\"name\": \"management\", \"interface\": \"mgmt\"}]", err)
		return fieldPath, nil
	}
	t.Annotations = maps.Clone(t.Annotations)
	delete(t.Annotations, networksAnnotation)
	if len(networks) > 0 {
		t.Annotations[networksAnnotation] = WriteAttachments(networks)
	}
	return fieldPath, networks
}

// checkOwnNetworks refuses the user's own networks that would take a link's interface. Multus names interfaces without
// a name net1, net2 and so on, by their place in the list.
func (ts *templates) checkOwnNetworks(fieldPath *field.Path, t *corev1.PodTemplateSpec) {
	fieldPath, networks := ts.readOwnNetworks(fieldPath, t)
	annotation := t.Annotations[networksAnnotation]
	uses := func(name string) bool {
		return slices.ContainsFunc(networks, func(n Attachment) bool { return n.Interface == name })
	}
	numbered := regexp.MustCompile("^net[0-9]+$")
	for _, l := range ts.spec.Links {
		switch name := string(l.Name); {
		case uses(name):
			ts.refusef(fieldPath, annotation, "interface %s is link %s: give the network another interface, such as "+
				"mgmt", name, name)
		case uses("") && numbered.MatchString(name):
			ts.refusef(fieldPath, annotation, "Multus may call a network without interface %s, as a link is called: "+
				"give each an interface, such as mgmt", name)
		}
	}
}

// ownNetworks are the networks that the templates' annotations name.
func ownNetworks(namespace string, templates ...*corev1.PodTemplateSpec) (keys []NetworkKey) {
	for _, t := range templates {
		if t == nil {
			continue
		}
		// an annotation that can't be read was refused
		networks, _ := ReadAttachments(t.Annotations[networksAnnotation], namespace)
		for _, n := range networks {
			keys = append(keys, NetworkKey{Namespace: n.Namespace, Name: n.Name})
		}
	}
	return keys
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
