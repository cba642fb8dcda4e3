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
	i := slices.IndexFunc(spec.Criteria, v1alpha1.Criterion.Relative)
	within := spec.Baseline != nil
	switch {
	case len(spec.Criteria) == 0 && s.Test:
		return errors.New("there is no criterion, so this gate could never fail: write spec.criteria, such as [{name: line-rate, metric: LineRatePercent, min: \"95\"}], " +
			"or give --max-regression 2% with --baseline-image or --baseline")
	case len(spec.Criteria) == 0:
		return errors.New("there is no criterion, so this gate could never fail: write spec.criteria of the suite (those of its template don't count), such as " +
			"[{name: line-rate, metric: LineRatePercent, min: \"95\"}], or give --max-regression 2% with --baseline or spec.baseline")
	case i >= 0 && !within && !o.Baseline && s.Baseline == nil:
		return fmt.Errorf("criterion %s compares, and there is nothing to compare with: give --baseline-image OLD=NEW (measured in turns: the surest), --baseline FILE, or spec.baseline", spec.Criteria[i].Name)
	case i < 0 && (within || o.Baseline):
		return errors.New("there is a baseline, and no criterion compares with it: give --max-regression 2%, or a criterion of maxRegression, such as {name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}")
	case i < 0 && o.Anchor:
		return errors.New("there is an anchor, and no criterion compares with it: give --max-regression 2%, or a criterion of maxRegression, such as {name: no-slower, metric: PacketsPerSecond, maxRegression: 2%}")
	case within && spec.Baseline.Axis != "" && onlyBaseline(spec):
		return fmt.Errorf("all cells have %s %s, which is the baseline itself: nothing is compared with it; give the axis another value", spec.Baseline.Axis, spec.Baseline.Value)
	}
	return nil
}

// checkLeave refuses leave for a difference from a baseline that there isn't.
func (s *Subject) checkLeave(o Options) error {
	if len(o.AllowDifferent) == 0 || s.Suite.Spec.Baseline != nil || s.Baseline != nil || o.Baseline {
		return nil
	}
	return fmt.Errorf("--allow-different %s: nothing is compared with a baseline: give one, or leave the flag out", strings.Join(o.AllowDifferent, ","))
}

// onlyBaseline says that a suite has no cell but those that others would be compared with.
func onlyBaseline(spec *v1alpha1.LoadTestSuiteSpec) bool {
	for _, axis := range spec.Axes {
		if axis.Name == spec.Baseline.Axis {
			return len(axis.Values) < 2
		}
	}
	return false
}
