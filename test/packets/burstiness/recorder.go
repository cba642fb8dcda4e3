package burstiness

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
	"golang.org/x/sys/unix"
)

// Recorder takes every frame that an interface receives, notes when it came, and drops it. Its program runs
// before the kernel's network stack (XDP), for one frame after the other: the interface has one receive queue.
type Recorder struct {
	state, times *ebpf.Map
	program      *ebpf.Program
	link         link.Link

	noted  *noted
	mapped [][]byte
	room   int
}

// noted is what program and reader share: frames that come before from aren't recorded.
type noted struct {
	start, count uint64
}

// Record begins on an interface of the calling thread's network namespace, with room for so many frames; later
// ones are dropped without a note. Nothing is noted before Begin.
func Record(index, room int) (_ *Recorder, err error) {
	_ = rlimit.RemoveMemlock() // for kernels before 5.11; where it matters and fails, the maps say so
	r := &Recorder{room: room}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("record when frames come: %w", err), r.Close())
		}
	}()
	if err := r.share(); err != nil {
		return nil, err
	}
	r.noted.start = math.MaxInt64
	r.program, err = ebpf.NewProgram(&ebpf.ProgramSpec{Name: "linerate_times", Type: ebpf.XDP, License: "Apache-2.0",
		Instructions: r.recording()})
	if err != nil {
		return nil, err
	}
	r.link, err = link.AttachXDP(link.XDPOptions{Program: r.program, Interface: index})
	return r, err
}

// share makes the maps, and maps them into memory.
func (r *Recorder) share() (err error) {
	size := int(unsafe.Sizeof(noted{}))
	if r.state, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: uint32(size), MaxEntries: 1,
		Flags: unix.BPF_F_MMAPABLE}); err != nil {
		return err
	}
	if r.times, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 8, MaxEntries: uint32(r.room),
		Flags: unix.BPF_F_MMAPABLE}); err != nil {
		return err
	}
	for _, entry := range []struct {
		kernelMap *ebpf.Map
		size      int
		access    int
	}{{r.state, size, unix.PROT_READ | unix.PROT_WRITE}, {r.times, 8 * r.room, unix.PROT_READ}} {
		memory, err := unix.Mmap(entry.kernelMap.FD(), 0, entry.size, entry.access, unix.MAP_SHARED)
		if err != nil {
			return fmt.Errorf("map %d bytes: %w", entry.size, err)
		}
		r.mapped = append(r.mapped, memory)
	}
	r.noted = (*noted)(unsafe.Pointer(&r.mapped[0][0]))
	return nil
}

// recording is the program. It alone writes count.
func (r *Recorder) recording() asm.Instructions {
	const key, start, count, arrival = -4, 0, 8, asm.R7
	const drop = 1 // XDP_DROP
	find := func(m *ebpf.Map) asm.Instructions {
		return asm.Instructions{
			asm.LoadMapPtr(asm.R1, m.FD()),
			asm.Mov.Reg(asm.R2, asm.RFP),
			asm.Add.Imm(asm.R2, key),
			asm.FnMapLookupElem.Call(),
			asm.JEq.Imm(asm.R0, 0, "drop"),
		}
	}
	p := asm.Instructions{
		asm.FnKtimeGetNs.Call(),
		asm.Mov.Reg(arrival, asm.R0),
		asm.StoreImm(asm.RFP, key, 0, asm.Word),
	}
	p = append(p, find(r.state)...)
	p = append(p,
		asm.Mov.Reg(asm.R6, asm.R0),
		asm.LoadMem(asm.R1, asm.R6, start, asm.DWord),
		asm.JLT.Reg(arrival, asm.R1, "drop"),
		asm.LoadMem(asm.R8, asm.R6, count, asm.DWord),
		asm.JGE.Imm(asm.R8, int32(r.room), "drop"),
		asm.StoreMem(asm.RFP, key, asm.R8, asm.Word),
	)
	p = append(p, find(r.times)...)
	return append(p,
		asm.StoreMem(asm.R0, 0, arrival, asm.DWord),
		asm.Add.Imm(asm.R8, 1),
		asm.StoreMem(asm.R6, count, asm.R8, asm.DWord),
		asm.Mov.Imm(asm.R0, drop).WithSymbol("drop"),
		asm.Return(),
	)
}

// Begin notes all frames that come from a time on, which may be past, on the kernel's monotonic clock.
func (r *Recorder) Begin(start time.Duration) { atomic.StoreUint64(&r.noted.start, uint64(start)) }

// Full says whether there is no room for another frame.
func (r *Recorder) Full() bool { return atomic.LoadUint64(&r.noted.count) >= uint64(r.room) }

// Arrivals are the times at which frames came so far.
func (r *Recorder) Arrivals() []time.Duration {
	n := atomic.LoadUint64(&r.noted.count)
	arrivals := make([]time.Duration, n)
	for i, arrival := range unsafe.Slice((*uint64)(unsafe.Pointer(&r.mapped[1][0])), n) {
		arrivals[i] = time.Duration(arrival)
	}
	return arrivals
}

// Close lets frames pass again.
func (r *Recorder) Close() error {
	var errs []error
	if r.link != nil {
		errs = append(errs, r.link.Close())
	}
	if r.program != nil {
		errs = append(errs, r.program.Close())
	}
	for _, memory := range r.mapped {
		errs = append(errs, unix.Munmap(memory))
	}
	for _, m := range []*ebpf.Map{r.state, r.times} {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	return errors.Join(errs...)
}
