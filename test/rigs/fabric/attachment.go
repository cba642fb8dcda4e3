package fabric

import (
	"encoding/json"
	"fmt"
)

// attachment is a NetworkAttachmentDefinition, as far as it is needed.
type attachment struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Namespace   string            `json:"namespace"`
		Name        string            `json:"name"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Config string `json:"config"`
	} `json:"spec"`
}

// NetworkAttachment is a NetworkAttachmentDefinition in JSON, ready to apply, whose pods get a function of the
// resource. As in a real lab its pods must request the resource, too. Pods may ask for MACs and addresses.
func NetworkAttachment(namespace, name, resource string) ([]byte, error) {
	config, err := json.Marshal(map[string]any{
		"cniVersion": "1.0.0", "name": name, "type": "linerate-vf", "capabilities": map[string]bool{"mac": true,
			"ips": true},
	})
	if err != nil {
		return nil, fmt.Errorf("network %s: %w", name, err)
	}
	a := attachment{APIVersion: "k8s.cni.cncf.io/v1", Kind: "NetworkAttachmentDefinition"}
	a.Metadata.Namespace, a.Metadata.Name = namespace, name
	a.Metadata.Annotations = map[string]string{"k8s.v1.cni.cncf.io/resourceName": resource}
	a.Spec.Config = string(config)
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("network %s: %w", name, err)
	}
	return append(text, '\n'), nil
}
