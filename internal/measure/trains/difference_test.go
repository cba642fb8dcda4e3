package trains_test

import (
	"testing"

	"github.com/linerate-dev/linerate/internal/measure/trains"
)

func TestADifferenceHasTheDigitsThatItsReachAllows(t *testing.T) {
	for _, c := range []struct {
		difference, reach float64
		want              string
	}{
		{502, 43, "+0.50 ± 0.05 µs"}, {502, 112, "+0.50 ± 0.12 µs"}, {-240.4, 20, "-0.24 ± 0.02 µs"},
		{14.32, 1.24, "+14.3 ± 1.3 ns"}, {0.2, 9.3, "+0 ± 10 ns"}, {13_800, 140, "+13.80 ± 0.14 µs"},
		{502, 0, "+0.50 µs"}, {2500, 3200, "+2 ± 4 µs"},
	} {
		if got := trains.Difference(c.difference, c.reach); got != c.want {
			t.Errorf("%v ± %v: %s, want %s", c.difference, c.reach, got, c.want)
		}
	}
}
