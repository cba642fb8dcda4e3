package admission

import (
	"testing"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

func TestOtherSpec(t *testing.T) {
	links := []v1alpha1.LinkSpec{{Name: "west"}, {Name: "east"}}
	base := v1alpha1.LoadTestSpec{Links: links, Traffic: v1alpha1.TrafficSpec{Profile: "IMIX"}, ActiveDeadline: "1h"}
	for name, c := range map[string]struct {
		change func(*v1alpha1.LoadTestSpec)
		field  string
		terms  string
	}{
		"nothing": {func(*v1alpha1.LoadTestSpec) {}, "", ""},
		"another profile": {func(s *v1alpha1.LoadTestSpec) { s.Traffic.Profile = "FixedSize" },
			"spec.traffic.profile", ""},
		"a field more": {func(s *v1alpha1.LoadTestSpec) { s.Procedure.MaxLossRatio = "0.1" }, "spec.procedure", ""},
		"links in other order": {func(s *v1alpha1.LoadTestSpec) { s.Links = []v1alpha1.LinkSpec{links[1], links[0]} },
			"spec.links[0].name", ""},
		"a link less": {func(s *v1alpha1.LoadTestSpec) { s.Links = links[:1] }, "spec.links", ""},
		"another deadline": {func(s *v1alpha1.LoadTestSpec) { s.ActiveDeadline, s.Stop = "2h", true }, "",
			"spec.activeDeadline, spec.stop"},
		"its Report is kept": {func(s *v1alpha1.LoadTestSpec) { s.ReportRetention = "Keep" }, "",
			"spec.reportRetention"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := base
			c.change(&changed)
			a, b := &v1alpha1.LoadTest{Spec: changed}, &v1alpha1.LoadTest{Spec: base}
			field, differs := OtherSpec(a, b)
			if differs != (c.field != "") || field != c.field && differs {
				t.Errorf("got %q, %v, want %q", field, differs, c.field)
			}
			if terms := OtherTerms(a, b); terms != c.terms {
				t.Errorf("terms are %q, want %q", terms, c.terms)
			}
		})
	}
}

func TestAnotherSuite(t *testing.T) {
	base := &v1alpha1.LoadTestSuite{Spec: v1alpha1.LoadTestSuiteSpec{Parallelism: 1, Repetitions: 1}}
	base.Spec.Axes = []v1alpha1.Axis{{Name: "system", Values: []v1alpha1.AxisValue{{Name: "linux"}}}}
	for name, c := range map[string]struct {
		change       func(*v1alpha1.LoadTestSuiteSpec)
		field, terms string
	}{
		"nothing":          {func(*v1alpha1.LoadTestSuiteSpec) {}, "", ""},
		"more at once":     {func(s *v1alpha1.LoadTestSuiteSpec) { s.Parallelism = 8 }, "", "spec.parallelism"},
		"more repetitions": {func(s *v1alpha1.LoadTestSuiteSpec) { s.Repetitions = 8 }, "spec.repetitions", ""},
		"another template": {func(s *v1alpha1.LoadTestSuiteSpec) { s.Template.Spec = v1alpha1.Freeform{"dut": {Raw: []byte(`{}`)}} }, "spec.template.spec", ""},
		"another value's name": {func(s *v1alpha1.LoadTestSuiteSpec) {
			s.Axes = []v1alpha1.Axis{{Name: "system", Values: []v1alpha1.AxisValue{{Name: "bsd"}}}}
		}, "spec.axes[0].values[0].name", ""},
	} {
		t.Run(name, func(t *testing.T) {
			changed := base.DeepCopy()
			c.change(&changed.Spec)
			if field, differs := OtherSpec(changed, base); differs != (c.field != "") || differs && field != c.field {
				t.Errorf("got %q, %v, want %q", field, differs, c.field)
			}
			if terms := OtherTerms(changed, base); terms != c.terms {
				t.Errorf("terms are %q, want %q", terms, c.terms)
			}
		})
	}
}
