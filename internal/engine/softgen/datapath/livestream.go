package datapath

import (
	"encoding/binary"
	"fmt"

	"github.com/cilium/ebpf/asm"

	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
)

// inlineTemplate is how long a template may be that stands in the program's instructions; a longer one is copied from the table.
const inlineTemplate = 256

// stream writes the code that makes a stream's next frame. All of it is written each time: the memory is another frame's of before, of this stream or another, and on a virtual cable
// the device itself has written to it since.
func (s *liveSender) stream(k int) error {
	c, t := &s.code, s.tracks[k]
	length := t.program.MaxLength()
	c.Here(fmt.Sprintf("stream-%d", k))
	c.Add(s.get(asm.R9, liveWord(k, liveIndex)), asm.Mov.Reg(asm.R1, asm.R9), asm.Add.Imm(asm.R1, int32(s.step(t))), s.set(liveWord(k, liveIndex), asm.R1))
	if made := len(s.thread.frame); length != made {
		c.Add(asm.Mov.Reg(asm.R1, liveContext), asm.Mov.Imm(asm.R2, int32(length-made)), asm.FnXdpAdjustTail.Call())
	}
	c.Add(
		asm.LoadMem(asm.R8, liveContext, 0, asm.Word), // xdp_md's data and data_end
		asm.LoadMem(asm.R1, liveContext, 4, asm.Word),
		asm.Mov.Reg(asm.R2, asm.R8),
		asm.Add.Imm(asm.R2, int32(length)),
		asm.JGT.Reg(asm.R2, asm.R1, "drop"),
	)
	s.template(k)
	a := fieldengine.Assembler{Code: c, Frame: asm.R8, Index: asm.R9, TableFD: s.table.values.FD(), TableOffset: s.lists[k]}
	trimmed, err := t.program.Assemble(a)
	if err != nil {
		return fmt.Errorf("%w: stream %d: %w", errNotLive, t.id, err)
	}
	if t.flow != nil && t.flow.stamped {
		if err := s.stamp(k, a); err != nil {
			return fmt.Errorf("%w: stream %d: %w", errNotLive, t.id, err)
		}
	}
	c.Add(s.get(asm.R1, liveWord(k, livePackets)), asm.Add.Imm(asm.R1, 1), s.set(liveWord(k, livePackets), asm.R1))
	if trimmed {
		s.trim(k, a)
	}
	s.advance(k)
	return nil
}

// step is by how much the index of a thread's frames of a stream grows.
func (s *liveSender) step(t *track) int {
	if t.alone {
		return 1
	}
	return s.threads
}

// template copies the stream's template into the frame.
func (s *liveSender) template(k int) {
	c, b := &s.code, s.tracks[k].program.Bytes()
	if len(b) > inlineTemplate {
		c.Add(
			asm.Mov.Reg(asm.R1, liveContext),
			asm.Mov.Imm(asm.R2, 0),
			asm.LoadMapValue(asm.R3, s.table.values.FD(), s.templates[k]),
			asm.Mov.Imm(asm.R4, int32(len(b))),
			asm.FnXdpStoreBytes.Call(),
		)
		return
	}
	at := 0
	for ; at+8 <= len(b); at += 8 {
		if word := binary.NativeEndian.Uint64(b[at:]); word == 0 {
			c.Add(storeWord(asm.R8, int16(at), 0))
		} else {
			c.Add(asm.LoadImm(asm.R1, int64(word), asm.DWord), asm.StoreMem(asm.R8, int16(at), asm.R1, asm.DWord))
		}
	}
	for ; at < len(b); at++ {
		c.Add(asm.StoreImm(asm.R8, int16(at), int64(b[at]), asm.Byte))
	}
}

// stamp writes what stamp.write does; the time is the last thing known.
func (s *liveSender) stamp(k int, a fieldengine.Assembler) error {
	c, t := &s.code, s.tracks[k]
	if t.program.Trims() {
		return fieldengine.ErrNotCarried // its end is elsewhere
	}
	at := int16(t.program.MaxLength() - stampSize)
	head := [4]byte{stampMagic, s.generation}
	binary.LittleEndian.PutUint16(head[2:], uint16(t.flow.id))
	c.Load(asm.R1, uint64(binary.NativeEndian.Uint32(head[:])))
	c.Add(
		asm.StoreMem(asm.R8, at, asm.R1, asm.Word),
		s.get(asm.R1, liveWord(k, livePackets)),
		asm.HostTo(asm.LE, asm.R1, asm.Word),
		asm.StoreMem(asm.R8, at+4, asm.R1, asm.Word),
		asm.FnKtimeGetNs.Call(),
		asm.HostTo(asm.LE, asm.R0, asm.DWord),
		asm.StoreMem(asm.R8, at+8, asm.R0, asm.DWord),
	)
	return t.program.AssembleTransport(a, t.flow.network, int(at), int(at)+stampSize)
}

// trim shortens the frame, and counts its bytes.
func (s *liveSender) trim(k int, a fieldengine.Assembler) {
	c, t := &s.code, s.tracks[k]
	t.program.AssembleLength(a)
	c.Add(
		s.get(asm.R1, liveWord(k, liveBytes)),
		asm.Add.Reg(asm.R1, asm.R0),
		asm.Add.Imm(asm.R1, int32(wireLength(fieldengine.MinFrame))-fieldengine.MinFrame),
		s.set(liveWord(k, liveBytes), asm.R1),
		asm.Mov.Reg(asm.R2, asm.R0),
		asm.Sub.Imm(asm.R2, int32(t.program.MaxLength())),
		asm.Mov.Reg(asm.R1, liveContext),
		asm.FnXdpAdjustTail.Call(),
	)
}

// advance says when the stream's next frame is due.
func (s *liveSender) advance(k int) {
	c, t := &s.code, s.tracks[k]
	at := func(word int16) int16 { return liveWord(k, word) }
	c.Add(
		s.get(asm.R1, at(liveDueFraction)),
		s.get(asm.R2, at(liveFraction)),
		asm.Add.Reg(asm.R1, asm.R2),
		asm.Mov.Reg(asm.R2, asm.R1),
		asm.RSh.Imm(asm.R2, 32),
		asm.Mov.Reg32(asm.R1, asm.R1),
		s.set(at(liveDueFraction), asm.R1),
		s.get(asm.R1, at(liveGap)),
		asm.Add.Reg(asm.R2, asm.R1),
		s.get(asm.R1, at(liveDue)),
		asm.Add.Reg(asm.R1, asm.R2),
	)
	if t.total > 0 {
		more := c.Label("more")
		c.Add(s.get(asm.R2, at(liveLeft)), asm.Sub.Imm(asm.R2, 1), s.set(at(liveLeft), asm.R2), asm.JNE.Imm(asm.R2, 0, more), asm.LoadImm(asm.R1, -1, asm.DWord))
		c.Here(more)
	}
	c.Add(s.set(at(liveDue), asm.R1), asm.Mov.Imm(asm.R9, xdpRedirect), asm.Ja.Label("schedule"))
}
