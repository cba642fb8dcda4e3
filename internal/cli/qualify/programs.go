package qualify

import (
	"errors"
	"fmt"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
)

// program is an XDP program on a port, which does something to frames that arrive there, and passes all others.
type program struct {
	state   *ebpf.Map
	program *ebpf.Program
	link    link.Link
}

// words are the program's state, in its map.
type words struct {
	Next   uint64 // when the next frame is due by the limit, ns
	Gap    uint64 // between frames at the limit, ns
	Burst  uint64 // how long before it is due a frame may come, ns
	Passed uint64
	Capped uint64
	Work   uint64 // how long each frame keeps the processor, ns
}

const (
	wordNext = 8 * iota
	wordGap
	wordBurst
	wordPassed
	wordCapped
	wordWork
	wordsSize
)

const (
	xdpDrop = 1
	xdpPass = 2
	// longestWork bounds the loop that keeps the processor busy, in readings of the clock.
	longestWork = 8000
)

// attachProgram makes a program of instructions and puts it on the interface. Whoever else's program is there keeps its
// place, which is an error.
func attachProgram(index int, instructions func(state int) asm.Instructions, initial words) (_ *program, err error) {
	_ = rlimit.RemoveMemlock() // for kernels before 5.11; where memory is short, making the map fails
	p := &program{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("put an XDP program on the port: %w", err), p.close())
		}
	}()
	if p.state, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: wordsSize,
		MaxEntries: 1}); err != nil {
		return nil, err
	}
	if err := p.state.Put(uint32(0), initial); err != nil {
		return nil, err
	}
	if p.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "Apache-2.0",
		Instructions: instructions(p.state.FD())}); err != nil {
		return nil, err
	}
	p.link, err = link.AttachXDP(link.XDPOptions{Program: p.program, Interface: index})
	return p, err
}

func (p *program) close() error {
	var errs []error
	if p.link != nil {
		errs = append(errs, p.link.Close())
	}
	if p.program != nil {
		errs = append(errs, p.program.Close())
	}
	if p.state != nil {
		errs = append(errs, p.state.Close())
	}
	return errors.Join(errs...)
}

// passing passes all frames. Some drivers send for XDP only while there is a program.
func passing(int) asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, xdpPass), asm.Return()}
}

// ours passes frames that aren't of a qualification (IPv4 from source), and leaves the state in R7.
func ours(state int) asm.Instructions {
	return asm.Instructions{
		asm.LoadMem(asm.R2, asm.R1, 0, asm.Word), // xdp_md.data
		asm.LoadMem(asm.R3, asm.R1, 4, asm.Word), // xdp_md.data_end
		asm.Mov.Reg(asm.R4, asm.R2),
		asm.Add.Imm(asm.R4, sourceOffset+4),
		asm.JGT.Reg(asm.R4, asm.R3, "pass"),
		asm.LoadMem(asm.R4, asm.R2, sourceOffset, asm.Word),
		asm.JNE.Imm32(asm.R4, sourceWord(), "pass"),
		asm.StoreImm(asm.RFP, -4, 0, asm.Word),
		asm.LoadMapPtr(asm.R1, state),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "pass"),
		asm.Mov.Reg(asm.R7, asm.R0),
	}
}

func pass() asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, xdpPass).WithSymbol("pass"), asm.Return()}
}

// count adds one to a word of the state.
func count(word int16) asm.Instructions {
	return asm.Instructions{asm.LoadMem(asm.R1, asm.R7, word, asm.DWord), asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R7, word, asm.R1, asm.DWord)}
}

// limiting drops what comes faster than the limit:
//
//	next = max(next, now); if next − now > burst: drop; next += gap; pass
//
// A qualification's frames are of one flow, and so one processor after the other runs the program.
func limiting(state int) asm.Instructions {
	list := append(ours(state),
		asm.FnKtimeGetNs.Call(),
		asm.LoadMem(asm.R1, asm.R7, wordNext, asm.DWord),
		asm.JGE.Reg(asm.R1, asm.R0, "ahead"),
		asm.Mov.Reg(asm.R1, asm.R0),
		asm.Mov.Reg(asm.R2, asm.R1).WithSymbol("ahead"),
		asm.Sub.Reg(asm.R2, asm.R0),
		asm.LoadMem(asm.R3, asm.R7, wordBurst, asm.DWord),
		asm.JGT.Reg(asm.R2, asm.R3, "drop"),
		asm.LoadMem(asm.R3, asm.R7, wordGap, asm.DWord),
		asm.Add.Reg(asm.R1, asm.R3),
		asm.StoreMem(asm.R7, wordNext, asm.R1, asm.DWord))
	list = append(list, count(wordPassed)...)
	list = append(list, pass()...)
	drop := count(wordCapped)
	drop[0] = drop[0].WithSymbol("drop")
	return append(append(list, drop...), asm.Mov.Imm(asm.R0, xdpDrop), asm.Return())
}

// working keeps the processor for a while with each frame, and then passes the frame. So its port takes fewer frames
// than come.
func working(state int) asm.Instructions {
	list := append(ours(state), count(wordPassed)...)
	list = append(list,
		asm.FnKtimeGetNs.Call(),
		asm.LoadMem(asm.R8, asm.R7, wordWork, asm.DWord),
		asm.Add.Reg(asm.R8, asm.R0), // when the work is done
		asm.Mov.Imm(asm.R9, longestWork),
		asm.Sub.Imm(asm.R9, 1).WithSymbol("work"),
		asm.JEq.Imm(asm.R9, 0, "pass"),
		asm.FnKtimeGetNs.Call(),
		asm.JLT.Reg(asm.R0, asm.R8, "work"))
	return append(list, pass()...)
}

// putLimiter limits what arrives at an interface to a frame in each gap.
func putLimiter(index int, gap, burst time.Duration) (*program, error) {
	return attachProgram(index, limiting, words{Gap: uint64(gap), Burst: uint64(burst)})
}
