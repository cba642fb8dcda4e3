package goals_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/procedure/goals"
)

// lossModel is the loss ratio of a trial of a load, from 0 to 1.
type lossModel func(load float64, chance *rand.Rand) float64

func hardLimit(limit float64) lossModel {
	return func(load float64, _ *rand.Rand) float64 { return max(0, 1-limit/load) }
}

// bending begins to lose at a load, and more and more above it.
func bending(start float64) lossModel {
	return func(load float64, _ *rand.Rand) float64 { return min(1, math.Pow(max(0, load/start-1), 2)*4) }
}

// collapsing is a hard limit, of which nine tenths are left once 5 % more is offered.
func collapsing(limit float64) lossModel {
	return func(load float64, _ *rand.Rand) float64 {
		if load > 1.05*limit {
			return 1 - 0.9*limit/load
		}
		return max(0, 1-limit/load)
	}
}

// moody forgets what it did a trial ago.
func moody(_ float64, chance *rand.Rand) float64 { return max(0, chance.Float64()-0.5) }

// shapes are sets of goals.
func shapes() map[string][]goals.Goal {
	goal := func(loss, exceed float64, final, sum time.Duration) goals.Goal {
		return goals.Goal{LossRatio: loss, ExceedRatio: exceed, Width: 0.005, FinalTrial: final, DurationSum: sum}
	}
	return map[string][]goals.Goal{
		"NDR and PDR": {goal(0, 0.5, time.Second, 21*time.Second), goal(0.005, 0.5, time.Second, 21*time.Second)},
		"of a minute": {goal(0, 0.5, time.Minute, 2*time.Minute), goal(0.005, 0.5, time.Minute, 2*time.Minute)},
		"RFC2544":     {goal(0, 0, time.Minute, time.Minute)},
		"TST009":      {goal(0, 0.5, time.Minute, 130*time.Second)},
		"one in five": {goal(0.001, 0.2, time.Second, 10*time.Second)},
	}
}

// playSearch searches a device, and returns what the search asked for and was shown.
func playSearch(s goals.Settings, device lossModel, seed uint64) (asks []goals.Ask, trials []goals.Trial) {
	chance := rand.New(rand.NewPCG(seed, 3))
	s.Search(func(ask goals.Ask) (goals.Trial, bool) {
		asks = append(asks, ask)
		trial := goals.Trial{Load: ask.Load, Duration: ask.Duration, Took: ask.Duration + time.Second/2,
			LossRatio: device(ask.Load, chance)}
		if ask.StopAbove != nil && trial.LossRatio > *ask.StopAbove {
			trial.LossRatio, trial.Stopped = math.Nextafter(*ask.StopAbove, 1), true // no more is known of it
		}
		trials = append(trials, trial)
		return trial, true
	})
	return asks, trials
}

const lowest, highest = 1e5, 1e7

// next is what the search asks for after the trials. ended reports that it asks for nothing.
func next(s goals.Settings, trials []goals.Trial) (ask goals.Ask, ended bool) {
	ended = true
	s.Search(func(asked goals.Ask) (goals.Trial, bool) {
		if len(trials) == 0 {
			ask, ended = asked, false
			return goals.Trial{}, false
		}
		trial := trials[0]
		trials = trials[1:]
		return trial, true
	})
	return ask, ended
}

func everySearch(t *testing.T, check func(t *testing.T, s goals.Settings)) {
	t.Helper()
	for _, classification := range []goals.Classification{goals.RFC9971, goals.Sequential} {
		for name, shape := range shapes() {
			t.Run(string(classification)+" "+name, func(t *testing.T) {
				t.Parallel()
				check(t, goals.Settings{Classification: classification, Goals: shape, MinLoad: lowest,
					MaxLoad: highest})
			})
		}
	}
}

// TestPropertyBoundsEncloseTheLimit: of a device that loses more of each higher load, and the same whenever it
// is asked.
func TestPropertyBoundsEncloseTheLimit(t *testing.T) {
	everySearch(t, func(t *testing.T, s goals.Settings) {
		chance := rand.New(rand.NewPCG(1, 2))
		for range 40 {
			limit := lowest * math.Pow(highest/lowest, 0.02+0.9*chance.Float64())
			for name, kind := range map[string]struct {
				device lossModel
				truth  func(loss float64) float64
			}{
				"a hard limit": {hardLimit(limit), func(loss float64) float64 { return limit / (1 - loss) }},
				"a collapse":   {collapsing(limit), func(loss float64) float64 { return limit / (1 - loss) }},
				"a bend":       {bending(limit), func(loss float64) float64 { return limit * (1 + math.Sqrt(loss/4)) }},
			} {
				_, trials := playSearch(s, kind.device, 1)
				for i, r := range s.Conclude(trials) {
					truth := kind.truth(s.Goals[i].LossRatio)
					if r.Irregular != "" || r.Lower.Load > truth*(1+1e-9) || r.Upper.Load < truth*(1-1e-9) ||
						r.Upper.Load-r.Lower.Load > s.Goals[i].Width*r.Upper.Load {
						t.Fatalf("%s at %.0f, goal %d: %+v, want bounds around %.0f", name, limit, i, r, truth)
					}
				}
			}
		}
	})
}

// TestPropertyASearchRepeatsItself, stays within its loads and its bounds, and is the same trial by trial as in
// one pass.
func TestPropertyASearchRepeatsItself(t *testing.T) {
	everySearch(t, func(t *testing.T, s goals.Settings) {
		count, span, longest := s.Longest()
		for seed := range uint64(12) {
			device := []lossModel{hardLimit(3e6), bending(2e5), moody}[seed%3]
			asks, trials := playSearch(s, device, seed)
			if repeated, _ := playSearch(s, device, seed); !reflect.DeepEqual(asks, repeated) {
				t.Fatalf("seed %d asks for other trials the second time", seed)
			}
			var took time.Duration
			for i, ask := range asks {
				if ask.Load < lowest || ask.Load > highest || ask.Duration > longest {
					t.Errorf("trial %d is %+v", i, ask)
				}
				took += ask.Duration
			}
			if len(trials) > count || took > span {
				t.Errorf("%d trials of %s, and there are at most %d of %s", len(trials), took, count, span)
			}
			for i := range min(len(trials), 60) {
				if ask, ended := next(s, trials[:i]); ended || !reflect.DeepEqual(ask, asks[i]) {
					t.Fatalf("trial %d is %+v (%v), and %+v in one pass", i, ask, ended, asks[i])
				}
			}
			if ask, ended := next(s, trials); !ended {
				t.Errorf("after the last trial comes %+v", ask)
			}
		}
	})
}

func TestIrregularResults(t *testing.T) {
	everySearch(t, func(t *testing.T, s goals.Settings) {
		for irregular, device := range map[string]lossModel{goals.MinimumLossy: hardLimit(lowest / 2),
			goals.MaximumClean: hardLimit(highest * 2)} {
			_, trials := playSearch(s, device, 1)
			for _, r := range s.Conclude(trials) {
				if r.Irregular != irregular || (r.Lower == nil) != (irregular == goals.MinimumLossy) ||
					(r.Upper == nil) != (irregular == goals.MaximumClean) {
					t.Errorf("%+v, want %s", r, irregular)
				}
			}
		}
		_, trials := playSearch(s, hardLimit(3e6), 1)
		if r := s.Conclude(trials[:1])[0]; r.Irregular != goals.Unfinished {
			t.Errorf("after one trial: %+v", r)
		}
	})
}

// TestWhatAStoppedTrialShows: at least so much was lost, of which no throughput is made.
func TestWhatAStoppedTrialShows(t *testing.T) {
	s := goals.Settings{Classification: goals.Sequential, Goals: shapes()["NDR and PDR"], MinLoad: lowest,
		MaxLoad: highest}
	var trials []goals.Trial
	for _, loss := range []float64{0, 0, 0.001, 0.001, 0.001, 0, 0, 0, 0, 0} {
		trials = append(trials, goals.Trial{Load: lowest, Duration: time.Second, Took: 3 * time.Second / 2,
			LossRatio: loss, Stopped: loss > 0})
	}
	ndr, pdr := s.Conclude(trials)[0], s.Conclude(trials)[1]
	if ndr.Lower == nil || ndr.ConditionalThroughput != lowest {
		t.Errorf("7 of 10 lost nothing at %g, and NDR is %+v", lowest, ndr)
	}
	if pdr.Lower == nil || pdr.ConditionalThroughput != lowest {
		t.Errorf("the stopped ones had lost no more than PDR allows, and show nothing of it: %+v", pdr)
	}
	if r := s.Conclude(trials[2:5])[0]; r.Lower != nil || r.ConditionalThroughput != 0 {
		t.Errorf("%+v", r)
	}
}

// One trial of a minute, whose drain comes on top, decides no load, and two of a kind do.
func TestTST009VerifiesLoss(t *testing.T) {
	for _, classification := range []goals.Classification{goals.RFC9971, goals.Sequential} {
		s := goals.Settings{Classification: classification, Goals: shapes()["TST009"], MinLoad: lowest,
			MaxLoad: highest}
		for _, loss := range []float64{0, 0.1} {
			trial := goals.Trial{Load: lowest, Duration: time.Minute, Took: time.Minute + 50*time.Millisecond,
				LossRatio: loss}
			if r := s.Conclude([]goals.Trial{trial})[0]; r.Lower != nil || r.Upper != nil {
				t.Errorf("%s: one trial that lost %g decides: %+v", classification, loss, r)
			}
			if r := s.Conclude([]goals.Trial{trial, trial})[0]; (r.Lower != nil) != (loss == 0) ||
				(r.Upper != nil) != (loss > 0) {
				t.Errorf("%s: two trials that lost %g: %+v", classification, loss, r)
			}
		}
	}
}
