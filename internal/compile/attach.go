package compile

import (
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
	c.checkOwnNetworks(at.Child("metadata", "annotations").Key(networksAnnotation), t.Annotations[networksAnnotation])
}

// checkOwnNetworks refuses networks of the user's that would take a link's interface. Multus names what has no name after its place in
// the list: net1, net2 and so on.
func (c *compiler) checkOwnNetworks(at *field.Path, annotation string) {
	interfaces, err := interfacesOf(annotation)
	if err != nil {
		c.refuse(at, annotation, fmt.Sprintf("Multus can't read it: %s; write a JSON list such as [{\"name\": \"management\", \"interface\": \"mgmt\"}]", err))
		return
	}
	numbered := regexp.MustCompile("^net[0-9]+$")
	for _, l := range c.spec.Links {
		switch name := string(l.Name); {
		case slices.Contains(interfaces, name):
			c.refuse(at, annotation, fmt.Sprintf("interface %s is link %s: give the network another interface, such as mgmt", name, name))
		case slices.Contains(interfaces, "") && numbered.MatchString(name):
			c.refuse(at, annotation, fmt.Sprintf("Multus may call a network without interface %s, as a link is called: give each an interface, such as mgmt", name))
		}
	}
}

// interfacesOf are the interfaces that a pod's networks ask for, "" where one leaves it to Multus. Multus reads two forms:
//
//	[{"name": "management", "namespace": "lab", "interface": "mgmt"}]
//	lab/management@mgmt, other
func interfacesOf(annotation string) ([]string, error) {
	var interfaces []string
	if !strings.ContainsAny(annotation, `[{"`) {
		for entry := range strings.SplitSeq(annotation, ",") {
			if entry = strings.TrimSpace(entry); entry != "" {
				_, name, _ := strings.Cut(entry, "@")
				interfaces = append(interfaces, name)
			}
		}
		return interfaces, nil
	}
	var list []struct {
		Name      string `json:"name"`
		Interface string `json:"interface"`
	}
	if err := json.Unmarshal([]byte(annotation), &list); err != nil {
		return nil, err
	}
	for i, n := range list {
		if n.Name == "" {
			return nil, fmt.Errorf("entry %d has no name", i)
		}
		interfaces = append(interfaces, n.Interface)
	}
	return interfaces, nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
