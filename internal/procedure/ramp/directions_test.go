package ramp_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/plan"
	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/procedure"
	"github.com/linerate-dev/linerate/internal/procedure/ramp"
	"github.com/linerate-dev/linerate/internal/units"
	"github.com/linerate-dev/linerate/test/rigs/proceduretest"
	"github.com/linerate-dev/linerate/test/rigs/tier"
)

// sides is a device from west to east, and back.
type sides = [2]proceduretest.Device

func limits(west, east float64) sides {
	return sides{proceduretest.Limited(west), proceduretest.Limited(east)}
}

// noisy carries up to so large a share more or less in each window than a device with that limit.
func noisy(rnd *rand.Rand, limit, share float64) proceduretest.Device {
	return func(_ int, asked float64) (float64, float64) {
		return asked, min(asked, limit*(1+share*(2*rnd.Float64()-1)))
	}
}

// hiccups loses that share more in windows that are asked about.
func hiccups(d proceduretest.Device, share float64, affects func(window int) bool) proceduretest.Device {
	return func(n int, asked float64) (float64, float64) {
		offered, received := d(n, asked)
		if affects(n) {
			received = min(received, (1-share)*offered)
		}
		return offered, received
	}
}

// interval is what is claimed of a direction: from what came back up to what was offered where it lost frames;
// unbounded where nothing bounds it.
func interval(history []report.Window, c procedure.DirectionConclusion, d int) (low, high float64, bounded bool) {
	low = float64(history[c.Window].Directions[d].Received.PacketsPerSecond)
	if c.Lossy == procedure.NoWindow {
		return low, 0, false
	}
	return low, low / (1 - c.Resolution.Float()), true
}

// holds says in what way claims of a direction aren't true of a device with this limit; empty: they are.
func holds(history []report.Window, c procedure.DirectionConclusion, d int, limit float64) string {
	low, high, bounded := interval(history, c, d)
	switch {
	case low > limit*1.001+1:
		return fmt.Sprintf("at least %.0f", low)
	case bounded && high < limit-1:
		return fmt.Sprintf("at most %.0f", high)
	case c.Saturated != (c.Reason == report.LossAboveLimit) || c.Saturated && !bounded:
		return "its reason doesn't fit"
	}
	return ""
}

func describe(history []report.Window, trace []string, c procedure.Conclusion) string {
	var b strings.Builder
	for _, w := range history {
		fmt.Fprintf(&b, "%d %s at %s: %s %s\n", w.Number, w.Phase, w.Load.Percent().FormatFixed(),
			w.Directions[0].Quality, w.Directions[1].Quality)
	}
	return fmt.Sprintf("%+v\n%s%s", c, b.String(), strings.Join(trace, "\n"))
}

func TestADirectionIsBoundedByItsOwnLossAlone(t *testing.T) {
	for name, c := range map[string]struct {
		device           sides
		options          []func(*plan.Procedure)
		west, east       report.Reason
		whole            report.Reason
		saturated, bound bool // of the whole; of east→west from above
	}{
		"one direction carries far more": {limits(4000, 10_000), nil, report.LossAboveLimit,
			report.OtherDirection, report.OtherDirection, false, false},
		"the other one does": {limits(10_000, 4000), nil, report.OtherDirection,
			report.LossAboveLimit, report.OtherDirection, false, true},
		"both carry the same": {limits(10_000, 10_000), nil, report.LossAboveLimit,
			report.LossAboveLimit, report.LossAboveLimit, true, true},
		"both nearly the same": {limits(10_000, 10_090), nil, report.LossAboveLimit,
			report.LossAboveLimit, report.LossAboveLimit, true, true},
		"a little more, and lossy in the staircase": {limits(10_000, 10_600), nil, report.LossAboveLimit,
			report.OtherDirection, report.OtherDirection, false, true},
		"more, and lossy on the way to the target": {limits(4000, 10_000), []func(*plan.Procedure){toTheTop},
			report.LossAboveLimit, report.OtherDirection, report.OtherDirection, false, true},
		"by steps alone, the same": {limits(10_400, 10_400),
			[]func(*plan.Procedure){refineTo(0)}, report.LossAboveLimit, report.LossAboveLimit, report.LossAboveLimit,
			true, true},
		"by steps alone, one far more": {limits(4000, 10_000),
			[]func(*plan.Procedure){refineTo(0)}, report.LossAboveLimit, report.OtherDirection, report.OtherDirection,
			false, false},
		"by steps alone, one far more and lossy there": {limits(4000, 10_000), []func(*plan.Procedure){refineTo(0),
			toTheTop}, report.LossAboveLimit, report.OtherDirection, report.OtherDirection, false, true},
		"by steps alone, one a step more and lossy there": {limits(4100, 5100), []func(*plan.Procedure){refineTo(0),
			toTheTop}, report.LossAboveLimit, report.OtherDirection, report.OtherDirection, false, true},
		"by a coarse search, one far more and lossy there": {limits(4000, 10_000),
			[]func(*plan.Procedure){refineTo(units.One / 5), toTheTop}, report.LossAboveLimit, report.OtherDirection,
			report.OtherDirection, false, true},
		"one direction is at its end above the target only": {limits(4000, 1e9), nil, report.LossAboveLimit,
			report.OtherDirection, report.OtherDirection, false, false},
		"none loses anything": {limits(1e9, 1e9), nil, report.TargetReached,
			report.TargetReached, report.TargetReached, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := ramp.New(rampOf(c.options...))
			history, trace := proceduretest.CarryOutOf(t, p, c.device)
			got := p.Conclude(history)
			if len(got.Directions) != 2 || got.Directions[0].Reason != c.west || got.Directions[1].Reason != c.east ||
				got.Reason != c.whole || got.Saturated != c.saturated ||
				(got.Directions[1].Lossy != procedure.NoWindow) != c.bound || !got.Confirmed {
				t.Errorf("%s", describe(history, trace, got))
			}
		})
	}
}

// Single windows of a direction that lost frames bound it only together, and only where nothing was clean from
// there on: each may have been disturbed.
func TestSingleDisturbedWindowsBoundNoDirection(t *testing.T) {
	for name, c := range map[string]struct {
		disturbed []units.Ratio // loads of the staircase at which east→west loses frames once
		bounded   bool
	}{
		"one":                             {[]units.Ratio{25 * units.One / 100}, false},
		"the last one":                    {[]units.Ratio{35 * units.One / 100}, false},
		"two around a clean one":          {[]units.Ratio{25 * units.One / 100, 35 * units.One / 100}, false},
		"two below a clean one":           {[]units.Ratio{25 * units.One / 100, 30 * units.One / 100}, false},
		"two, and nothing was clean then": {[]units.Ratio{30 * units.One / 100, 35 * units.One / 100}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := ramp.New(rampOf())
			history, trace := proceduretest.CarryOutOf(t, p, limits(4000, 1e9), func(_ int, w *report.Window) {
				if d := &w.Directions[1]; w.Phase == report.Ramping && slices.Contains(c.disturbed, w.Load) {
					d.Quality, d.LossRatio, d.LossRatioMin = report.Lossy, units.One/100, units.One/100
				}
			})
			got := p.Conclude(history)
			if bounded := got.Directions[1].Lossy != procedure.NoWindow; bounded != c.bounded ||
				got.Directions[1].Saturated {
				t.Errorf("%s", describe(history, trace, got))
			}
		})
	}
}

// A direction's loss far above the answer is no bound where no window of that direction in between could be
// judged: whatever spoiled those may have lost the frames, too. Those above the loss leave the bound as it is.
func TestADirectionThatCouldNotBeJudgedBelowItsLossHasNoBound(t *testing.T) {
	for name, c := range map[string]struct {
		// the loads of the staircase at which nothing can be said of east→west, which loses frames above 50 %
		lowest, highest units.Ratio
		spoil           func(*report.Direction)
		want            report.Reason
		bound           bool
	}{
		"frames reached the generator, and it dropped them": {units.One / 4, units.One / 2,
			func(d *report.Direction) { d.ReceiveErrors = 100 }, report.GeneratorLimited, false},
		"who carries the frames waited for processors": {units.One / 4, units.One / 2, func(d *report.Direction) {
			d.DisturbedFrames, d.Returned.Packets = d.Sent.Packets, d.Returned.Packets-d.Sent.Packets/100
		}, report.MachineLimited, false},
		"nobody knows why": {units.One / 4, units.One / 2, func(*report.Direction) {}, report.Inconclusive, false},
		"at higher loads only": {units.One * 7 / 10, units.One, func(d *report.Direction) { d.ReceiveErrors = 100 },
			report.OtherDirection, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := ramp.New(rampOf(refineTo(0), toTheTop))
			history, trace := proceduretest.CarryOutOf(t, p, limits(4000, 10_000), func(_ int, w *report.Window) {
				if d := &w.Directions[1]; w.Phase == report.Ramping && w.Load >= c.lowest && w.Load <= c.highest {
					d.Quality = report.Invalid
					c.spoil(d)
				}
			})
			got := p.Conclude(history)
			if d := got.Directions[1]; d.Reason != c.want || (d.Lossy != procedure.NoWindow) != c.bound || d.Saturated {
				t.Errorf("%s", describe(history, trace, got))
			}
		})
	}
}

// A device whose two directions lose frames in turns, each load once or twice, has no direction that set the
// load of all: the answer is a lower bound, and says so.
func TestDirectionsThatLoseFramesInTurnsHaveNoLimit(t *testing.T) {
	looks := map[float64]int{}
	device := proceduretest.Paired(func(_ int, asked [2]float64) (offered, received [2]float64) {
		offered, received = asked, asked
		if asked[0] > 10_000 {
			turn := looks[asked[0]] % 3 // west→east, east→west, neither
			looks[asked[0]]++
			if turn < 2 {
				received[turn] = 0.9 * asked[turn]
			}
		}
		return offered, received
	})
	p := ramp.New(rampOf())
	history, trace := proceduretest.CarryOutBoth(t, p, device)
	c := p.Conclude(history)
	if !c.Unattributed || c.Saturated || c.Reason != report.Inconclusive || c.Lossy == procedure.NoWindow ||
		c.Directions[0].Reason != report.Inconclusive || c.Directions[1].Reason != report.Inconclusive {
		t.Errorf("%s", describe(history, trace, c))
	}
}

// What is concluded of the only direction is what is concluded of the whole.
func TestASingleDirectionIsTheWhole(t *testing.T) {
	for name, device := range map[string]proceduretest.Device{"a limit": proceduretest.Limited(10_000),
		"a target": proceduretest.Limited(1e9), "a weak generator": proceduretest.Limited(1e9).Throttled(9000)} {
		p := ramp.New(rampOf())
		oneWay := func(_ int, w *report.Window) { w.Directions = w.Directions[:1] }
		history, trace := proceduretest.CarryOut(t, p, device, oneWay)
		c := p.Conclude(history)
		if d := c.Directions; len(d) != 1 || d[0].Reason != c.Reason || d[0].Saturated != c.Saturated ||
			d[0].Window != c.Window || c.Saturated && (d[0].Lossy != c.Lossy || d[0].Resolution != c.Resolution) {
			t.Errorf("%s: %s", name, describe(history, trace, c))
		}
	}
}

// Where a generator can't send in one direction what it is asked for, and what it sends in bursts is lost, nothing says
// what the device carries there.
func TestLossOfADirectionsGeneratorIsNoLimitOfThatDirection(t *testing.T) {
	weak := proceduretest.Limited(1e9).Throttled(16_000)
	bursting := func(n int, asked float64) (float64, float64) {
		offered, received := weak(n, asked)
		if asked > 17_000 {
			received = 0.9 * offered
		}
		return offered, received
	}
	for d := range 2 {
		devices := limits(1e9, 1e9)
		devices[d] = bursting
		p := ramp.New(rampOf())
		history, trace := proceduretest.CarryOutOf(t, p, devices)
		c := p.Conclude(history)
		if c.Saturated || c.Reason != report.GeneratorLimited || c.Directions[d].Saturated ||
			c.Directions[d].Reason != report.GeneratorLimited {
			t.Errorf("direction %d: %s", d, describe(history, trace, c))
		}
	}
}

// A direction's interval has its limit, whatever each direction carries, whichever generator is too weak, and however
// windows are disturbed.
func TestPropertyADirectionsIntervalHasItsLimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(11, 12))
	saturated, bounded, open := 0, 0, 0
	for run := range tier.Times(200, 800) {
		p := rampOf(func(p *plan.Procedure) {
			p.Ramp.StopAtSaturation = rnd.IntN(2) == 0
			p.Ramp.HoldDuration = plan.Duration(rnd.IntN(2)) * plan.Duration(30*time.Second)
			p.Ramp.RampDuration = plan.Duration(2+rnd.IntN(100)) * plan.Duration(time.Second)
			p.Ramp.Precision = []units.Ratio{0, units.One / 200, units.One / 100}[rnd.IntN(3)]
		})
		west := proceduretest.Full * (0.05 + rnd.Float64())
		limit := [2]float64{west, west * (1 + []float64{0, 0.002, 0.01, 0.05, 0.3, 2}[rnd.IntN(6)]*rnd.Float64())}
		if rnd.IntN(2) == 0 {
			limit[0], limit[1] = limit[1], limit[0]
		}
		device := limits(limit[0], limit[1])
		if rnd.IntN(4) == 0 {
			weak := rnd.IntN(2)
			device[weak] = device[weak].Throttled(limit[weak] * (0.5 + rnd.Float64()))
		}
		if rnd.IntN(2) == 0 { // one window is disturbed, in one direction
			window, d := 1+rnd.IntN(40), rnd.IntN(2)
			device[d] = hiccups(device[d], 0.3*rnd.Float64(), func(n int) bool { return n == window })
		}
		history, trace := proceduretest.CarryOutOf(t, ramp.New(p), device)
		c := ramp.New(p).Conclude(history)
		for d := range c.Directions {
			if wrong := holds(history, c.Directions[d], d, limit[d]); wrong != "" {
				t.Fatalf("run %d: direction %d carries %.0f, and is said to carry %s\n%s", run, d, limit[d], wrong,
					describe(history, trace, c))
			}
			switch {
			case c.Directions[d].Saturated:
				saturated++
			case c.Directions[d].Lossy != procedure.NoWindow:
				bounded++
			default:
				open++
			}
		}
		if c.Saturated && (!c.Directions[0].Saturated || !c.Directions[1].Saturated) {
			t.Fatalf("run %d: all directions together are at a limit, and one isn't\n%s", run,
				describe(history, trace, c))
		}
	}
	if saturated < tier.Times(60, 250) || bounded < tier.Times(5, 25) || open < tier.Times(25, 100) {
		t.Errorf("%d limits, %d bounded, %d open: the property was hardly tried", saturated, bounded, open)
	}
}

// TestHowOftenAnotherDirectionIsLookedAt counts the table of docs/measured/simulated-searches.md: of a device
// that carries nearly as much one way as the other, each direction's own limit is found, and what that costs is
// a few short windows.
func TestHowOftenAnotherDirectionIsLookedAt(t *testing.T) {
	table := "| one way carries more | windows vary | another look | windows of that | time of that | both are " +
		"limits | one is a bound |\n|---|---|---|---|---|---|---|\n"
	runs := 25
	if *update {
		runs = 1000
	}
	for _, gap := range []float64{0, 0.002, 0.005, 0.01, 0.02} {
		for _, noise := range []float64{0.0005, 0.002, 0.005} {
			rnd := rand.New(rand.NewPCG(3, 14))
			p := ramp.New(rampOf())
			looked, windows, seconds, limits, truths := 0, 0, 0.0, 0, 0
			for range runs {
				limit := proceduretest.Full * (0.1 + 0.8*rnd.Float64())
				history, trace := proceduretest.CarryOutOf(t, p, sides{noisy(rnd, limit, noise),
					noisy(rnd, limit*(1+gap), noise)})
				c := p.Conclude(history)
				if c.Saturated {
					limits++
				}
				for d, truth := range []float64{limit, limit * (1 + gap)} {
					if _, high, bounded := interval(history, c.Directions[d], d); !bounded || high >= truth*(1-noise) {
						truths++
					}
				}
				n := strings.Count(strings.Join(trace, "\n"), "too, loses frames just above that")
				windows += n
				looked += min(n, 1)
				for _, w := range history[len(history)-n:] {
					seconds += (w.Duration.Std() + 500*time.Millisecond).Seconds()
				}
			}
			mean := float64(max(1, looked))
			table += fmt.Sprintf("| %.1f %% | ± %.2f %% | %.0f %% | %.1f | %.0f s | %.1f %% | %.1f %% |\n", 100*gap,
				100*noise, 100*float64(looked)/float64(runs), float64(windows)/mean, seconds/mean,
				100*float64(limits)/float64(runs), 100-100*float64(limits)/float64(runs))
			if gap <= 0.005 && noise <= 0.002 && limits < runs*9/10 {
				t.Errorf("one way %.1f %% more, ± %.2f %%: only %d of %d are limits both ways", 100*gap, 100*noise,
					limits, runs)
			}
			if truths < 2*runs-runs/100 {
				t.Errorf("one way %.1f %% more, ± %.2f %%: %d of %d intervals are true", 100*gap, 100*noise, truths,
					2*runs)
			}
		}
	}
	if *update {
		publish(t, "another-direction", table)
	}
}
