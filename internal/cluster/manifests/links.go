package manifests

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
)

// The keys of the attempt's ConfigMap; those of the engine's pods are beside them.
const (
	keyLinks     = "links.json"
	keyForwarder = "forwarder.json"
	keyFarEnd    = "far-end.json"
)

// Links is the ConfigMap that describes the links to an attempt's pods. It must exist before any of them. It is never nil.
func Links(in Input) *corev1.ConfigMap {
	data := map[string]string{keyLinks: linksText(in)}
	if in.Test.Spec.DUT.Type == v1alpha1.DUTReference && !endsAtDevice(in) {
		data[keyForwarder] = forwarderText(in, keyForwarder)
	}
	if tunnelOf(in) != nil {
		data[keyFarEnd] = forwarderText(in, keyFarEnd)
	}
	if e, known := engineOf(in.Test); known {
		maps.Copy(data, e.documents(in))
	}
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: ofThisAttempt(in, LinksName(in.Test.Name, in.Attempt), roleLinks),
		Immutable:  new(true),
		Data:       data,
	}
}

// linksText is links.json.
func linksText(in Input) string { return document(linksDocument(in)) }

// forwarderText is the file of a pod of the Reference, by its key.
func forwarderText(in Input, key string) string {
	switch {
	case tunnelOf(in) == nil:
		return document(forwarderOf(in))
	case key == keyFarEnd:
		return document(gatewayOf(in, 1))
	}
	return document(gatewayOf(in, 0))
}

// linksDocument is the Plan's Links document, with the MAC addresses that the operator assigns.
func linksDocument(in Input) plan.Links {
	doc := plan.LinksOf(in.Compiled.Plan)
	for i := range doc.Links {
		end := &doc.Links[i]
		if n, ok := dutNetwork(in, end.Name); ok && n.MAC && end.MAC == "" {
			end.MAC = stableMAC(in, roleDUT, end.Name)
		}
		for j := range end.Generators {
			end.Generators[j].MAC = generatorMAC(in, end.Generators[j].Name, end.Name)
		}
	}
	return doc
}

// generatorMAC is the MAC address that the operator assigns to a generator's port; empty: the network accepts none.
func generatorMAC(in Input, generator, link string) string {
	if n, ok := generatorNetwork(in, link); ok && n.MAC {
		return stableMAC(in, generator, link)
	}
	return ""
}
