package compile

import (
	"fmt"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Baseline is what relative criteria are to be compared with, as a Report names it. The zero value is none.
type Baseline struct {
	Kind string // LoadTest, Report
	Name string
}

// BaselineOf names what a spec asks for.
func BaselineOf(spec *v1alpha1.BaselineSpec) Baseline {
	switch {
	case spec == nil:
		return Baseline{}
	case spec.LoadTest != "":
		return Baseline{"LoadTest", spec.LoadTest}
	case len(spec.Reports) == 1:
		return Baseline{"Report", spec.Reports[0].ConfigMap}
	case len(spec.Reports) > 1:
		return Baseline{"Report", fmt.Sprintf("%s and %d more", spec.Reports[0].ConfigMap, len(spec.Reports)-1)}
	}
	return Baseline{}
}

// allowDifferent is what of the baseline's environment may be another.
func allowDifferent(spec *v1alpha1.BaselineSpec) (parts []string) {
	if spec == nil {
		return nil
	}
	for _, part := range spec.AllowDifferent {
		parts = append(parts, string(part))
	}
	return parts
}

// String is "LoadTest vpp-main"; empty where there is none.
func (b Baseline) String() string {
	if b.Kind == "" {
		return ""
	}
	return b.Kind + " " + b.Name
}
