package admission

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/runtime"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// BenchmarkRules tells what the rules cost an API server when a status is written: it evaluates those of the
// spec as well, which is what it was.
func BenchmarkRules(b *testing.B) {
	server, err := NewServer()
	if err != nil {
		b.Fatal(err)
	}
	for _, sample := range []string{"imix-reference", "criteria", "regression", "loadtest_four_links",
		"loadtest_generator_pod"} {
		b.Run(sample, func(b *testing.B) {
			objects, err := server.LoadFile(nil, "../../../config/samples/"+sample+".yaml")
			if err != nil {
				b.Fatal(err)
			}
			oldContent, newContent := running(objects[0].content, 41), running(objects[0].content, 42)
			b.ReportAllocs()
			for b.Loop() {
				server.tests.written(b, oldContent, newContent)
			}
		})
	}
}

// written judges an update as an API server does: a fault of what stays as it was counts only where a rule compares.
func (s *resource) written(b *testing.B, oldContent, newContent map[string]any) {
	b.Helper()
	ratcheting := cel.WithRatcheting(common.NewCorrelatedObject(newContent, oldContent,
		&model.Structural{Structural: s.structural}))
	errs, _ := s.rules.Validate(b.Context(), nil, s.structural, newContent, oldContent, celconfig.RuntimeCELCostBudget,
		ratcheting)
	if len(errs) > 0 {
		b.Fatal(errs)
	}
}

// running is the object with the status of a run that is so far.
func running(content map[string]any, percent int64) map[string]any {
	object := runtime.DeepCopyJSON(content)
	object["status"] = map[string]any{
		"observedGeneration": int64(1),
		"startTime":          "2026-01-01T00:00:00Z",
		"progress":           map[string]any{"phase": "Ramping", "percent": percent},
	}
	return object
}
