package compile

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// LinkNetworks are the networks of a link's two ends.
type LinkNetworks struct {
	Link           string
	Generator, DUT NetworkKey
}

// NetworkKey names a NetworkAttachmentDefinition.
type NetworkKey struct{ Namespace, Name string }

func (k NetworkKey) String() string { return k.Namespace + "/" + k.Name }

// linkNetworks are the networks of the ends that are in the test's pods.
//
//	generator pod ── link.network ──── … ──── link.dut.network, else link.network ── DUT pod
func (c *compiler) linkNetworks(namespace string) []LinkNetworks {
	var all []LinkNetworks
	for i, l := range c.spec.Links {
		near, far := l.Network, l.Network
		if l.DUT != nil && l.DUT.Network != "" {
			far = l.DUT.Network
		}
		if c.hasGenerators() && near == "" || c.hasDUTPod() && far == "" {
			c.errs = append(c.errs, field.Required(specPath().Child("links").Index(i).Child("network"),
				"in a cluster pods reach the link over a NetworkAttachmentDefinition: name it"))
			continue
		}
		ends := LinkNetworks{Link: string(l.Name)}
		if c.hasGenerators() {
			ends.Generator = networkKey(near, namespace)
		}
		if c.hasDUTPod() {
			ends.DUT = networkKey(far, namespace)
		}
		all = append(all, ends)
	}
	return all
}

// networkKey fills in the test's own namespace.
func networkKey(name v1alpha1.NetworkName, namespace string) NetworkKey {
	if elsewhere, name, found := strings.Cut(string(name), "/"); found {
		return NetworkKey{Namespace: elsewhere, Name: name}
	}
	return NetworkKey{Namespace: namespace, Name: string(name)}
}

// hasGenerators says that the generators are pods of ours.
func (c *compiler) hasGenerators() bool { return !c.engine.runsAlready() }

// hasDUTPod says that the device under test is a pod of ours.
func (c *compiler) hasDUTPod() bool {
	return c.spec.DUT.Type == v1alpha1.DUTPod || c.spec.DUT.Type == v1alpha1.DUTReference
}

// speedOf are the links whose ports must report their speed; none without a Plan.
func (c *compiler) speedOf(p *plan.Plan) []string {
	if p == nil || !c.asksForPercent(p) {
		return nil
	}
	var links []string
	for _, l := range c.spec.Links {
		if l.LineRate == "" {
			links = append(links, string(l.Name))
		}
	}
	return links
}
