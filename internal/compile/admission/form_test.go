package admission

import (
	"strings"
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
			if s.ValueValidation == nil {
				return false
			}
			for _, pattern := range []string{s.ValueValidation.Pattern, s.ValueValidation.Format} {
				if met[pattern] = true; pattern != "" && forms[pattern] == "" && !strings.HasPrefix(pattern, "int") {
					t.Errorf("%s: %s has no form: %s", kind, pattern, s.Description)
				}
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
