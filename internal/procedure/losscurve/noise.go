package losscurve

import "math"

// noise is how much losses vary from trial to trial around their mean μ. The variance is clump·μ + excess·μ².
type noise struct{ clump, excess float64 }

// noises are the kinds that are considered, equally likely before there are trials. Each frame is lost by itself
// (Poisson), frames are lost in clumps, or trials vary by as much as they lose because the device does other work
// meanwhile (geometric).
var noises = []noise{{clump: 1}, {clump: 16}, {clump: 1, excess: 1}}

// preparedTrial is a trial with what no curve changes.
type preparedTrial struct {
	Trial

	logs     float64 // of how many frames were sent, for each that is offered in a second
	logSent  float64 // the logarithm of the frames sent
	constant float64 // the part of the log probability that no curve changes
}

// prepare computes once per trial what no curve changes.
func (n noise) prepare(trials []Trial) (prepared []preparedTrial) {
	for _, t := range trials {
		prepared = append(prepared, preparedTrial{t, math.Log(float64(t.Sent) / t.Load), math.Log(float64(t.Sent)),
			n.constantPart(float64(t.Lost))})
	}
	return prepared
}

// constantPart is the part of a loss' log probability that no mean changes. In clumps it is that of Efron's double
// Poisson distribution, by Stirling's formula, with as many clumps as Poisson says.
func (n noise) constantPart(lost float64) float64 {
	factorial, _ := math.Lgamma(lost + 1)
	switch {
	case n.excess > 0:
		gammaOfLost, _ := math.Lgamma(lost + 1/n.excess)
		gammaOfNone, _ := math.Lgamma(1 / n.excess)
		return gammaOfLost - gammaOfNone - factorial + lost*math.Log(n.excess)
	case n.clump == 1:
		return -factorial
	case lost == 0:
		return 0
	}
	return (lost-lost*math.Log(lost))/n.clump - math.Log(2*math.Pi*n.clump*lost)/2
}

// logLikelihood is the log probability of what the trials lost, if a curve says how much they lose on average.
func (n noise) logLikelihood(c Curve, trials []preparedTrial) float64 {
	sum, atNone, unit := 0.0, c.Shape.log(-c.Capacity/c.Spread), math.Log(c.Spread)
	for _, t := range trials {
		sum += n.logProbability(t, min(t.logSent, unit+c.logLost(t.Load, atNone)+t.logs))
	}
	return sum
}

// logProbability is the log probability of one trial, whose mean loss has this logarithm.
func (n noise) logProbability(t preparedTrial, logAverage float64) float64 {
	lost, average := float64(t.Lost), math.Exp(logAverage)
	if n.excess > 0 {
		return t.constant + lost*logAverage - (lost+1/n.excess)*math.Log1p(n.excess*average)
	}
	return t.constant + (lost*logAverage-average)/n.clump
}
