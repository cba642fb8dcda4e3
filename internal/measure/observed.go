package measure

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/linerate-dev/linerate/internal/document/report"
)

// vital is a series of an observer.
type vital struct{ observer, series, part string }

// observedTogether is what each series was over all of these windows. A series that is missing in any of them is
// missing, with that window's reason, because a mean of the others would be of another time than the answer is.
func observedTogether(windows []report.Window) []report.Observed {
	ordered := slices.SortedStableFunc(slices.Values(windows), func(a, b report.Window) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Number, b.Number))
	})
	var values []report.Observed
	found := map[vital]bool{}
	for _, w := range ordered {
		for _, o := range w.Observed {
			key := vital{o.Observer, o.Series, o.Subject}
			if found[key] || o.Series == "" && hasSeries(windows, o.Observer) {
				continue // an observer that had no series in this window makes those of the others missing
			}
			found[key] = true
			values = append(values, seriesTogether(ordered, key))
		}
	}
	return values
}

// hasSeries says that an observer had some series in one of the windows.
func hasSeries(windows []report.Window, observer string) bool {
	return slices.ContainsFunc(windows, func(w report.Window) bool {
		return slices.ContainsFunc(w.Observed,
			func(o report.Observed) bool { return o.Observer == observer && o.Series != "" })
	})
}

// seriesTogether is one series over all windows, which are in the order of time.
func seriesTogether(windows []report.Window, key vital) report.Observed {
	whole := report.Observed{Observer: key.observer, Series: key.series, Subject: key.part}
	var sum, time float64
	var means, lowest, highest []float64
	for _, w := range windows {
		o := seriesIn(w, key)
		whole.Unit = cmp.Or(whole.Unit, o.Unit)
		if o.Missing != "" {
			whole.Missing = cmp.Or(whole.Missing, fmt.Sprintf("in window %d %s", w.Number, o.Missing))
			continue
		}
		whole.Over, whole.Unsure = whole.Over+o.Over, max(whole.Unsure, o.Unsure)
		sum, time = sum+*o.Mean*o.Over.Std().Seconds(), time+o.Over.Std().Seconds()
		means, lowest, highest = append(means, *o.Mean), append(lowest, *cmp.Or(o.Min, o.Mean)),
			append(highest, *cmp.Or(o.Max, o.Mean))
	}
	if whole.Missing != "" {
		whole.Over, whole.Unsure = 0, 0
		return whole
	}
	mean := means[0]
	if time > 0 {
		mean = sum / time
	}
	whole.Mean, whole.Min, whole.Max = &mean, new(slices.Min(lowest)), new(slices.Max(highest))
	return whole
}

// seriesIn is a series in one window. One that isn't there, or has no value, is missing.
func seriesIn(w report.Window, key vital) report.Observed {
	reason := "it was not read"
	for _, o := range w.Observed {
		if o.Observer != key.observer {
			continue
		}
		if o.Series == key.series && o.Subject == key.part {
			if o.Missing == "" && o.Mean == nil {
				o.Missing = reason
			}
			return o
		}
		if o.Series == "" {
			reason = o.Missing
		}
	}
	return report.Observed{Missing: reason}
}
