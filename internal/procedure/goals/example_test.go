package goals

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

// times is so many trials of one kind, at one load.
func times(count int, duration time.Duration, loss float64) []Trial {
	return slices.Repeat([]Trial{{Duration: duration, Took: duration, LossRatio: loss}}, count)
}

// TestTheStandardsExample holds the classification to the worked example of draft-ietf-bmwg-mlrsearch-15
// ("Example Search"): four goals, six points in time, at one load. Sums are in seconds, ratios in percent. The
// draft's balancing and excess sums are steps on the way to the effective sum of bad trials.
//
// At points 5 and 6 the draft calls the load a lower bound of its fourth goal, against its own rule: it has
// optimistic exceed ratios of 42.857 % and 27.273 % there, and the goal allows 20 %. By the rule it is an upper
// bound.
func TestTheStandardsExample(t *testing.T) {
	targetOf := func(final, sum, loss, exceed float64) target {
		return target{loss: loss, exceed: exceed, trial: time.Duration(final) * time.Second, sum: sum}
	}
	goals := []struct {
		name   string
		target target
	}{{"RFC2544", targetOf(60, 60, 0, 0)}, {"TST009", targetOf(60, 120, 0, 0.5)},
		{"1s final", targetOf(1, 120, 0.005, 0.5)}, {"20% exceed", targetOf(60, 60, 0.005, 0.2)}}

	// The sums of bad and good long trials, of bad and good short ones, the effective bad and whole ones, the
	// missing and the pessimistic one; the exceed ratios, at best and at worst.
	type row struct {
		sums   [8]float64
		ratios [2]float64
		class  class
	}
	points := []struct {
		name string
		add  []Trial
		want [4]row
	}{
		{"first short good", times(59, time.Second, 0), [4]row{
			{[8]float64{0, 0, 0, 59, 0, 60, 60, 60}, [2]float64{0, 100}, undecided},
			{[8]float64{0, 0, 0, 59, 0, 120, 120, 120}, [2]float64{0, 100}, undecided},
			{[8]float64{0, 59, 0, 0, 0, 120, 61, 61}, [2]float64{0, 50.833}, undecided},
			{[8]float64{0, 0, 0, 59, 0, 60, 60, 60}, [2]float64{0, 100}, undecided},
		}},
		{"first short bad", times(1, time.Second, 0.01), [4]row{
			{[8]float64{0, 0, 1, 59, 1, 60, 59, 60}, [2]float64{1.667, 100}, upper},
			{[8]float64{0, 0, 1, 59, 0, 120, 120, 120}, [2]float64{0, 100}, undecided},
			{[8]float64{1, 59, 0, 0, 1, 120, 60, 61}, [2]float64{0.833, 50.833}, undecided},
			{[8]float64{0, 0, 1, 59, 0, 60, 60, 60}, [2]float64{0, 100}, undecided},
		}},
		{"last short bad", times(59, time.Second, 0.01), [4]row{
			{[8]float64{0, 0, 60, 59, 60, 60, 0, 60}, [2]float64{100, 100}, upper},
			{[8]float64{0, 0, 60, 59, 1, 120, 119, 120}, [2]float64{0.833, 100}, undecided},
			{[8]float64{60, 59, 0, 0, 60, 120, 1, 61}, [2]float64{50, 50.833}, undecided},
			{[8]float64{0, 0, 60, 59, 45.25, 60, 14.75, 60}, [2]float64{75.417, 100}, upper},
		}},
		{"last short good", times(1, time.Second, 0), [4]row{
			{[8]float64{0, 0, 60, 60, 60, 60, 0, 60}, [2]float64{100, 100}, upper},
			{[8]float64{0, 0, 60, 60, 0, 120, 120, 120}, [2]float64{0, 100}, undecided},
			{[8]float64{60, 60, 0, 0, 60, 120, 0, 60}, [2]float64{50, 50}, lower},
			{[8]float64{0, 0, 60, 60, 45, 60, 15, 60}, [2]float64{75, 100}, upper},
		}},
		{"first long bad", times(1, time.Minute, 0.001), [4]row{
			{[8]float64{60, 0, 60, 60, 120, 120, 0, 120}, [2]float64{100, 100}, upper},
			{[8]float64{60, 0, 60, 60, 60, 120, 60, 120}, [2]float64{50, 100}, undecided},
			{[8]float64{60, 120, 0, 0, 60, 180, 0, 60}, [2]float64{33.333, 33.333}, lower},
			{[8]float64{0, 60, 60, 60, 45, 105, 0, 45}, [2]float64{42.857, 42.857}, upper}, // the draft: lower
		}},
		{"first long good", times(1, time.Minute, 0), [4]row{
			{[8]float64{60, 60, 60, 60, 120, 180, 0, 120}, [2]float64{66.667, 66.667}, upper},
			{[8]float64{60, 60, 60, 60, 60, 120, 0, 60}, [2]float64{50, 50}, lower},
			{[8]float64{60, 180, 0, 0, 60, 240, 0, 60}, [2]float64{25, 25}, lower},
			{[8]float64{0, 120, 60, 60, 45, 165, 0, 45}, [2]float64{27.273, 27.273}, upper}, // the draft: lower
		}},
	}

	var trials []Trial
	tallies := make([]targetStats, len(goals))
	for number, point := range points {
		trials = append(trials, point.add...)
		for i, g := range goals {
			y := &tallies[i]
			for _, trial := range point.add {
				y.add(g.target, trial)
			}
			bad, whole := y.effective(g.target)
			got := row{
				[8]float64{y.badLong, y.goodLong, y.badShort, y.goodShort, bad, whole, whole - y.goodLong - bad,
					whole - y.goodLong},
				[2]float64{percent(bad / whole), percent((whole - y.goodLong) / whole)},
				y.class(g.target),
			}
			if got != point.want[i] {
				t.Errorf("point %d (%s), %s: %+v, want %+v", number+1, point.name, g.name, got, point.want[i])
			}
		}
	}
	// What comes through of a million frames/s, of the draft's three last goals.
	for i, want := range []string{"", "1000000", "1000000", "999000"} {
		if got := fmt.Sprintf("%.0f", 1e6*forwarded(goals[i].target, trials, true)); i > 0 && got != want {
			t.Errorf("%s: %s frames/s come through, want %s", goals[i].name, got, want)
		}
	}
}

// percent is a ratio as the draft prints it.
func percent(ratio float64) float64 { return math.Round(ratio*100_000) / 1000 }
