package profile_test

import (
	"strings"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/profile"
	"github.com/linerate-dev/linerate/internal/document/stream"
)

// ipv4 is a UDP frame over IPv4 with so many bytes in all, a checksum that isn't 0 among them.
func ipv4(length int) []byte {
	frame := make([]byte, length)
	frame[12], frame[13], frame[14], frame[23] = 0x08, 0x00, 0x45, 17
	frame[17], frame[40], frame[41] = byte(length-14), 0x12, 0x34
	return frame
}

func TestALatencyStreamIsOneFlowAtARateOfItsOwn(t *testing.T) {
	like := stream.Stream{Enabled: true, Flags: 3, Mode: stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "percentage", Value: 7}}, Packet: stream.Packet{Binary: ipv4(60)}}
	like.VM.Instructions = []stream.Instruction{{Type: "flow_var", Name: "x"}}
	got, err := profile.LatencyStream(like, 9, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if got.FlowStats != (stream.Flow{Enabled: true, StreamID: 9, RuleType: "latency"}) || got.Mode.Rate != (stream.Rate{Type: "pps", Value: 1000}) || len(got.VM.Instructions) != 0 || got.Flags != 3 {
		t.Errorf("%+v", got)
	}
	if got.Packet.Binary[40] != 0 || got.Packet.Binary[41] != 0 || like.Packet.Binary[40] != 0x12 {
		t.Errorf("checksum %x in the sample, %x in the stream", got.Packet.Binary[40:42], like.Packet.Binary[40:42])
	}
	like.Packet.Binary = ipv4(58)
	if _, err := profile.LatencyStream(like, 9, 1000); err != nil {
		t.Errorf("a port pads 58 bytes to 60: %v", err)
	}
	tcp := ipv4(60)
	tcp[23], tcp[46] = 6, 5<<4
	like.Packet.Binary = tcp
	if _, err := profile.LatencyStream(like, 9, 1000); err == nil || !strings.Contains(err.Error(), "frames of 64 bytes have 6 bytes of payload, of which it takes 16") {
		t.Errorf("%v", err)
	}
}
