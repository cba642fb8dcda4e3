package admission

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/linerate-dev/linerate/config/crd"
)

// The most that the API may have. An API server evaluates rules at each change, and keeps the definition in memory.
const (
	mostRules      = 120
	longestRule    = 300
	mostDefinition = 118_200
)

func TestTheAPIHasFewAndShortRules(t *testing.T) {
	files, err := filepath.Glob("../../../api/v1alpha1/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no types: %v", err)
	}
	markers := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		markers += strings.Count(string(text), "+kubebuilder:validation:XValidation:")
	}
	if markers == 0 || markers > mostRules {
		t.Errorf("the types have %d rules, %d at most", markers, mostRules)
	}
	for kind, manifest := range map[string][]byte{"LoadTest": crd.LoadTests(), "LoadTestSuite": crd.LoadTestSuites()} {
		r, err := newResource(kind, manifest)
		if err != nil {
			t.Fatal(err)
		}
		rules := 0
		(&structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool {
			for _, rule := range s.XValidations {
				if rules++; len(rule.Rule) > longestRule {
					t.Errorf("%s: a rule has %d characters, %d at most: %s", kind, len(rule.Rule), longestRule, rule.Rule)
				}
			}
			return false
		}}).Visit(r.structural)
		if rules == 0 || rules > mostRules {
			t.Errorf("the definition of %s has %d rules, %d at most", kind, rules, mostRules)
		}
		t.Logf("%s: %d rules, %d bytes", kind, rules, len(manifest))
		if len(manifest) > mostDefinition {
			t.Errorf("the definition of %s has %d bytes, %d at most", kind, len(manifest), mostDefinition)
		}
	}
	t.Logf("%d rules in the types", markers)
}
