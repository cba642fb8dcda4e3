package datapath

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"golang.org/x/sys/unix"

	"github.com/linerate-dev/linerate/internal/host/machine"
)

// liveThread is a thread of this process that is in one system call for as long as anything is sent on it: there the kernel runs its program, which goes on to those of the ports. The call ends by a signal
// to the thread, and so with the process, however that ends; no port sends past its lease; and a timer of the kernel sends the signal when nobody has renewed any lease for long.
//
//	one port           entry ─▶ its program
//	several            entry ─▶ rotor ─▶ the program whose turn it is ─▶ the next one, where that has no frame due ─▶ … ─▶ drop
//
// Ports come and go by changing the slots, a map of programs, while the call goes on.
type liveThread struct {
	frame        []byte // what the kernel's frames begin as
	batch        int
	processors   []int // the first of them is the thread's; none: any
	memory       *liveMemory
	slots        *ebpf.Map // programs by slot; slot 0 is what entry goes on to
	entry, rotor *ebpf.Program
	parts        []*livePart // in the order of their turns
	head         *ebpf.Program
	begun        atomic.Bool
	over         atomic.Bool
	leased       atomic.Int64 // until when any port may send
	calls        atomic.Int64
	waits        atomic.Bool  // for a lease, without a call
	id           atomic.Int32 // the kernel's; 0: it doesn't run
	timer        atomic.Int32
	ended        chan struct{}
	err          error // why it ended, once it has
}

const (
	// liveSignal ends a call. Nobody else sends it, and Go's runtime doesn't mind it.
	liveSignal = unix.Signal(36)
	// liveRepeats is how often a call runs the program: as often as can be said.
	liveRepeats = math.MaxUint32
	// liveSlots is how many ports may send on a thread: the kernel follows 33 programs that go on to the next.
	liveSlots = 32

	bpfProgRun     = 10     // BPF_PROG_TEST_RUN
	xdpLiveFrames  = 1 << 1 // BPF_F_TEST_XDP_LIVE_FRAMES
	notifyThread   = 4      // SIGEV_THREAD_ID
	scaleOfTimerID = 1      // ids begin at 0, and 0 is none here
)

// programRun is the kernel's union bpf_attr for BPF_PROG_TEST_RUN.
type programRun struct {
	program, result   uint32
	dataSize, outSize uint32
	data, out         uint64
	repeat, duration  uint32
	contextSize, _    uint32
	context, _        uint64
	flags, cpu, batch uint32
	_                 uint32
}

// runLive has the kernel run a program on frames like this one, so many times, and returns when it has, or with EINTR on a signal.
func runLive(program *ebpf.Program, frame []byte, repeats uint32, batch int) error {
	attr := &programRun{program: uint32(program.FD()), data: uint64(uintptr(unsafe.Pointer(&frame[0]))), dataSize: uint32(len(frame)), repeat: repeats, flags: xdpLiveFrames, batch: uint32(batch)}
	// Go's scheduler is told of the call, so that garbage is collected meanwhile; it returns once in a run.
	_, _, errno := unix.Syscall(unix.SYS_BPF, bpfProgRun, uintptr(unsafe.Pointer(attr)), unsafe.Sizeof(*attr))
	runtime.KeepAlive(frame)
	if errno != 0 {
		return errno
	}
	return nil
}

// newLiveThread makes a thread that has no part in anything yet.
func newLiveThread(length, batch int) (_ *liveThread, err error) {
	t := &liveThread{frame: make([]byte, length), batch: batch, ended: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.close())
		}
	}()
	if t.memory, err = newLiveMemory(threadHead); err != nil {
		return nil, err
	}
	if t.slots, err = ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.ProgramArray, KeySize: 4, ValueSize: 4, MaxEntries: liveSlots + 1}); err != nil {
		return nil, err
	}
	if t.entry, err = newLiveProgram("linerate_entry", t.enter()); err != nil {
		return nil, err
	}
	t.rotor, err = newLiveProgram("linerate_rotor", t.rotate())
	return t, err
}

func newLiveProgram(name string, instructions asm.Instructions) (*ebpf.Program, error) {
	return ebpf.NewProgram(&ebpf.ProgramSpec{Name: name, Type: ebpf.XDP, License: "Apache-2.0", Instructions: instructions})
}

// goOn runs the program of the slot in R3 instead of the present one. The kernel comes back where the slot is empty.
func (t *liveThread) goOn(context asm.Register) asm.Instructions {
	return asm.Instructions{asm.Mov.Reg(asm.R1, context), asm.LoadMapPtr(asm.R2, t.slots.FD()), asm.FnTailCall.Call()}
}

// enter goes on to slot 0. As that is a constant, the kernel makes it a jump: it takes a few ns, and the program in the slot can be another between two frames.
func (t *liveThread) enter() asm.Instructions {
	return joined(asm.Instructions{asm.Mov.Imm(asm.R3, 0)}, t.goOn(asm.R1), asm.Instructions{asm.Mov.Imm(asm.R0, xdpDrop), asm.Return()})
}

// rotate goes on to the program whose turn it is. Each program that sends says whose turn is next, so that of several ports that could send more than the thread does none goes short.
func (t *liveThread) rotate() asm.Instructions {
	return joined(asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMapValue(asm.R7, t.memory.words.FD(), 0),
		asm.LoadMem(asm.R3, asm.R7, threadTurn, asm.DWord),
		asm.JNE.Imm(asm.R3, 0, "turn"),
		asm.LoadMem(asm.R3, asm.R7, threadEntry, asm.DWord),
		asm.StoreMem(asm.R7, threadFirst, asm.R3, asm.DWord).WithSymbol("turn"),
	}, t.goOn(asm.R6), asm.Instructions{
		storeWord(asm.R7, threadTurn, 0), // that port has just stopped
		asm.Mov.Imm(asm.R0, xdpDrop),
		asm.Return(),
	})
}

// add gives a part its turns on the thread.
func (t *liveThread) add(part *livePart) error {
	for part.slot = 1; slices.ContainsFunc(t.parts, func(p *livePart) bool { return p.slot == part.slot }); part.slot++ {
	}
	if err := t.slots.Put(part.slot, part.program); err != nil {
		return err
	}
	part.idle = t.memory.load(threadIdle)
	t.parts = append(t.parts, part)
	if err := t.link(); err != nil {
		return errors.Join(err, t.remove(part))
	}
	return nil
}

// remove has a part's program run no more, but for a run in progress.
func (t *liveThread) remove(part *livePart) error {
	t.parts = slices.DeleteFunc(t.parts, func(p *livePart) bool { return p == part })
	return errors.Join(t.link(), t.slots.Delete(part.slot))
}

// link says which program comes first, and which after each. A run in progress may meet some links of before and some of after: at worst it goes round, until the kernel follows it no more, and drops its frame.
func (t *liveThread) link() error {
	if len(t.parts) == 0 {
		return nil
	}
	t.memory.store(threadEntry, uint64(t.parts[0].slot))
	for i, p := range t.parts {
		after := t.parts[(i+1)%len(t.parts)]
		if after == p {
			p.memory.store(liveAfter, 0)
			continue
		}
		p.memory.store(liveAfter, uint64(after.slot))
	}
	head := t.rotor
	if len(t.parts) == 1 {
		head = t.parts[0].program
	}
	if head == t.head {
		return nil
	}
	t.head = head
	return t.slots.Put(uint32(0), head)
}

// outlast waits until the batch has left that is in hand now: a port that has stopped may have frames in it. A part that stays counts the runs.
func (t *liveThread) outlast() {
	if !t.begun.Load() {
		return
	}
	stays := t.parts[0].memory
	for enough := stays.load(liveLooks) + uint64(t.batch) + 1; stays.load(liveLooks) < enough && !t.failed(); sleep(50 * time.Microsecond) {
		t.lease(Now() + liveLeased)
	}
}

// failed says whether the thread has ended; while it has parts, that is by an error.
func (t *liveThread) failed() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// begin has the thread run, if it doesn't yet.
func (t *liveThread) begin() {
	if t.begun.CompareAndSwap(false, true) {
		go t.run()
	}
}

// run is the thread's life. Its system thread ends with it: it is bound, and in a class of its own.
func (t *liveThread) run() {
	defer close(t.ended)
	runtime.LockOSThread()
	if t.err = bind(t.processors, 0); t.err != nil {
		return
	}
	(&urgency{ordinary: true}).apply() // a real-time thread that never sleeps is stopped for 50 ms of each second
	defer machine.FillFirst()()
	others := allSignals()
	others.Val[0] &^= 1 << (liveSignal - 1)
	if t.err = unix.PthreadSigmask(unix.SIG_SETMASK, others, nil); t.err != nil {
		return
	}
	if t.err = t.arm(); t.err != nil {
		return
	}
	t.id.Store(int32(unix.Gettid()))
	for t.err == nil && !t.over.Load() {
		if t.waits.Store(Now() > time.Duration(t.leased.Load())); t.waits.Load() {
			sleep(time.Millisecond) // the timer has ended the call: it isn't made again without a lease
			continue
		}
		t.calls.Add(1)
		if err := runLive(t.entry, t.frame, liveRepeats, t.batch); err != nil && !errors.Is(err, unix.EINTR) {
			t.err = fmt.Errorf("live frames: %w", err)
		}
	}
	t.id.Store(0)
	t.disarm()
}

func allSignals() *unix.Sigset_t {
	var s unix.Sigset_t
	for i := range s.Val {
		s.Val[i] = math.MaxUint64
	}
	return &s
}

// end interrupts the thread's call until it has noticed that all is over: a signal that comes just before the call is lost on it.
func (t *liveThread) end() {
	t.over.Store(true)
	for t.begun.Load() {
		if id := t.id.Load(); id != 0 {
			_ = unix.Tgkill(os.Getpid(), int(id), liveSignal)
		}
		select {
		case <-t.ended:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// event is the kernel's struct sigevent.
type event struct {
	value                  uint64
	signal, notify, thread int32
	_                      [44]byte
}

// arm makes a timer that sends the signal to the calling thread.
func (t *liveThread) arm() error {
	e := event{signal: int32(liveSignal), notify: notifyThread, thread: int32(unix.Gettid())}
	var id int32
	if _, _, errno := unix.RawSyscall(unix.SYS_TIMER_CREATE, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&e)), uintptr(unsafe.Pointer(&id))); errno != 0 {
		return fmt.Errorf("make a timer that ends sending: %w", errno)
	}
	t.timer.Store(id + scaleOfTimerID)
	return nil
}

func (t *liveThread) disarm() {
	if id := t.timer.Swap(0); id != 0 {
		_, _, _ = unix.RawSyscall(unix.SYS_TIMER_DELETE, uintptr(id-scaleOfTimerID), 0, 0)
	}
}

// lease lets the thread make calls until then, and be in one for a while more.
func (t *liveThread) lease(until time.Duration) {
	t.leased.Store(int64(until))
	id := t.timer.Load()
	if id == 0 {
		return
	}
	last := until + liveLeased
	setting := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(last)), Interval: unix.NsecToTimespec(int64(liveLeased))}
	_, _, _ = unix.RawSyscall6(unix.SYS_TIMER_SETTIME, uintptr(id-scaleOfTimerID), timerAbsolute, uintptr(unsafe.Pointer(&setting)), 0, 0, 0)
}

const timerAbsolute = 1 // TIMER_ABSTIME

func (t *liveThread) close() error {
	var errs []error
	for _, p := range []*ebpf.Program{t.entry, t.rotor} {
		if p != nil {
			errs = append(errs, p.Close())
		}
	}
	if t.slots != nil {
		errs = append(errs, t.slots.Close())
	}
	if t.memory != nil {
		errs = append(errs, t.memory.close())
	}
	return errors.Join(errs...)
}

// tryLive says why live frames can't be sent by this process on this kernel; nil: they can.
func tryLive() error {
	program, err := newLiveProgram("linerate_try", asm.Instructions{asm.Mov.Imm(asm.R0, xdpDrop), asm.Return()})
	if err == nil {
		err = errors.Join(runLive(program, make([]byte, 60), 1, 1), program.Close())
	}
	switch {
	case errors.Is(err, syscall.EPERM):
		return errors.New("it takes CAP_BPF and CAP_NET_ADMIN in the machine's own user namespace: run as root, or give the container both")
	case errors.Is(err, syscall.EINVAL):
		return errors.New("it takes Linux 5.18 or later")
	}
	return err
}

func joined(parts ...asm.Instructions) (p asm.Instructions) {
	for _, part := range parts {
		p = append(p, part...)
	}
	return p
}
