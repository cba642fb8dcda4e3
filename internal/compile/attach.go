package compile

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// networksAnnotation is Multus' list of a pod's networks.
const networksAnnotation = "k8s.v1.cni.cncf.io/networks"

// checkAttached refuses what would keep the links out of the pod under test.
func (c *compiler) checkAttached(at *field.Path, t *corev1.PodTemplateSpec) {
	spec := at.Child("spec")
	if t.Spec.HostNetwork {
		c.refuse(spec.Child("hostNetwork"), true, "a pod in its node's network gets no interfaces for the links: remove it, or use dut.type Device for software that runs on a node")
	}
	if t.Spec.NodeName != "" {
		c.refuse(spec.Child("nodeName"), t.Spec.NodeName, "it goes round the scheduler, which counts devices: use nodeSelector {kubernetes.io/hostname: "+t.Spec.NodeName+"}")
	}
	c.checkOwnNetworks(at, t)
}

// readOwnNetworks reads a template's list of networks, and refuses one that can't be read: nobody could say where it leads.
func (c *compiler) readOwnNetworks(at *field.Path, t *corev1.PodTemplateSpec) (*field.Path, []ownNetwork) {
	at, annotation := at.Child("metadata", "annotations").Key(networksAnnotation), t.Annotations[networksAnnotation]
	networks, err := networksOf(annotation)
	if err != nil {
		c.refuse(at, annotation, fmt.Sprintf("Multus can't read it: %s; write a JSON list such as [{\"name\": \"management\", \"interface\": \"mgmt\"}]", err))
	}
	return at, networks
}

// checkOwnNetworks refuses networks of the user's that would take a link's interface. Multus names what has no name after its place in
// the list: net1, net2 and so on.
func (c *compiler) checkOwnNetworks(at *field.Path, t *corev1.PodTemplateSpec) {
	at, networks := c.readOwnNetworks(at, t)
	annotation := t.Annotations[networksAnnotation]
	on := func(name string) bool {
		return slices.ContainsFunc(networks, func(n ownNetwork) bool { return n.Interface == name })
	}
	numbered := regexp.MustCompile("^net[0-9]+$")
	for _, l := range c.spec.Links {
		switch name := string(l.Name); {
		case on(name):
			c.refuse(at, annotation, fmt.Sprintf("interface %s is link %s: give the network another interface, such as mgmt", name, name))
		case on("") && numbered.MatchString(name):
			c.refuse(at, annotation, fmt.Sprintf("Multus may call a network without interface %s, as a link is called: give each an interface, such as mgmt", name))
		}
	}
}

// ownNetwork is a network that a template asks for by itself. Its interface is "" where that is left to Multus, and so is its namespace.
type ownNetwork struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
	Interface string `json:"interface"`
}

// networksOf are the networks that an annotation asks for. Multus reads two forms:
//
//	[{"name": "management", "namespace": "lab", "interface": "mgmt"}]
//	lab/management@mgmt, other
func networksOf(annotation string) (networks []ownNetwork, err error) {
	if strings.ContainsAny(annotation, `[{"`) {
		if err := json.Unmarshal([]byte(annotation), &networks); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(networks, func(n ownNetwork) bool { return n.Name == "" }); i >= 0 {
			return nil, fmt.Errorf("entry %d has no name", i)
		}
		return networks, nil
	}
	for entry := range strings.SplitSeq(annotation, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		var n ownNetwork
		n.Name, n.Interface, _ = strings.Cut(entry, "@")
		if namespace, name, found := strings.Cut(n.Name, "/"); found {
			n.Namespace, n.Name = strings.TrimSpace(namespace), name
		}
		networks = append(networks, n)
	}
	return networks, nil
}

// ownNetworks are those of the templates, which were read before.
func ownNetworks(namespace string, templates ...*corev1.PodTemplateSpec) (keys []NetworkKey) {
	for _, t := range templates {
		if t == nil {
			continue
		}
		networks, _ := networksOf(t.Annotations[networksAnnotation]) // what can't be read was refused
		for _, n := range networks {
			keys = append(keys, NetworkKey{Namespace: cmp.Or(n.Namespace, namespace), Name: n.Name})
		}
	}
	return keys
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
