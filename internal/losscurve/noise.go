package losscurve

import "math"

// noise is by how much losses vary from trial to trial around their average, μ: the variance is clump·μ + excess·μ².
type noise struct{ clump, excess float64 }

// noises are those that are reckoned with, alike before there are trials: each frame is lost by itself (Poisson), frames are lost in clumps, or trials vary by as much as they lose, as the device does
// something else besides (geometric).
var noises = []noise{{clump: 1}, {clump: 16}, {clump: 1, excess: 1}}

// seen is a trial, prepared.
type seen struct {
	Trial

	logs float64 // of how many frames were sent, for each that is offered in a second
	most float64 // the logarithm of all that was sent
	ways float64 // what no curve changes
}

// take prepares trials.
func (n noise) take(trials []Trial) (all []seen) {
	for _, t := range trials {
		all = append(all, seen{t, math.Log(float64(t.Sent) / t.Load), math.Log(float64(t.Sent)), n.ways(float64(t.Lost))})
	}
	return all
}

// ways is what of the logarithm of a loss' probability no average changes. In clumps it is that of Efron's double Poisson distribution, by Stirling's formula: as many clumps as Poisson says.
func (n noise) ways(lost float64) float64 {
	factorial, _ := math.Lgamma(lost + 1)
	switch {
	case n.excess > 0:
		most, _ := math.Lgamma(lost + 1/n.excess)
		least, _ := math.Lgamma(1 / n.excess)
		return most - least - factorial + lost*math.Log(n.excess)
	case n.clump == 1:
		return -factorial
	case lost == 0:
		return 0
	}
	return (lost-lost*math.Log(lost))/n.clump - math.Log(2*math.Pi*n.clump*lost)/2
}

// logLikelihood is the logarithm of the probability of what trials lost, if a curve says how much they lose on average.
func (n noise) logLikelihood(c Curve, trials []seen) float64 {
	sum, none, unit := 0.0, c.Shape.log(-c.Capacity/c.Spread), math.Log(c.Spread)
	for _, t := range trials {
		sum += n.logProbability(t, min(t.most, unit+c.logLost(t.Load, none)+t.logs))
	}
	return sum
}

// logProbability is that of one trial, whose loss has an average of this logarithm.
func (n noise) logProbability(t seen, logAverage float64) float64 {
	lost, average := float64(t.Lost), math.Exp(logAverage)
	if n.excess > 0 {
		return t.ways + lost*logAverage - (lost+1/n.excess)*math.Log1p(n.excess*average)
	}
	return t.ways + (lost*logAverage-average)/n.clump
}
