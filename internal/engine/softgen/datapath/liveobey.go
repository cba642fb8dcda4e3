package datapath

import "github.com/cilium/ebpf/asm"

// obey carries out an order, now, or at the start if that is still to come. R8 is then the time that the schedule goes by: it stands still in a pause.
func (s *liveSender) obey() {
	c := &s.code
	c.Here("order")
	c.Add(s.set(liveObeyed, asm.R1), s.get(asm.R1, liveStart), asm.JGE.Reg(liveNow, asm.R1, "started"), asm.Mov.Reg(liveNow, asm.R1))
	c.Here("started")
	c.Add(
		s.get(asm.R1, liveOrder),
		s.get(asm.R8, livePausedAt),
		asm.JEq.Imm(asm.R1, int32(liveChangeFactor), "factor"),
		asm.JEq.Imm(asm.R1, int32(liveResume), "resume"),
		s.set(livePausedAt, liveNow),
		asm.Ja.Label("drop"),
	)
	c.Here("resume")
	c.Add(
		asm.Sub.Reg(liveNow, asm.R8),
		s.get(asm.R1, liveOffset),
		asm.Add.Reg(asm.R1, liveNow),
		s.set(liveOffset, asm.R1),
		s.setTo(livePausedAt, 0),
		asm.Ja.Label("drop"),
	)
	s.changeFactor()
}

// changeFactor gives up what is overdue but for a burst, as pacer.startOver does, and gives each stream its new gap, as timeline.rescale does.
func (s *liveSender) changeFactor() {
	c := &s.code
	c.Here("factor")
	c.Add(asm.JNE.Imm(asm.R8, 0, "paused"), asm.Mov.Reg(asm.R8, liveNow))
	c.Here("paused")
	c.Add(
		asm.Mov.Reg(asm.R4, asm.R3),
		asm.RSh.Imm(asm.R4, liveLagUnit),
		s.get(asm.R1, liveOffset),
		asm.Mov.Reg(asm.R5, asm.R8),
		asm.Sub.Reg(asm.R5, asm.R1),
		asm.Sub.Reg(asm.R5, asm.R4),
		s.get(asm.R1, liveNext),
		asm.JLE.Reg(asm.R5, asm.R1, "settled"),
		asm.Sub.Reg(asm.R5, asm.R1),
		s.get(asm.R1, liveMost),
		asm.JLE.Reg(asm.R5, asm.R1, "settled"),
		asm.Sub.Reg(asm.R5, asm.R1),
		asm.Add.Reg(asm.R4, asm.R5),
	)
	c.Here("settled")
	c.Add(s.setTo(liveLag, 0))
	s.giveUp()
	c.Add(
		s.get(asm.R1, liveSlip),
		s.set(liveSlipAt, asm.R1),
		s.setTo(liveSpaced, 0),
		s.get(asm.R1, liveOffset),
		asm.Sub.Reg(asm.R8, asm.R1), // the schedule's time
	)
	for k, t := range s.tracks {
		if !t.fixedRate {
			s.rescale(k)
		}
	}
	c.Add(asm.Mov.Imm(asm.R9, xdpDrop), asm.Ja.Label("schedule"))
}

// rescale gives a stream its new gap. Of a wait that has begun, the rest is stretched in proportion.
func (s *liveSender) rescale(k int) {
	c := &s.code
	keep, end := c.Label("keep"), c.Label("end")
	at := func(word int16) int16 { return liveWord(k, word) }
	c.Add(
		s.get(asm.R1, at(liveDue)),
		asm.JEq.Imm(asm.R1, -1, end),
		s.get(asm.R2, at(liveNewGap)),
		s.get(asm.R3, at(liveNewFraction)),
		asm.JLE.Reg(asm.R1, asm.R8, keep),
		s.get(asm.R4, at(liveIndex)),
		asm.JEq.Imm(asm.R4, 0, keep),
		asm.Mov.Reg(asm.R4, asm.R1),
		asm.Sub.Reg(asm.R4, asm.R8),
		s.get(asm.R5, at(liveGap)),
		asm.JGT.Reg(asm.R4, asm.R5, keep),
		asm.LSh.Imm(asm.R4, liveProportion),
		asm.Div.Reg(asm.R4, asm.R5),
		asm.Mul.Reg(asm.R4, asm.R2),
		asm.RSh.Imm(asm.R4, liveProportion),
		asm.Add.Reg(asm.R4, asm.R8),
		s.set(at(liveDue), asm.R4),
	)
	c.Here(keep)
	c.Add(s.set(at(liveGap), asm.R2), s.set(at(liveFraction), asm.R3))
	c.Here(end)
	c.Add(asm.Mov.Imm(asm.R0, 0))
}
