package compile_test

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/compile"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// Each member has a value of its own here, so that none is taken for another, and none is left out.
func TestACriterionIsInThePlanAsItIsInTheSpec(t *testing.T) {
	limit := units.One / 50
	for name, c := range map[string]struct {
		spec v1alpha1.Criterion
		want plan.Criterion
	}{
		"an absolute one": {
			v1alpha1.Criterion{Name: "between", Metric: v1alpha1.MetricPacketsPerSecond, Direction: "west→east",
				Goal: "NDR", Min: "10", Max: "20"},
			plan.Criterion{Name: "between", Metric: "PacketsPerSecond", Direction: "west→east", Goal: "NDR", Min: "10",
				Max: "20"},
		},
		"one that compares": {
			v1alpha1.Criterion{Name: "no less", Metric: v1alpha1.MetricPacketsPerSecond,
				Statistic: v1alpha1.StatisticWorst, MaxRegression: "2%", AssumedSpread: "1%"},
			plan.Criterion{Name: "no less", Metric: "PacketsPerSecond", Statistic: plan.WorstOfRuns,
				MaxRegression: &limit, AssumedSpread: units.One / 100},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, errs := compile.Criteria(field.NewPath("criteria"), []v1alpha1.Criterion{c.spec})
			if len(errs) > 0 || len(got) != 1 || !reflect.DeepEqual(got[0], c.want) {
				t.Errorf("%+v, %v", got, errs)
			}
		})
	}
}
