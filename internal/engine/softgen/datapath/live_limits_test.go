package datapath

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestWhatLiveFramesCarry(t *testing.T) {
	chained := func() []RunStream {
		s := streams(burst(5, 1000, frame(60)), burst(5, 1000, frame(60)))
		s[0].Stream.NextStreamID, s[1].Stream.SelfStart = 2, false
		return s
	}
	repeated := burst(1, 1000, frame(60))
	repeated.Mode.Type, repeated.Mode.PacketsPerBurst, repeated.Mode.Count = "multi_burst", 5, 3
	for name, test := range map[string]struct {
		streams []RunStream
		factor  float64
		want    string // empty: live frames carry it
	}{
		"a continuous stream":    {streams(continuous(1000, frame(60))), 1, ""},
		"a burst":                {streams(burst(1, 1000, frame(60))), 1, ""},
		"64 streams":             {copies(64), 1, ""},
		"65 streams":             {copies(65), 1, "65 streams, of 64 at most"},
		"bursts again and again": {streams(repeated), 1, "stream 1 sends bursts again and again"},
		"a chain":                {chained(), 1, "stream 1 is part of a chain of streams"},
		"frames that a page has no room for": {streams(continuous(1000, frame(3301))), 1,
			"stream 1 has frames of 3301 bytes, of 3300 at most"},
		"a frame in a minute": {streams(continuous(1, frame(60))), 1.0 / 60,
			"stream 1 would send a frame in 1m0s"},
		"more than one in a nanosecond": {streams(continuous(1, frame(60))), 2e9, "more than one in a nanosecond"},
	} {
		t.Run(name, func(t *testing.T) {
			err := checkLiveRun(Run{Factor: test.factor}, compiled(t, test.streams...))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (!errors.Is(err, errNotLive) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want …%s…", err, test.want)
			}
		})
	}
}

func copies(n int) []RunStream {
	list := streams()
	for i := range n {
		list = append(list, RunStream{ID: uint32(i + 1), Stream: continuous(1000, frame(60))})
	}
	return list
}

func TestLivePace(t *testing.T) {
	t.Run("a rate is right to a frame in a day", func(t *testing.T) {
		const day = 86_400e9
		for _, perSecond := range []float64{999_983, 300_007, 3} {
			whole, fraction := gapOf(1e9 / perSecond)
			gap := float64(whole) + math.Ldexp(float64(fraction), -32)
			if late := (gap*perSecond - 1e9) / 1e9 * day / 1e9 * perSecond; math.Abs(late) > 1 {
				t.Errorf("%v packets/s are off by %v frames in a day", perSecond, late)
			}
		}
	})
	t.Run("the burst follows the rate", func(t *testing.T) {
		for _, test := range []struct {
			perSecond, factor     float64
			batch                 int
			lower, upper, spacing float64
		}{{1e6, 1, 16, 750, 8_000, 937}, {1e6, 0.1, 16, 7_500, 80_000, 9375}, {1000, 500, 64, 1500, 16_000, 1875},
			{1e6, 1, 8, 750, 4_000, 937}, {1e6, 1, 2, 750, 1_000, 937}, {1e6, 1, 1, 600, 600, 937},
			{1e5, 1, 1, 2500, 2500, 9375}} {
			lower, upper, spacing := livePace(compiled(t, streams(continuous(test.perSecond, frame(60)))...),
				test.factor, 1, test.batch)
			if float64(lower) != test.lower || float64(upper) != test.upper || float64(spacing) != test.spacing {
				t.Errorf("%v packets/s at %v in batches of %d: %d to %d ns at once, %d ns apart", test.perSecond,
					test.factor, test.batch, lower, upper, spacing)
			}
		}
	})
}
