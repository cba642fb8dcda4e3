package main

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/linerate-dev/linerate/internal/softgen/datapath"
	"github.com/linerate-dev/linerate/internal/softgen/fieldengine"
	"github.com/linerate-dev/linerate/internal/trex/stream"
)

// flows is how many source addresses the frames of every contender that can vary them go through.
const flows = 254

// frame is the n-th frame, without FCS: UDP over IPv4, 64 bytes on the wire.
func frame(n int) []byte {
	f := make([]byte, 60)
	copy(f, hardware(0, 2))
	copy(f[6:], hardware(0, 1))
	copy(f[12:], []byte{8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, 17, 0, 0, 16, 0, 0, byte(n%flows + 1), 48, 0, 0, 1, 4, 1, 0, 12, 0, 26, 0, 0})
	fieldengine.FixIPv4Header(f, 14)
	return f
}

// streams are the same frames as a TRex stream, its source address counted up by the field engine.
func streams(packetsPerSecond float64) []datapath.RunStream {
	first := uint64(binary.BigEndian.Uint32(frame(0)[26:]))
	return []datapath.RunStream{{ID: 1, Stream: stream.Stream{
		Enabled: true, SelfStart: true, Flags: 3, CoreID: -1, NextStreamID: -1,
		Mode:   stream.Mode{Type: "continuous", Rate: stream.Rate{Type: "pps", Value: packetsPerSecond}},
		Packet: stream.Packet{Binary: frame(0)},
		VM: stream.VM{Instructions: []stream.Instruction{
			{Type: "flow_var", Name: "source", Size: 4, Op: "inc", InitValue: first, MinValue: first, MaxValue: first + flows - 1, Step: 1},
			{Type: "write_flow_var", Name: "source", PacketOffset: 26, BigEndian: true},
			{Type: "fix_checksum_ipv4", PacketOffset: 14},
		}},
	}}}
}

// back turns streams round: from g1 to g0.
func back(streams []datapath.RunStream) []datapath.RunStream {
	for i := range streams {
		s := &streams[i].Stream
		s.Packet.Binary = append(append(append([]byte{}, hardware(1, 2)...), hardware(1, 1)...), s.Packet.Binary[12:]...)
		copy(s.Packet.Binary[26:], []byte{48, 0, 0, 1, 16, 0, 0, 1})
		first := uint64(48)<<24 + 1
		v := &s.VM.Instructions[0]
		v.InitValue, v.MinValue, v.MaxValue = first, first, first+flows-1
	}
	return streams
}

// trafgenConfig are the same frames for trafgen, all of them ready: nothing is left for it to compute.
func trafgenConfig() string {
	var b strings.Builder
	for n := range flows {
		b.WriteString("{ ")
		for i, octet := range frame(n) {
			if i > 0 {
				b.WriteString(", ")
			}
			fmt.Fprintf(&b, "0x%02x", octet)
		}
		b.WriteString(" }\n")
	}
	return b.String()
}
