package comparison

// Odds are the chances of both claims, as Compare finds them, of so many runs of a candidate and of a baseline:
// without words, for simulations of millions.
func Odds(n, m int) func(candidate, baseline []Run, least float64) Chance {
	by := methodOf(n, m)
	return func(candidate, baseline []Run, least float64) Chance {
		c, b := sampleOf(candidate), sampleOf(baseline)
		return chances(by.lossGap(c, b), by.gainGap(c, b), least, c.common+b.common)
	}
}

// MedianBound is where the bound of the median of so many runs lies: between the run of this rank, counted from the
// farthest as 0, and the next one, by this share of the way.
func MedianBound(n int) (rank int, share float64) {
	b := medianBoundOf(n)
	return b.rank, b.share
}

// MedianTail is how probable it may be that a median lies beyond its own bound.
const MedianTail = medianTail

// StudentT is the quantile of Student's t.
func StudentT(p, freedom float64) float64 { return studentT(p, freedom) }
