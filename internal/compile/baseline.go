package compile

import (
	"fmt"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// Baseline names what relative criteria are compared with, in a Report's words. The zero value is no baseline.
type Baseline struct {
	Kind string // LoadTest, Report
	Name string
}

// BaselineOf is the baseline that a spec names.
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

// allowDifferent are the parts of the environment that may differ from the baseline's.
func allowDifferent(spec *v1alpha1.BaselineSpec) (parts []string) {
	if spec == nil {
		return nil
	}
	for _, part := range spec.AllowedDifferences {
		parts = append(parts, string(part))
	}
	return parts
}

// String is "LoadTest vpp-main", and empty where there is no baseline.
func (b Baseline) String() string {
	if b.Kind == "" {
		return ""
	}
	return b.Kind + " " + b.Name
}
