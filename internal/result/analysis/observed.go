package analysis

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/units/statistics"
)

// judgeObserved compares the series that a criterion speaks of with its bounds, in the windows that the result's
// figures are of. The worst outcome is the criterion's. A missing series leaves the criterion undecided, and the
// reason says why it is missing.
func judgeObserved(r *report.Report, c plan.Criterion) (report.Outcome, string) {
	series, missing := observedSeries(r, *c.Observed)
	if missing != "" {
		return report.Undecided, missing
	}
	messages := map[report.Outcome][]string{}
	for _, s := range series {
		outcome, message := observedAgainst(s, r, c)
		messages[outcome] = append(messages[outcome], message)
	}
	return worstOf(messages)
}

// observedSeries are the series of the result's windows that a criterion speaks of. missing says why there is none.
func observedSeries(r *report.Report, wanted plan.ObservedSeries) (found []report.Observed, missing string) {
	missing = fmt.Sprintf("the Report doesn't say what observer %s saw of %s in the result's windows", wanted.Observer,
		wanted.Series)
	for _, o := range r.Answer.Observed {
		switch {
		case o.Observer != wanted.Observer:
		case o.Series == "":
			missing = fmt.Sprintf("%s: %s is missing: %s", wanted.Observer, wanted.Series, o.Missing)
		case o.Series == wanted.Series && o.OfAll() == (wanted.Scope == plan.ObservedAll):
			found = append(found, o)
		case o.Series == wanted.Series && o.Missing != "":
			missing = fmt.Sprintf("%s: %s of %s is missing: %s", wanted.Observer, wanted.Series, o.Subject, o.Missing)
		case o.Series == wanted.Series && o.OfAll():
			missing = fmt.Sprintf("%s: %s is known of all processors together only, as the machine has many: say observed.scope: All", wanted.Observer, wanted.Series)
		}
	}
	if len(found) == 0 {
		return nil, missing
	}
	return append(found, machinesWithoutProcessors(r, wanted, found)...), ""
}

// machinesWithoutProcessors are the machines that show all processors together only, where each processor is to
// meet a criterion and other machines show each. A criterion that some meet is not met by all.
func machinesWithoutProcessors(r *report.Report, wanted plan.ObservedSeries,
	found []report.Observed) (machines []report.Observed) {
	for _, o := range r.Answer.Observed {
		if o.Observer != wanted.Observer || o.Series != wanted.Series || !o.OfAll() ||
			wanted.Scope == plan.ObservedAll {
			continue
		}
		prefix := strings.TrimSuffix(o.Subject, report.AllProcessors) + "processor "
		if !slices.ContainsFunc(found, func(f report.Observed) bool { return strings.HasPrefix(f.Subject, prefix) }) {
			o.Missing = cmp.Or(o.Missing, "it is known of all together only, as the machine has many: say observed.scope: All")
			machines = append(machines, o)
		}
	}
	return machines
}

// observedAgainst compares one series with a criterion's bounds, which are in the series' unit.
func observedAgainst(o report.Observed, r *report.Report, c plan.Criterion) (report.Outcome, string) {
	name := seriesName(o, *c.Observed)
	value, missing := observedValue(o, *c.Observed)
	if missing != "" {
		return report.Undecided, fmt.Sprintf("%s is missing: %s", name, missing)
	}
	low, high := new(big.Rat).SetFloat64(max(value-o.Unsure, min(value, 0))), new(big.Rat).SetFloat64(value+o.Unsure)
	if low == nil || high == nil {
		return report.Undecided, fmt.Sprintf("%s is missing: %v is no number", name, value)
	}
	outcome, message := report.Passed, name+": "+observedText(value, o.Unit)+boundsSentence(c, unitName(o.Unit))
	for _, b := range boundsOf(c) {
		limit, err := decimal(b.limit)
		if err != nil {
			return report.Undecided, fmt.Sprintf("%s: %v", name, err)
		}
		met, missed := compareInterval(low, high, limit, b.atLeast)
		switch {
		case missed:
			outcome = report.DidFail
		case !met && outcome == report.Passed:
			outcome = report.Undecided
		}
	}
	if outcome == report.Undecided {
		reason := "its source told the same number from before the window until after it, which may have been an old one"
		if strings.HasSuffix(o.Unit, "/s") {
			reason = "its counter grows in steps, or took long to answer"
		}
		return outcome, fmt.Sprintf("%s, and it is known to %s only, as %s: hold the load for longer", message,
			observedText(o.Unsure, o.Unit), reason)
	}
	if r.Unconfirmed() {
		return report.Undecided, message + ", and the figure beside which it was seen is not confirmed"
	}
	if reason := whyMayBeMore(r); outcome == report.Passed && c.Max != "" && reason != "" {
		return report.Undecided, message + reason
	}
	return outcome, message
}

// whyMayBeMore says why a series may be higher at a load that was not reached. It is empty where the load was
// reached.
func whyMayBeMore(r *report.Report) string {
	switch {
	case r.Answer.Reason == report.OtherDirection:
		return ", and one direction set the load of all, so it may be more where another one carries all it can"
	case r.Answer.Saturated && len(r.Answer.NearGenerators) > 0:
		return ", and the limit may be the generators', so it may be more at the device's own"
	case !loadNotReached(r.Answer.Reason):
		return ""
	case report.PlanOf(r).Sessions != nil:
		return belowTheDevicesLimit(r.Answer.Reason)
	}
	return ", and the load asked for was not reached, at which it may be more"
}

// observedValue is the number of a series that a criterion judges. missing says why there is none.
func observedValue(o report.Observed, wanted plan.ObservedSeries) (value float64, missing string) {
	v := o.Mean
	if wanted.Statistic == plan.ObservedMax && o.Max != nil {
		v = o.Max // of a counter in a single window there is one rate, its mean
	}
	switch {
	case o.Missing != "":
		return 0, o.Missing
	case v == nil:
		return 0, "the Report has no value of it"
	}
	return *v, ""
}

// seriesName names a series and its number, as in "cpu: mean busy of processor 1".
func seriesName(o report.Observed, wanted plan.ObservedSeries) string {
	statistic := "mean"
	if wanted.Statistic == plan.ObservedMax {
		statistic = "highest"
	}
	return fmt.Sprintf("%s: %s %s of %s", o.Observer, statistic, o.Series, o.Subject)
}

// unitName is the unit of a series in words. Seconds of processor time in a second are processors.
func unitName(unit string) string {
	if unit == "s/s" {
		return "processors"
	}
	return unit
}

// observedText is a value in the unit that bounds are in.
func observedText(v float64, unit string) string {
	parts := 1e6
	switch size := math.Abs(v); {
	case size >= parts: // bytes, or hertz
		parts = 1
	case size < 0.001: // a packet's energy
		parts = 1e9
	}
	return strconv.FormatFloat(math.Round(v*parts)/parts, 'f', -1, 64) + " " + unitName(unit)
}

// observedOverRuns has the median of each series of a criterion, over the runs that have it, and the bounds.
func observedOverRuns(runs []*report.Report, c plan.Criterion) string {
	var names, texts []string
	values, units := map[string][]float64{}, map[string]string{}
	reason := ""
	for _, r := range runs {
		series, missing := observedSeries(r, *c.Observed)
		if missing != "" {
			reason = missing
		}
		for _, o := range series {
			name := seriesName(o, *c.Observed)
			if !slices.Contains(names, name) {
				names, units[name] = append(names, name), o.Unit
			}
			v, missing := observedValue(o, *c.Observed)
			if missing != "" {
				reason = fmt.Sprintf("%s is missing: %s", name, missing)
				continue
			}
			values[name] = append(values[name], v)
		}
	}
	for _, name := range names {
		if s := statistics.Summarize(values[name]); s.N > 0 {
			texts = append(texts, fmt.Sprintf("%s: median %s of %d runs (%s to %s)", name,
				observedText(s.Median, units[name]), s.N,
				observedText(s.Low, units[name]), observedText(s.High, units[name])))
		}
	}
	if len(texts) == 0 {
		return reason + boundsSentence(c, "")
	}
	return strings.Join(texts, "; ") + boundsSentence(c, unitName(units[names[0]]))
}
