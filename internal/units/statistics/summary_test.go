package statistics_test

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate-dev/linerate/internal/units/statistics"
)

func TestASummaryTellsMedianSpreadAndWhatEnclosesTheMedian(t *testing.T) {
	tests := map[string]struct {
		values []float64
		want   statistics.Summary
	}{
		"nothing":         {nil, statistics.Summary{}},
		"one run":         {[]float64{9974}, statistics.Summary{N: 1, Median: 9974, Low: 9974, High: 9974}},
		"two":             {[]float64{101, 99}, statistics.Summary{N: 2, Median: 100, Low: 99, High: 101, Confidence: 0.5, SpreadPercent: math.Sqrt2}},
		"five agree":      {[]float64{7, 7, 7, 7, 7}, statistics.Summary{N: 5, Median: 7, Low: 7, High: 7, Confidence: 0.9375}},
		"six are enough":  {[]float64{96, 104, 98, 102, 99, 101}, statistics.Summary{N: 6, Median: 100, Low: 96, High: 104, Confidence: 0.96875, SpreadPercent: math.Sqrt(8.4)}},
		"nine leave some": {[]float64{1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009}, statistics.Summary{N: 9, Median: 1005, Low: 1002, High: 1008, Confidence: 0.9609375, SpreadPercent: 100 * math.Sqrt(7.5) / 1005}},
		"no numbers":      {[]float64{math.NaN(), 5, math.Inf(1)}, statistics.Summary{N: 1, Median: 5, Low: 5, High: 5}},
		"all 0":           {[]float64{0, 0}, statistics.Summary{N: 2, Confidence: 0.5}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.values)
			got := statistics.Summarize(test.values)
			if diff := cmp.Diff(test.want, got, cmp.Comparer(about)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(before, test.values, cmp.Comparer(about)); diff != "" {
				t.Errorf("the values were changed: %s", diff)
			}
		})
	}
}

func about(a, b float64) bool {
	return a == b || math.Abs(a-b) < 1e-9*max(1, math.Abs(a)) || math.IsNaN(a) && math.IsNaN(b)
}

func TestOutliersAreShownAndCount(t *testing.T) {
	tests := map[string]struct {
		values []float64
		want   []statistics.Outlier
		median float64
	}{
		"one of five":                         {[]float64{10_000, 9_400, 10_010, 9_990, 10_005}, []statistics.Outlier{{Run: 1, Value: 9_400}}, 10_000},
		"one of three":                        {[]float64{100, 100.1, 95}, []statistics.Outlier{{Run: 2, Value: 95}}, 100},
		"two can't say which":                 {[]float64{100, 50}, nil, 75},
		"a hair beside runs that agree":       {[]float64{100, 100, 100, 100, 100.5}, nil, 100},
		"wide runs have a wide middle":        {[]float64{90, 95, 100, 105, 110}, nil, 100},
		"two of eight":                        {[]float64{100, 101, 99, 100, 120, 101, 99, 80}, []statistics.Outlier{{Run: 4, Value: 120}, {Run: 7, Value: 80}}, 100},
		"what is no number is no outlier":     {[]float64{100, 100, 100, math.Inf(1)}, nil, 100},
		"of 0 and 0 and 5 the last is far":    {[]float64{0, 0, 5}, []statistics.Outlier{{Run: 2, Value: 5}}, 0},
		"a device in two states has no stray": {[]float64{100, 96, 100, 96, 100, 96}, nil, 98},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := statistics.Summarize(test.values)
			if diff := cmp.Diff(test.want, got.Outliers); diff != "" || got.Median != test.median {
				t.Errorf("median %g, want %g: %s", got.Median, test.median, diff)
			}
		})
	}
}
