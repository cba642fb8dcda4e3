package statistics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/linerate-dev/linerate/internal/units/statistics"
)

func TestTheSpreadOfNormalRunsIsEnclosed(t *testing.T) {
	// The quantiles of χ² with 4 degrees of freedom are 0.4844 and 11.143: tables of statistics have them.
	low, high := statistics.SpreadInterval([]float64{99, 99.5, 100, 100.5, 101}, 0)
	if s := math.Sqrt(0.625); math.Abs(low-s*math.Sqrt(4/11.1433)) > 1e-4 || math.Abs(high-s*math.Sqrt(4/0.484419)) > 1e-4 {
		t.Errorf("a spread of %.3f %% in five runs is enclosed by %.4f and %.4f", s, low, high)
	}
	for _, values := range [][]float64{nil, {5}, {0, 0, 0}} {
		if low, high := statistics.SpreadInterval(values, 0); low != 0 || !math.IsInf(high, 1) {
			t.Errorf("of %v the spread is said to lie in %g to %g", values, low, high)
		}
	}
}

// What a search finds lies on a grid: runs whose figures are all the same may differ by what the grid hides.
func TestTheSpreadIsEnclosedWhateverTheGridHides(t *testing.T) {
	const cases, truth = 2000, 10_000.0
	for _, n := range []int{3, 5, 20} {
		for _, c := range []struct{ spread, grid float64 }{{0.3, 0}, {0.3, 0.5}, {0.1, 0.5}, {0.5, 0.5}, {1, 0.5}} {
			t.Run(fmt.Sprintf("%d runs, spread %g %%, grid %g %%", n, c.spread, c.grid), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(n), uint64(100*c.spread)))
				width, above, below := truth*c.grid/100, 0, 0
				for range cases {
					values, shift := make([]float64, n), r.Float64()*width
					for i := range values {
						v := truth * (1 + c.spread/100*r.NormFloat64())
						if values[i] = v; width > 0 {
							values[i] = math.Floor((v-shift)/width)*width + shift
						}
					}
					low, high := statistics.SpreadInterval(values, width)
					if low > c.spread*1.001 { // the figures' median isn't quite the truth
						above++
					}
					if high < c.spread*0.999 {
						below++
					}
				}
				// 2.5 % are promised at each end; three standard errors of so many cases are 1.05 %.
				if most := cases * 355 / 10_000; above > most || below > most {
					t.Errorf("of %d cases the spread lay below its interval in %d, and above it in %d", cases, above, below)
				}
			})
		}
	}
}
