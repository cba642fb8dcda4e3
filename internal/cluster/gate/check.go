package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate-dev/linerate/api/v1alpha1"
)

// check refuses a gate that can't fail, and one that can't be decided.
func (s *Subject) check(o Options) error {
	spec := &s.Suite.Spec
	relative := slices.IndexFunc(spec.Criteria, v1alpha1.Criterion.Relative)
	ownBaseline := spec.Baseline != nil
	switch {
	case len(spec.Criteria) == 0 && s.Test:
		return errors.New("there is no criterion, so this gate could never fail: write spec.criteria, such as " +
			"[{name: line-rate, metric: LineRatePercent, min: 95%}], " +
			"or give --max-regression 2% with --baseline-image or --baseline")
	case len(spec.Criteria) == 0:
		return errors.New("there is no criterion, so this gate could never fail: write spec.criteria of the suite " +
			"(those of its template don't count), such as " +
			"[{name: line-rate, metric: LineRatePercent, min: 95%}], or give --max-regression 2% with --baseline " +
			"or spec.baseline")
	case relative >= 0 && !ownBaseline && !o.Baseline && s.Baseline == nil:
		return fmt.Errorf("criterion %s compares, but there is no baseline: give --baseline-image OLD=NEW (both "+
			"images are measured in turns: the surest), --baseline FILE, or "+
			"spec.baseline", spec.Criteria[relative].Name)
	case relative < 0 && (ownBaseline || o.Baseline):
		return errors.New("there is a baseline, but no criterion compares with it: give --max-regression 2%, or a " +
			"criterion of maxRegression, such as {name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}")
	case relative < 0 && o.Anchor:
		return errors.New("there is an anchor, but no criterion compares with it: give --max-regression 2%, or a " +
			"criterion of maxRegression, such as {name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}")
	case ownBaseline && spec.Baseline.Axis != "" && onlyBaseline(spec):
		return fmt.Errorf("all cells have %s %s, which is the baseline, so nothing would be compared with it: give "+
			"the axis another value", spec.Baseline.Axis, spec.Baseline.Value)
	}
	return nil
}

// checkAllowDifferent refuses --allow-different where there is no baseline.
func (s *Subject) checkAllowDifferent(o Options) error {
	if len(o.AllowDifferent) == 0 || s.Suite.Spec.Baseline != nil || s.Baseline != nil || o.Baseline {
		return nil
	}
	return fmt.Errorf("--allow-different %s: nothing is compared with a baseline: give one, or leave the flag out",
		strings.Join(o.AllowDifferent, ","))
}

// onlyBaseline says that all cells of a suite are the baseline.
func onlyBaseline(spec *v1alpha1.LoadTestSuiteSpec) bool {
	for _, axis := range spec.Axes {
		if axis.Name == spec.Baseline.Axis {
			return len(axis.Values) < 2
		}
	}
	return false
}
