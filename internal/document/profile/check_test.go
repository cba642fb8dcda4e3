package profile

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

func TestCheckStreamsOfStreamsThatWereNotParsed(t *testing.T) {
	tuple := stream.Instruction{Type: "tuple_flow_var", Name: "t", IPMin: 1, IPMax: 2, PortMin: 1, PortMax: 2}
	nameless, trim := tuple, stream.Instruction{Type: "trim_pkt_size", Name: "v"}
	nameless.Name = ""
	length := stream.Instruction{Type: "flow_var", Name: "v", Size: 2, Op: "random", InitValue: 60, MinValue: 60, MaxValue: 100, Step: 1}
	for _, tt := range []struct {
		name    string
		program []stream.Instruction
		want    string
	}{
		{"an unknown instruction", []stream.Instruction{{Type: "fly"}}, `streams[0].vm.instructions[0].type: "fly" is not known`},
		{"a tuple without a name", []stream.Instruction{nameless}, "streams[0].vm.instructions[0].name: a variable needs one"},
		{"a tuple twice", []stream.Instruction{tuple, tuple}, `streams[0].vm.instructions[1].name: "t.ip" is there twice`},
		{"a frame trimmed twice", []stream.Instruction{length, trim, trim}, "streams[0].vm.instructions[2].name: a frame is trimmed once"},
		{"a random limit of a bad size", []stream.Instruction{{Type: "flow_var_rand_limit", Size: 5}}, "streams[0].vm.instructions[0].size: 5"},
		{"a fine program", []stream.Instruction{length, trim}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sending(1004, "pps", 1)
			s.SelfStart, s.CoreID, s.NextStreamID, s.VM.Instructions = true, -1, -1, tt.program
			switch err := CheckStreams([]stream.Stream{s}); {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestWhereTransportBegins(t *testing.T) {
	tagged := Spec{Kind: FixedSize, FrameSize: 100, VLAN: 5}
	v6 := Spec{Kind: FixedSize, FrameSize: 100, Source: netV6(), Destination: netV6()}
	for name, tt := range map[string]struct {
		frame    []byte
		offset   int
		protocol byte
		payload  int
	}{
		"IPv4":             {mustBuild(t, Spec{Kind: FixedSize, FrameSize: 64}).Streams[0].Packet.Binary, 34, 17, 18},
		"IPv4 with a tag":  {mustBuild(t, tagged).Streams[0].Packet.Binary, 38, 17, 50},
		"IPv6":             {mustBuild(t, v6).Streams[0].Packet.Binary, 54, 17, 34},
		"not IP":           {make([]byte, 60), 14, 0, 38},
		"nothing but tags": {[]byte("\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x81\x00\x00\x01\x81\x00\x00\x01\x81\x00\x00\x01"), 14, 0, 38},
		"a stump":          {make([]byte, 14), 14, 0, 38},
	} {
		if offset, protocol := transportOf(tt.frame); offset != tt.offset || protocol != tt.protocol {
			t.Errorf("%s: %d, %d; want %d, %d", name, offset, protocol, tt.offset, tt.protocol)
		}
		if got := payloadOf(tt.frame); got != tt.payload {
			t.Errorf("%s: %d bytes of payload, want %d", name, got, tt.payload)
		}
	}
	if got := vlanOf(mustBuild(t, tagged).Streams[0].Packet.Binary); got != 5 {
		t.Errorf("VLAN %d, want 5", got)
	}
}
