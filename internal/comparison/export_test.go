package comparison

// Odds are the chances of both claims, as Compare finds them, of so many runs of a candidate and of a baseline: without words, for simulations of millions.
func Odds(n, m int) func(candidate, baseline []Run, least float64) Chance {
	by := methodOf(n, m)
	return func(candidate, baseline []Run, least float64) Chance {
		c, b := sampleOf(candidate), sampleOf(baseline)
		return chances(by.under(c, b), by.over(c, b), least, c.common+b.common)
	}
}
