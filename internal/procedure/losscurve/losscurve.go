package losscurve

import (
	"cmp"
	"math"
	"slices"
)

// Trial is what a finite trial showed.
type Trial struct {
	Load float64 // frames a second that were really offered
	Sent int64
	Lost int64 // never below zero
}

// Question is what the trials are asked for.
type Question struct {
	LossRatio float64 // the load of this loss ratio is asked for
	Lowest    float64 // the lowest load an answer may have, in frames a second
	Highest   float64 // the highest load that could be offered
}

// searchedAbove is how far above the highest load that could be offered a critical load is looked for. Weight of the
// answer up there means that no load that could be offered is known to be too much.
const searchedAbove = 2

// The grid of curves has spreads, relative to the capacity, and capacities for each spread. A spread of less than the
// least can't be told from a sharp limit by loads a ten-thousandth apart.
const (
	leastSpread, mostSpread = 1e-5, 1.0
	spreads                 = 10
	capacities              = 16
	// refinedSpreads and refinedCapacities are how often either is narrowed at most to where curves fit.
	refinedSpreads, refinedCapacities = 3, 8
	// negligible is how much less likely than the likeliest curve, as a logarithm, a curve is that isn't reckoned with.
	negligible = 14
)

// Curve is a curve of the loss ratio by the load.
type Curve struct {
	Shape            Shape
	Capacity, Spread float64 // frames a second
}

// LogLossRatio is the logarithm of the mean loss ratio at a load.
func (c Curve) LogLossRatio(load float64) float64 {
	return min(0, c.logLost(load, c.Shape.log(-c.Capacity/c.Spread))-math.Log(load/c.Spread))
}

// logLost is the logarithm of the mean loss at a load, in spreads. atNone is the same at a load of 0, where nothing is
// lost. Callers compute atNone once.
func (c Curve) logLost(load, atNone float64) float64 {
	lost := c.Shape.log((load - c.Capacity) / c.Spread)
	if atNone > lost+negligibleLog {
		lost += math.Log(-math.Expm1(atNone - lost))
	}
	return lost
}

// negligibleLog is the logarithm of what is too small to count in a sum with one.
const negligibleLog = -37

// critical is the load at which the curve has the question's loss ratio, between the question's lowest load and far
// above its highest, to a millionth.
func (c Curve) critical(q Question) float64 {
	low, high, want, atNone := math.Log(q.Lowest), math.Log(searchedAbove*q.Highest),
		math.Log(q.LossRatio*q.Lowest/c.Spread), c.Shape.log(-c.Capacity/c.Spread)
	lowest := low
	for high-low > 1e-6 {
		middle := (low + high) / 2
		if c.logLost(math.Exp(middle), atNone)-(middle-lowest) > want {
			high = middle
		} else {
			low = middle
		}
	}
	return math.Exp((low + high) / 2)
}

// Fit is what trials show of the critical load if the loss ratio follows curves of one shape.
type Fit struct {
	Shape Shape
	// Likeliest is the curve that fits best.
	Likeliest Curve
	points    []point // by critical load, ascending; weights add up to one
}

type point struct{ critical, weight float64 }

// FitTrials fits curves of one shape to trials.
func FitTrials(shape Shape, trials []Trial, q Question) Fit {
	f := Fit{Shape: shape}
	var curves []weighted
	for _, n := range noises {
		curves = append(curves, bySpread(shape, n, n.prepare(trials), q)...)
	}
	f.Likeliest = slices.MaxFunc(curves, func(a, b weighted) int { return cmp.Compare(a.fits, b.fits) }).curve
	sum, peak := 0.0, peakWeight(curves)
	for _, w := range curves {
		if w.log < peak-negligible {
			continue
		}
		p := point{w.curve.critical(q), math.Exp(w.log - peak)}
		f.points, sum = append(f.points, p), sum+p.weight
	}
	for i := range f.points {
		f.points[i].weight /= sum
	}
	slices.SortFunc(f.points, func(a, b point) int { return cmp.Compare(a.critical, b.critical) })
	return f
}

// weighted is a curve with the logarithm of its likelihood, and with the logarithm of its weight, which is the
// likelihood times the width of the grid's cell that the curve stands for.
type weighted struct {
	curve     Curve
	fits, log float64
}

// peakWeight is the largest weight of the curves.
func peakWeight(curves []weighted) float64 {
	return slices.MaxFunc(curves, func(a, b weighted) int { return cmp.Compare(a.log, b.log) }).log
}

// bySpread tries spreads relative to the capacity, at even distances of their logarithm where they fit, each with the
// capacities that fit it.
func bySpread(shape Shape, n noise, trials []preparedTrial, q Question) (curves []weighted) {
	narrow(math.Log(leastSpread), math.Log(mostSpread), spreads, refinedSpreads, func(spread, step float64) float64 {
		row := byCapacity(shape, n, math.Exp(spread), trials, q)
		peak, sum := peakWeight(row), 0.0
		for i := range row {
			sum += math.Exp(row[i].log - peak)
			row[i].log += math.Log(step)
		}
		curves = append(curves, row...)
		return peak + math.Log(sum)
	}, nil, func() { curves = curves[:0] })
	return curves
}

// byCapacity tries curves of one relative spread, with capacities at even distances of their logarithm where they fit.
// Before there are trials, all capacities are equally likely.
func byCapacity(shape Shape, n noise, spread float64, trials []preparedTrial, q Question) (curves []weighted) {
	curveOf := func(capacity float64) Curve { return Curve{shape, math.Exp(capacity), spread * math.Exp(capacity)} }
	narrow(math.Log(q.Lowest/2), math.Log(2*searchedAbove*q.Highest), capacities, refinedCapacities,
		func(capacity, step float64) float64 {
			c := curveOf(capacity)
			fits := n.logLikelihood(c, trials)
			curves = append(curves, weighted{c, fits, fits + math.Log(step)})
			return fits
		}, func(capacity float64) float64 { return n.logLikelihood(curveOf(capacity), trials) },
		func() { curves = curves[:0] })
	return curves
}

// narrow tries values at even distances, then again in the part of the range where they are not negligible, until that
// part is at least a third of the range, or for at most so many rounds. height, where it is given, is likely with one
// peak, which may be narrower than the distances. What is negligible is so beside that peak. restart forgets the values
// of the round before.
//
//	·  ·  ·  ·  ·  ·  ·  ·
//	      ·· ·●●●··           the part, and a value at either side of it
func narrow(low, high float64, parts, rounds int, likely func(value, step float64) float64,
	height func(value float64) float64, restart func()) {
	logs, top := make([]float64, parts), math.Inf(-1)
	for round := range rounds {
		restart()
		step := (high - low) / float64(parts-1)
		for i := range logs {
			logs[i] = likely(low+float64(i)*step, step)
		}
		best := 0
		for i := range logs {
			if logs[i] > logs[best] {
				best = i
			}
		}
		if round == 0 && height != nil {
			top = peakBetween(low+float64(max(0, best-1))*step, low+float64(min(parts-1, best+1))*step, height)
		}
		threshold, first, end := max(top, logs[best])-negligible, 0, parts-1
		for first < best && logs[first] < threshold {
			first++
		}
		for end > best && logs[end] < threshold {
			end--
		}
		if end-first >= parts/3 {
			return
		}
		low, high = low+float64(max(0, first-1))*step, low+float64(min(parts-1, end+1))*step
	}
}

// peakBetween is the height of a function's only peak between two values, by golden sections.
func peakBetween(low, high float64, height func(float64) float64) float64 {
	const sections = 40 // to a hundred-millionth of the distance
	golden := (math.Sqrt(5) - 1) / 2
	lower, upper := high-golden*(high-low), low+golden*(high-low)
	atLower, atUpper := height(lower), height(upper)
	for range sections {
		if atLower < atUpper {
			low, lower, atLower = lower, upper, atUpper
			upper = low + golden*(high-low)
			atUpper = height(upper)
		} else {
			high, upper, atUpper = upper, lower, atLower
			lower = high - golden*(high-low)
			atLower = height(lower)
		}
	}
	return max(atLower, atUpper)
}

// Mean is the mean of the critical load.
func (f Fit) Mean() float64 {
	mean := 0.0
	for _, p := range f.points {
		mean += p.weight * p.critical
	}
	return mean
}

// Deviation is the critical load's standard deviation.
func (f Fit) Deviation() float64 {
	mean, squares := f.Mean(), 0.0
	for _, p := range f.points {
		squares += p.weight * (p.critical - mean) * (p.critical - mean)
	}
	return math.Sqrt(squares)
}

// Quantile is the load below which the critical load lies with this probability.
func (f Fit) Quantile(probability float64) float64 {
	cumulated := 0.0
	for i, p := range f.points {
		if cumulated += p.weight; cumulated >= probability {
			if i == 0 {
				return p.critical
			}
			share := (probability - cumulated + p.weight) / p.weight
			return f.points[i-1].critical + share*(p.critical-f.points[i-1].critical)
		}
	}
	return f.points[len(f.points)-1].critical
}
