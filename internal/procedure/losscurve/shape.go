package losscurve

import "math"

// Shape is a function that the mean loss follows. It is how many frames are lost, in spreads, at a load so many spreads
// above the capacity. Each shape rises from nothing to all that exceeds the capacity. Below the capacity Stretch falls
// off exponentially, and Erf as a normal distribution does. Most devices lie between the two.
type Shape string

// The shapes, by their names in draft-vpolak-bmwg-plrsearch.
const (
	Stretch Shape = "stretch"
	Erf     Shape = "erf"
)

// Shapes are all of them.
var Shapes = []Shape{Stretch, Erf}

// tail is the argument below which a function is computed by its tail alone, as its terms cancel out there.
const tail = -25

// log is the logarithm of the function.
func (s Shape) log(z float64) float64 {
	if s == Erf {
		return logNormal(z)
	}
	switch {
	case z < tail:
		return z
	case z > -tail:
		return math.Log(z)
	}
	return math.Log(math.Log1p(math.Exp(z)))
}

// logNormal is the logarithm of the integral of the normal distribution's probability, φ(z) + z·Φ(z).
func logNormal(z float64) float64 {
	density := -z*z/2 - math.Log(2*math.Pi)/2
	if z < tail {
		w := 1 / (z * z)
		return density + math.Log(w*(1-3*w*(1-5*w*(1-7*w))))
	}
	return math.Log(math.Exp(density) + z*math.Erfc(-z/math.Sqrt2)/2)
}
