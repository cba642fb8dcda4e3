package compile

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/linerate-dev/linerate/api/v1alpha1"
	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units"
)

// criteriaReader reads the criteria of the verdict.
type criteriaReader struct {
	*refusals
	spec *v1alpha1.LoadTestSpec
}

// read converts the spec's criteria of a procedure's answer.
func (cr *criteriaReader) read(procedure plan.Procedure) []plan.Criterion {
	path := specPath().Child("criteria")
	criteria, errs := Criteria(path, cr.spec.Criteria)
	cr.errs = append(append(cr.errs, errs...), CheckObserved(path, cr.spec.Criteria, cr.spec.Observers)...)
	cr.errs = append(cr.errs, CheckLatencyLoads(path, cr.spec.Criteria, cr.spec.Procedure.Latency)...)
	cr.errs = append(cr.errs, CheckProcedureShows(path, cr.spec.Criteria, cr.spec.Procedure)...)
	cr.checkGoals(path, procedure.Goals())
	return criteria
}

// checkGoals refuses criteria that name a goal which the test's procedure doesn't have.
func (cr *criteriaReader) checkGoals(path *field.Path, goals []plan.Goal) {
	for i, criterion := range cr.spec.Criteria {
		if criterion.Goal != "" {
			cr.checkGoal(path.Index(i).Child("goal"), criterion.Goal, goals)
		}
	}
}

// CheckProcedureShows refuses criteria of metrics that a procedure doesn't measure. Bursts need a
// procedure that sends some, and loss a procedure that doesn't search for the load of a given loss. path is where the
// criteria stand.
func CheckProcedureShows(path *field.Path, criteria []v1alpha1.Criterion,
	procedure v1alpha1.ProcedureSpec) (errs field.ErrorList) {
	traits := traitsOf(procedure.Type)
	for i, criterion := range criteria {
		wrong := func(words string) {
			errs = append(errs, field.Invalid(path.Index(i).Child("metric"), criterion.Metric, words))
		}
		shown := slices.Contains(traits.Finds, report.Metric(criterion.Metric))
		if criterion.MaxWorkRegression != "" && procedure.Trains == (v1alpha1.TrainsSpec{}) {
			errs = append(errs, field.Invalid(path.Index(i).Child("maxWorkRegression"), criterion.MaxWorkRegression,
				"only trains of frames show the work for a frame: add procedure.trains, such as {count: 200}, or remove "+
					"maxWorkRegression"))
		}
		switch criterion.Metric {
		case v1alpha1.MetricLossRatio:
			if traits.FindsLoadOfLoss {
				wrong("the procedure finds the rate at which a given share is lost: judge a rate, such as PacketsPerSecond")
			}
		case v1alpha1.MetricBackToBackFrames, v1alpha1.MetricBufferFrames, v1alpha1.MetricBufferMicroseconds:
			if !shown {
				wrong("only bursts show this: use a metric such as PacketsPerSecond, or set procedure.type: BackToBack")
			}
		case v1alpha1.MetricTimePerFrame:
			if !shown && procedure.Trains == (v1alpha1.TrainsSpec{}) {
				wrong("only trains of frames show this: use a metric such as PacketsPerSecond, or set procedure.type: " +
					"Trains, or procedure.trains with another type")
			}
		default:
		}
		if traits.SendsTrains && !shown && criterion.Observed == nil && criterion.Latency == nil {
			wrong("trains of frames have no rate and no loss: use metric TimePerFrame, or another procedure.type")
		}
	}
	return errs
}

// CheckLatencyLoads refuses criteria of latency at loads that spec.procedure.latency doesn't list. path is where the
// criteria stand.
func CheckLatencyLoads(path *field.Path, criteria []v1alpha1.Criterion,
	spec *v1alpha1.LatencySpec) (errs field.ErrorList) {
	var loads []units.Ratio
	var texts []string
	if spec != nil {
		for _, share := range spec.Loads {
			if load, err := units.ParseShare(string(share)); err == nil {
				loads, texts = append(loads, load), append(texts, string(share))
			}
		}
	}
	for i, c := range criteria {
		if c.Latency == nil {
			continue
		}
		fieldPath := path.Index(i).Child("latency", "load")
		load, err := units.ParseShare(string(c.Latency.Load))
		switch {
		case err != nil || slices.Contains(loads, load): // a load that isn't a share is refused elsewhere
		case len(loads) == 0:
			errs = append(errs, field.Invalid(fieldPath, c.Latency.Load,
				"the test measures no latency: add procedure.latency, such as {loads: [0%, 10%, 50%, 90%]}"))
		default:
			errs = append(errs, field.Invalid(fieldPath, c.Latency.Load,
				"the test measures no latency at this load: use "+strings.Join(texts, ", ")+", or add it to "+
					"procedure.latency.loads"))
		}
	}
	return errs
}

// Criteria converts criteria to a Plan's. path is where they stand.
func Criteria(path *field.Path, specs []v1alpha1.Criterion) ([]plan.Criterion, field.ErrorList) {
	var criteria []plan.Criterion
	r := &refusals{}
	for i, c := range specs {
		criterion := plan.Criterion{Name: c.Name, Metric: string(c.Metric), Direction: string(c.Direction),
			Goal: c.Goal, Statistic: string(c.Statistic)}
		criterion.Min, criterion.Max = r.thresholds(path.Index(i), c)
		if c.Relative() {
			maxRegression := r.share(path.Index(i).Child("maxRegression"), c.MaxRegression)
			criterion.MaxRegression = &maxRegression
		}
		if c.MaxWorkRegression != "" {
			maxWorkRegression := r.share(path.Index(i).Child("maxWorkRegression"), c.MaxWorkRegression)
			criterion.MaxWorkRegression = &maxWorkRegression
		}
		if c.AssumedSpread != "" {
			criterion.AssumedSpread = r.share(path.Index(i).Child("assumedSpread"), c.AssumedSpread)
		}
		if l := c.Latency; l != nil {
			criterion.Latency = &plan.LatencyFigure{Load: r.share(path.Index(i).Child("latency", "load"), l.Load),
				FrameSize: int64(l.FrameSize)}
		}
		if o := c.Observed; o != nil {
			criterion.Observed = &plan.ObservedSeries{Observer: o.Observer, Series: o.Series, Scope: string(o.Scope),
				Statistic: string(o.Statistic)}
		}
		criteria = append(criteria, criterion)
	}
	return criteria, r.errs
}

// thresholds are a criterion's min and max as numbers in the unit of its metric, which a Plan has. path is where the
// criterion stands.
func (r *refusals) thresholds(path *field.Path, c v1alpha1.Criterion) (lowest, highest string) {
	refused := len(r.errs)
	lowest, highest = r.threshold(path.Child("min"), c, c.Min), r.threshold(path.Child("max"), c, c.Max)
	if lowest == "" || highest == "" || len(r.errs) > refused {
		return lowest, highest
	}
	low, isLow := new(big.Rat).SetString(lowest)
	high, isHigh := new(big.Rat).SetString(highest)
	if isLow && isHigh && low.Cmp(high) > 0 {
		r.refuse(path.Child("max"), c.Max, "max must not be less than min")
	}
	return lowest, highest
}

// threshold is a number in the unit of a criterion's metric. That of a share is a ratio or a percentage.
func (r *refusals) threshold(path *field.Path, c v1alpha1.Criterion, text v1alpha1.Threshold) string {
	switch {
	case text == "":
		return ""
	case c.Statistic == v1alpha1.StatisticSpread || c.Metric == v1alpha1.MetricLineRatePercent:
		return r.share(path, v1alpha1.Share(text)).Percent().String()
	case c.Metric == v1alpha1.MetricLossRatio || c.Metric == v1alpha1.MetricRetransmitRatio ||
		c.Metric == v1alpha1.MetricDatagramLossRatio:
		return r.share(path, v1alpha1.Share(text)).String()
	case strings.HasSuffix(string(text), "%"):
		r.refusef(path, text, "%s is a number, and no share: write it without a percent sign, or use a metric such as "+
			"LineRatePercent", c.Metric)
	}
	return string(text)
}

// CheckObserved refuses criteria of series that none of a test's observers has. path is where the criteria stand.
func CheckObserved(path *field.Path, criteria []v1alpha1.Criterion,
	observers []v1alpha1.Observer) (errs field.ErrorList) {
	for i, c := range criteria {
		if c.Observed == nil {
			continue
		}
		fieldPath := path.Index(i).Child("observed")
		n := slices.IndexFunc(observers, func(o v1alpha1.Observer) bool { return o.Name == c.Observed.Observer })
		if n < 0 {
			errs = append(errs, field.Invalid(fieldPath.Child("observer"), c.Observed.Observer,
				noSuchObserver(observers)))
			continue
		}
		observerType := observers[n].Type
		series, ofAll := seriesOf(observers[n])
		switch {
		case !slices.Contains(series, c.Observed.Series):
			errs = append(errs, field.Invalid(fieldPath.Child("series"), c.Observed.Series,
				fmt.Sprintf("an observer of type %s has no such series: use %s%s", observerType,
					strings.Join(series, ", "), onlyOfPower(c.Observed.Series))))
		case c.Observed.Scope == v1alpha1.ObservedOfAll && !ofAll:
			errs = append(errs, field.Invalid(fieldPath.Child("scope"), c.Observed.Scope,
				fmt.Sprintf("an observer of type %s has no series of all together: use Each, which is the default",
					observerType)))
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
		return "the test has no observers: add one of this name to its spec.observers, such as {name: cpu, of: " +
			"Generator, type: Processors}"
	}
	var names []string
	for _, o := range observers {
		names = append(names, o.Name)
	}
	return "the test has no observer of this name: use one of its spec.observers (" + strings.Join(names, ", ") +
		"), or add one"
}
