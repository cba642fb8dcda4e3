package faults

import (
	"slices"
	"testing"

	lineratev1alpha1 "github.com/linerate-dev/linerate/api/v1alpha1"
)

// of is a test with these figures.
func of(figures ...int64) *lineratev1alpha1.LoadTest {
	test := &lineratev1alpha1.LoadTest{}
	if len(figures) > 0 {
		test.Status.Result = &lineratev1alpha1.Result{}
	}
	for _, f := range figures {
		one := lineratev1alpha1.DirectionResult{Figures: lineratev1alpha1.Figures{Received: lineratev1alpha1.FlowRate{PacketsPerSecond: f}}}
		test.Status.Result.Directions = append(test.Status.Result.Directions, one)
	}
	return test
}

// TestASoakCountsWhatIsWrong: what others did to the machine isn't held against the operator, and is told all the same.
func TestASoakCountsWhatIsWrong(t *testing.T) {
	s := &soaked{}
	s.add(of(10_000, 9_980), 1, false)
	s.add(of(9_890, 10_300), 1, false)
	s.add(of(9_000, 10_000), 1, true)
	s.add(of(), 1, false)
	s.add(of(), 1, true)
	if !slices.Equal(s.wrong, []int64{9_890, 10_300}) || s.outside != 3 || s.missing != 2 || s.unmeasured != 1 || s.tests != 5 {
		t.Errorf("%+v", s)
	}
}
