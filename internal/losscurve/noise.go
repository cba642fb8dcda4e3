package losscurve

import "math"

// noise is by how much losses vary from trial to trial around their average: the variance is μ + excess·μ².
type noise float64

// noises are those that are reckoned with, alike before there are trials: each frame is lost by itself (Poisson), or losses come in clumps or with what the device does besides, up to as much as they
// amount to (geometric).
var noises = []noise{0, 0.1, 1}

// seen is a trial with what of its probability no curve changes.
type seen struct {
	Trial

	logSent, ways float64
}

// take prepares trials.
func (n noise) take(trials []Trial) (all []seen) {
	for _, t := range trials {
		lost := float64(t.Lost)
		ways, _ := math.Lgamma(lost + 1)
		if ways = -ways; n > 0 {
			most, _ := math.Lgamma(lost + 1/float64(n))
			least, _ := math.Lgamma(1 / float64(n))
			ways += most - least + lost*math.Log(float64(n))
		}
		all = append(all, seen{t, math.Log(float64(t.Sent)), ways})
	}
	return all
}

// logLikelihood is the logarithm of the probability of what trials lost, if a curve says how much they lose on average.
func (n noise) logLikelihood(c Curve, trials []seen) float64 {
	sum, none := 0.0, c.Shape.log(-c.Capacity/c.Spread)
	for _, t := range trials {
		sum += n.logProbability(t, c.logLossRatio(t.Load, none)+t.logSent)
	}
	return sum
}

// logProbability is that of one trial, whose loss has an average of this logarithm.
func (n noise) logProbability(t seen, logAverage float64) float64 {
	lost, average := float64(t.Lost), math.Exp(logAverage)
	if n == 0 {
		return t.ways + lost*logAverage - average
	}
	return t.ways + lost*logAverage - (lost+1/float64(n))*math.Log1p(float64(n)*average)
}
