package profile

import (
	"math"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

// sending is a continuous stream of frames of so many bytes with FCS.
func sending(size int, rateType string, value float64) stream.Stream {
	return stream.Stream{
		Enabled: true, Mode: stream.Mode{Type: "continuous", Rate: stream.Rate{Type: rateType, Value: value}}, Packet: stream.Packet{Binary: make([]byte, size-4)},
	}
}

func TestMixOf(t *testing.T) {
	latency, off := sending(64, "pps", 1000), sending(1518, "pps", 1)
	latency.FlowStats = stream.Flow{Enabled: true, RuleType: "latency", StreamID: 7}
	off.Enabled = false
	for _, tt := range []struct {
		name    string
		streams []stream.Stream
		want    units.Traffic
	}{
		{"one size", []stream.Stream{sending(64, "pps", 1)}, units.Traffic{Packets: 1, Bytes: 64}},
		{"a frame below Ethernet's least is padded", []stream.Stream{sending(18, "pps", 1)}, units.Traffic{Packets: 1, Bytes: 64}},
		{"a fraction of a packet per second", []stream.Stream{sending(64, "pps", 0.1), sending(128, "pps", 0.2)}, units.Traffic{Packets: 3, Bytes: 64 + 2*128}},
		{"equal bits at layer 2", []stream.Stream{sending(64, "bps_L2", 512), sending(128, "bps_L2", 512)}, units.Traffic{Packets: 3, Bytes: 2*64 + 128}},
		{"equal bits at layer 1", []stream.Stream{sending(80, "bps_L1", 1e9), sending(180, "bps_L1", 1e9)}, units.Traffic{}},
		{"equal shares of the line", []stream.Stream{sending(80, "percentage", 50), sending(180, "percentage", 50)}, units.Traffic{}},
		{"latency and disabled streams don't count", []stream.Stream{latency, sending(256, "pps", 3), off}, units.Traffic{Packets: 3, Bytes: 768}},
		{"IMIX", trexStreams(t, "imix_dir0.json"), units.Traffic{Packets: 48, Bytes: 17368}},
		{"random lengths count with their mean", trexStreams(t, "bench_size.json"), units.Traffic{Packets: 1, Bytes: (60+9212)/2 + 4}},
		{"proportions without a small common measure", []stream.Stream{sending(64, "pps", math.Pi), sending(128, "pps", math.E)}, units.Traffic{Packets: 1_000_000_000, Bytes: 93_688_355_536}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := MixOf(tt.streams)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(tt.name, "equal") {
				equalShares(t, tt.streams, got)
				return
			}
			if got != tt.want {
				t.Errorf("the mix is %+v, want %+v", got, tt.want)
			}
		})
	}
}

// equalShares checks that two streams of equal bit rates have packets in inverse proportion to what each occupies.
func equalShares(t *testing.T, streams []stream.Stream, got units.Traffic) {
	t.Helper()
	size := func(i int) int64 { return int64(len(streams[i].Packet.Binary)) + 4 }
	occupied := func(i int) int64 {
		if streams[i].Mode.Rate.Type == "bps_L2" {
			return size(i)
		}
		return size(i) + 20
	}
	a, b := occupied(1), occupied(0) // packets of the first and of the second
	if left, right := got.Packets*(a*size(0)+b*size(1)), got.Bytes*(a+b); left != right {
		t.Errorf("the mix is %+v, which is not %d of %d bytes and %d of %d", got, a, size(0), b, size(1))
	}
}

func TestMixOfCountsTrimmedLengthsWithinTheFrame(t *testing.T) {
	for _, tt := range []struct {
		name     string
		variable stream.Instruction
		bytes    units.Traffic
	}{
		{"cut off at both ends", stream.Instruction{MinValue: 10, MaxValue: 5000}, units.Traffic{Packets: 1, Bytes: (60+1000)/2 + 4}},
		{"half a byte", stream.Instruction{MinValue: 60, MaxValue: 61}, units.Traffic{Packets: 2, Bytes: 60 + 61 + 8}},
		{"a list", stream.Instruction{ValueList: []uint64{100, 60, 200}}, units.Traffic{Packets: 1, Bytes: 134}},
	} {
		s := sending(1004, "pps", 1)
		tt.variable.Type, tt.variable.Name = "flow_var", "v"
		s.VM.Instructions = []stream.Instruction{tt.variable, {Type: "trim_pkt_size", Name: "v"}}
		if got, err := MixOf([]stream.Stream{s}); err != nil || got != tt.bytes {
			t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.bytes)
		}
	}
}

func TestMixOfRefuses(t *testing.T) {
	burst := sending(64, "pps", 1)
	burst.Mode.Type = "multi_burst"
	for want, streams := range map[string][]stream.Stream{
		`streams[1].mode.type: "multi_burst" has no steady rate`:                       {sending(64, "pps", 1), burst},
		"streams[1].mode.rate.type: percentage can't stand beside pps":                 {sending(64, "pps", 1), sending(64, "percentage", 1)},
		"no stream has a rate that can be set":                                         {},
		"streams[0].mode.rate: value 0 is not above zero":                              {sending(64, "pps", 0)},
		"streams[0].mode.rate: value NaN is not above zero":                            {sending(64, "pps", math.NaN())},
		`streams[0].mode.rate: type "bps" is not known: use pps, bps_L1, bps_L2, perc`: {sending(64, "bps", 1)},
	} {
		if _, err := MixOf(streams); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
