package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/intake"
)

// resourceAnnotation names a network's device resource (Kubernetes Network Custom Resource Definition De-facto
// Standard, 4.1.1).
const resourceAnnotation = "k8s.v1.cni.cncf.io/resourceName"

// statusAnnotation is where Multus tells what it attached a pod to (the same, 5.2).
const statusAnnotation = "k8s.v1.cni.cncf.io/network-status"

const networkGroupVersion = "k8s.cni.cncf.io/v1"

// guardsTests reports whether a policy covers LoadTests and suites, as the one that demands rights of their
// authors does. The policy that protects suites' runs covers LoadTests alone.
func guardsTests(match *admissionv1.MatchResources) bool {
	return coversResources(match, v1alpha1.Group, "loadtests", "loadtestsuites")
}

// multus checks whether the kind of Multus' manifest is served and its agents run. Without a DaemonSet, the
// annotation of a pod shows that Multus runs (Network Custom Resource Definition De-facto Standard, 5).
func multus(lab Lab) []Finding {
	const check = "Multus"
	const consequence = ": pods would start without a test's interfaces"
	switch {
	case lab.Groups.Err != nil:
		return unreadable(check, "what the server serves", lab.Groups.Err,
			"kubectl api-versions | grep k8s.cni.cncf.io")
	case !served(lab, networkGroupVersion):
		return single(Fail, check, "the cluster knows no NetworkAttachmentDefinitions: pods can't be attached to a "+
			"test's networks", "install Multus (docs/install.md)")
	}
	for _, d := range lab.Daemons.Value {
		if !strings.Contains(d.Name, "multus") || strings.Contains(d.Name, "admission") {
			continue
		}
		ready, desired := d.Status.NumberReady, d.Status.DesiredNumberScheduled
		words := fmt.Sprintf("%s is served, and DaemonSet %s/%s is ready on %d of %d nodes", networkGroupVersion,
			d.Namespace, d.Name, ready, desired)
		fix := fmt.Sprintf("kubectl describe daemonset %s -n %s; kubectl logs -n %s daemonset/%s", d.Name, d.Namespace,
			d.Namespace, d.Name)
		switch {
		case ready == 0:
			return single(Fail, check, words+consequence, fix)
		case ready < desired:
			return single(Warn, check, words+"; on the others"+consequence[1:], fix)
		}
		return single(OK, check, words, "")
	}
	for i := range lab.Pods.Value {
		if p := &lab.Pods.Value[i]; p.Annotations[statusAnnotation] != "" {
			return single(OK, check, fmt.Sprintf("%s is served, and pod %s/%s was attached by it", networkGroupVersion,
				p.Namespace, p.Name), "")
		}
	}
	look := "kubectl get daemonsets,pods -A | grep multus; install Multus (docs/install.md)"
	if err := cmp.Or(lab.Daemons.Err, lab.Pods.Err); err != nil {
		return single(Unknown, check, networkGroupVersion+
			" is served; whether Multus runs on the nodes can't be seen: "+err.Error(), look)
	}
	return single(Warn, check, networkGroupVersion+
		" is served, and nothing is seen of Multus itself, neither a DaemonSet of its name nor a pod that it attached"+
		consequence, look)
}

func networks(lab Lab) []Finding {
	const check = "networks"
	if !served(lab, networkGroupVersion) {
		return nil
	}
	if lab.Networks.Err != nil {
		return unreadable(check, "the NetworkAttachmentDefinitions of namespace "+lab.Namespace, lab.Networks.Err,
			"kubectl get network-attachment-definitions -n "+lab.Namespace)
	}
	var findings []Finding
	for _, n := range lab.Networks.Value {
		findings = append(findings, oneNetwork(lab, n))
	}
	if len(findings) == 0 {
		return single(Warn, check, "namespace "+lab.Namespace+" has none: a test's links name two or more",
			"create NetworkAttachmentDefinitions there (docs/sriov.md; charts/linerate/first-test.yaml has two that "+
				"work on one node)")
	}
	return findings
}

// oneNetwork checks a network, and the nodes that have its device resource.
func oneNetwork(lab Lab, n unstructured.Unstructured) Finding {
	check := "network " + n.GetName()
	kind, err := pluginOf(n)
	if err != nil {
		return Finding{Fail, check, "its spec.config can't be read: " + err.Error(),
			fmt.Sprintf("kubectl edit network-attachment-definition %s -n %s", n.GetName(), n.GetNamespace())}
	}
	name := n.GetAnnotations()[resourceAnnotation]
	switch {
	case name == "":
		return Finding{OK, check, kind + ", kernel interfaces (no device resource)", ""}
	case lab.Nodes.Err != nil:
		return Finding{Unknown, check, fmt.Sprintf("%s, resource %s; which nodes have it can't be read", kind, name),
			"kubectl describe nodes | grep " + name}
	}
	var nodes []string
	free := resource.Quantity{}
	for i := range lab.Nodes.Value {
		node := &lab.Nodes.Value[i]
		total := node.Status.Allocatable[corev1.ResourceName(name)]
		if total.Sign() <= 0 {
			continue
		}
		freeHere := total.DeepCopy()
		freeHere.Sub(requested(lab.Pods.Value, node.Name, corev1.ResourceName(name)))
		free.Add(freeHere)
		if lab.Pods.Err != nil {
			nodes = append(nodes, fmt.Sprintf("%s has %s (how many are free, you may not see)", node.Name,
				total.String()))
		} else {
			nodes = append(nodes, fmt.Sprintf("%s of %s free on %s", freeHere.String(), total.String(), node.Name))
		}
	}
	switch {
	case len(nodes) == 0:
		return Finding{Fail, check, fmt.Sprintf("%s, and no node has its resource %s", kind, name),
			"configure the device plugin for it, or correct the annotation " + resourceAnnotation + " (docs/sriov.md); linerate doctor on a " +
				"node names what its cards lack"}
	case lab.Pods.Err == nil && free.Sign() <= 0:
		return Finding{Warn, check, fmt.Sprintf("%s, resource %s: %s: a new test waits", kind, name,
			strings.Join(nodes, ", ")), "kubectl linerate list -A shows who holds them; other pods may, too"}
	}
	return Finding{OK, check, fmt.Sprintf("%s, resource %s: %s", kind, name, strings.Join(nodes, ", ")), ""}
}

// requested is how much of a resource the pods on a node request. Pods that have ended request nothing.
func requested(pods []corev1.Pod, node string, name corev1.ResourceName) resource.Quantity {
	sum := resource.Quantity{}
	for i := range pods {
		p := &pods[i]
		if p.Spec.NodeName != node || p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed {
			continue
		}
		for _, c := range p.Spec.Containers {
			sum.Add(c.Resources.Requests[name])
		}
	}
	return sum
}

// pluginOf is the type of a network's CNI plugin, or of the first one in a chain.
func pluginOf(n unstructured.Unstructured) (string, error) {
	text, _, err := unstructured.NestedString(n.Object, "spec", "config")
	if err != nil {
		return "", err
	}
	if text == "" {
		return "a configuration on the nodes' disks", nil
	}
	var config struct {
		Type    string `json:"type"`
		Plugins []struct {
			Type string `json:"type"`
		} `json:"plugins"`
	}
	if err := intake.JSON([]byte(text), &config, intake.Small); err != nil {
		return "", err
	}
	if config.Type == "" && len(config.Plugins) > 0 {
		config.Type = config.Plugins[0].Type
	}
	if config.Type == "" {
		return "", errors.New("it names no plugin type")
	}
	return config.Type, nil
}
