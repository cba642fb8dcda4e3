package losscurve_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/linerate-dev/linerate/internal/procedure/losscurve"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// TestCurvesRiseFromNothingToAllThatIsAboveTheCapacity: at any spread and load the loss ratio is between 0 and
// 1, more load never loses a smaller share near and above the capacity, and far above it what is lost is what
// exceeds the capacity.
func TestCurvesRiseFromNothingToAllThatIsAboveTheCapacity(t *testing.T) {
	for _, shape := range losscurve.Shapes {
		for spread := 1e-5; spread <= 0.05; spread *= 1.7 {
			c := losscurve.Curve{Shape: shape, Capacity: 1e6, Spread: spread * 1e6}
			previous := math.Inf(-1)
			for load := 0.3e6; load < 3e6; load *= 1.003 {
				v := c.LogLossRatio(load)
				if v < previous || v > 0 || math.IsNaN(v) {
					t.Fatalf("%+v: %g at %g, %g just below", c, v, load, previous)
				}
				previous = v
			}
			if got, want := math.Exp(c.LogLossRatio(2e6)), 0.5; math.Abs(got-want) > 0.01 {
				t.Errorf("%+v loses %g of twice its capacity", c, got)
			}
		}
	}
}

// TestCurvesAreExactFarBelowTheCapacity holds them against an integral without terms that cancel out: the tails
// decide on a loss ratio of one in ten million.
func TestCurvesAreExactFarBelowTheCapacity(t *testing.T) {
	for _, z := range []float64{-30, -25.001, -24.999, -12, -5, -1, 0.5} {
		c := losscurve.Curve{Shape: losscurve.Erf, Capacity: 1e6, Spread: 1e3}
		load := c.Capacity + z*c.Spread
		if got, want := c.LogLossRatio(load), logNormalIntegral(z)+math.Log(c.Spread/load); math.Abs(got-want) > 1e-8 {
			t.Errorf("at %g: %.12g, want %.12g", z, got, want)
		}
	}
}

// logNormalIntegral is the logarithm of the integral of the normal distribution up to z, which is φ(z) · ∫
// u·exp(z·u − u²/2) du from 0 on: no term cancels another one out. By Simpson's rule.
func logNormalIntegral(z float64) float64 {
	const parts, reach = 400_000, 12.0
	const step = reach / parts
	sum := 0.0
	for i := 1; i < parts; i++ {
		u := float64(i) * step
		sum += float64(2+2*(i%2)) * u * math.Exp(z*u-u*u/2)
	}
	return -z*z/2 - math.Log(2*math.Pi)/2 + math.Log(sum*step/3)
}

// What loses as a device of a tenth less capacity does has a lower critical load, where trials of both tell it: a load
// of which less than a hundredth was lost, and the shape that the losses have. Quantiles rise from the least load to
// the most that is looked for, whatever was lost.
func TestFitsFollowTheTrials(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	q := losscurve.Question{LossRatio: 1e-5, Lowest: 1e4, Highest: 1e6}
	decided, draws := 0, tier.Times(10, 200)
	for range draws {
		device := losscurve.Curve{Shape: losscurve.Stretch, Capacity: 4e5, Spread: 4e5 * math.Exp(-3-4*rnd.Float64())}
		weaker := losscurve.Curve{Shape: device.Shape, Capacity: 0.9 * device.Capacity, Spread: 0.9 * device.Spread}
		var trials, worse []losscurve.Trial
		for range 5 + rnd.IntN(10) {
			load := 3e5 + 2e5*rnd.Float64()
			sent := int64(load * 10)
			lost := func(c losscurve.Curve) int64 { return int64(float64(sent) * math.Exp(c.LogLossRatio(load))) }
			trials = append(trials, losscurve.Trial{Load: load, Sent: sent, Lost: lost(device)})
			worse = append(worse, losscurve.Trial{Load: load, Sent: sent, Lost: lost(weaker)})
		}
		tell := slices.ContainsFunc(worse, func(t losscurve.Trial) bool { return 100*t.Lost < t.Sent })
		for _, shape := range losscurve.Shapes {
			f := losscurve.FitTrials(shape, trials, q)
			if shape == device.Shape && tell {
				decided++
				if g := losscurve.FitTrials(shape, worse, q); f.Mean() < g.Mean() {
					t.Fatalf("%s: %g, and %g with less capacity: %+v", shape, f.Mean(), g.Mean(), trials)
				}
			}
			previous := 0.0
			for p := 0.01; p < 1; p += 0.01 {
				if v := f.Quantile(p); v < previous || v < q.Lowest*0.999 || v > 2.001*q.Highest || math.IsNaN(v) {
					t.Fatalf("%s: quantile %.2f is %g after %g", shape, p, v, previous)
				} else {
					previous = v
				}
			}
			if f.Deviation() < 0 || math.IsNaN(f.Mean()) {
				t.Fatalf("%s: %g ± %g", shape, f.Mean(), f.Deviation())
			}
		}
	}
	if decided < draws/2 {
		t.Errorf("trials of %d of %d devices tell their critical loads", decided, draws)
	}
}

// Loads in other units give the same answer in these.
func TestFitsDoNotDependOnTheUnit(t *testing.T) {
	trials := []losscurve.Trial{{Load: 900, Sent: 9000, Lost: 800}, {Load: 850, Sent: 8500, Lost: 120},
		{Load: 820, Sent: 8200, Lost: 4}, {Load: 800, Sent: 8000}}
	scaled := make([]losscurve.Trial, len(trials))
	for i, tr := range trials {
		scaled[i] = losscurve.Trial{Load: tr.Load * 1000, Sent: tr.Sent, Lost: tr.Lost}
	}
	for _, shape := range losscurve.Shapes {
		a := losscurve.FitTrials(shape, trials, losscurve.Question{LossRatio: 1e-3, Lowest: 10, Highest: 1000})
		b := losscurve.FitTrials(shape, scaled, losscurve.Question{LossRatio: 1e-3, Lowest: 10_000, Highest: 1e6})
		if math.Abs(a.Mean()*1000/b.Mean()-1) > 1e-9 || math.Abs(a.Deviation()*1000/b.Deviation()-1) > 1e-6 {
			t.Errorf("%s: %g ± %g, and times a thousand %g ± %g", shape, a.Mean(), a.Deviation(), b.Mean(),
				b.Deviation())
		}
	}
}

// Where a load lost hardly anything and the next one far too much, the critical load is between the two, also of a
// device that loses more of an overload than any curve does, so that trials fit but a few curves. Where none lost too
// much, it may lie above all that could be offered.
func TestALimitIsFoundBetweenTheLoadsThatShowIt(t *testing.T) {
	q := losscurve.Question{LossRatio: 1e-3, Lowest: 10_000, Highest: 1_000_000}
	for name, c := range map[string]struct {
		trials    []losscurve.Trial
		low, high float64
	}{
		"as curves have it": {[]losscurve.Trial{{Load: 900e3, Sent: 9e6, Lost: 600e3},
			{Load: 850e3, Sent: 8.5e6, Lost: 100e3}, {Load: 820e3, Sent: 8.2e6, Lost: 700},
			{Load: 800e3, Sent: 8e6, Lost: 12}}, 800e3, 850e3},
		"an overload costs more": {[]losscurve.Trial{{Load: 900e3, Sent: 9e6, Lost: 800e3},
			{Load: 850e3, Sent: 8.5e6, Lost: 120e3}, {Load: 820e3, Sent: 8.2e6, Lost: 4000},
			{Load: 800e3, Sent: 8e6, Lost: 30}, {Load: 780e3, Sent: 7.8e6}}, 800e3, 850e3},
		"an overload costs it half": {[]losscurve.Trial{{Load: 900e3, Sent: 9e6, Lost: 4.5e6},
			{Load: 820e3, Sent: 8.2e6, Lost: 40e3}, {Load: 800e3, Sent: 8e6, Lost: 30}, {Load: 780e3, Sent: 7.8e6}},
			780e3, 820e3},
		"hardly anything is lost": {[]losscurve.Trial{{Load: 1e6, Sent: 1e6, Lost: 20}, {Load: 1e6, Sent: 1e6},
			{Load: 900e3, Sent: 9e5}}, 1e6, 2e6},
	} {
		for _, shape := range losscurve.Shapes {
			f := losscurve.FitTrials(shape, c.trials, q)
			low, middle, high := f.Quantile(0.025), f.Quantile(0.5), f.Quantile(0.975)
			t.Logf("%s %s: %.0f to %.0f to %.0f", name, shape, low, middle, high)
			if middle < c.low || middle > c.high || high < c.low*1.001 || low > c.high || low < 0.95*c.low ||
				high > 1.05*c.high {
				t.Errorf("%s, %s: %.0f, from %.0f to %.0f; want it from %.0f to %.0f", name, shape, middle, low, high,
					c.low, c.high)
			}
		}
	}
}
