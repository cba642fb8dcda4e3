package admission

import (
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/linerate-dev/linerate/config/crd"
)

func TestEachPatternHasItsForm(t *testing.T) {
	met := map[string]bool{}
	for kind, manifest := range map[string][]byte{"LoadTest": crd.LoadTests(), "LoadTestSuite": crd.LoadTestSuites()} {
		r, err := newResource(kind, manifest)
		if err != nil {
			t.Fatal(err)
		}
		spec := r.structural.Properties["spec"]
		(&structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
			if s.ValueValidation == nil || s.ValueValidation.Pattern == "" {
				return false
			}
			met[s.ValueValidation.Pattern] = true
			if forms[s.ValueValidation.Pattern] == "" {
				t.Errorf("%s: %s has no form: %s", kind, s.ValueValidation.Pattern, s.Description)
			}
			return false
		}}).Visit(&spec)
	}
	for pattern := range forms {
		if !met[pattern] {
			t.Errorf("no schema has the pattern %s", pattern)
		}
	}
}
