package trains_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/report"
	"github.com/linerate-dev/linerate/internal/engine"
	"github.com/linerate-dev/linerate/internal/measure/trains"
)

const frames = 192

// sent is a train of a device that takes so long for a frame, and whose polls pass on 64 frames at a time.
func sent(service, sending time.Duration) engine.Train {
	train := engine.Train{Sending: (frames - 1) * sending}
	for n := range frames {
		poll := min(frames, (n/64+1)*64)
		train.Arrivals = append(train.Arrivals, engine.Arrival{Frame: n,
			Instant: time.Hour + time.Duration(poll)*service + time.Duration(n%64)})
	}
	return train
}

func several(n int, train func(i int) engine.Train) (list []engine.Train) {
	for i := range n {
		list = append(list, train(i))
	}
	return list
}

func TestPollsDoNotChangeTheSpacing(t *testing.T) {
	observed := trains.Observe(frames, several(20, func(int) engine.Train { return sent(940, 200) }))
	s, fault := trains.SpacingOf(observed)
	if fault != "" || s.Bound || math.Abs(s.Nanoseconds-940) > 1 {
		t.Errorf("%+v %s, want 940 ns", s, fault)
	}
	if len(observed.Arrivals) != frames || observed.Arrivals[0] != 0 {
		t.Errorf("%+v", observed)
	}
}

func TestTrainsThatLostFramesOrAreBrokenAreLeftOut(t *testing.T) {
	observed := trains.Observe(frames, several(40, func(i int) engine.Train {
		train := sent(1000, 200)
		switch i % 4 {
		case 1:
			train.Arrivals = slices.Delete(train.Arrivals, 70, 73)
		case 2: // two frames changed places
			train.Arrivals[5], train.Arrivals[80] = train.Arrivals[80], train.Arrivals[5]
		case 3: // one came twice
			train.Arrivals = append(train.Arrivals, train.Arrivals[9])
		}
		return train
	}))
	if observed.Lossy != 10 || observed.LostFrames != 30 || observed.Broken != 20 || len(observed.Spacings) != 10 {
		t.Errorf("%+v", observed)
	}
	if s, fault := trains.SpacingOf(observed); fault != "" || math.Abs(s.Nanoseconds-1000) > 1 {
		t.Errorf("%+v %s", s, fault)
	}
}

func TestTooFewWholeTrainsShowNothing(t *testing.T) {
	lossy := func(i int) engine.Train {
		train := sent(1000, 200)
		if i%5 != 0 {
			train.Arrivals = train.Arrivals[1:]
		}
		return train
	}
	_, fault := trains.SpacingOf(trains.Observe(frames, several(200, lossy)))
	if want := "only 40 of 200 trains count: 160 lost frames, 0 came in another order, and 0 in one part: send shorter " +
		"trains where frames are lost, and longer ones where they come in one part"; fault != want {
		t.Errorf("%q", fault)
	}
	if _, fault := trains.SpacingOf(report.Trains{}); fault == "" {
		t.Error("no trains have a spacing")
	}
}

func TestASenderThatSetsThePaceMakesABound(t *testing.T) {
	for name, c := range map[string]struct {
		service, sending time.Duration
		bound, untimed   bool
	}{
		"sent faster":       {1000, 300, false, false},
		"sent as fast":      {1000, 1000, true, false},
		"sent nearly so":    {1000, 950, true, false},
		"untimed departure": {1000, 0, true, true},
	} {
		s, fault := trains.SpacingOf(trains.Observe(frames, several(20,
			func(int) engine.Train { return sent(c.service, c.sending) })))
		if fault != "" || s.Bound != c.bound || s.Untimed != c.untimed {
			t.Errorf("%s: %+v %s", name, s, fault)
		}
		f := trains.FigureOf([]trains.Spacing{s, s, s, s, s, s})
		if f.Bound != c.bound || f.Untimed != c.untimed || (f.Low == 0) != c.bound || f.High != s.Nanoseconds {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A device that wakes up within a train passes on fewer frames at first, and short trains have few polls.
func TestTheSpacingCountsFromTheEndOfAPoll(t *testing.T) {
	for name, c := range map[string]struct{ frames, first int }{
		"a poll of one frame first": {192, 1}, "a short poll first": {192, 40}, "a long train": {1024, 17},
		"a short train": {96, 64}, "another short poll": {192, 30},
	} {
		var train engine.Train
		for n := range c.frames {
			end := c.first
			for end <= n {
				end += 64
			}
			train.Arrivals = append(train.Arrivals, engine.Arrival{Frame: n,
				Instant: time.Duration(min(end, c.frames))*1000 + time.Duration(n)})
		}
		train.Sending = time.Duration(c.frames) * 100
		s, fault := trains.SpacingOf(trains.Observe(c.frames, several(20, func(int) engine.Train { return train })))
		if fault != "" || math.Abs(s.Nanoseconds-1000) > 10 {
			t.Errorf("%s: %+v %s, want 1000 ns", name, s, fault)
		}
	}
	one := trains.Observe(48, several(20, func(int) engine.Train {
		train := sent(1000, 200)
		train.Arrivals = train.Arrivals[:48]
		return train
	}))
	if one.Undivided != 20 {
		t.Errorf("a train of one poll has no spacing: %+v", one)
	}
}

// drawn is a set-up whose trains are skewed to the right, as they are beside other programs. Its own factor is what
// set-ups differ by.
func drawn(random *rand.Rand, service, factor float64) report.Trains {
	t := report.Trains{Count: 200, Frames: frames}
	for range t.Count {
		late := 0.02 * random.ExpFloat64()
		if random.IntN(5) == 0 {
			late += 0.4 * random.ExpFloat64()
		}
		t.Spacings = append(t.Spacings, int64(1000*service*factor*(1+late)))
		t.Sendings = append(t.Sendings, int64(200*(frames-1)))
	}
	return t
}

// Set-ups spread by 4.5 %. The true figure is that of a set-up in the middle, which many trains show.
func TestTheIntervalHasTheTrueTimeInNineteenOfTwentyRuns(t *testing.T) {
	const runs, spread, service = 300, 0.045, 940
	random := rand.New(rand.NewPCG(1, 2))
	many := report.Trains{Frames: frames}
	for range 400 {
		more := drawn(random, service, 1)
		many.Count, many.Spacings = many.Count+more.Count, append(many.Spacings, more.Spacings...)
		many.Sendings = append(many.Sendings, more.Sendings...)
	}
	truth, _ := trains.SpacingOf(many)
	for _, setups := range []int{6, 9, 12} {
		missed, above := 0, 0
		for range runs {
			var list []trains.Spacing
			for range setups {
				s, _ := trains.SpacingOf(drawn(random, service, math.Exp(spread*random.NormFloat64())))
				list = append(list, s)
			}
			f := trains.FigureOf(list)
			if truth.Nanoseconds < f.Low || truth.Nanoseconds > f.High {
				missed++
			}
			if f.Median > truth.Nanoseconds {
				above++
			}
		}
		t.Logf("%d set-ups: %d of %d intervals miss %.1f ns; %d medians lie above", setups, missed, runs, truth.Nanoseconds,
			above)
		if missed > runs*9/100 { // 5 % and three standard errors
			t.Errorf("%d set-ups: %d of %d intervals miss the true time", setups, missed, runs)
		}
		if above < runs*41/100 || above > runs*59/100 {
			t.Errorf("%d set-ups: %d of %d medians lie above the true time", setups, above, runs)
		}
	}
}
