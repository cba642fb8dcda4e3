package manifests

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// The keys of the attempt's ConfigMap. The engine's pods have more keys in it.
const (
	keyLinks     = "links.json"
	keyForwarder = "forwarder.json"
	keyFarEnd    = "far-end.json"
)

// Links is the ConfigMap that describes the links to an attempt's pods. It must exist before any of them. It is
// never nil.
func Links(input Input) *corev1.ConfigMap {
	data := map[string]string{keyLinks: linksText(input)}
	if input.Test.Spec.DUT.Type == v1alpha1.DUTReference && !endsAtDevice(input) {
		data[keyForwarder] = forwarderText(input, keyForwarder)
	}
	if tunnelOf(input) != nil {
		data[keyFarEnd] = forwarderText(input, keyFarEnd)
	}
	if e, ok := engineOf(input.Test); ok {
		maps.Copy(data, e.documents(input))
	}
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: attemptMeta(input, LinksName(input.Test.Name, input.Attempt), roleLinks),
		Immutable:  new(true),
		Data:       data,
	}
}

// linksText is links.json.
func linksText(input Input) string { return document(linksDocument(input)) }

// forwarderText is the file of a pod of the Reference, by its key.
func forwarderText(input Input, key string) string {
	switch {
	case tunnelOf(input) == nil:
		return document(forwarderOf(input))
	case key == keyFarEnd:
		return document(gatewayOf(input, 1))
	}
	return document(gatewayOf(input, 0))
}

// linksDocument is the Plan's Links document, with the MAC addresses that the operator assigns.
func linksDocument(input Input) plan.Links {
	doc := plan.LinksOf(input.Compiled.Plan)
	for i := range doc.Links {
		end := &doc.Links[i]
		if n, ok := dutNetwork(input, end.Name); ok && n.MAC && end.MAC == "" {
			end.MAC = stableMAC(input, roleDUT, end.Name)
		}
		for j := range end.Generators {
			end.Generators[j].MAC = generatorMAC(input, end.Generators[j].Name, end.Name)
		}
	}
	return doc
}

// generatorMAC is the MAC address that the operator assigns to a generator's port. Empty means that the network
// accepts none.
func generatorMAC(input Input, generator, link string) string {
	if n, ok := generatorNetwork(input, link); ok && n.MAC {
		return stableMAC(input, generator, link)
	}
	return ""
}
