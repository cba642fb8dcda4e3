package comparison_test

import (
	"math"
	"testing"

	"github.com/aclements/go-moremath/stats"

	"github.com/linerate-dev/linerate/internal/result/comparison"
)

// The bound of a median lies between the last run that it may be beyond seldom enough and the next one, as
// Hettmansperger and Sheather interpolate between the two.
func TestTheBoundOfAMedianIsAsSureAsItIsToBe(t *testing.T) {
	for _, n := range []int{5, 6, 7, 8, 9, 10, 11, 12, 20, 39, 40, 41, 100, 333, 900, 901, 1000, 1024, 1025, 3000} {
		half, size := stats.BinomialDist{N: n, P: 0.5}, float64(n)
		rank, share := comparison.MedianBound(n)
		if half.CDF(0) >= comparison.MedianTail {
			if rank != 0 || share != 0 {
				t.Errorf("%d runs are too few: %d, %g", n, rank, share)
			}
			continue
		}
		sure, unsure := half.CDF(float64(rank)), half.CDF(float64(rank+1))
		of := (comparison.MedianTail - sure) / (unsure - sure)
		if want := (size - float64(rank+1)) * of / (float64(rank+1) + (size-2*float64(rank+1))*of); !(sure <= comparison.MedianTail && unsure > comparison.MedianTail) || math.Abs(share-want) > 1e-6 {
			t.Errorf("%d runs: beyond the run of rank %d the median lies with %g, beyond the next with %g; %g of the way between, want %g", n, rank, sure, unsure, share, want)
		}
	}
}

func TestQuantilesOfStudentsT(t *testing.T) {
	for _, freedom := range []float64{1, 4, 4.7, 8, 18, 78.3, 1000, 1e5} {
		for _, tail := range []float64{0.1, 0.025, 0.025 / 4, 0.025 / 1000} {
			q := comparison.StudentT(1-tail, freedom)
			if below := (stats.TDist{V: freedom}).CDF(q); math.Abs(below-(1-tail)) > 1e-11 {
				t.Errorf("below %g lie %g of Student's t of %g degrees of freedom, want %g", q, below, freedom, 1-tail)
			}
		}
	}
	if got := comparison.StudentT(0.975, 4); math.Abs(got-2.7764451) > 1e-6 { // as tables of statistics have it
		t.Errorf("the 97.5 %% quantile of 4 degrees of freedom is said to be %g", got)
	}
}
