package compile

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// clusterNetworks answer which networks the test's pods are attached to.
type clusterNetworks struct {
	*refusals
	specs  []v1alpha1.LinkSpec
	device *device
	engine engine
}

// LinkNetworks are the networks of a link's two ends.
type LinkNetworks struct {
	Link           string
	Generator, DUT NetworkKey
}

// NetworkKey names a NetworkAttachmentDefinition.
type NetworkKey struct{ Namespace, Name string }

func (k NetworkKey) String() string { return k.Namespace + "/" + k.Name }

// ofLinks are the networks of the ends that are in the test's pods.
//
//	generator pod ── link.network ──── … ──── link.dut.network, else link.network ── DUT pod
func (cn *clusterNetworks) ofLinks(namespace string) []LinkNetworks {
	var networks []LinkNetworks
	for i, l := range cn.specs {
		generatorNetwork, dutNetwork := l.Network, l.Network
		if l.DUT != nil && l.DUT.Network != "" {
			dutNetwork = l.DUT.Network
		}
		if cn.hasGenerators() && generatorNetwork == "" || cn.device.isPod() && dutNetwork == "" {
			cn.errs = append(cn.errs, field.Required(specPath().Child("links").Index(i).Child("network"),
				"in a cluster pods reach the link over a NetworkAttachmentDefinition: name it"))
			continue
		}
		ends := LinkNetworks{Link: string(l.Name)}
		if cn.hasGenerators() {
			ends.Generator = networkKey(generatorNetwork, namespace)
		}
		if cn.device.isPod() {
			ends.DUT = networkKey(dutNetwork, namespace)
		}
		networks = append(networks, ends)
	}
	return networks
}

// networkKey fills in the test's own namespace.
func networkKey(name v1alpha1.NetworkName, namespace string) NetworkKey {
	if elsewhere, name, found := strings.Cut(string(name), "/"); found {
		return NetworkKey{Namespace: elsewhere, Name: name}
	}
	return NetworkKey{Namespace: namespace, Name: string(name)}
}

// hasGenerators says that the generators are pods of ours.
func (cn *clusterNetworks) hasGenerators() bool { return !cn.engine.runsAlready() }

// isPod says that the device under test is a pod of ours.
func (d *device) isPod() bool {
	return d.spec.DUT.Type == v1alpha1.DUTPod || d.spec.DUT.Type == v1alpha1.DUTReference
}

// speedOf are the links whose ports must report their speed. Without a Plan there are none.
func (ft *fit) speedOf(p *plan.Plan) []string {
	if p == nil || !ft.asksForPercent(p) {
		return nil
	}
	var links []string
	for _, l := range ft.spec.Links {
		if l.LineRate == "" {
			links = append(links, string(l.Name))
		}
	}
	return links
}
