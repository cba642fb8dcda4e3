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
		says    string // "": it is carried
	}{
		"a continuous stream":             {streams(continuous(1000, frame(60))), 1, ""},
		"a burst":                         {streams(burst(1, 1000, frame(60))), 1, ""},
		"64 streams":                      {many(64), 1, ""},
		"65 streams":                      {many(65), 1, "65 streams, of 64 at most"},
		"bursts again and again":          {streams(repeated), 1, "stream 1 sends bursts again and again"},
		"a chain":                         {chained(), 1, "stream 1 is part of a chain of streams"},
		"frames that the link can't have": {streams(continuous(1000, frame(1600))), 1, "stream 1 has frames of 1600 bytes, of 1518 at most here"},
		"a frame in a minute":             {streams(continuous(1, frame(60))), 1.0 / 60, "stream 1 would send a frame in 1m0s"},
		"more than one in a nanosecond":   {streams(continuous(1, frame(60))), 2e9, "more than one in a nanosecond"},
	} {
		t.Run(name, func(t *testing.T) {
			err := liveCarries(&port{mtu: 1500}, Run{Factor: test.factor}, compiled(t, test.streams...))
			switch {
			case test.says == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.says != "" && (!errors.Is(err, errNotLive) || !strings.Contains(err.Error(), test.says)):
				t.Errorf("%v, want …%s…", err, test.says)
			}
		})
	}
}

func many(n int) []RunStream {
	out := streams()
	for i := range n {
		out = append(out, RunStream{ID: uint32(i + 1), Stream: continuous(1000, frame(60))})
	}
	return out
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
	t.Run("what leaves at once is bounded in frames and in time", func(t *testing.T) {
		for _, test := range []struct{ perSecond, burst, spacing float64 }{{1e6, 16_000, 937}, {1000, 300_000, 937_500}} {
			burst, spacing := livePace(compiled(t, streams(continuous(test.perSecond, frame(60)))...), 1, 1)
			if float64(burst) != test.burst || float64(spacing) != test.spacing {
				t.Errorf("%v packets/s: %d ns at once, %d ns apart", test.perSecond, burst, spacing)
			}
		}
	})
}
