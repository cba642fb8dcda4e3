package datapath

import (
	"encoding/binary"
	"testing"

	"github.com/linerate-dev/linerate/internal/document/stream"
)

func TestMarks(t *testing.T) {
	six := make([]byte, 80)
	copy(six[12:], []byte{0x86, 0xdd, 0x60, 0, 0, 0, 0, 26, 17, 64})
	double := append(append(append([]byte{}, frame(60)[:12]...), 0x88, 0xa8, 0, 1, 0x81, 0, 0, 2), frame(60)[12:]...)
	for _, c := range []struct {
		name  string
		frame []byte
		flow  stream.Flow
		want  class
		id    uint32
	}{
		{"IPv4", frame(60), stream.Flow{Enabled: true, StreamID: 7, RuleType: "stats"}, flowFrame, 7},
		{"IPv6", six, stream.Flow{Enabled: true, StreamID: maxFlowID, RuleType: "stats"}, flowFrame, maxFlowID},
		{"behind two VLAN tags", double, stream.Flow{Enabled: true, StreamID: 0, RuleType: "stats"}, flowFrame, 0},
		{"latency", frame(60), stream.Flow{Enabled: true, StreamID: 7, RuleType: "latency"}, latencyFrame, 0},
		{"none", frame(60), stream.Flow{}, ordinary, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			template := append([]byte(nil), c.frame...)
			if _, err := mark(template, c.flow); err != nil {
				t.Fatal(err)
			}
			if got := inspect(template); got.class != c.want || got.id != c.id {
				t.Errorf("seen as %+v, want %v %d", got, c.want, c.id)
			}
		})
	}
	t.Run("an unmarked template's id leaves the range of marks", func(t *testing.T) {
		template := frame(60)
		rewriteID(template, 14, 0xfc07)
		template[15] |= 1
		_, err := mark(template, stream.Flow{})
		noError(t, err)
		if got := inspect(template); got.class != ordinary || binary.BigEndian.Uint16(template[18:]) != 0xec07 {
			t.Errorf("seen as %+v, id %#x", got, template[18:20])
		}
	})
	t.Run("a payload too short for a stamp is refused", func(t *testing.T) {
		short := frame(57)
		if _, err := mark(short, stream.Flow{Enabled: true, StreamID: 1, RuleType: "latency"}); err == nil {
			t.Error("15 bytes of payload took a stamp")
		}
	})
}

func FuzzInspect(f *testing.F) {
	f.Add(frame(60))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got := inspect(b); got.class == flowFrame && (got.id > maxFlowID || got.stray) || got.class == neighbour &&
			!got.stray {
			t.Errorf("seen as %+v", got)
		}
	})
}

func TestArena(t *testing.T) {
	varied := stream.VM{Instructions: []stream.Instruction{
		{Type: "flow_var", Name: "v", Size: 4, Op: "inc", MaxValue: 99, Step: 1}, {Type: "write_flow_var", Name: "v",
			PacketOffset: 26, BigEndian: true}}}
	endless := varied
	endless.Instructions = append([]stream.Instruction{{Type: "flow_var", Name: "v", Size: 4, Op: "inc",
		MaxValue: 99_999, Step: 1}}, varied.Instructions[1:]...)
	short, large, latency := continuous(1, frame(1514)), continuous(1, frame(60)), continuous(1, frame(60))
	short.VM, large.VM = varied, endless
	latency.FlowStats = stream.Flow{Enabled: true, StreamID: 1, RuleType: "latency"}
	tracks := compiled(t, streams(short, large, latency, short)...)
	a, err := newArena(arenaSize)
	noError(t, err)
	defer func() { noError(t, a.close()) }()
	l := plan(tracks, batchSize, len(a.memory))
	noError(t, a.fill(l))
	if len(l.prebuilt) != 2 || len(tracks[0].prebuilt) != 100 || tracks[1].prebuilt != nil ||
		tracks[2].prebuilt != nil || l.longest != 1514 {
		t.Fatalf("%d tracks prebuilt, slots of %d", len(l.prebuilt), l.longest)
	}
	for i, p := range tracks[3].prebuilt {
		b := a.bytes(p)
		if p.offset/4096 != (p.offset+uint64(p.length)-1)/4096 || int(binary.BigEndian.Uint32(b[26:])) != i {
			t.Fatalf("frame %d at %d says %d", i, p.offset, binary.BigEndian.Uint32(b[26:]))
		}
	}
	for range batchSize {
		_, err := a.reserve(l.longest)
		noError(t, err)
	}
}
