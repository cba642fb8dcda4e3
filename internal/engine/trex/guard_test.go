package trex_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/engine/trex"
)

func TestStreamsThatAreNeverSent(t *testing.T) {
	withInstruction := func(i stream.Instruction) func(*stream.Stream) {
		return func(s *stream.Stream) { s.VM.Instructions = []stream.Instruction{i} }
	}
	cases := map[string]struct {
		change func(*stream.Stream)
		want   string
	}{
		"pinned to a core": {func(s *stream.Stream) { s.CoreID = 1 }, "core_id 1"},
		"addresses reversed": {withInstruction(stream.Instruction{Type: "tuple_flow_var", IPMin: 2, IPMax: 1,
			PortMax: 1}), "ip_min 2 above ip_max 1"},
		"ports reversed": {withInstruction(stream.Instruction{Type: "tuple_flow_var", PortMin: 2, PortMax: 1}),
			"port_min 2 above port_max 1"},
		"full 8-byte range": {withInstruction(stream.Instruction{Type: "flow_var", Size: 8,
			MaxValue: math.MaxUint64}), "8-byte variable"},
		"range reversed": {withInstruction(stream.Instruction{Type: "flow_var", Size: 2, MinValue: 2,
			MaxValue: 1}), "min_value 2 above max_value 1"},
		"no frame": {func(s *stream.Stream) { s.Packet.Binary = nil }, "frame of 0 bytes"},
		"a giant frame": {func(s *stream.Stream) { s.Packet.Binary = make([]byte, 9239) },
			"frame of 9239 bytes"},
		"no rate":             {func(s *stream.Stream) { s.Mode.Rate.Value = 0 }, "must be positive"},
		"a rate that is none": {func(s *stream.Stream) { s.Mode.Rate.Value = math.NaN() }, "must be positive"},
		"an endless multiburst": {func(s *stream.Stream) { s.Mode.Type, s.Mode.PacketsPerBurst = "multi_burst", 1 },
			"for ever"},
		"an empty burst": {func(s *stream.Stream) { s.Mode.Type = "single_burst" }, "no packets"},
		"a negative gap": {func(s *stream.Stream) { s.ISG = -1 }, "isg -1"},
	}
	l := newSimulatedServer(t)
	l.claim(t, 0)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := udp()
			c.change(&s)
			err := l.client.AddStreams(t.Context(), 0, []stream.Stream{s})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, which says nothing of %q", err, c.want)
			}
		})
	}
	if sent := l.Calls("add_stream"); len(sent) != 0 {
		t.Errorf("%d were sent", len(sent))
	}
}

func TestGoodStreamsPass(t *testing.T) {
	s := udp()
	s.VM.Instructions = []stream.Instruction{
		{Type: "flow_var", Size: 8, MinValue: 1, MaxValue: math.MaxUint64},
		{Type: "flow_var", Size: 4, ValueList: []uint64{3, 1}, MinValue: 2, MaxValue: 1},
		{Type: "tuple_flow_var", IPMin: 1, IPMax: 1, PortMin: 5, PortMax: 5},
	}
	if err := trex.CheckStream(s); err != nil {
		t.Error(err)
	}
}

func TestStartsThatAreNeverSent(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0)
	noError(t, l.client.AddStreams(t.Context(), 0, []stream.Stream{udp()}))
	cases := map[string]trex.Start{
		"send for ever":    {Multiplier: trex.PPS(1)},
		"must be positive": {Multiplier: trex.PPS(0), Duration: time.Second},
		"only abs":         {Multiplier: trex.Multiplier{Type: "pps", Op: "add", Value: 1}, Duration: time.Second},
	}
	for want, start := range cases {
		if _, err := l.client.StartTraffic(t.Context(), start); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, which says nothing of %q", err, want)
		}
	}
	if sent := l.Calls("start_traffic"); len(sent) != 0 {
		t.Errorf("%d were sent", len(sent))
	}
}

func TestUnknownProfilesAreNeverNamed(t *testing.T) {
	l := newSimulatedServer(t)
	l.claim(t, 0)
	_, err := l.client.Validate(t.Context(), 0)
	_ = errorOf[*trex.StateError](t, err)
	_, err = l.client.StartTraffic(t.Context(), trex.Start{Multiplier: trex.PPS(1), Duration: time.Second})
	_ = errorOf[*trex.StateError](t, err)
	if sent := l.Calls("validate", "start_traffic"); len(sent) != 0 || len(l.generator.Crashes()) != 0 {
		t.Errorf("sent %v, crashes %v", sent, l.generator.Crashes())
	}
}

func TestRequestsTooLargeForAServer(t *testing.T) {
	l := newSimulatedServer(t)
	_, err := l.client.StartCapture(t.Context(), []int{0}, 1, strings.Repeat("x", 1_000_000))
	if large := errorOf[*trex.TooLargeError](t, err); large.Bytes < 1_000_000 || large.Method != "capture" {
		t.Errorf("got %+v", large)
	}
	if sent := l.Calls("capture"); len(sent) != 0 {
		t.Error("it was sent all the same")
	}
}

func TestManyFramesGoOutInSeveralRequests(t *testing.T) {
	l := newSimulatedServer(t)
	frames := make([][]byte, 100)
	for i := range frames {
		frames[i] = make([]byte, 9000)
	}
	noError(t, l.client.PushFrames(t.Context(), 0, frames))
	if sent := l.Calls("push_pkts"); len(sent) != 3 {
		t.Errorf("%d requests were sent", len(sent))
	}
}
