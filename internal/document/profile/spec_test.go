package profile

import (
	"encoding/json"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
	"github.com/linerate-dev/linerate/internal/units"
)

var update = flag.Bool("update", false, "write the golden files anew")

// addresses254 are the flows of TRex's own IMIX.
func addresses254() Flows { return Flows{Count: 254, Vary: []Field{SourceAddress, DestinationAddress}} }

// trexStreams are streams as TRex's own builders wrote them.
func trexStreams(t *testing.T, name string) []stream.Stream {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/trex", name))
	if err != nil {
		t.Fatal(err)
	}
	streams, err := ParseStreams(text)
	if err != nil {
		t.Fatal(err)
	}
	return streams
}

// TestIMIXIsTRexs compares with TRex's imix.py member by member. Its UDP checksums, which are wrong from the second
// frame on, are 0 here; and the template has the first flow's addresses, which in TRex's second direction it
// hasn't, though all its frames have.
func TestIMIXIsTRexs(t *testing.T) {
	west, east := netip.MustParsePrefix("16.0.0.0/24"), netip.MustParsePrefix("48.0.0.0/24")
	for _, tt := range []struct {
		name     string
		spec     Spec
		file     string
		template [][2]int // bytes of the template that may differ
	}{
		{"forth", Spec{Kind: IMIX, Flows: addresses254()}, "imix_dir0.json", [][2]int{{40, 42}}},
		{"forth, networks spelled out", Spec{Kind: IMIX, Flows: addresses254(), Source: west, Destination: east}, "imix_dir0.json", [][2]int{{40, 42}}},
		{"back", Spec{Kind: IMIX, Flows: addresses254(), Source: east, Destination: west}, "imix_dir1.json", [][2]int{{40, 42}, {26, 34}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, want := mustBuild(t, tt.spec).Streams, trexStreams(t, tt.file)
			for i := range want {
				sameFrames(t, got[i], want[i])
				for _, s := range []stream.Stream{got[i], want[i]} {
					for _, span := range tt.template {
						clear(s.Packet.Binary[span[0]:span[1]])
					}
				}
			}
			if a, b := mustJSON(t, got), mustJSON(t, want); a != b {
				t.Errorf("builds\n%s\nwhere TRex has\n%s", a, b)
			}
		})
	}
}

// sameFrames compares what leaves the port in two rounds of all flows, but for UDP checksums.
func sameFrames(t *testing.T, a, b stream.Stream) {
	t.Helper()
	left, leftErr := FirstFrames(a, 508)
	right, rightErr := FirstFrames(b, 508)
	if leftErr != nil || rightErr != nil {
		t.Fatal(leftErr, rightErr)
	}
	for i := range left {
		clear(left[i][40:42])
		clear(right[i][40:42])
		if !slices.Equal(left[i], right[i]) {
			t.Fatalf("frame %d is\n% x\nwhere TRex sends\n% x", i, left[i], right[i])
		}
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + "\n"
}

func TestGoldenProfiles(t *testing.T) {
	v6 := func(s Spec) Spec {
		s.Source, s.Destination = netip.MustParsePrefix("2001:2::/64"), netip.MustParsePrefix("2001:2:0:1::/64")
		return s
	}
	for name, spec := range map[string]Spec{
		"fixed_64":              {Kind: FixedSize, FrameSize: 64, Flows: addresses254()},
		"fixed_64_one_flow":     {Kind: FixedSize, FrameSize: 64},
		"vlan_mix_ports":        {Kind: Mix, VLAN: 100, Mix: []MixEntry{{64, 7}, {256, 1}}, Flows: Flows{Count: 1000, Vary: []Field{SourcePort, SourceAddress}}},
		"second_of_two":         {Kind: FixedSize, FrameSize: 128, Replica: 1, Replicas: 2, Flows: addresses254()},
		"ipv6_smallest":         v6(Spec{Kind: FixedSize, FrameSize: 66, Flows: addresses254()}),
		"ipv6_vlan_three_vary":  v6(Spec{Kind: FixedSize, FrameSize: 128, VLAN: 4094, Flows: Flows{Count: 8, Vary: []Field{SourceAddress, DestinationAddress, DestinationPort}}}),
		"ipv6_source_port_only": v6(Spec{Kind: FixedSize, FrameSize: 70, Flows: Flows{Count: 9, Vary: []Field{SourcePort}}}),
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join("testdata/golden", name+".json")
			got := mustJSON(t, mustBuild(t, spec))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || string(want) != got {
				t.Errorf("builds\n%s\nwant (%v)\n%s", got, err, want)
			}
		})
	}
}

func TestFixedSizesAreRightOnTheWire(t *testing.T) {
	for size := units.MinFrameSize; size <= units.MaxFrameSize; size += 1 + size/200 {
		p := mustBuild(t, Spec{Kind: FixedSize, FrameSize: size, Flows: addresses254()})
		frames, err := FirstFrames(p.Streams[0], 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, frame := range frames {
			dissect(t, frame)
			if len(frame) != int(size)-4 {
				t.Fatalf("a frame of %d bytes (with FCS) has %d without", size, len(frame))
			}
		}
		if p.Mix != size.Traffic() {
			t.Fatalf("the mix of %d-byte frames is %+v", size, p.Mix)
		}
	}
}

func TestMixOfSizesIsItsWeights(t *testing.T) {
	p := mustBuild(t, Spec{Kind: Mix, Mix: []MixEntry{{64, 28}, {594, 16}, {1518, 4}}, Flows: addresses254()})
	if want := (units.Traffic{Packets: 48, Bytes: 17368}); p.Mix != want {
		t.Errorf("the mix is %+v, want %+v", p.Mix, want)
	}
	if imix := mustBuild(t, Spec{Kind: IMIX, Flows: addresses254()}); !reflect.DeepEqual(p, imix) {
		t.Error("a Mix of IMIX's sizes and weights isn't IMIX")
	}
	if got, err := MixOf(p.Streams); err != nil || got != p.Mix {
		t.Errorf("the streams' mix is %+v, %v; the profile's %+v", got, err, p.Mix)
	}
}

func TestSizesThatCantBe(t *testing.T) {
	v6 := netip.MustParsePrefix("2001:2::/64")
	for _, tt := range []struct {
		name string
		spec Spec
		want string
	}{
		{"a runt", Spec{Kind: FixedSize, FrameSize: 20}, "profile FixedSize: frame size 20 is outside 64 to 9216"},
		{"none", Spec{Kind: FixedSize}, "frame size 0 is outside 64 to 9216"},
		{"a giant in a mix", Spec{Kind: Mix, Mix: []MixEntry{{64, 1}, {9217, 1}}}, "mix[1]: frame size 9217 is outside 64 to 9216"},
		{"no weight", Spec{Kind: Mix, Mix: []MixEntry{{64, 0}}}, "mix[0]: weight 0 is outside 1 to 1000000000"},
		{"no sizes", Spec{Kind: Mix}, "profile Mix has no sizes"},
		{"an unknown profile", Spec{Kind: "Quake"}, `profile "Quake" is not known: use IMIX, FixedSize, Mix or Streams`},
		{"IPv6 with a tag", Spec{Kind: FixedSize, FrameSize: 69, VLAN: 7, Source: v6, Destination: v6}, "frame size 69 can't hold UDP over IPv6 with a VLAN tag: use at least 70"},
		{"IPv6 with a counter in the payload", Spec{Kind: FixedSize, FrameSize: 67, Source: v6, Destination: v6, Flows: Flows{Count: 9, Vary: []Field{SourcePort}}},
			"frame size 67 can't hold UDP over IPv6 and 2 bytes that keep its checksum right while fields vary: use at least 68"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := Build(tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestBuildOfStreams(t *testing.T) {
	read := func(file string) []byte {
		text, err := os.ReadFile(filepath.Join("testdata/trex", file))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	p := mustBuild(t, Spec{Kind: Streams, Streams: read("bench_imix.json")})
	if want := (units.Traffic{Packets: 48, Bytes: 28*68 + 16*590 + 4*1514}); p.Mix != want || len(p.Streams) != 3 || p.Flows != 0 {
		t.Errorf("bench's IMIX is %d streams, mix %+v, flows %d; want 3, %+v, 0", len(p.Streams), p.Mix, p.Flows, want)
	}
	for _, tt := range []struct {
		name string
		spec Spec
		want string
	}{
		{"that are no JSON", Spec{Streams: []byte("x")}, "write a JSON list of TRex stream objects"},
		{"that end", Spec{Streams: read("burst_simple.json")}, `streams[0].mode.type: "single_burst" has no steady rate`},
		{"that are latency streams only", Spec{Streams: read("bench_fsl.json")}, "no stream has a rate that can be set"},
		{"for two replicas", Spec{Streams: read("bench_var2.json"), Replicas: 2}, "can't be divided among 2 replicas"},
		{"untagged on a tagged link", Spec{Streams: read("bench_var2.json"), VLAN: 9}, "streams[0].packet.binary: the frame has VLAN 0 and the link 9"},
	} {
		t.Run("refuses streams "+tt.name, func(t *testing.T) {
			tt.spec.Kind = Streams
			if _, err := Build(tt.spec); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// Many cards can't keep per-flow statistics, or keep wrong ones: no figure may rest on them.
func TestStreamsOfOurOwnAskForNoFlowStatistics(t *testing.T) {
	for name, spec := range map[string]Spec{
		"IMIX":       {Kind: IMIX, Flows: addresses254()},
		"fixed size": {Kind: FixedSize, FrameSize: 64, Flows: addresses254()},
		"mix":        {Kind: Mix, Mix: []MixEntry{{Size: 64, Weight: 7}, {Size: 1518, Weight: 1}}, Flows: addresses254()},
	} {
		t.Run(name, func(t *testing.T) {
			streams := mustBuild(t, spec).Streams
			if len(streams) == 0 {
				t.Fatal("there are no streams")
			}
			for i, s := range streams {
				if s.FlowStats.Enabled {
					t.Errorf("stream %d asks for %+v", i, s.FlowStats)
				}
			}
		})
	}
}
