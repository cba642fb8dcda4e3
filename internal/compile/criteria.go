package compile

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/units"
)

// criteriaReader reads the criteria of the verdict.
type criteriaReader struct {
	*refusals
	spec *v1alpha1.LoadTestSpec
}

// read converts the spec's criteria. The schema has checked their bounds.
func (cr *criteriaReader) read() []plan.Criterion {
	path := specPath().Child("criteria")
	out, errs := Criteria(path, cr.spec.Criteria)
	cr.errs = append(append(cr.errs, errs...), CheckObserved(path, cr.spec.Criteria, cr.spec.Observers)...)
	cr.errs = append(cr.errs, CheckLatencyLoads(path, cr.spec.Criteria, cr.spec.Procedure.Latency)...)
	cr.errs = append(cr.errs, CheckProcedureShows(path, cr.spec.Criteria, cr.spec.Procedure.Type)...)
	cr.checkGoals(path)
	return out
}

// checkGoals refuses criteria that name a goal which the test's search doesn't have.
func (cr *criteriaReader) checkGoals(path *field.Path) {
	var names []string
	if cr.spec.Procedure.Type == v1alpha1.ProcedureSearch {
		for _, g := range searchWithDefaults(cr.spec.Procedure.Search).Goals {
			names = append(names, g.Name)
		}
	}
	for i, criterion := range cr.spec.Criteria {
		switch at := path.Index(i).Child("goal"); {
		case criterion.Goal == "" || slices.Contains(names, criterion.Goal):
		case names == nil:
			cr.refuse(at, criterion.Goal, "only a search has goals: remove goal, or set procedure.type: Search")
		default:
			cr.refuse(at, criterion.Goal, "the search has no goal of this name: use "+strings.Join(names, " or "))
		}
	}
}

// CheckProcedureShows refuses criteria of metrics that a procedure of this type doesn't measure: of bursts
// where it sends none, and of loss where it searches for the load of a given loss. path is where the criteria
// stand.
func CheckProcedureShows(path *field.Path, criteria []v1alpha1.Criterion,
	procedure v1alpha1.ProcedureType) (errs field.ErrorList) {
	for i, criterion := range criteria {
		switch criterion.Metric {
		case v1alpha1.MetricLossRatio:
			if procedure == v1alpha1.ProcedureSoak {
				errs = append(errs, field.Invalid(path.Index(i).Child("metric"), criterion.Metric,
					"a soak finds the rate at which procedure.soak.lossRatio is lost: judge a rate, such as PacketsPerSecond"))
			}
		case v1alpha1.MetricBackToBackFrames, v1alpha1.MetricBufferFrames, v1alpha1.MetricBufferMicroseconds:
			if procedure == v1alpha1.ProcedureBackToBack {
				continue
			}
			errs = append(errs, field.Invalid(path.Index(i).Child("metric"), criterion.Metric,
				"only bursts show this: use a metric such as PacketsPerSecond, or set procedure.type: BackToBack"))
		default:
		}
	}
	return errs
}

// CheckLatencyLoads refuses criteria of latency at loads that spec.procedure.latency doesn't list; path is
// where the criteria stand.
func CheckLatencyLoads(path *field.Path, criteria []v1alpha1.Criterion,
	spec *v1alpha1.LatencySpec) (errs field.ErrorList) {
	var loads []units.Ratio
	var said []string
	if spec != nil {
		for _, at := range spec.At {
			if load, err := units.ParseRatio(string(at)); err == nil {
				loads, said = append(loads, load), append(said, string(at))
			}
		}
	}
	for i, c := range criteria {
		if c.Latency == nil {
			continue
		}
		at := path.Index(i).Child("latency", "at")
		load, err := units.ParseRatio(string(c.Latency.At))
		switch {
		case err != nil || slices.Contains(loads, load): // a load that isn't a share is refused elsewhere
		case len(loads) == 0:
			errs = append(errs, field.Invalid(at, c.Latency.At, "the test measures no latency: add procedure.latency, such as "+
				"{at: [0%, 10%, 50%, 90%]}"))
		default:
			errs = append(errs, field.Invalid(at, c.Latency.At, "the test measures no latency at this load: use "+
				""+strings.Join(said, ", ")+", or add it to procedure.latency.at"))
		}
	}
	return errs
}

// Criteria converts criteria to a Plan's; path is where they stand.
func Criteria(path *field.Path, in []v1alpha1.Criterion) (out []plan.Criterion, errs field.ErrorList) {
	read := func(path *field.Path, text v1alpha1.Percent) units.Ratio {
		ratio, err := units.ParseRatio(string(text))
		if err != nil {
			errs = append(errs, field.Invalid(path, text, err.Error()))
		}
		return ratio
	}
	for i, c := range in {
		criterion := plan.Criterion{Name: c.Name, Metric: string(c.Metric), Direction: string(c.Direction), Goal: c.Goal,
			Statistic: string(c.Statistic), Min: string(c.Min), Max: string(c.Max)}
		if c.Relative() {
			most := read(path.Index(i).Child("maxRegression"), c.MaxRegression)
			criterion.MaxRegression = &most
		}
		if c.AssumedSpread != "" {
			criterion.AssumedSpread = read(path.Index(i).Child("assumedSpread"), c.AssumedSpread)
		}
		if l := c.Latency; l != nil {
			criterion.Latency = &plan.LatencyFigure{At: read(path.Index(i).Child("latency", "at"), l.At),
				FrameSize: int64(l.FrameSize)}
		}
		if o := c.Observed; o != nil {
			criterion.Observed = &plan.ObservedSeries{Observer: o.Observer, Series: o.Series, Of: string(o.Of),
				Statistic: string(o.Statistic)}
		}
		out = append(out, criterion)
	}
	return out, errs
}

// CheckObserved refuses criteria of series that none of a test's observers has; path is where the criteria stand.
func CheckObserved(path *field.Path, criteria []v1alpha1.Criterion,
	observers []v1alpha1.Observer) (errs field.ErrorList) {
	for i, c := range criteria {
		if c.Observed == nil {
			continue
		}
		at := path.Index(i).Child("observed")
		n := slices.IndexFunc(observers, func(o v1alpha1.Observer) bool { return o.Name == c.Observed.Observer })
		if n < 0 {
			errs = append(errs, field.Invalid(at.Child("observer"), c.Observed.Observer, noSuchObserver(observers)))
			continue
		}
		of := observers[n].Type
		series, ofAll := seriesOf(observers[n])
		switch {
		case !slices.Contains(series, c.Observed.Series):
			errs = append(errs, field.Invalid(at.Child("series"), c.Observed.Series,
				fmt.Sprintf("an observer of type %s has no such series: use %s%s", of, strings.Join(series, ", "),
					onlyOfPower(c.Observed.Series))))
		case c.Observed.Of == v1alpha1.ObservedOfAll && !ofAll:
			errs = append(errs, field.Invalid(at.Child("of"), c.Observed.Of,
				fmt.Sprintf("an observer of type %s has no series of all together: use Each, which is the default", of)))
		}
	}
	return errs
}

// onlyOfPower says that a series per traffic needs an observer of power.
func onlyOfPower(series string) string {
	if series == plan.WattsPerGbps || series == plan.JoulesPerPacket {
		return "; " + series + " is of power, which has unit: W"
	}
	return ""
}

// noSuchObserver says which observers the test has.
func noSuchObserver(observers []v1alpha1.Observer) string {
	if len(observers) == 0 {
		return "the test has no observers: add one of this name to its spec.observers, such as {name: cpu, of: Generator, " +
			"type: Processors}"
	}
	var names []string
	for _, o := range observers {
		names = append(names, o.Name)
	}
	return "the test has no observer of this name: use one of its spec.observers (" + strings.Join(names, ", ") +
		"), or add one"
}
