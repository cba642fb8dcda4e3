package datapath

import (
	"fmt"
	"math"

	"github.com/cilium/ebpf/asm"

	"github.com/linerate-dev/linerate/internal/engine/softgen/fieldengine"
)

// A live sender's program is run by the kernel again and again (BPF_PROG_TEST_RUN with live frames), each time on a frame that it may send or drop. Dropping is
// how it waits. It is assembled for one port's part of a run on one thread, so that all that is known beforehand is a constant in it:
//
//	lease over? ─▶ new order? ─▶ before the start, paused? ─▶ next frame due? ─▶ its stream's code ─▶ who is next ─▶ send
//	  │                │                 │                          │
//	  │                ▼                 ▼                          ▼
//	  │           carry it out         wait ◀──────────────────── not yet
//	  │                                  │
//	  └──────────────────────────────────┴─▶ run the program of the next port that sends on this thread; no other has a frame due either: drop
//
// The pace is pacer's, in whole numbers and of each frame. But nothing sleeps in between, so less may leave at once: next to nothing after a stall that is the only one, and more the more time is owed. So frames come one by
// one on a quiet machine, and the rate is kept on a busy one, or where a device's work on a frame takes most of the time until the next:
//
//	at once    8 frames ┤        ________
//	                    │    ╱
//	          3/4 frame ┤╱                    owed: an eighth of it leaves at once
//	                    └┬───────────────▶
//	                     0

const (
	xdpDrop     = 1
	xdpRedirect = 4
	// longestWait is the most of the time between two runs of the program that counts as idle: what is longer was a stall, or work.
	longestWait = 400
	// longestProgram is how many instructions a jump may reach over.
	longestProgram = 32_000
	liveMaxLag     = uint64(maxLag) << liveLagUnit
)

// Registers that keep their meaning: the frame's context, and the memory of the part. Now is what R9 has until a frame is made.
const (
	liveContext = asm.R6
	liveMem     = asm.R7
	liveNow     = asm.R9
)

// liveSender is one thread's part of a run, as its program is told it.
type liveSender struct {
	*livePart
	tracks     []*track
	number     int // which of the run's threads
	threads    int
	batch      int
	finite     bool
	timed      bool // all streams are finite
	generation uint8
	table      *liveTable
	templates  []uint32 // where in the table a track's template is, if it is there
	lists      []uint32 // where a track's lists are
	code       fieldengine.Code
}

func (s *liveSender) get(to asm.Register, at int16) asm.Instruction {
	return asm.LoadMem(to, liveMem, at, asm.DWord)
}

func (s *liveSender) set(at int16, from asm.Register) asm.Instruction {
	return asm.StoreMem(liveMem, at, from, asm.DWord)
}

func (s *liveSender) setTo(at int16, value int64) asm.Instruction {
	return storeWord(liveMem, at, value)
}

// assemble writes the program.
func (s *liveSender) assemble() (asm.Instructions, error) {
	c := &s.code
	s.begin()
	s.pace()
	for k := range s.tracks {
		c.Add(asm.JEq.Imm(asm.R1, int32(k), fmt.Sprintf("stream-%d", k)))
	}
	c.Add(asm.Ja.Label("drop"))
	s.obey()
	for k := range s.tracks {
		if err := s.stream(k); err != nil {
			return nil, err
		}
	}
	s.schedule()
	c.Here("drop")
	c.Add(asm.Mov.Imm(asm.R0, xdpDrop), asm.Return())
	if c.Len() > longestProgram {
		return nil, fmt.Errorf("%w: its program would have %d instructions, of %d at most", errNotLive, c.Len(), longestProgram)
	}
	return c.Instructions(), nil
}

// begin looks whether anything may leave: the time since the last look is in R2, or 0, the lag in R3.
func (s *liveSender) begin() {
	c := &s.code
	c.Add(
		asm.Mov.Reg(liveContext, asm.R1),
		asm.LoadMapValue(liveMem, s.memory.words.FD(), 0),
		asm.FnKtimeGetNs.Call(),
		asm.Mov.Reg(liveNow, asm.R0),
		s.get(asm.R1, liveLooks),
		asm.Add.Imm(asm.R1, 1),
		s.set(liveLooks, asm.R1),
		asm.Mov.Imm(asm.R2, 0),
		s.get(asm.R1, liveLease),
		asm.JLT.Reg(asm.R1, liveNow, "pass"),
		s.get(asm.R1, liveLast),
		asm.Mov.Reg(asm.R2, liveNow),
		asm.Sub.Reg(asm.R2, asm.R1),
		s.set(liveLast, liveNow),
		s.get(asm.R3, liveLag),
		asm.Mov.Imm(asm.R4, 0),
		asm.JLE.Reg(asm.R3, asm.R2, "caught-up"),
		asm.Mov.Reg(asm.R4, asm.R3),
		asm.Sub.Reg(asm.R4, asm.R2),
	)
	c.Here("caught-up")
	c.Add(
		asm.Mov.Reg(asm.R3, asm.R4),
		s.set(liveLag, asm.R3),
		s.get(asm.R1, liveVersion),
		s.get(asm.R4, liveObeyed),
		asm.JNE.Reg(asm.R1, asm.R4, "order"),
		s.get(asm.R1, liveStart),
		asm.JLT.Reg(liveNow, asm.R1, "wait"),
		s.get(asm.R1, livePausedAt),
		asm.JNE.Imm(asm.R1, 0, "wait"),
	)
}

// pace waits until the next frame is due, and leaves its stream in R1. It does what pacer.advance does.
func (s *liveSender) pace() {
	c := &s.code
	c.Add(
		asm.Mov.Reg(asm.R4, asm.R3),
		asm.RSh.Imm(asm.R4, liveLagUnit),
		s.get(asm.R1, liveOffset),
		asm.Mov.Reg(asm.R5, liveNow),
		asm.Sub.Reg(asm.R5, asm.R1),
		asm.Sub.Reg(asm.R5, asm.R4), // the horizon
		s.get(asm.R1, liveNext),
		asm.JLE.Reg(asm.R1, asm.R5, "due"),
	)
	c.Here("wait")
	c.Add(asm.JLE.Imm(asm.R2, longestWait, "pass"), asm.Mov.Imm(asm.R2, longestWait))
	s.pass()
	c.Here("due")
	c.Add(
		asm.Sub.Reg(asm.R5, asm.R1),
		s.get(asm.R4, liveLeast),
		asm.Mov.Reg(asm.R1, asm.R3),
		asm.RSh.Imm(asm.R1, liveLagUnit+liveBurstOwed),
		asm.Add.Reg(asm.R4, asm.R1),
		s.get(asm.R1, liveMost),
		asm.JLE.Reg(asm.R4, asm.R1, "bounded"),
		asm.Mov.Reg(asm.R4, asm.R1),
	)
	c.Here("bounded")
	c.Add(
		asm.JLE.Reg(asm.R5, asm.R4, "send"),
		asm.Sub.Reg(asm.R5, asm.R4),
		asm.LSh.Imm(asm.R5, liveLagUnit),
		asm.Add.Reg(asm.R3, asm.R5),
	)
	c.If(asm.JLE, asm.R3, liveMaxLag, asm.R4, "lags")
	c.Add(asm.Mov.Reg(asm.R4, asm.R3))
	c.Do(asm.Sub, asm.R4, liveMaxLag, asm.R5)
	c.Add(asm.RSh.Imm(asm.R4, liveLagUnit))
	s.giveUp()
	c.Load(asm.R3, liveMaxLag)
	c.Here("lags")
	c.Add(s.set(liveLag, asm.R3))
	c.Here("send")
	if s.timed {
		c.Add(s.set(liveLatest, liveNow), s.get(asm.R1, liveFirst), asm.JNE.Imm(asm.R1, 0, "timed"), s.set(liveFirst, liveNow))
		c.Here("timed")
	}
	c.Add(s.get(asm.R1, liveStream))
}

// pass has the next port of the thread's look whether it has a frame due, on the same frame. Where all were asked, or there is no other, the time since the last look, in R2, was idle.
func (s *liveSender) pass() {
	c := &s.code
	c.Here("pass")
	c.Add(
		asm.LoadMapValue(asm.R4, s.thread.memory.words.FD(), 0),
		s.get(asm.R3, liveAfter),
		asm.JEq.Imm(asm.R3, 0, "idle"),
		asm.LoadMem(asm.R1, asm.R4, threadFirst, asm.DWord),
		asm.JEq.Reg(asm.R3, asm.R1, "idle"),
	)
	c.Add(s.thread.goOn(liveContext)...)
	c.Add(asm.Ja.Label("drop")) // it has just stopped
	c.Here("idle")
	c.Add(
		asm.LoadMem(asm.R1, asm.R4, threadIdle, asm.DWord),
		asm.Add.Reg(asm.R1, asm.R2),
		asm.StoreMem(asm.R4, threadIdle, asm.R1, asm.DWord),
		asm.Ja.Label("drop"),
	)
}

// giveUp stretches the schedule by R4. What would have been due after the run's end was not given up. R1, R2 and R5 are lost.
func (s *liveSender) giveUp() {
	c := &s.code
	c.Add(s.get(asm.R1, liveOffset), asm.Mov.Reg(asm.R2, asm.R1), asm.Add.Reg(asm.R2, asm.R4), s.set(liveOffset, asm.R2))
	if s.finite {
		within := c.Label("within")
		c.Add(
			s.get(asm.R2, liveEnd),
			asm.Sub.Reg(asm.R2, asm.R1),
			s.get(asm.R1, liveNext),
			asm.Sub.Reg(asm.R2, asm.R1),
			asm.JLE.Reg(asm.R4, asm.R2, within),
			asm.Mov.Reg(asm.R4, asm.R2),
		)
		c.Here(within)
	}
	c.Add(s.get(asm.R1, liveSlip), asm.Add.Reg(asm.R1, asm.R4), s.set(liveSlip, asm.R1))
}

// liveProportion is how many bits a proportion of two gaps has behind the point: twice a gap's, and it, fit 64.
const (
	liveProportion = 20
	liveLongestGap = 1 << 36 // ns
)

// schedule finds who is next, and sends the frame if R9 says so: it is the next port's turn then. Streams that are due together leave one by one: the next is never due sooner than nearly a
// mean gap after the last.
func (s *liveSender) schedule() {
	c := &s.code
	c.Here("schedule")
	c.Add(asm.JNE.Imm(asm.R9, xdpRedirect, "unspaced"), s.get(asm.R3, liveNext), s.get(asm.R4, liveSpacing), asm.Add.Reg(asm.R3, asm.R4), s.set(liveSpaced, asm.R3))
	c.Here("unspaced")
	c.Add(s.get(asm.R1, liveWord(0, liveDue)), asm.Mov.Imm(asm.R2, 0))
	for k := 1; k < len(s.tracks); k++ {
		later := c.Label("later")
		c.Add(s.get(asm.R3, liveWord(k, liveDue)), asm.JGE.Reg(asm.R3, asm.R1, later), asm.Mov.Reg(asm.R1, asm.R3), asm.Mov.Imm(asm.R2, int32(k)))
		c.Here(later)
	}
	c.Add(s.set(liveStream, asm.R2), s.get(asm.R3, liveSpaced), asm.JGE.Reg(asm.R1, asm.R3, "spaced"), asm.Mov.Reg(asm.R1, asm.R3))
	c.Here("spaced")
	c.Add(s.set(liveNext, asm.R1))
	if s.finite {
		c.Add(
			asm.JEq.Imm(asm.R1, -1, "over"),
			s.get(asm.R2, liveOffset),
			asm.Add.Reg(asm.R1, asm.R2),
			s.get(asm.R2, liveEnd),
			asm.JLT.Reg(asm.R1, asm.R2, "verdict"),
		)
		c.Here("over")
		c.Add(asm.LoadImm(asm.R1, -1, asm.DWord), s.set(liveNext, asm.R1), s.setTo(liveOver, 1))
		c.Here("verdict")
	}
	c.Add(
		asm.JNE.Imm(asm.R9, xdpRedirect, "drop"),
		s.get(asm.R2, liveAfter),
		asm.LoadMapValue(asm.R1, s.thread.memory.words.FD(), 0),
		asm.StoreMem(asm.R1, threadTurn, asm.R2, asm.DWord),
		asm.LoadMapPtr(asm.R1, s.outlet.FD()),
		asm.Mov.Imm(asm.R2, 0),
		asm.Mov.Imm(asm.R3, xdpDrop), // where the interface is gone
		asm.FnRedirectMap.Call(),
		asm.Return(),
	)
}

// gapOf is a gap in whole nanoseconds and a fraction of 2⁻³².
func gapOf(gap float64) (whole, fraction uint64) {
	floor, rest := math.Modf(gap)
	return uint64(floor), uint64(math.Ldexp(rest, 32))
}

// storeWord stores a constant as 64 bits, the upper half of which are its sign. The kernel has the instruction, and the assembler's StoreImm refuses it.
func storeWord(to asm.Register, at int16, value int64) asm.Instruction {
	return asm.Instruction{OpCode: asm.StoreImmOp(asm.DWord), Dst: to, Offset: at, Constant: value}
}
