package softgen

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex/wire"
	"github.com/linerate-dev/linerate/internal/units"
)

func inf(sign int) float64 { return math.Inf(sign) }

// profileOf is a profile of streams with these frame sizes (FCS included) and packet rates.
func profileOf(streams ...stream.Stream) *profile {
	f := newProfile(defaultProfile)
	for i, s := range streams {
		f.streams[uint32(i+1)] = &loadedStream{stream: s}
	}
	return f
}

func frames(size int, pps float64) stream.Stream {
	return stream.Stream{
		Enabled: true, SelfStart: true, CoreID: -1, NextStreamID: -1,
		Packet: stream.Packet{Binary: make([]byte, size-units.FCSBytes)},
		Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: pps}},
	}
}

func latency(size int, pps float64) stream.Stream {
	s := frames(size, pps)
	s.FlowStats = stream.Flow{Enabled: true, StreamID: 7, RuleType: "latency"}
	return s
}

func imix() *profile { return profileOf(frames(64, 28), frames(594, 16), frames(1518, 4)) }

func TestMultiplier(t *testing.T) {
	withLatency := profileOf(frames(64, 1), latency(64, 500))
	for name, c := range map[string]struct {
		profile *profile
		mul     multiplier
		current float64
		force   bool
		want    float64
		refusal string
	}{
		"packets per second of IMIX": {profile: imix(), mul: multiplier{"pps", "abs", 1000},
			want: 1000.0 / 48},
		"layer-2 bits per second of IMIX": {profile: imix(), mul: multiplier{"bps", "abs", 138_944_000},
			want: 1000},
		"layer-1 bits per second of IMIX": {profile: imix(), mul: multiplier{"bpsl1", "abs", 146_624_000},
			want: 1000},
		"percent is of layer 1": {profile: profileOf(frames(64, 1)), mul: multiplier{"percentage",
			"abs", 100}, want: 10e9 / 672},
		"raw is the factor": {profile: imix(), mul: multiplier{"raw", "abs", 2.5}, want: 2.5},
		"latency streams come off first": {profile: withLatency, mul: multiplier{"pps", "abs", 5000},
			want: 4500},
		"also in percent": {profile: withLatency, mul: multiplier{"percentage", "abs", 0.1},
			want: (10e6 - 336000) / 672},
		"below the latency streams": {profile: withLatency, mul: multiplier{"pps", "abs", 100},
			refusal: "current stream configuration enforces a minimum rate of '500' pps"},
		"a percentage added is of what is": {profile: imix(), mul: multiplier{"percentage", "add", 50},
			current: 10, want: 5},
		"above line rate": {profile: profileOf(frames(64, 1)), mul: multiplier{"percentage",
			"abs", 120}, refusal: "Expected L1 B/W: '12 Gbps' exceeds port line rate: '10 Gbps'"},
		"above line rate by force": {profile: profileOf(frames(64, 1)), mul: multiplier{"percentage",
			"abs", 120}, force: true, want: 12e9 / 672},
		"what can't be, by force": {profile: profileOf(frames(64, 1)), mul: multiplier{"pps", "abs",
			1e20}, force: true, refusal: "exceeds port line rate"},
		"a hair above line rate is capped": {profile: profileOf(frames(64, 1)), mul: multiplier{"percentage",
			"abs", 100.005}, want: 10e9 / 672},
		"a hair above is not capped by force": {profile: profileOf(frames(64, 1)), mul: multiplier{"percentage",
			"abs", 100.005}, force: true, want: 10.0005e9 / 672},
		"latency streams only: nothing to scale": {profile: profileOf(latency(64, 500)), mul: multiplier{"pps", "abs",
			1000}, want: inf(1)},
		"latency streams only, at a factor": {profile: profileOf(latency(64, 500)), mul: multiplier{"raw", "abs",
			1}, want: 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.mul.effective(newGraph(c.profile, DefaultSpeed), c.current, DefaultSpeed, c.force)
			if c.refusal != "" {
				var refusal *wire.Error
				if !errors.As(err, &refusal) || !strings.Contains(refusal.Specific, c.refusal) {
					t.Errorf("got %v, %v; want refusal %q", got, err, c.refusal)
				}
				return
			}
			if err != nil || got != c.want && math.Abs(got-c.want) > 1e-12*c.want {
				t.Errorf("got %v, %v; want %v", got, err, c.want)
			}
		})
	}
}

// TestFactorReachesWhatWasAsked: the fixed part plus factor times the variable part is the multiplier, for any profile.
func TestFactorReachesWhatWasAsked(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		f := profileOf(latency(64+random.IntN(1000), 1+1000*random.Float64()))
		for i := range 1 + random.IntN(5) {
			f.streams[uint32(10+i)] = &loadedStream{stream: frames(64+random.IntN(9000), 1+100*random.Float64())}
		}
		g := newGraph(f, DefaultSpeed)
		for kind, rateOf := range map[string]func(load) float64{
			"pps": func(l load) float64 { return l.pps }, "bps": func(l load) float64 { return l.layer2 },
			"bpsl1": func(l load) float64 { return l.layer1 },
		} {
			wanted := rateOf(g.fixed) * (1 + 10*random.Float64())
			factor, err := multiplier{kind, "abs", wanted}.effective(g, 0, DefaultSpeed, true)
			if wanted == rateOf(g.fixed) {
				continue
			}
			if got := rateOf(g.fixed.plus(g.variable.times(factor))); err != nil || math.Abs(got-wanted) > 1e-9*wanted {
				t.Fatalf("%s %v: reached %v, %v", kind, wanted, got, err)
			}
		}
	}
}

func TestGraph(t *testing.T) {
	singleBurst := func(packets uint32, pps float64, next int) stream.Stream {
		s := frames(64, pps)
		s.Mode.Type, s.Mode.TotalPackets, s.NextStreamID = "single_burst", packets, next
		return s
	}
	follower := func(s stream.Stream) stream.Stream { s.SelfStart = false; return s }
	multi := frames(64, 1000)
	multi.Mode.Type, multi.Mode.PacketsPerBurst, multi.Mode.Count, multi.Mode.InterBurstGap = "multi_burst", 2000, 3,
		1e6
	trimmed := frames(1518, 1)
	trimmed.VM.Instructions = []stream.Instruction{
		{Type: "flow_var", Name: "size", MinValue: 10, MaxValue: 9000}, {Type: "trim_pkt_size", Name: "size"},
	}
	for name, c := range map[string]struct {
		profile  *profile
		pps      float64
		layer2   float64
		duration float64
	}{
		"continuous streams add up": {imix(), 48, 138_944, -1},
		"bursts after each other don't": {profileOf(singleBurst(10_000, 1000, 2),
			follower(singleBurst(20_000, 2000, -1))), 2000, 2000 * 512, 20e6},
		"a chain that loops has no end": {profileOf(singleBurst(10_000, 1000, 2),
			follower(singleBurst(20_000, 2000, 1))), 2000, 2000 * 512, -1},
		"a small burst counts as next to nothing":   {profileOf(singleBurst(999, 1e6, -1)), 1, 112, 999},
		"several bursts count as one with its gaps": {profileOf(multi), 1000, 512_000, 9e6},
		"a disabled stream doesn't count": {profileOf(frames(64, 5), stream.Stream{SelfStart: true,
			NextStreamID: -1}), 5, 5 * 512, -1},
		"trimmed frames count with their mean, kept in range": {profileOf(trimmed), 1, (60+1514)/2.0*8 + 32, -1},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGraph(c.profile, DefaultSpeed)
			if g.variable.pps != c.pps || g.variable.layer2 != c.layer2 || math.Abs(g.duration-c.duration) > 1e-6 {
				t.Errorf("got %+v for %v µs; want %v pps, %v b/s, %v µs", g.variable, g.duration, c.pps, c.layer2,
					c.duration)
			}
		})
	}
}

func TestRatesInOtherUnits(t *testing.T) {
	for kind, value := range map[string]float64{"pps": 1000, "bps_L2": 512_000, "bps_L1": 672_000,
		"percentage": 672_000.0 / 10e9 * 100} {
		s := frames(64, value)
		s.Mode.Rate.Type = kind
		if got := rateOf(s, DefaultSpeed).pps; math.Abs(got-1000) > 1e-9 {
			t.Errorf("%v %s are %v packets a second, want 1000", value, kind, got)
		}
	}
}
