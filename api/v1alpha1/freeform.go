package v1alpha1

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Freeform is a mapping whose form somebody else describes: it is stored as it stands.
//
// It is a map to values of any type, and no object without fields, for the sake of the rule that a spec can't be changed. Where no schema
// names an object's fields, == of the API server's CEL compares the values of those that both sides have, and for the rest their number:
// {cpu: 1} "equals" {memory: 1}. A map's entries are compared one by one, and each as a whole.
//
// +kubebuilder:validation:MaxProperties=64
type Freeform map[string]apiextensionsv1.JSON

// Raw is the mapping as JSON, its keys sorted.
func (f Freeform) Raw() ([]byte, error) { return json.Marshal(f) }
