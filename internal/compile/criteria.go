package compile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// criteria are the demands as they stand: bounds were checked by the schema, and mean something only beside a result.
func (c *compiler) criteria() []plan.Criterion {
	out, errs := Criteria(specPath().Child("criteria"), c.spec.Criteria)
	c.errs = append(c.errs, errs...)
	return out
}

// Criteria makes criteria into a Plan's; path is where they stand.
func Criteria(path *field.Path, in []v1alpha1.Criterion) (out []plan.Criterion, errs field.ErrorList) {
	read := func(path *field.Path, text v1alpha1.Percent) units.Ratio {
		ratio, err := units.ParseRatio(string(text))
		if err != nil {
			errs = append(errs, field.Invalid(path, text, err.Error()))
		}
		return ratio
	}
	for i, c := range in {
		criterion := plan.Criterion{Name: c.Name, Metric: string(c.Metric), Direction: string(c.Direction), Min: string(c.Min), Max: string(c.Max)}
		if c.Relative() {
			most := read(path.Index(i).Child("maxRegression"), c.MaxRegression)
			criterion.MaxRegression = &most
		}
		if c.AssumedSpread != "" {
			criterion.AssumedSpread = read(path.Index(i).Child("assumedSpread"), c.AssumedSpread)
		}
		out = append(out, criterion)
	}
	return out, errs
}
