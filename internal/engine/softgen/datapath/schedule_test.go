package datapath

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

// departure is a frame that a schedule released.
type departure struct {
	stream uint32
	frame  uint64
	due    float64
}

func compiled(t *testing.T, runs ...RunStream) []*track {
	t.Helper()
	tracks, err := compiler{}.compile(runs)
	if err != nil {
		t.Fatal(err)
	}
	return tracks
}

// departuresUntil plays a schedule up to a time.
func departuresUntil(s *schedule, end float64) []departure {
	var departures []departure
	for s.next() < end {
		due := s.next()
		if t, frame := s.pop(); t != nil {
			departures = append(departures, departure{t.id, frame, due})
		}
	}
	return departures
}

const (
	microsecond = float64(time.Microsecond)
	second      = float64(time.Second)
)

func TestModes(t *testing.T) {
	multi := burst(0, 1e6, frame(60))
	multi.Mode = stream.Mode{Type: "multi_burst", Rate: stream.Rate{Type: "pps", Value: 1e6}, PacketsPerBurst: 2,
		InterBurstGap: 10, Count: 3}
	late := continuous(1e6, frame(60))
	late.ISG = 2.5
	for _, c := range []struct {
		name  string
		input stream.Stream
		want  []float64 // microseconds
	}{
		{"continuous has a frame each gap, the first at once", continuous(1e6, frame(60)), []float64{0, 1, 2, 3, 4, 5,
			6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24}},
		{"isg delays the first frame", late, []float64{2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5,
			14.5, 15.5, 16.5, 17.5, 18.5, 19.5, 20.5, 21.5, 22.5, 23.5, 24.5}},
		{"a single burst ends", burst(3, 1e6, frame(60)), []float64{0, 1, 2}},
		{"bursts are the pause apart, last frame to first", multi, []float64{0, 1, 11, 12, 22, 23}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []float64
			for _, d := range departuresUntil(newSchedule(compiled(t, streams(c.input)...), 1, 0, 1), 25*microsecond) {
				got = append(got, d.due/microsecond)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("frames at %v µs, want %v", got, c.want)
			}
		})
	}
}

func TestChains(t *testing.T) {
	first, second := burst(2, 1e6, frame(60)), burst(1, 1e6, frame(60))
	first.NextStreamID, second.NextStreamID = 2, 1
	second.SelfStart, second.ISG, second.ActionCount = false, 5, 2
	s := newSchedule(compiled(t, streams(first, second)...), 1, 0, 1)
	got := ""
	for _, d := range departuresUntil(s, math.MaxFloat64) {
		got += fmt.Sprint(d.stream, "@", d.due/microsecond, " ")
	}
	if want := "1@0 1@1 2@6 1@6 1@7 2@12 "; got != want {
		t.Errorf("played %s, want %s", got, want)
	}
	if !math.IsInf(s.next(), 1) {
		t.Error("the chain goes on after its action_count")
	}
}

func TestWeights(t *testing.T) {
	tracks := compiled(t, streams(continuous(28, frame(60)), continuous(16, frame(590)), continuous(4, frame(1514)))...)
	count := map[uint32]int{}
	previous := 0.0
	for _, d := range departuresUntil(newSchedule(tracks, 1000, 0, 1), second) {
		if count[d.stream]++; d.due < previous {
			t.Fatalf("a frame at %v after one at %v", d.due, previous)
		}
		previous = d.due
	}
	if want := (map[uint32]int{1: 28000, 2: 16000, 3: 4000}); fmt.Sprint(count) != fmt.Sprint(want) {
		t.Errorf("a second has %v frames, want %v", count, want)
	}
}

func TestThreadsShareAllFrames(t *testing.T) {
	multi := burst(0, 70_000, frame(60))
	multi.Mode = stream.Mode{Type: "multi_burst", Rate: stream.Rate{Type: "pps", Value: 70_000}, PacketsPerBurst: 7,
		InterBurstGap: 33, Count: 5}
	multi.NextStreamID = 3
	tail := burst(11, 90_000, frame(60))
	tail.SelfStart = false
	latency := continuous(1000, frame(60))
	latency.FlowStats = stream.Flow{Enabled: true, StreamID: 1, RuleType: "latency"}
	tracks := compiled(t, streams(continuous(100_000, frame(60)), multi, tail, latency)...)
	play := func(thread, threads int) []departure {
		s := newSchedule(tracks, 2, thread, threads)
		departures := departuresUntil(s, 3e6)
		s.setFactor(3e6, 0.7)
		return append(departures, departuresUntil(s, 20e6)...)
	}
	whole := play(0, 1)
	for threads := 2; threads <= 4; threads++ {
		var parts []departure
		for k := range threads {
			for _, d := range play(k, threads) {
				if d.stream == 4 && k != 0 {
					t.Fatalf("thread %d sends a latency stream's frame", k)
				}
				parts = append(parts, d)
			}
		}
		if !sameDepartures(whole, parts) {
			t.Errorf("%d threads send other frames than one, or at other times: %d, want %d", threads, len(parts),
				len(whole))
		}
	}
}

func sameDepartures(a, b []departure) bool {
	counted := map[string]int{}
	for _, d := range a {
		counted[fmt.Sprint(d)]++
	}
	for _, d := range b {
		counted[fmt.Sprint(d)]--
	}
	for _, n := range counted {
		if n != 0 {
			return false
		}
	}
	return true
}

func TestFactor(t *testing.T) {
	t.Run("a change leaves no gap and loses no part of a frame", func(t *testing.T) {
		s := newSchedule(compiled(t, streams(continuous(1, frame(60)))...), 1000, 0, 1)
		random, sent, want, instant := rand.New(rand.NewPCG(1, 2)), 0, 0.0, 0.0
		factor := 1000.0
		for range 200 {
			stretch := random.Float64() * 0.1 * second
			instant, want = instant+stretch, want+stretch/second*factor
			sent += len(departuresUntil(s, instant))
			if math.Abs(float64(sent)-want) > 1 {
				t.Fatalf("sent %d, but %v were due", sent, want)
			}
			factor = 10 + random.Float64()*10_000
			s.setFactor(instant, factor)
		}
	})
	t.Run("a latency stream's rate stays", func(t *testing.T) {
		latency := continuous(1000, frame(60))
		latency.FlowStats = stream.Flow{Enabled: true, StreamID: 1, RuleType: "latency"}
		s := newSchedule(compiled(t, streams(latency)...), 50, 0, 1)
		early := len(departuresUntil(s, second))
		s.setFactor(second, 7)
		if late := len(departuresUntil(s, 2*second)); early != 1000 || late != 1000 {
			t.Errorf("%d and %d frames a second, want 1000", early, late)
		}
	})
	t.Run("the rate is still exact after hours", func(t *testing.T) {
		line := timeline{gap: 1e9 / 14_880_952}
		if got, want := line.due(14_880_952*36_000), 36_000*second; math.Abs(got-want) > 100 {
			t.Errorf("ten hours at 14.88 Mpps end %v ns off", got-want)
		}
	})
}

func TestRefusedStreams(t *testing.T) {
	endless := continuous(1, frame(60))
	endless.NextStreamID = 2
	missing := burst(1, 1, frame(60))
	missing.NextStreamID = 9
	orphan := continuous(1, frame(60))
	orphan.SelfStart = false
	percent := continuous(1, frame(60))
	percent.Mode.Rate.Type = "percentage"
	unpaced := continuous(0, frame(60))
	long := continuous(1, frame(60))
	long.FlowStats = stream.Flow{Enabled: true, StreamID: 5000, RuleType: "stats"}
	unmarked := continuous(1, append(make([]byte, 12), 0x88, 0xcc))
	unmarked.FlowStats = stream.Flow{Enabled: true, StreamID: 1, RuleType: "stats"}
	for _, c := range []struct {
		name  string
		input []RunStream
		want  string
	}{
		{"a continuous stream with a next", streams(endless, burst(1, 1, frame(60))),
			"error: stream 1 is continuous and can't go on to stream 2"},
		{"a next that isn't there", streams(missing),
			"error: stream 1 goes on to stream 9, which is missing or disabled"},
		{"a stream that nothing starts", streams(orphan),
			"error: stream 1 is neither started by itself nor by another stream"},
		{"a percentage of nothing", streams(percent),
			"stream 1: a rate of 1 % has no meaning on a port without a speed: give it in packets or bits per second"},
		{"no rate", streams(unpaced), "stream 1: rate value should be positive, not 0"},
		{"a flow id too high", streams(long), "stream 1: flow id 5000: the software engine counts ids up to 1022"},
		{"a flow id on what isn't IP", streams(unmarked),
			"stream 1: flow id 1: only IPv4 and IPv6 packets can be counted by flow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := (compiler{}).compile(c.input); err == nil || err.Error() != c.want {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

func TestRates(t *testing.T) {
	for kind, want := range map[string]float64{"pps": 84_000_000, "bps_L2": 84e6 / (64 * 8), "bps_L1": 84e6 / (84 * 8),
		"percentage": 84e6 / 100 * 1e9 / (84 * 8)} {
		got, err := compiler{speed: 1e9}.framesPerSecond(stream.Rate{Type: kind, Value: 84e6}, 60)
		if err != nil || math.Abs(got/want-1) > 1e-12 {
			t.Errorf("%s: %v frames/s (%v), want %v", kind, got, err, want)
		}
	}
}
